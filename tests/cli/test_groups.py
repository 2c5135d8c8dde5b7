"""Known groups and a map: from files to the page, and kept for the next page."""

import json

import numpy as np
import pytest

from tests.cli.running import check_refused

GROUPS = [f"group {i % 2}" for i in range(30)]


@pytest.fixture
def matrix(tmp_path, blocks):
    np.save(tmp_path / "x.npy", blocks)
    (tmp_path / "groups.txt").write_text("\n".join(GROUPS) + "\n")
    return tmp_path


@pytest.mark.slow
def test_groups_and_chance_stand_on_the_page_and_on_the_next_one(matrix, run):
    given = ("-k", 3, "-o", "out", "--seed", 0, "--report", "--groups", "groups.txt")
    run("fit", "x.npy", *given, code=0)
    page = matrix / "out" / "report.html"
    first = page.read_text()
    assert "2 known groups against the components" in first
    summary = json.loads((matrix / "out" / "summary.json").read_text())
    assert 0 < summary["captured_by_chance"] < 1 - summary["relative_squared_error"]
    assert "chance alone gives" in first
    page.unlink()
    run("report", "out", code=0)
    assert page.read_text() == first


@pytest.mark.slow
def test_wrong_groups_are_refused_with_the_reason(matrix, run):
    (matrix / "few.txt").write_text("a\nb\n")
    given = ("fit", "x.npy", "-k", 3, "-o", "out", "--groups")
    check_refused(run(*given, "few.txt"), "2 names for 30 rows")
    check_refused(run(*given, "obs:kind"), "only rows of an .h5ad file have obs")
    assert not (matrix / "out").exists()


@pytest.mark.slow
def test_cells_bring_groups_and_a_map(matrix, run, blocks):
    h5py = pytest.importorskip("h5py")
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    with h5py.File(matrix / "x.h5ad", "w") as file:
        file["X"] = blocks
        obs = file.create_group("obs")
        obs["_index"] = np.array([f"c{i}" for i in range(30)], dtype="S")
        obs.attrs["_index"] = "_index"
        kinds = pandas.Categorical.from_codes([-1, *([0, 1] * 15)][:30], ["B", "T"])
        anndata.io.write_elem(obs, "kind", kinds)
        obs["plain"] = np.array(GROUPS, dtype="S")
        file.create_group("obsm")["X_umap"] = np.random.default_rng(0).random((30, 2))
    given = ("-k", 3, "-o", "out", "--h5ad", "none", "--report", "--groups")
    run("fit", "x.h5ad", *given, "obs:kind", code=0)
    page = (matrix / "out" / "report.html").read_text()
    assert "3 known groups" in page  # B, T, and one cell without
    assert "X_umap of the rows" in page
    run("fit", "x.h5ad", *given, "obs:plain", code=0)
    assert "2 known groups" in (matrix / "out" / "report.html").read_text()
    check_refused(run("fit", "x.h5ad", *given, "obs:nothing"), "it has kind, plain")
