"""``orthonmf fit``: from a file to a folder with the answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from orthonmf.cautions import in_options
from orthonmf.certificate import CERTIFICATE_SECONDS
from orthonmf.cli import options as o
from orthonmf.cli.annotated import annotate
from orthonmf.cli.certificates import prove, tell_proof
from orthonmf.cli.data import (
    Reading,
    as_image_shape,
    as_written,
    read_data,
    read_known,
    takes_reading,
    weights_of,
)
from orthonmf.cli.failures import about
from orthonmf.cli.folder import PAGE, check_folder, read_selection, summary_of, write_folder
from orthonmf.cli.terminal import line, object_line, progress, prose, table, tell_seed
from orthonmf.engine.losses import FROBENIUS
from orthonmf.errors import InvalidInputError
from orthonmf.fitting import INITS, factorize
from orthonmf.report import Story, find
from orthonmf.report.chance import captured_by_chance
from orthonmf.report.story import percent

MOST_SHOWN = 40
# Wider tables of a core do not fit a terminal; core.csv has them.
MOST_GROUPS = 8


@takes_reading()
def fit(
    file: o.File,
    reading: Reading,
    components: o.Components = "8",
    orthogonal: o.Orthogonal = "samples",
    output: Annotated[
        Path | None, o.output("Folder to write (default: NAME.orthonmf here).")
    ] = None,
    report: Annotated[bool, o.page_flag("Also write the page report.html.")] = False,
    image_shape: o.ImageShape = None,
    groups: o.Groups = None,
    h5ad: Annotated[
        str,
        o.choice("--h5ad", "Of .h5ad: a copy with results in DIR.", ("copy", None), o.OUTPUT),
    ] = "copy",
    json: o.Json = False,
    quiet: o.Quiet = False,
    beta_loss: o.BetaLoss = FROBENIUS,
    algorithm: o.Algorithm = "best",
    init: o.Init = "auto",
    kmeans: o.Kmeans = None,
    n_init: o.NInit = o.N_INIT,
    max_iter: Annotated[int, o.solver("N", "Most sweeps of a descent.", min=1)] = o.MAX_ITER,
    tol: Annotated[
        float, o.solver("SHARE", "Stop when a sweep gains less than this share.", min=0.0)
    ] = o.TOL,
    certificate: o.Proof = "svd",
    certificate_seconds: o.ProofSeconds = CERTIFICATE_SECONDS,
    sample_weight: Annotated[Path | None, o.solver("FILE", "One weight per row.")] = None,
    feature_weight: Annotated[Path | None, o.solver("FILE", "One weight per column.")] = None,
    weights: o.Weights = None,
    refits: o.Refits = 0,
    seed: o.Seed = None,
    jobs: o.Jobs = None,
    max_memory: o.MaxMemory = None,
    checkpoint: o.CheckpointFile = None,
) -> None:
    """Factorize FILE, write a folder, and say how far from optimal the answer can be.

    Begin with select-k, which suggests how many components, and with samples, which gives every
    row to one component. Over both rows and columns are cut into blocks: good for communities of
    a bipartite graph (--format edges --orthogonal both -k K), while of most counts it is one block
    of everything. For the clusters of a graph with the fewest disagreements see bicluster.
    """
    if refits == 1:
        raise InvalidInputError("--refits 1 has nothing to compare with; 20 is good, 2 the fewest")
    reading = replace(reading, max_memory=max_memory)
    stem = "stdin" if file == "-" else Path(file).name.split(".")[0] or "matrix"
    folder = output or Path(f"{stem}.orthonmf")
    check_folder(folder)
    if checkpoint is not None and not checkpoint.absolute().parent.is_dir():
        # Better now than after hours of work.
        raise InvalidInputError(f"--checkpoint: there is no folder {checkpoint.absolute().parent}")
    options: dict[str, Any] = {
        "n_components": components,
        "orthogonal": orthogonal,
        "beta_loss": beta_loss,
        "algorithm": algorithm,
        "init": init,
        "kmeans": kmeans,
        "n_init": n_init,
        "max_iter": max_iter,
        "tol": tol,
        "certificate": None if certificate == "none" else certificate,
        "certificate_seconds": certificate_seconds,
        "random_state": seed,
        "n_jobs": jobs,
        "max_memory": reading.memory,
    }
    data = read_data(file, reading, quiet=quiet, stream=True)
    n, m = data.X.shape
    name = Path(data.source).name
    shape = as_image_shape(image_shape, m)
    about(data.source)
    weighted = weights_of(data.X, sample_weight, feature_weight, weights)
    weighted["missing_values"] = reading.missing_values
    of_file = init not in INITS and Path(init).exists()
    start = read_data(init, Reading()).X if of_file else init
    known_before = read_known(groups, file, reading, n)
    about(data.source)
    with progress(f"factorizing {name}", quiet):
        result = factorize(
            data.X,
            **{**options, "init": start},
            **weighted,
            checkpoint=checkpoint,
            sample_names=data.row_names,
            feature_names=data.column_names,
        )
        cautions = in_options(result.cautions)
        result = replace(result, preparation=data.preparation, cautions=cautions)
    with progress(f"proving {name}", quiet):
        result = prove(result)
    stability = chance = None
    # What a result does not tell of its fit.
    untold = {name: weighted[name] for name in ("sample_weight", "missing_values")}
    untold["n_jobs"] = jobs
    if refits:
        with progress(f"refitting {name}", quiet):
            stability = result.refit(
                data.X, refits, random_state=result.random_state, max_memory=max_memory, **untold
            )
    with progress(f"looking at {name}", quiet):
        missing = reading.missing_values
        findings = find(data.X, result, missing_values=missing, n_jobs=jobs, max_memory=max_memory)
    if report:
        with progress("fitting shuffled data", quiet):
            chance = captured_by_chance(findings.matrix, result, **untold)
    with progress("writing", quiet):
        story = Story(
            result,
            findings,
            name,
            image_shape=shape,
            selection=read_selection(folder),
            remarks=_remarks(weighted, reading),
            chance=chance,
            stability=stability,
            by_command=True,
            **known_before,
        )
        source = {"file": as_written(file), "reading": reading.plain()}
        options |= {"image_shape": image_shape, "groups": as_written(groups)}
        options |= {"weights": weights, "refits": refits}
        summary = summary_of(story, source, options)
        names = write_folder(folder, story, summary, with_page=report)
        if file.endswith(".h5ad") and h5ad == "copy" and not reading.transpose:
            names.append(annotate(Path(file), folder, story))
    if json:
        object_line({**summary, "folder": str(folder), "files": names})
        return
    for caution in summary["cautions"]:
        prose(f"caution: {caution}")
    _tell(story, summary, folder, names)
    tell_seed(seed, result.random_state)


def _remarks(weights: dict[str, Any], reading: Reading) -> list[str]:
    remarks = []
    if reading.steps:
        norms = ("totals", "rows")
        steps = (f"--normalize {name}" if name in norms else f"--{name}" for name in reading.steps)
        remarks.append(f"The matrix was prepared before the fit: {', '.join(steps)}.")
    if weights["sample_weight"] is not None or weights["feature_weight"] is not None:
        remarks.append("The fit was weighted; shares and energies on this page are not.")
    if weights["missing_values"] is not None:
        remarks.append("Missing entries are left out of the error and drawn as nothing.")
    return remarks


def _tell(story: Story, summary: dict[str, Any], folder: Path, names: list[str]) -> None:
    """The answer in a few lines."""
    n, m = story.shape
    line(f"{story.source}: {n:,} x {m:,}, {story.findings.matrix.n_entries:,} entries")
    rows = []
    for number, component in enumerate(summary["components"]):
        distinctive = ", ".join(map(story.column, story.distinctive_columns(number, 6)))
        counts = [f"{component[side]:,}" for side in ("rows", "features")]
        rows.append((str(number), *counts, percent(component["energy"]), distinctive))
    headings = ("component", "rows", "features", story.loss.amount, "what makes it different")
    table(headings, rows, MOST_SHOWN)
    if story.has_core:
        _tell_core(story, summary["feature_groups"])
    line()
    if story.stability is not None:
        for sentence in (story.stability.summary(), *story.stability.findings()):
            prose(sentence)
        line()
    tell_proof(story.result)
    seconds = story.result.certificate.seconds
    proof = f", the certificate {seconds:.2f} s" if seconds else ""
    line(f"the fit took {story.result.seconds:.2f} s{proof}")
    prose(f"wrote {folder}/: {' '.join(names)}")
    if PAGE in names:
        line(f"look at {(folder / PAGE).resolve()}")


def _tell_core(story: Story, groups: list[dict[str, Any]]) -> None:
    """The groups of columns, and how much every component takes from each."""
    line()
    rows = []
    for number, group in enumerate(groups):
        heaviest = ", ".join(map(story.column, story.top_of_group(number, 6)))
        rows.append((str(number), f"{group['features']:,}", percent(group["energy"]), heaviest))
    table(("group", "features", story.loss.amount, "heaviest features"), rows)
    if story.n_groups > MOST_GROUPS:
        return
    line()
    core = [
        (f"component {component}", *(f"{percent(share):>7}" for share in shares))
        for component, shares in enumerate(story.core_shares.tolist())
    ]
    groups_named = [f"group {group}" for group in range(story.n_groups)]
    table((f"core ({story.loss.amount})", *groups_named), core)
