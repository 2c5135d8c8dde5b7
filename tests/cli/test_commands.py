"""Every command, as users run it."""

import csv
import json

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

import orthonmf
from orthonmf.kmeans.subroutines import SUBROUTINES
from orthonmf.onmf.algorithms import INITS, NAMES, SETTINGS
from tests.cli.running import check_refused, rows_of, run_fresh

FILES = {"model.npz", "assignments.csv", "features.csv", "components.csv", "summary.json"}


@pytest.mark.slow
def test_fit_writes_a_folder_with_names_and_the_same_numbers_as_python(table, tmp_path, blocks):
    done = run_fresh("fit", table, "-k", "3", "--seed", "0", "-o", "out", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.err == ""
    folder = tmp_path / "out"
    assert {path.name for path in folder.iterdir()} == FILES
    result = orthonmf.factorize(blocks, 3, random_state=0)
    model = orthonmf.load(folder / "model.npz")
    assert np.array_equal(model.labels, result.labels)
    assert np.array_equal(model.components, result.components)
    assigned = rows_of(folder / "assignments.csv")
    assert [row["row"] for row in assigned] == [f"r{i}" for i in range(30)]
    assert [int(row["component"]) for row in assigned] == result.labels.tolist()
    assert [float(row["scale"]) for row in assigned] == result.scales.tolist()
    shares = np.array([float(row["share_captured"]) for row in assigned])
    assert np.allclose(shares, result.scales**2 / (blocks**2).sum(axis=1))
    weights = {
        (int(row["component"]), row["feature"]): float(row["weight"])
        for row in rows_of(folder / "components.csv")
    }
    assert weights[0, "f3"] == result.components[0, 3]
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["relative_squared_error"] == result.relative_squared_error
    assert summary["exactly_orthogonal"] is True
    assert "at most" in summary["certificate"]["sentence"]
    assert max(map(len, done.out.splitlines())) <= 80
    assert "relative squared error" in done.out


def test_fit_with_two_numbers_writes_and_tells_the_core(table, tmp_path, blocks, run):
    arguments = ("fit", table, "--orthogonal", "both", "--seed", "0", "-o", "out", "-q")
    done = run(*arguments, "-k", "3,2", code=0)
    folder = tmp_path / "out"
    assert {path.name for path in folder.iterdir()} == FILES | {"core.csv"}
    result = orthonmf.factorize(blocks, (3, 2), orthogonal="both", random_state=0)
    model = orthonmf.load(folder / "model.npz")
    assert model.n_components == (3, 2)
    assert np.array_equal(model.core, result.core)
    core = rows_of(folder / "core.csv")
    assert [float(row["core"]) for row in core] == result.core.ravel().tolist()
    groups = [int(row["group"]) for row in rows_of(folder / "features.csv")]
    assert groups == result.feature_labels.tolist()
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["n_components"] == [3, 2]
    assert summary["exactly_orthogonal"] is True
    assert np.sum(summary["core"]) == pytest.approx(summary["captured"])
    assert "component 2" in done.out
    assert "group 1" in done.out
    labels = ("--labels", "rows.txt", "--feature-labels", "columns.txt")
    np.savetxt(tmp_path / "rows.txt", result.labels, fmt="%d")
    np.savetxt(tmp_path / "columns.txt", result.feature_labels, fmt="%d")
    judged = run("certify", table, *labels, "-k", "3,2", "--certificate", "svd", "--json", "-q")
    error = json.loads(judged.out)["relative_squared_error"]
    assert error == pytest.approx(result.relative_squared_error, rel=1e-6)
    run(*arguments, "-k", "2", code=0)
    assert {path.name for path in folder.iterdir()} == FILES


@pytest.mark.parametrize("setting", ["samples", "features", "both"])
def test_json_is_one_object_and_nothing_else(setting, table, run):
    done = run(
        "fit", table, "-k", "3", "--orthogonal", setting, "--json", "--report", "-o", "out", code=0
    )
    summary = json.loads(done.out)
    assert summary["n_components_found"] == 3
    assert sum(part["rows"] for part in summary["components"]) == 30
    assert summary["captured"] == pytest.approx(1 - summary["relative_squared_error"])
    assert "report.html" in summary["files"]


def test_a_long_table_ends_with_how_much_is_left_out(tmp_path, run):
    np.save(tmp_path / "x.npy", np.eye(50))
    told = run("fit", "x.npy", "-k", 50, "--certificate", "none", "--seed", 0, code=0).out
    assert "\n and 10 more\n" in told


def test_every_option_of_the_solver_can_be_given(table, tmp_path, run):
    (tmp_path / "w.txt").write_text("\n".join(["1.5"] * 30) + "\n")
    (tmp_path / "v.txt").write_text("\n".join(["2"] * 12) + "\n")
    run(
        "fit", table, "-k", 3, "--orthogonal", "features", "--init", "lines", "--n-init", 2,
        "--max-iter", 50, "--tol", 1e-4, "--certificate", "tight", "--certificate-seconds", 20,
        "--seed", 3, "-j", 1,
        "--sample-weight", "w.txt", "--feature-weight", "v.txt", "-o", "out", "--quiet", code=0,
    )  # fmt: skip
    run(
        "fit", table, "-k", 3, "--orthogonal", "both", "--algorithm", "paper",
        "--kmeans", "k-means||", "--certificate", "none", code=0,
    )  # fmt: skip
    assert (tmp_path / "table.orthonmf" / "model.npz").exists()
    np.save(tmp_path / "start.npy", np.eye(3, 12))
    run("fit", table, "-k", 3, "--init", "start.npy", "--max-iter", 1, "-o", "out", code=0)


def test_an_option_that_would_be_ignored_is_refused_in_one_line(table, run):
    done = run("fit", table, "-k", 3, "--orthogonal", "both", "--init", "lines")
    check_refused(done, "init='lines' would be ignored")
    done = run("bicluster", table, "--binarize", 0.5, "--algorithm", "paper", "--n-init", 9)
    check_refused(done, "n_init=9 would be ignored")


def test_choices_and_help_texts_are_those_of_the_tables(run):
    told = " ".join(run("fit", "--help").out.replace("\u2502", " ").split())
    for name in (*NAMES, *SETTINGS, *INITS, *SUBROUTINES, "svd", "tight", "none"):
        assert name in told
    for option, table in [("--kmeans", SUBROUTINES), ("--algorithm", NAMES)]:
        done = run("fit", "x.csv", option, "fancy")
        check_refused(done, f"'fancy' is not one of {', '.join(table)}")


def test_missing_values_are_left_out_when_asked(table, tmp_path, run):
    text = table.read_text().splitlines()
    cells = text[3].split(",")
    cells[4] = ""
    text[3] = ",".join(cells)
    table.write_text("\n".join(text))
    assert run("fit", table, "-k", 3).err == (
        f"orthonmf: error: {table}: line 4: column 5 ('f3'): the cell is empty, which is no "
        "number; --missing leaves such cells out\n"
    )
    done = run("fit", table, "-k", 3, "--missing", "--report", "-o", "out", "--json", code=0)
    summary = json.loads(done.out)
    assert summary["captured"] == pytest.approx(1 - summary["relative_squared_error"], abs=1e-9)


def test_transform_on_the_same_file_gives_the_same_table(table, tmp_path, run):
    run("fit", table, "-k", 3, "-o", "out", "--seed", 0, code=0)
    assigned = (tmp_path / "out" / "assignments.csv").read_text()
    assert run("transform", "out", table).out == assigned
    run("transform", "out/model.npz", table, "-o", "new.csv", code=0)
    assert (tmp_path / "new.csv").read_text() == assigned
    told = json.loads(run("transform", "out", table, "--json").out)
    assert told["rows"] == 30


def test_transform_over_features_gives_all_loadings(table, tmp_path, run, blocks):
    run("fit", table, "-k", 3, "-o", "out", "--seed", 0, "--orthogonal", "features")
    done = run("transform", "out", table)
    model = orthonmf.load(tmp_path / "out" / "model.npz")
    lines = list(csv.reader(done.out.splitlines()))
    assert lines[0] == ["row", "component_0", "component_1", "component_2"]
    assert np.array_equal(np.array([row[1:] for row in lines[1:]], float), model.loadings)


def test_transform_refuses_columns_in_another_order(table, tmp_path, run):
    run("fit", table, "-k", 3, "-o", "out")
    lines = [line.split(",") for line in table.read_text().splitlines()]
    swapped = [[row[0], row[2], row[1], *row[3:]] for row in lines]
    other = tmp_path / "other.csv"
    other.write_text("\n".join(",".join(row) for row in swapped))
    done = run("transform", "out", other)
    check_refused(done, "column 0 is 'f1', but the model has 'f0' there")


@pytest.mark.slow
def test_select_k_suggests_and_the_report_shows_the_curve(table, tmp_path, run):
    done = run(
        "select-k", table, "--k", "2:4", "--repetitions", 2, "--seed", 0, "-o", "out", code=0
    )
    assert "suggested: 3" in done.out
    kept = json.loads((tmp_path / "out" / "selection.json").read_text())
    assert [tried["n_components"] for tried in kept["candidates"]] == [2, 3, 4]
    assert kept["suggestion"] == 3
    run("fit", table, "-k", 3, "-o", "out", "--report", code=0)
    assert "Error for each number of components" in (tmp_path / "out/report.html").read_text()


def test_report_makes_the_page_again_and_notices_changed_data(table, tmp_path, run):
    run("fit", table, "-k", 3, "-o", "out", "--report", "--image-shape", "3x4", "--seed", 0)
    page = tmp_path / "out" / "report.html"
    first = page.read_text()
    page.unlink()
    done = run("report", "out", code=0)
    assert done.out == f"look at {page}\n"
    assert page.read_text() == first
    table.write_text(table.read_text().replace("r0,", "r0,9", 1))
    changed = run("report", "out")
    assert (changed.code, page.read_text()) == (2, first)
    assert "has changed since" in changed.err


def test_a_page_that_is_there_is_never_left_behind(table, tmp_path, run):
    run("fit", table, "-k", 3, "-o", "out", "--report")
    run("fit", table, "-k", 2, "-o", "out")
    assert "2 groups of rows explain" in (tmp_path / "out/report.html").read_text()


def test_bicluster_reads_edges_and_matrices(tmp_path, run):
    (tmp_path / "g.txt").write_text("# likes\nann tea\nann milk\nbob tea\nbob milk\ncid rum\n")
    done = run("bicluster", "g.txt", "-o", "out", "--seed", 0, code=0)
    assert "disagreements: 0" in done.out
    assert rows_of(tmp_path / "out" / "rows.csv") == [
        {"row": "ann", "cluster": "0"}, {"row": "bob", "cluster": "0"},
        {"row": "cid", "cluster": "1"},
    ]  # fmt: skip
    model = orthonmf.load(tmp_path / "out" / "model.npz")
    assert list(model.column_names_) == ["tea", "milk", "rum"]
    (tmp_path / "m.csv").write_text(",a,b,c\nx,1,1,0\ny,0,0,1\n")
    told = json.loads(run("bicluster", "m.csv", "--json").out)
    assert (told["disagreements"], told["input"]["shape"]) == (0, [2, 3])
    (tmp_path / "n.csv").write_text("3,1,0\n0,2,5\n")
    run("bicluster", "n.csv", code=2)
    run("bicluster", "n.csv", "--binarize", 1.5, code=0)


def test_bicluster_says_what_it_takes_for_a_header_and_makes_of_weights(tmp_path, run):
    (tmp_path / "g.csv").write_text("woman;event\nann;e1\nbob;e1\nbob;e2\neva;e2\n")
    done = run("bicluster", "g.csv", "--seed", 0, code=0)
    assert done.out.startswith("g.csv: 3 rows, 2 columns\n")
    assert done.err == (
        "orthonmf: note: g.csv: first line taken as header; --no-header to keep it\n"
    )
    kept = run("bicluster", "g.csv", "--no-header")
    assert (kept.out.splitlines()[0], kept.err) == ("g.csv: 4 rows, 3 columns", "")

    (tmp_path / "weighted.csv").write_text("ann,tea,3\nbob,tea,1\n")
    done = run("bicluster", "weighted.csv", "--format", "edges", code=0)
    assert "weights above 0 are edges; --binarize T" in done.err
    assert run("bicluster", "weighted.csv", "--format", "edges", "--binarize", 2).err == ""


@pytest.mark.slow
def test_demo_writes_three_pages_and_says_what_comes_next(tmp_path, run):
    done = run("demo", "--seed", 0, code=0)
    for setting in ("samples", "features", "both"):
        page = tmp_path / "orthonmf-demo" / setting / "report.html"
        assert str(page) in done.out.replace("\n", "")
        assert page.stat().st_size < 1_500_000
    assert "orthonmf fit FILE" in done.out
    assert "proven" in done.out
    assert done.out.count("promise") >= 3  # of every setting, or why there is none


@pytest.mark.slow
def test_standard_input_is_recognized_by_its_content(table, tmp_path, run, blocks):
    text = table.read_text()
    run("fit", "-", "-k", 3, "-o", "out", stdin=text, code=0)
    assert rows_of(tmp_path / "out" / "assignments.csv")[0]["row"] == "r0"
    assert run("fit", "-", "-k", 3, stdin="").err == (
        "orthonmf: error: <stdin>: the file is empty\n"
    )
    assert "--data" in run("report", "out").err
    save_npz(tmp_path / "s.npz", csr_array(blocks))
    piped = run_fresh("fit", "-", "-o", "n", cwd=tmp_path, stdin=(tmp_path / "s.npz").read_bytes())
    assert piped.code == 0, piped.err


@pytest.mark.parametrize("name", ["naïve 日本.csv", "-[x]{y}.csv"])
def test_odd_file_names_are_ordinary(name, table, tmp_path, run):
    table.rename(tmp_path / name)
    run("fit", "-k", 3, "-o", "an odd öut", "--report", "--", name, code=0)
    assert (tmp_path / "an odd öut" / "report.html").exists()
    missing = run("fit", "--", f"no {name}")
    check_refused(missing, f"error: no {name}: No such file or directory\n", code=1)


@pytest.mark.slow
def test_select_k_over_pairs_is_shown_as_a_table(table, tmp_path, run):
    arguments = ("--k", "2:2,2:3", "--orthogonal", "both", "--repetitions", 1, "--seed", 0)
    done = run("select-k", table, *arguments, "-o", "out", code=0)
    assert "2,3" in done.out
    kept = json.loads((tmp_path / "out" / "selection.json").read_text())
    assert len(kept["candidates"]) == 2
    assert len(kept["suggestion"]) == 2
    fit = ("fit", table, "-k", "3,3", "--orthogonal", "both", "-o", "out", "--report", "-q")
    run(*fit, code=0)
    assert "each pair of numbers of groups" in (tmp_path / "out" / "report.html").read_text()
