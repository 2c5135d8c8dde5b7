"""From the options of a command to a matrix with names, weights and known groups."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from math import prod
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import numpy as np

from orthonmf.chi_square import chi_square_weights
from orthonmf.cli import options as o
from orthonmf.cli.failures import about, say
from orthonmf.cli.terminal import progress
from orthonmf.engine.sources import to_dense
from orthonmf.errors import FileError, InvalidInputError, MissingEntryError, NegativeEntryError
from orthonmf.files.readers import FORMATS, NamedMatrix, default_max_bytes, read_matrix, read_names
from orthonmf.files.readers.request import Request
from orthonmf.files.readers.stores import read_map, read_observation
from orthonmf.inputs.parameters import as_bytes
from orthonmf.normalization import prepare

# Single-point moves need the data in memory, so only what is large stays on disk: more than this,
# or more than this share of what --max-memory grants.
STREAM_ABOVE = 2**30
SHARE_TO_READ = 0.25
SIDES = ("rows", "columns")
OBSERVATION = "obs:"
FOUND_OUT = ("format", "key", "header", "index", "encoding")  # where it is not said
MISSING = "--missing leaves missing entries out of the error (over samples or features)"
# What a matrix that stays on disk cannot be.
PREPARED = "prepared; write a prepared one, or grant more with --max-memory"
TURNED = (
    "turned; leave --transpose out and ask for --orthogonal features in place of samples (or "
    "samples in place of features)"
)
KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
PREPARING = ("normalize", "log1p", "tfidf", "scale_features")
PANEL = "Preparing the matrix"


def _found_out(names: str, place: str) -> Any:
    told = f"Text: whether the first {place} holds names; found out by default."
    return o.flag(names, told, o.READING, show_default=False)


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is to be read; kept in ``summary.json`` so that it can be read again."""

    format: Annotated[
        str | None, o.reading("NAME", f"Format, when the name does not tell: {' '.join(FORMATS)}.")
    ] = None
    key: Annotated[str | None, o.reading("NAME", "Which array of a file that holds several.")] = (
        None
    )
    header: Annotated[bool | None, _found_out("--header/--no-header", "line")] = None
    index: Annotated[bool | None, _found_out("--index/--no-index", "column")] = None
    transpose: Annotated[
        bool, o.flag("--transpose", "Turn the matrix: its columns are the rows.", o.READING)
    ] = False
    missing: Annotated[
        bool,
        o.flag(
            "--missing", "NaN and empty cells are missing and left out of the error.", o.READING
        ),
    ] = False
    max_bytes: o.MaxBytes = None
    row_names: Annotated[str | None, o.reading("FILE", "Names of the rows, one per line.")] = None
    feature_names: Annotated[
        str | None, o.reading("FILE", "Names of the columns, one per line.")
    ] = None
    columns: Annotated[
        str | None,
        o.reading("NAMES", "Only these columns: name,name; of edges: row,column,weight."),
    ] = None
    drop: Annotated[str | None, o.reading("NAMES", "All columns of the file but these.")] = None
    encoding: Annotated[
        str | None, o.reading("NAME", "Of text that is not UTF-8, such as cp1252 or utf-16.")
    ] = None
    normalize: Annotated[
        str | None,
        o.choice(
            "--normalize",
            "rows: every row at length 1; columns: as --scale-features; totals: every row at the "
            "median total, before all else.",
            ("rows", "columns", "totals"),
            PANEL,
        ),
    ] = None
    log1p: Annotated[bool, o.flag("--log1p", "log(1 + x) of every entry.", PANEL)] = False
    tfidf: Annotated[bool, o.flag("--tfidf", "Counts of terms times how rare each is.", PANEL)] = (
        False
    )
    scale_features: Annotated[
        bool,
        o.flag("--scale-features", "Columns over the root of their mean square.", PANEL),
    ] = False
    max_memory: str | None = None  # an option of the solver too, so it stands among those

    @property
    def memory(self) -> int | None:
        """``max_memory`` in bytes."""
        return as_bytes(self.max_memory, "--max-memory")

    @property
    def missing_values(self) -> float | None:
        """What stands for a missing entry, as the library is told: NaN, or nothing."""
        return np.nan if self.missing else None

    @property
    def steps(self) -> tuple[str, ...]:
        """How the matrix is prepared, in the words of `normalization.STEPS`."""
        flags = [name.replace("_", "-") for name in PREPARING[1:] if getattr(self, name)]
        chosen = [] if self.normalize is None else [self.normalize]
        wanted = ["scale-features" if name == "columns" else name for name in (*flags, *chosen)]
        return tuple(dict.fromkeys(wanted))

    def plain(self) -> dict[str, Any]:
        """The same as JSON has it, with paths that hold from anywhere."""
        names = {name: as_written(getattr(self, name)) for name in ("row_names", "feature_names")}
        return asdict(self) | names

    @staticmethod
    def from_plain(values: dict[str, Any]) -> Reading:
        """What :meth:`plain` was made of."""
        kinds = get_type_hints(Reading)
        given = {name: values[name] for name in kinds if name in values}
        for name, value in given.items():
            if not isinstance(value, kinds[name]) or "\0" in str(value):
                raise InvalidInputError(f"how to read the data is not clear: {name} is {value!r}")
        return Reading(**given)


