"""``orthonmf certify``: labels of anyone, and answers that are there already."""

import json
import pickle

import numpy as np
import pytest

import orthonmf
from orthonmf.bounds import table
from orthonmf.cli.certificates import prove
from tests.cli.running import check_refused


@pytest.fixture
def matrix(tmp_path):
    X = np.random.default_rng(0).exponential(size=(30, 8))
    np.save(tmp_path / "x.npy", X)
    return X


def write_labels(path, labels):
    path.write_text("".join(f"{label}\n" for label in labels))
    return str(path)


@pytest.mark.slow
def test_labels_of_a_file_are_judged(tmp_path, run, matrix):
    rows = write_labels(tmp_path / "rows.txt", ["a", "b", "c"] * 10)
    done = run("certify", str(tmp_path / "x.npy"), "--labels", rows, "--json", code=0)
    told = json.loads(done.out)
    expected = orthonmf.certify(matrix, ["a", "b", "c"] * 10)
    assert told["relative_squared_error"] == pytest.approx(expected.relative_squared_error)
    assert told["certificate"]["ratio"] == pytest.approx(expected.certificate.ratio)
    columns = write_labels(tmp_path / "columns.txt", ["a", "b"] * 4)
    both = run(
        "certify", str(tmp_path / "x.npy"), "--labels", rows, "--feature-labels", columns, "-k", "3"
    )
    assert "times the smallest possible; proven by" in " ".join(both.out.split()), both


@pytest.mark.parametrize("none", ["", "-1", "nan"])
def test_a_line_of_a_label_file_may_mean_no_group(tmp_path, run, matrix, none):
    labels = [*"abc" * 9, *[none] * 3]
    file = write_labels(tmp_path / "rows.txt", labels)
    given = ("--labels", file, "--certificate", "svd", "--json")
    done = run("certify", str(tmp_path / "x.npy"), *given, code=0)
    expected = orthonmf.certify(matrix, [*"abc" * 9, None, None, None], method="svd")
    told = json.loads(done.out)
    assert told["relative_squared_error"] == pytest.approx(expected.relative_squared_error)
    assert told["certificate"]["ratio"] == pytest.approx(expected.certificate.ratio)


def test_missing_cells_are_refused_without_an_option_that_would_not_help(tmp_path, run):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,\n1,1\n")
    file = write_labels(tmp_path / "rows.txt", "aab")
    done = run("certify", str(tmp_path / "x.csv"), "--labels", file, "--missing", code=2)
    told = " ".join(done.err.split())
    assert "nothing is proven about a matrix with missing entries: impute them" in told
    assert "--missing" not in told


def test_a_folder_gets_a_certificate_and_keeps_it(tmp_path, run, matrix):
    folder = tmp_path / "answer"
    given = ("-k", "3", "--seed", "0", "--certificate", "none", "-o", str(folder), "--report")
    run("fit", str(tmp_path / "x.npy"), *given, code=0)
    before = json.loads((folder / "summary.json").read_text())
    assert before["certificate"]["ratio"] is None
    done = run("certify", str(folder), code=0)
    assert "orthonmf report" in done.out
    after = json.loads((folder / "summary.json").read_text())
    assert after["certificate"]["ratio"] > 1
    assert {**after, "certificate": 0} == {**before, "certificate": 0}
    assert orthonmf.load(folder / "model.npz").certificate.ratio == after["certificate"]["ratio"]


def test_a_folder_whose_data_changed_is_left_as_it_is(tmp_path, run, matrix):
    folder = tmp_path / "answer"
    run("fit", str(tmp_path / "x.npy"), "-k", "3", "-o", str(folder), code=0)
    before = (folder / "summary.json").read_bytes(), (folder / "model.npz").read_bytes()
    np.save(tmp_path / "x.npy", matrix[::-1])
    check_refused(run("certify", str(folder)), "not what it was in the fit")
    assert ((folder / "summary.json").read_bytes(), (folder / "model.npz").read_bytes()) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("x.npy", "give the partition with --labels"),
        ("x.npy --labels short.txt", "short.txt"),
        ("x.npy --labels rows.txt -k 2", "the labels name 3 groups, but n_components is 2"),
        ("x.npy --labels rows.txt --certificate none", "'none' is not one of svd, tight"),
        ("x.npy --labels rows.txt --data x.npy", "--data names the data of a folder"),
        ("answer -k 3", "a folder knows its labels"),
        ("answer --feature-weight w.txt", "a folder knows its labels"),
        ("answer --transpose", "how its data are read"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_line(tmp_path, run, matrix, words, message):
    write_labels(tmp_path / "rows.txt", "abc" * 10)
    write_labels(tmp_path / "short.txt", "ab")
    if words.startswith("answer"):
        run("fit", "x.npy", "-k", 3, "-o", "answer", code=0)
    check_refused(run("certify", *words.split()), message)


def test_a_fit_is_kept_when_there_is_no_room_for_its_certificate(monkeypatch):
    monkeypatch.setattr(table, "GRAM_COPIES", 10**18)
    result = orthonmf.factorize(np.random.default_rng(0).random((20, 8)), 2, random_state=0)
    proven = prove(result)
    assert proven.components is result.components
    assert "the certificate takes about" in str(proven.certificate)
    assert pickle.loads(pickle.dumps(proven)).certificate == proven.certificate
