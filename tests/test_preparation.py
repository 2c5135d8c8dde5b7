"""Preparing a matrix: every step, dense and sparse, and the record that repeats it."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

import orthonmf
from orthonmf import preparation as p
from orthonmf.errors import InvalidInputError, NegativeEntryError


@pytest.fixture
def X():
    X = np.random.default_rng(0).poisson(1.0, (20, 7)).astype(float)
    X[3], X[:, 5] = 0, 0
    return X


EXPECTED = {
    p.normalize_rows: lambda X: normalize(X),
    p.normalize_totals: lambda X: normalize(X, "l1") * np.median(X.sum(axis=1)[X.any(axis=1)]),
    p.log1p: np.log1p,
    p.tfidf: lambda X: TfidfTransformer(norm=None).fit_transform(X).toarray(),
    p.scale_features: lambda X: X / np.where(X.any(axis=0), np.sqrt((X**2).mean(axis=0)), 1),
}


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
@pytest.mark.parametrize("step", EXPECTED, ids=lambda step: step.__name__)
def test_every_step_does_what_it_says_in_any_form(step, dtype, X):
    given = X.astype(dtype)
    before = given.copy()
    found = step(given)
    assert np.allclose(found, EXPECTED[step](X), rtol=1e-6)
    sparse = step(csr_array(given))
    assert np.allclose(sparse.toarray(), found, rtol=1e-6)
    assert found.dtype == sparse.dtype == (np.float32 if dtype == np.float32 else np.float64)
    assert np.array_equal(given, before)


def test_steps_are_taken_in_the_order_of_the_table_and_repeated_on_new_rows(X):
    prepared, record = p.prepare(X, ["rows", "tfidf", "log1p"])
    assert record.names == ("log1p", "tfidf", "rows")
    assert np.allclose(prepared, p.normalize_rows(p.tfidf(p.log1p(X))))
    assert np.allclose(record.apply(X), prepared)
    assert np.allclose(record.apply(X[:4]), prepared[:4])  # with what all rows have set
    assert not np.allclose(p.prepare(X[:4], ["tfidf"])[0], p.prepare(X, ["tfidf"])[0][:4])


def test_what_is_no_amount_is_refused_with_its_place(X):
    X[2, 1] = -1
    with pytest.raises(NegativeEntryError, match=r"X\[2, 1\] = -1"):
        p.prepare(X, ["log1p"])
    with pytest.raises(InvalidInputError, match="did you mean tfidf"):
        p.prepare(X, ["tf-idf"])


def test_missing_entries_stay_missing(X):
    X[1, 1] = np.nan
    prepared, _ = p.prepare(X, ["tfidf", "scale-features", "rows"], missing_values=np.nan)
    assert np.argwhere(np.isnan(prepared)).tolist() == [[1, 1]]


def test_a_model_records_how_its_matrix_was_prepared(X, tmp_path):
    prepared, record = p.prepare(X, ["totals", "log1p", "scale-features"])
    result = orthonmf.factorize(prepared, 3, random_state=0)
    from dataclasses import replace

    model = replace(result, preparation=record)
    orthonmf.save(model, tmp_path / "m")
    held = orthonmf.load(tmp_path / "m")
    assert held.preparation.names == record.names
    for found in (model, held):
        assert np.allclose((found.transform(X) - result.loadings).toarray(), 0)