def takes_reading(*left_out: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of `Reading` but some, in place of its parameter ``reading``."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        absent: dict[str, Any] = {"missing": None} if "missing" in left_out else {}
        own = inspect.signature(command, eval_str=True).parameters.values()
        hints = get_type_hints(Reading, include_extras=True)
        options = [
            inspect.Parameter(
                field.name, KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
            )
            for field in fields(Reading)
            if field.name not in (*left_out, "max_memory")
        ]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            taken = {option.name: given.pop(option.name) for option in options}
            command(reading=Reading(**{**absent, **taken}), **given)

        others = [each.replace(kind=KEYWORD_ONLY) for each in own if each.name != "reading"]
        run.__dict__["__signature__"] = inspect.Signature([*others, *options])
        return run

    return decorate


def read_data(
    file: str, reading: Reading, *, quiet: bool = True, stream: bool = False
) -> NamedMatrix:
    """Read a matrix; names given in files of their own take the place of those in it.

    With ``stream`` a large dense matrix in HDF5 or Zarr is left there, as one in ``.npy`` always
    is.
    """
    memory, limit = reading.memory, most_bytes(reading.max_bytes)
    largest = STREAM_ABOVE if memory is None else int(memory * SHARE_TO_READ)
    about("<stdin>" if file == "-" else file)
    with progress(f"reading {Path(file).name}", quiet):
        data = read_matrix(
            file,
            **{name: getattr(reading, name) for name in FOUND_OUT},
            allow_missing=reading.missing,
            max_bytes=limit,
            map_above=largest,
            stream_above=largest if stream else None,
            columns=None if reading.columns is None else o.as_names(reading.columns, "--columns"),
            drop=() if reading.drop is None else o.as_names(reading.drop, "--drop"),
        )
        needed = data.where_negative or "clip it at 0, or shift it to start there"
        missing = "fill them first" if reading.missing is None else MISSING
        about(data.source, {NegativeEntryError: needed, MissingEntryError: missing})
        for note in data.notes:
            say(f"{data.source}: {note}", "note")
        return _as_asked(data, reading, limit if memory is None else largest)


def _as_asked(data: NamedMatrix, reading: Reading, largest: int) -> NamedMatrix:
    """What was read, turned, named and prepared as the options say."""
    if reading.transpose:
        X = _in_memory(data, largest, TURNED).T
        X = X.tocsr() if hasattr(X, "tocsr") else np.ascontiguousarray(X)
        data = replace(data, X=X, row_names=data.column_names, column_names=data.row_names)
    n, m = data.X.shape
    if reading.row_names is not None:
        data = replace(data, row_names=read_names(reading.row_names, n, "rows"))
    if reading.feature_names is not None:
        data = replace(data, column_names=read_names(reading.feature_names, m, "columns"))
    if reading.steps:
        X = _in_memory(data, largest, PREPARED)
        X, preparation = prepare(X, reading.steps, missing_values=reading.missing_values)
        data = replace(data, X=X, preparation=preparation)
    return data


def _in_memory(data: NamedMatrix, largest: int, advice: str) -> Any:
    """The matrix in memory, refused where it is too large to be read whole."""
    X = data.X
    if hasattr(X, "tocsr"):
        return X
    if prod(X.shape) * X.dtype.itemsize > largest:
        raise InvalidInputError(f"a matrix that stays on disk cannot be {advice}")
    return np.asarray(X[:])


def most_bytes(text: str | None) -> int:
    """The size that ``--max-bytes`` names; half of the memory if there is none."""
    return as_bytes(text, "--max-bytes") or default_max_bytes()


def as_image_shape(text: str | None, n_features: int) -> tuple[int, int] | None:
    """A size such as 8x8 that fits the number of features."""
    if text is None:
        return None
    size = re.fullmatch(r"(\d+)\s*[xX\N{MULTIPLICATION SIGN},]\s*(\d+)", text.strip())
    if size is None:
        raise InvalidInputError(f"--image-shape: {text!r} is no size; write for instance 8x8")
    height, width = int(size[1]), int(size[2])
    if height * width != n_features:
        raise InvalidInputError(
            f"--image-shape: {height} x {width} is {height * width} pixels, "
            f"but there are {n_features} features"
        )
    return height, width


def weights_of(
    X: Any, sample_weight: Path | None, feature_weight: Path | None, kind: str | None = None
) -> dict[str, Any]:
    """The weights of both sides: from files, or of a ``kind`` that is made from the matrix."""
    files = {"sample_weight": sample_weight, "feature_weight": feature_weight}
    if kind is not None:
        if any(files.values()):
            raise InvalidInputError("--weights makes all weights; leave out the files with weights")
        return dict(zip(files, chi_square_weights(X), strict=True))
    return {
        name: None if path is None else _read_weights(path, size, side)
        for (name, path), size, side in zip(files.items(), X.shape, SIDES, strict=True)
    }


def _read_weights(path: Path, expected: int, side: str) -> Any:
    """One non-negative number per row or column, from any file that holds a matrix."""
    about(path)
    try:
        data = read_matrix(path, header=None, index=False).X
    except FileError as error:  # the options are those of the matrix, not of its weights
        raise FileError(error.problem) from error
    values = to_dense(data)
    if values.size != expected:
        raise InvalidInputError(f"{path}: it holds {values.size} weights for {expected} {side}")
    return values.ravel()


def read_known(groups: str | None, file: str, reading: Reading, n_rows: int) -> dict[str, Any]:
    """What was known of the rows before: ``groups``, ``positions`` and ``positions_name``.

    ``groups`` is a file with a name per line, or ``obs:NAME`` for what an .h5ad file says.
    """
    of_cells = file.endswith(".h5ad") and not reading.transpose
    request = Request(Path(file), file, most_bytes(reading.max_bytes))
    told: dict[str, Any] = {}
    if groups is not None and groups.startswith(OBSERVATION):
        if not of_cells:
            raise FileError(f"--groups {groups}: only rows of an .h5ad file have obs")
        told["groups"] = read_observation(request, groups.removeprefix(OBSERVATION), n_rows)
    elif groups is not None:
        about(groups)
        told["groups"] = read_names(groups, n_rows, "rows")
    map_of_cells = read_map(request, n_rows) if of_cells else None
    if map_of_cells is not None:
        told["positions_name"], told["positions"] = map_of_cells
    return told


def as_written(file: str | None) -> str | None:
    """A file as ``summary.json`` keeps it, a path that holds from anywhere; "-" and obs stay."""
    if file is None or file == "-" or file.startswith(OBSERVATION):
        return file
    return str(Path(file).resolve())
