"""``orthonmf select-k``: how many components."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from orthonmf.cautions import in_options
from orthonmf.cli import options as o
from orthonmf.cli.data import Reading, read_data, takes_reading
from orthonmf.cli.folder import MEASURES, SELECTION, write_files
from orthonmf.cli.terminal import as_json, line, object_line, prose, table, tell_seed
from orthonmf.engine.losses import FROBENIUS
from orthonmf.errors import FewerComponentsWarning
from orthonmf.fitting import factorize
from orthonmf.selection import Selection, select_n_components

TRIALS = "trials.jsonl"


@takes_reading("missing", "row_names", "feature_names")
def select_k(
    file: o.File,
    reading: Reading,
    k: Annotated[
        str,
        o.value(
            "RANGE",
            "Numbers to try: 2:20, 2:40:2 or 3,5,8; over both 2:8,2:8: pairs.",
            "--k",
            "-k",
        ),
    ] = "2:12",
    orthogonal: o.Orthogonal = "samples",
    output: Annotated[
        Path | None,
        o.output(
            "Folder for selection.json, which the report shows, and trials.jsonl, from "
            "which an interrupted run goes on."
        ),
    ] = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    repetitions: Annotated[int, o.solver("N", "How often everything is repeated.", min=1)] = 3,
    beta_loss: o.BetaLoss = FROBENIUS,
    algorithm: o.Algorithm = "best",
    n_init: o.NInit = o.N_INIT,
    refits: Annotated[
        int, o.solver("N", "Also fit each number N times under random weights (10).", min=0)
    ] = 0,
    seed: o.Seed = None,
    jobs: o.Jobs = None,
) -> None:
    """Try several numbers of components on FILE and suggest one.

    For every number: the error and what is proven about it, the error in data whose columns
    were permuted, and how well two halves of the rows agree; of counts, under the divergence, what
    groups of one half of them lose of the other. Then: orthonmf fit FILE -k K.
    """
    numbers = o.as_candidates(k, "--k")
    data = read_data(file, reading, quiet=quiet)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
    selection = select_n_components(
        data.X,
        numbers,
        orthogonal=orthogonal,
        beta_loss=beta_loss,
        algorithm=algorithm,
        n_init=n_init,
        n_repetitions=repetitions,
        refits=refits,
        results=None if output is None else output / TRIALS,
        random_state=seed,
        n_jobs=jobs,
        verbose=int(not quiet),
    )
    # A number that is suggested for a table of IDs or totals would mislead.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerComponentsWarning)  # the table tells
        result = factorize(
            data.X,
            selection.suggestion,
            orthogonal=orthogonal,
            beta_loss=beta_loss,
            certificate=None,
            feature_names=data.column_names,
            random_state=selection.random_state,
            n_jobs=jobs,
        )
    cautions = in_options(result.cautions)
    values = {
        "cautions": cautions,
        "suggestion": selection.suggestion,
        "reason": selection.reason,
        "seed": selection.random_state,
        "orthogonal": orthogonal,
        "candidates": [asdict(candidate) for candidate in selection.candidates],
    }
    if output is not None:
        write_files(output, {SELECTION: as_json(values)})
    if json:
        object_line(values)
        return
    for caution in cautions:
        prose(f"caution: {caution}")
    _tell(selection)
    tell_seed(seed, selection.random_state)
    if output is not None:
        line(f"wrote {output}/: {SELECTION} {TRIALS}")


def _tell(selection: Selection) -> None:
    shown = {
        name: told
        for name, told in MEASURES.items()
        if any(getattr(candidate, name) is not None for candidate in selection.candidates)
    }
    rows = []
    for candidate in selection.candidates:
        measured = ((getattr(candidate, name), places) for name, (_, places, _) in shown.items())
        cells = ("-" if each is None else f"{each:.{places}f}" for each, places in measured)
        suggested = candidate.n_components == selection.suggestion
        rows.append((_show(candidate.n_components), *cells, "<- suggested" if suggested else ""))
    table(("k", *(heading for heading, _, _ in shown.values()), ""), rows)
    line()
    prose("; ".join(f"{heading}: {meaning}" for heading, _, meaning in shown.values()))
    line()
    prose(f"suggested: {_show(selection.suggestion)}, {selection.reason}")


def _show(size: Any) -> str:
    """A number of components, or two of them as -k of fit takes them."""
    return ",".join(map(str, size)) if isinstance(size, tuple) else str(size)
