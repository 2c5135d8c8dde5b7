"""The folder that ``fit`` writes: a model, tables, a summary and maybe a page."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orthonmf
from orthonmf.cli.certificates import plain_certificate
from orthonmf.cli.data import Reading, most_bytes
from orthonmf.cli.failures import about
from orthonmf.cli.terminal import as_json
from orthonmf.factorization import Factorization
from orthonmf.files.archive import parse_object
from orthonmf.files.readers import FileError
from orthonmf.files.saving import load, save
from orthonmf.files.saving.content import Check, list_of, number_from, object_of, optional
from orthonmf.files.whole_files import writing_together
from orthonmf.report import Story, page
from orthonmf.report.findings import is_exactly_orthogonal
from orthonmf.report.tables import (
    ASSIGNMENTS,
    COMPONENTS,
    CORE,
    FEATURES,
    names_or_numbers,
    tables_of,
    write_rows,
)
from orthonmf.stability.record import Stability

MODEL, SUMMARY, PAGE = "model.npz", "summary.json", "report.html"
REFITS = "stability.npz"  # where refits were made
FILES = (MODEL, REFITS, ASSIGNMENTS, FEATURES, COMPONENTS, CORE, PAGE, SUMMARY)
SELECTION = "selection.json"
TOP_FEATURES = 10
# What the summary says of a result under the name that it has in Python.
FIGURES = (
    "orthogonal", "n_components", "n_components_found", "shortage", "error", "beta_loss",
    "relative_error", "relative_squared_error", "divergence", "information",
)  # fmt: skip
LONGEST_JSON = 2**26
LARGEST = 1e6
# What select-k tells of every number: name of the measure, heading, decimals and meaning.
MEASURES = {
    "relative_error": ("error", 4, "relative"),
    "lower_bound": ("at least", 4, "no error can be below"),
    "null_error": ("permuted", 4, "the error where columns are permuted"),
    "held_out_error": ("held out", 4, "what groups of half of the counts lose of the others"),
    "adjusted_rand": ("Rand", 2, "how alike the labels of two halves are"),
    "matched_cosine": ("cosine", 2, "how alike their components are"),
    "refit_agreement": ("refits", 2, "how alike the labels of refits are"),
}


def check_folder(folder: Path, names: Iterable[str] = FILES) -> None:
    """Refuse, before any work is done, a place that cannot or should not be written to.

    Files of these names that somebody else wrote stay; in a folder of ours the summary says so.
    """
    about(folder)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "it is a file; a folder is needed", str(folder))
    there = [name for name in names if (folder / name).exists()]
    beginning = b""
    if (folder / SUMMARY).is_file():
        with open(folder / SUMMARY, "rb") as file:
            beginning = file.read(4096)
    if there and b'"orthonmf"' not in beginning:
        raise FileError(
            f"{folder}: it holds a {there[0]} that orthonmf did not write; choose another folder"
        )


def write_files(folder: Path, contents: Mapping[str, Any]) -> None:
    """Write files that appear together, each by its content.

    It is a text, a table (its headings and its rows), or what `save` takes.
    """
    about(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with writing_together(folder) as place:
        for name, content in contents.items():
            if isinstance(content, str):
                place(name).write_text(content, encoding="utf-8")
            elif isinstance(content, tuple):
                with open(place(name), "w", encoding="utf-8", newline="") as file:
                    write_rows(file, *content)
            else:
                save(content, place(name))


def write_folder(
    folder: Path, story: Story, summary: dict[str, Any], *, with_page: bool
) -> list[str]:
    """Write everything at once; a page that is there already is made again. Returns the names."""
    contents: dict[str, Any] = {MODEL: story.result}
    if story.stability is not None:
        contents[REFITS] = story.stability
    contents |= tables_of(story)
    if with_page or (folder / PAGE).exists():
        contents[PAGE] = page(story)
    names = [*contents, SUMMARY]
    contents[SUMMARY] = as_json({**summary, "files": names})
    check_folder(folder)
    write_files(folder, contents)
    for name in {CORE, REFITS} - contents.keys():  # of an earlier result
        (folder / name).unlink(missing_ok=True)
    return names


def summary_of(story: Story, source: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """What ``summary.json`` says."""
    result, findings = story.result, story.findings
    names = names_or_numbers(result.feature_names, story.shape[1])
    components = [
        {
            "component": component,
            "rows": len(findings.rows_of(component)),
            "features": story.n_columns(component),
            "energy": float(findings.energies[component]),
            "name": story.labels[component] or None,
            "distinctive_features": [
                names[column] for column in story.distinctive_columns(component, TOP_FEATURES)
            ],
            "top_features": [
                names[column] for column in story.top_columns(component, TOP_FEATURES)
            ],
        }
        for component in range(result.n_components_found)
    ]
    groups = [
        {
            "group": group,
            "features": len(findings.columns_of(group)),
            "energy": float(story.core_shares[:, group].sum()),
            "top_features": [names[column] for column in story.top_of_group(group, TOP_FEATURES)],
        }
        for group in range(story.n_groups)
    ]
    core = {"feature_groups": groups, "core": story.core_shares.tolist()} if groups else {}
    return {
        "orthonmf": orthonmf.__version__,
        "input": {
            **source,
            "shape": list(story.shape),
            "entries": findings.matrix.n_entries,
            "row_names": result.sample_names is not None,
            "feature_names": result.feature_names is not None,
        },
        "cautions": story.cautions,
        "options": options,
        "seed": result.random_state,
        **{name: getattr(result, name) for name in FIGURES},
        "captured": findings.captured,
        "captured_by_chance": story.chance,
        "exactly_orthogonal": is_exactly_orthogonal(result),
        "n_sweeps": result.n_sweeps,
        "steps_run": list(result.steps_run),
        "seconds": result.seconds,
        "certificate": plain_certificate(result.certificate),
        "components": components,
        **core,
        "refits": _plain_stability(story.stability),
        "remarks": list(story.remarks),
    }


def _plain_stability(stability: Stability | None) -> dict[str, Any] | None:
    """What ``summary.json`` says of refits; the file next to it has the votes."""
    if stability is None:
        return None
    sides = {"rows": stability.samples, "features": stability.features}
    return {
        "n_refits": stability.n_refits,
        "resample": stability.resample,
        "seed": stability.random_state,
        "agreement": stability.agreement,
        "summary": stability.summary(),
        "findings": stability.findings(),
        "kept": {points: side.kept_share() for points, side in sides.items() if side is not None},
    }


def read_stability(folder: Path, result: Factorization, max_bytes: str | None) -> Stability | None:
    """The refits of a result that ``fit`` wrote; None where there were none."""
    path = folder / REFITS
    if not path.exists():
        return None
    about(path)
    stability = load(path, max_bytes=most_bytes(max_bytes))
    if not isinstance(stability, Stability) or not stability.is_of(result):
        raise FileError(f"{path}: it does not hold the refits of the model next to it")
    return stability


def read_model(path: Path, max_bytes: str | None) -> Factorization:
    """The factorization in a file that ``fit`` wrote."""
    limit = most_bytes(max_bytes)  # an option that makes no sense is not the fault of the file
    about(path)
    model = load(path, max_bytes=limit)
    if not isinstance(model, Factorization):
        raise FileError(f"{path}: it holds a {type(model).__name__}, not a Factorization")
    return model


def read_folder(
    folder: Path, data: str | None, max_bytes: str | None
) -> tuple[dict[str, Any], Factorization, str, Reading]:
    """What ``fit`` wrote: its summary, the result, where the data are, and how they are read.

    ``data`` names them if they are no longer where they were.
    """
    if folder.exists() and not (folder / SUMMARY).exists():
        raise FileError(f"{folder}: it is no folder that orthonmf fit wrote")
    summary = _read_json(folder / SUMMARY, is_summary, "fit", options={}, remarks=[])
    result = read_model(folder / MODEL, max_bytes)
    file = data or summary["input"]["file"]
    if file == "-" and data is None:
        raise FileError(f"{folder}: the data came from stdin; name them with --data FILE")
    reading = Reading.from_plain(summary["input"]["reading"])
    return summary, result, file, replace(reading, max_bytes=max_bytes or reading.max_bytes)


def _read_json(path: Path, fits: Check, command: str, **defaults: Any) -> dict[str, Any]:
    """The JSON object that a command wrote, checked, with defaults for what it may lack."""
    about(path)
    if path.exists() and not path.is_file():
        raise FileError(f"{path}: it is no regular file")
    with open(path, "rb") as file:
        content = file.read(LONGEST_JSON + 1)
    if len(content) > LONGEST_JSON:
        raise FileError(f"{path}: it is longer than {LONGEST_JSON:,} bytes")
    values = defaults | parse_object(content, f"{path}: it")
    if not fits(values):
        raise FileError(f"{path}: it was not written by orthonmf {command}, or is damaged")
    return values


def read_selection(folder: Path) -> dict[str, Any] | None:
    """What ``select-k`` left in a folder, if it did."""
    path = folder / SELECTION
    if not path.exists():
        return None
    selection = _read_json(path, is_selection, "select-k")
    for candidate in selection["candidates"]:  # as version 0.2.0 wrote it
        if is_measure(error := candidate.pop("relative_squared_error", None)):
            candidate.setdefault("relative_error", error)
    kinds = {type(candidate["n_components"]) for candidate in selection["candidates"]}
    if kinds != {type(selection["suggestion"])}:
        raise FileError(f"{path}: it holds no sizes of the kind that it suggests")
    return selection


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _is_size(value: Any) -> bool:
    """A number of components, or two numbers of groups."""
    counts = value if isinstance(value, list) and len(value) == 2 else [value]
    return all(type(count) is int and 0 < count < 2**31 for count in counts)


# What is read again of these files. A measure is a number that can be drawn, or null.
is_measure = optional(number_from(-LARGEST, LARGEST))
is_summary = object_of(
    input=object_of(file=_is_text, reading=object_of()),
    options=object_of(image_shape=optional(_is_text), groups=optional(_is_text)),
    captured_by_chance=is_measure,
    remarks=list_of(_is_text),
)
is_selection = object_of(
    candidates=list_of(object_of(n_components=_is_size, **dict.fromkeys(MEASURES, is_measure))),
    suggestion=_is_size,
    reason=_is_text,
)
