"""The results file: exact, only growing, and whole after any end of its writer."""

import math
from dataclasses import replace

import pytest

from orthonmf.errors import InvalidInputError
from orthonmf.reproduction.rows import EARLIER, HEADER, ResultsFile, Row, read_rows

KEY = ("experiment-1", "planted", "samples", 5000, 100, 10, 0.1, 3, "nmf", 30.0)
FULL = Row(
    *KEY, 1 / 3, 2 / 3, 1e-300, 0.1 + 0.2, 5e-324, 1.25, 17, 'failed: "a", b', 1, math.inf,
    0.7,
)  # fmt: skip
EMPTY = Row("real-data", "bow-kos", "features", 3430, 6906, 6, None, 0, "best", 30.0, serial=0)


def test_the_header_is_the_agreed_one():
    assert HEADER == (
        "experiment,dataset,orthogonal,n_samples,n_features,n_components,noise,seed,method,"
        "time_limit,recovery_error,reconstruction_error,relative_squared_error,non_orthogonality,"
        "column_non_orthogonality,seconds,iterations,stop_reason,serial,planted_error,"
        "published_error"
    )


def test_rows_come_back_bit_by_bit(tmp_path):
    path = tmp_path / "results.csv"
    results = ResultsFile(path)
    results.add(FULL)
    results.add(EMPTY)
    assert read_rows(path) == [FULL, EMPTY] == list(ResultsFile(path).rows.values())
    assert FULL.key == KEY
    assert path.read_text().splitlines()[2] == (
        "real-data,bow-kos,features,3430,6906,6,,0,best,30.0,,,,,,,,,0,,"
    )


def test_the_last_row_of_a_run_counts(tmp_path):
    path = tmp_path / "results.csv"
    results = ResultsFile(path)
    again = Row(*KEY, recovery_error=2.0)
    for row in (FULL, EMPTY, again):
        results.add(row)
    assert read_rows(path) == [again, EMPTY]
    assert len(path.read_text().splitlines()) == 4


@pytest.mark.parametrize("torn", [b"exp", b"experiment-1,planted,samples,5000", b"\xc3"])
def test_a_torn_line_is_ignored_by_readers_and_cut_off_on_resuming(torn, tmp_path):
    path = tmp_path / "results.csv"
    ResultsFile(path).add(FULL)
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert read_rows(path) == [FULL]
    assert path.read_bytes() == whole + torn
    ResultsFile(path).add(EMPTY)
    assert path.read_bytes().startswith(whole)
    assert read_rows(path) == [FULL, EMPTY]


@pytest.mark.parametrize("length", [0, 1, len(HEADER)])
def test_a_torn_header_is_written_again(length, tmp_path):
    path = tmp_path / "results.csv"
    path.write_text(HEADER[:length])
    ResultsFile(path).add(FULL)
    assert read_rows(path) == [FULL]


def test_a_file_without_the_published_errors_is_read_and_gone_on_with(tmp_path):
    path = tmp_path / "results.csv"
    earlier = replace(FULL, published_error=None)
    path.write_text(f"{','.join(EARLIER)}\n")
    results = ResultsFile(path)
    cells = path.read_text()
    results.add(earlier)
    line = path.read_text()[len(cells) :].rstrip("\n").removesuffix(",")
    path.write_text(f"{cells}{line}\n")
    assert read_rows(path) == [earlier]
    ResultsFile(path).add(FULL)
    assert read_rows(path) == [FULL]


def test_a_file_of_somebody_else_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("name,value\na,1")
    for use in (read_rows, ResultsFile):
        with pytest.raises(InvalidInputError, match="line 1 is not the header"):
            use(path)
    assert path.read_text() == "name,value\na,1"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda line: line.replace("5000", "many"), "n_samples is 'many'"),
        (lambda line: line.replace(",nmf,30.0", ",nmf,"), "time_limit is ''"),
        (lambda line: line + ",1", "longer"),
        (lambda line: line.rsplit(",", 1)[0], "shorter"),
    ],
)
def test_a_damaged_line_is_named(change, what, tmp_path):
    path = tmp_path / "results.csv"
    results = ResultsFile(path)
    results.add(EMPTY)
    results.add(FULL)
    *lines, last = path.read_text().splitlines()
    path.write_text("\n".join([*lines, change(last)]) + "\n")
    with pytest.raises(InvalidInputError, match=f"line 3 is damaged .*{what}"):
        read_rows(path)
