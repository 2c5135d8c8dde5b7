"""Options that prepare the matrix and choose its columns, and what remembers them."""

import json

import numpy as np
import pytest

import orthonmf
from orthonmf import normalization
from tests.cli.running import check_refused, rows_of

STEPS = ("--log1p", "--tfidf", "--scale-features", "--normalize", "rows")


@pytest.fixture
def counts(tmp_path):
    X = np.random.default_rng(1).poisson(2.0, (30, 6))
    lines = ["name,kind," + ",".join(f"g{j}" for j in range(6))]
    lines += [f"r{i},text {i}," + ",".join(map(str, row)) for i, row in enumerate(X)]
    (tmp_path / "x.csv").write_text("\n".join(lines) + "\n")
    return X


def test_the_model_remembers_and_transform_repeats(counts, run, tmp_path):
    run("fit", "x.csv", "--drop", "kind", "-k", 3, "--seed", 0, *STEPS, "-o", "out", code=0)
    prepared, _ = normalization.prepare(counts, ["log1p", "tfidf", "scale-features", "rows"])
    model = orthonmf.load(tmp_path / "out" / "model.npz")
    same = orthonmf.factorize(prepared, 3, random_state=0)
    assert np.array_equal(model.components, same.components)
    assert model.feature_names == tuple(f"g{j}" for j in range(6))
    assert np.allclose(model.transform(counts).toarray(), same.loadings.toarray())
    again = run("transform", "out", "x.csv", "--drop", "kind", "-o", "again.csv")
    assert again.code == 0, again.err
    assert rows_of(tmp_path / "again.csv") == rows_of(tmp_path / "out" / "assignments.csv")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["input"]["reading"]["tfidf"] is True
    run("report", "out", code=0)
    run("certify", "out", "--certificate", "svd", code=0)


def test_chi_square_weights_are_remembered(counts, run, tmp_path):
    weighted = ("fit", "x.csv", "--drop", "kind", "-k", 2, "--weights", "chi-square", "-o", "out")
    run(*weighted, code=0)
    model = orthonmf.load(tmp_path / "out" / "model.npz")
    assert np.allclose(model.feature_weight, orthonmf.chi_square_weights(counts)[1])
    certified = run("certify", "out", "--certificate", "svd")
    assert certified.code == 0, certified.err
    both = run(*weighted, "--sample-weight", "x.csv")
    check_refused(both, "--weights makes all weights")


def test_columns_are_chosen_by_name_or_number(counts, run, tmp_path):
    done = run("fit", "x.csv", "--columns", "g1,g4,g5", "--drop", "g5", "-k", 2, "--json")
    assert json.loads(done.out)["input"]["shape"] == [30, 2]
    np.save(tmp_path / "x.npy", counts)
    done = run("fit", "x.npy", "--columns", "0,3", "-k", 2, "--json")
    assert json.loads(done.out)["input"]["shape"] == [30, 2]
    assert "no column 'g9'; did you mean g" in run("fit", "x.csv", "--drop", "g9").err
    assert "no column is left" in run("fit", "x.npy", "--drop", "0,1,2,3,4,5").err
    assert "--drop kind leaves columns of words out" in run("fit", "x.csv").err
