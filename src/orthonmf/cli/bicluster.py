"""``orthonmf bicluster``: correlation clustering of a bipartite graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import orthonmf
from orthonmf.cli import options as o
from orthonmf.cli.certificates import plain_certificate
from orthonmf.cli.data import PREPARING, Reading, read_data, takes_reading
from orthonmf.cli.failures import about, say
from orthonmf.cli.folder import MODEL, PAGE, SUMMARY, check_folder, write_files
from orthonmf.cli.terminal import as_json, line, object_line, progress, prose, table, tell_seed
from orthonmf.correlation_clustering.graph import Biadjacency
from orthonmf.correlation_clustering.solve import ALGORITHMS, DEFAULT_N_INIT
from orthonmf.errors import InvalidInputError
from orthonmf.estimators.bipartite_correlation_clustering import BipartiteCorrelationClustering
from orthonmf.files.readers import NamedMatrix
from orthonmf.files.readers.opening import open_text
from orthonmf.files.readers.text import as_number, find_delimiter
from orthonmf.inputs.parameters import as_seed
from orthonmf.report.clusters_page import clusters_page
from orthonmf.report.tables import Table, names_or_numbers
from orthonmf.typing import Array

ROWS, COLUMNS = "rows.csv", "columns.csv"
EDGE_ENDINGS = (".txt", ".edges", ".edgelist")
MOST_SHOWN = 12


@takes_reading("missing", *PREPARING)
def bicluster(
    file: o.File,
    reading: Reading,
    output: Annotated[
        Path | None,
        o.output("Folder to write rows.csv, columns.csv, model.npz and summary.json into."),
    ] = None,
    report: Annotated[
        bool, o.page_flag("Also write the page report.html into the folder.")
    ] = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
    binarize: Annotated[
        float | None,
        o.value(
            "T",
            "Entries above this are edges (default: only 0 and 1 are accepted; in a list of "
            "edges, any weight above 0).",
        ),
    ] = None,
    algorithm: Annotated[
        str,
        o.choice(
            "--algorithm", "best: fewest disagreements found; paper: as published.", ALGORITHMS
        ),
    ] = "best",
    n_init: Annotated[
        int, o.solver("N", "Random starts from each side, for best.", min=0)
    ] = DEFAULT_N_INIT,
    seed: o.Seed = None,
) -> None:
    """Cluster a bipartite graph with the fewest disagreements (correlation clustering).

    FILE holds a 0/1 matrix or a list of edges, as .txt, .edges and tables of two columns do, and
    of three whose second holds names; --format says otherwise.

    A disagreement is an edge between clusters or a missing edge inside one, so clusters are nearly
    complete blocks, and their number follows from the data. For k communities whose edges are not
    nearly complete use orthonmf fit FILE --format edges --orthogonal both -k K.
    """
    if report and output is None:
        raise InvalidInputError("--report writes into a folder; name one with -o DIR")
    if output is not None:
        check_folder(output, (MODEL, ROWS, COLUMNS, PAGE, SUMMARY))
    listed = _lists_edges(file, reading)
    data = read_data(file, replace(reading, format="edges") if listed else reading, quiet=quiet)
    threshold = 0.0 if listed and binarize is None else binarize
    if binarize is None and listed and (data.X.data != 1).any():
        say(f"{data.source}: weights above 0 are edges; --binarize T asks for more than T", "note")
    about(data.source)
    graph = _as_graph(data, threshold)
    names = (data.row_names, data.column_names)
    named = Biadjacency(graph.edges, *(None if side is None else np.array(side) for side in names))
    drawn = as_seed(seed)
    with progress(f"clustering {Path(data.source).name}", quiet):
        model = BipartiteCorrelationClustering(algorithm, n_init=n_init, random_state=drawn)
        model.fit(named)
    summary = _summary(data, model)
    if output is not None:
        contents: dict[str, Any] = {
            MODEL: model,
            ROWS: _table("row", data.row_names, model.row_labels_),
            COLUMNS: _table("column", data.column_names, model.column_labels_),
        }
        if report:
            source = Path(data.source).name
            contents[PAGE] = clusters_page(model, graph.edges, source)
        contents[SUMMARY] = as_json(summary)
        write_files(output, contents)
    if json:
        object_line(summary)
        return
    _tell(data, model, summary)
    tell_seed(seed, drawn)
    if output is None:
        line("-o DIR keeps the cluster of every row and column; --report adds a page")
        return
    line(f"wrote {output}/: {' '.join(contents)}")
    if report:
        line(f"look at {(output / PAGE).resolve()}")


def _lists_edges(file: str, reading: Reading) -> bool:
    """Whether a file holds edges, as the option says, or its name, or its first lines."""
    if reading.format is not None:
        return reading.format == "edges"
    name = file.lower().removesuffix(".gz")
    if name.endswith((".csv", ".tsv")):
        return _begins_with_edges(Path(file))
    return name.endswith(EDGE_ENDINGS)


def _as_graph(data: NamedMatrix, threshold: float | None) -> Biadjacency:
    """The 0/1 matrix; what is none may be a list of edges that was not recognized."""
    try:
        return Biadjacency.from_matrix(data.X, threshold)
    except InvalidInputError as error:
        if not error.remedy:
            raise
        remedy = "--binarize T makes every entry above T an edge"
        if data.X.shape[1] == 3:
            remedy += "; if every line is a row, a column and a weight, use --format edges"
        raise InvalidInputError(error.problem, remedy) from error


def _begins_with_edges(path: Path) -> bool:
    """Whether a table has two columns, or three of which the second holds no numbers."""
    about(path)
    if not path.is_file():  # a pipe can be read once
        return False
    with open_text(path, errors="replace") as file:
        first, second = file.readline(100_000), file.readline(100_000)
    delimiter = find_delimiter([first, second])
    cells = [cell.strip() for cell in second.split(delimiter)]
    n_columns = first.count(delimiter) + 1
    return n_columns == 2 or (n_columns == len(cells) == 3 and as_number(cells[1]) is None)


def _summary(data: NamedMatrix, model: Any) -> dict[str, Any]:
    return {
        "orthonmf": orthonmf.__version__,
        "seed": model.random_state,
        "input": {"file": data.source, "shape": list(data.X.shape)},
        "clusters": [
            {"cluster": number, "rows": int(rows.sum()), "columns": int(columns.sum())}
            for number, (rows, columns) in enumerate(zip(model.rows_, model.columns_, strict=True))
        ],
        "disagreements": model.disagreements_,
        "certificate": plain_certificate(model.certificate_),
    }


def _table(side: str, names: Sequence[str] | None, labels: Array) -> Table:
    return (side, "cluster"), zip(
        names_or_numbers(names, len(labels)), labels.tolist(), strict=True
    )


def _tell(data: NamedMatrix, model: Any, summary: dict[str, Any]) -> None:
    n, m = data.X.shape
    clusters = summary["clusters"]
    alone = [
        size - sum(cluster[side] for cluster in clusters)
        for size, side in ((n, "rows"), (m, "columns"))
    ]
    line(f"{Path(data.source).name}: {n:,} rows, {m:,} columns")
    names = names_or_numbers(data.row_names, n)
    rows = []
    for number, cluster in enumerate(clusters):
        some = ", ".join(names[i] for i in np.flatnonzero(model.row_labels_ == number)[:5])
        rows.append((str(number), f"{cluster['rows']:,}", f"{cluster['columns']:,}", some))
    if rows:
        table(("cluster", "rows", "columns", "some of its rows"), rows, MOST_SHOWN)
        line()
    line(f"clusters: {len(clusters)}; in none: {alone[0]:,} rows and {alone[1]:,} columns")
    line(f"disagreements: {model.disagreements_:,}")
    prose(f"{model.certificate_}")
    prose(
        "clusters are nearly complete blocks; for K looser communities: orthonmf fit FILE "
        "--format edges --orthogonal both -k K"
    )
