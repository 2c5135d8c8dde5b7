"""Preparing a matrix: every step, dense and sparse, and the record that repeats it."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from orthonmf.errors import InvalidInputError, NegativeEntryError
from orthonmf.normalization import prepare
from tests.arrays import to_array


@pytest.fixture
def X():
    X = np.random.default_rng(0).poisson(1.0, (20, 7)).astype(float)
    X[3], X[:, 5] = 0, 0
    return X


def over(X, lengths):
    return X / np.where(lengths > 0, lengths, 1)


EXPECTED = {
    "rows": lambda X: over(X, np.linalg.norm(X, axis=1, keepdims=True)),
    "totals": lambda X: (
        over(X, X.sum(axis=1, keepdims=True)) * np.median(X.sum(axis=1)[X.any(axis=1)])
    ),
    "log1p": np.log1p,
    "tfidf": lambda X: TfidfTransformer(norm=None).fit_transform(X).toarray(),
    "scale-features": lambda X: over(X, np.sqrt((X**2).mean(axis=0))),
}


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
@pytest.mark.parametrize("step", EXPECTED)
def test_every_step_does_what_it_says_in_any_form(step, dtype, X):
    given = X.astype(dtype)
    before = given.copy()
    dense, _ = prepare(given, [step])
    assert np.allclose(dense, EXPECTED[step](X), rtol=1e-6)
    sparse, _ = prepare(csr_array(given), [step])
    assert np.allclose(sparse.toarray(), dense, rtol=1e-6)
    assert dense.dtype == sparse.dtype == (np.float32 if dtype == np.float32 else np.float64)
    assert np.array_equal(given, before)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("step", ["rows", "totals", "scale-features"])
@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_the_size_of_the_numbers_does_not_matter(size, step, form, X):
    unit = size if step == "totals" else 1.0
    prepared, _ = prepare(form(X * size), [step])
    expected, _ = prepare(X, [step])
    prepared = to_array(prepared)
    np.testing.assert_allclose(prepared, expected * unit, rtol=1e-9)


def test_steps_are_taken_in_the_order_of_the_table_and_repeated_on_new_rows(X):
    prepared, record = prepare(X, ["rows", "tfidf", "log1p"])
    assert record.names == ("log1p", "tfidf", "rows")
    one_by_one = X
    for step in record.names:
        one_by_one, _ = prepare(one_by_one, [step])
    assert np.allclose(prepared, one_by_one)
    assert np.allclose(record.apply(X), prepared)
    assert np.allclose(record.apply(X[:4]), prepared[:4])  # with what all rows have set
    assert not np.allclose(prepare(X[:4], ["tfidf"])[0], prepare(X, ["tfidf"])[0][:4])


def test_what_is_no_amount_is_refused_with_its_place(X):
    X[2, 1] = -1
    with pytest.raises(NegativeEntryError, match=r"X\[2, 1\] = -1"):
        prepare(X, ["log1p"])
    with pytest.raises(InvalidInputError, match="did you mean tfidf"):
        prepare(X, ["tf-idf"])


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_missing_entries_stay_missing_and_count_as_nothing(X, form):
    filled = X.copy()
    X[1, 1], filled[1, 1] = np.nan, 0.0
    prepared, _ = prepare(form(X), list(EXPECTED), missing_values=np.nan)
    expected, _ = prepare(filled, list(EXPECTED))
    prepared = to_array(prepared)
    assert np.argwhere(np.isnan(prepared)).tolist() == [[1, 1]]
    assert np.allclose(np.nan_to_num(prepared), expected)
