"""Every kind of sparse matrix: honest ones come through, corrupt ones are refused before use."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, dia_array, dok_array, lil_array

from orthonmf.correlation_clustering.graph import as_graph
from orthonmf.errors import InvalidInputError, OrthoNMFError
from orthonmf.estimators.orthogonal_nmf import OrthogonalNMF
from orthonmf.inputs.data import as_matrix
from orthonmf.inputs.sparse_structure import as_checked_csr
from orthonmf.measures import non_orthogonality

DENSE = np.array([[0.0, 2.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0], [3.0, 0.0, 4.0, 0.0]])
FORMATS = ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"]


def lil(rows, data=None):
    X = lil_array(DENSE.shape)
    X.rows[: len(rows)] = rows
    X.data[: len(rows)] = [[1.0] * len(one) for one in rows] if data is None else data
    return X


def lists(items):
    held = np.empty(len(items), dtype=object)
    held[:] = items
    return held


def dok(key, value=1.0):
    X = dok_array(DENSE.shape)
    X.setdefault((0, 0), 1.0)
    X._dict[key] = value  # past the check of the class: what a damaged pickle holds
    return X


def changed(X, **parts):
    for name, value in parts.items():
        setattr(X, name, value)
    return X


def dia(offsets, data=None):
    held = dia_array((np.ones((1, 4)), [0]), shape=(3, 4))
    return changed(held, offsets=np.array(offsets), data=held.data if data is None else data)


def coo(rows, columns):
    return changed(coo_array(DENSE), coords=(np.array(rows), np.array(columns)))


CORRUPT = {
    "lil column too large": lambda: lil([[1, 99]]),
    "lil column negative": lambda: lil([[-1]]),
    "lil more numbers than values": lambda: lil([[1, 2, 3]], [[1.0]]),
    "lil fewer numbers than values": lambda: lil([[1]], [[1.0, 2.0, 3.0]]),
    "lil fewer lists than rows": lambda: changed(lil([]), rows=lists([[], []])),
    "lil more lists than rows": lambda: changed(
        lil([]), rows=lists([[1]] * 900), data=lists([[1.0]] * 900)
    ),
    "lil without a list": lambda: changed(lil([]), rows=lists([None, [], []])),
    "lil column of text": lambda: lil([["a"]], [[1.0]]),
    "lil column of fractions": lambda: lil([[1.5]], [[1.0]]),
    "lil value of text": lambda: lil([[1]], [["7"]]),
    "lil value too large": lambda: lil([[1]], [[10**400]]),
    "dok row too large": lambda: dok((99, 1)),
    "dok row negative": lambda: dok((-1, 1)),
    "dok column huge": lambda: dok((0, 10**9)),
    "dok column beyond 64 bits": lambda: dok((0, 2**80)),
    "dok key of text": lambda: dok(("1", 1)),
    "dok key no pair": lambda: dok(7),
    "dok value of text": lambda: dok((0, 1), "7"),
    "dia too few offsets": lambda: dia([0], np.ones((3, 4))),
    "dia too many offsets": lambda: dia([0, 1, 2]),
    "dia offset twice": lambda: dia([0, 0], np.ones((2, 4))),
    "dia offset NaN": lambda: dia([np.nan]),
    "dia data of one dimension": lambda: dia([0], np.ones(4)),
    "coo row too large": lambda: coo([9, 0, 0, 0], [0, 0, 0, 0]),
    "coo column negative": lambda: coo([0, 0, 0, 0], [0, -1, 0, 0]),
    "coo rows NaN": lambda: coo([np.nan] * 4, [0] * 4),
    "coo too few rows": lambda: coo([0, 1], [0] * 4),
    "coo without columns": lambda: changed(coo_array(DENSE), coords=(np.zeros(4, dtype=int),)),
    "csr indices of fractions": lambda: changed(csr_array(DENSE), indices=np.ones(4)),
    "csr indptr too large": lambda: changed(csr_array(DENSE), indptr=np.array([0, 2, 2**30, 4])),
    "csr indptr ends at 0": lambda: changed(csr_array(DENSE), indptr=np.array([0, 2, 4, 0])),
    "csr indptr beyond 64 bits": lambda: changed(
        csr_array(DENSE), indptr=np.array([0, 2**63 - 1, -(2**63), 4])
    ),
    "csc indptr ends at 0": lambda: changed(csc_array(DENSE), indptr=np.array([0, 1, 2, 3, 0])),
    "csr indices short": lambda: changed(csr_array(DENSE), indices=np.array([1])),
    "csr data short": lambda: changed(csr_array(DENSE), data=np.ones(2)),
    "bsr indptr ends at 0": lambda: changed(
        bsr_array(np.ones((4, 4)), blocksize=(2, 2)), indptr=np.array([0, 3, 0])
    ),
    "bsr index too large": lambda: changed(
        bsr_array(np.ones((4, 4)), blocksize=(2, 2)), indices=np.array([0, 99, 0, 1])
    ),
    "bsr blocks of another size": lambda: changed(
        bsr_array(np.ones((4, 4)), blocksize=(2, 2)), data=np.ones((4, 7, 7))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CORRUPT)
def test_corrupt_parts_are_refused_before_anything_follows_them(name):
    model = OrthogonalNMF(4, random_state=0).fit(np.eye(4))
    for door in (as_matrix, as_graph, non_orthogonality, model.inverse_transform):
        with pytest.raises(InvalidInputError, match="the sparse structure of X is corrupt"):
            door(CORRUPT[name]())


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, bool])
def test_honest_ones_come_through_and_stay_as_they_are(format, kind, dtype):
    dense = DENSE.astype(dtype)
    X = getattr(sp, f"{format}_{kind}")(dense)
    rows = as_checked_csr(X)
    assert (rows.format, rows.dtype) == ("csr", dtype)
    np.testing.assert_array_equal(rows.toarray(), dense)
    np.testing.assert_array_equal(X.toarray(), dense)


@pytest.mark.parametrize("format", FORMATS)
def test_a_matrix_that_stores_nothing_comes_through(format):
    assert as_matrix(getattr(sp, f"{format}_array")((3, 4))).total == 0


def test_diagonals_outside_the_matrix_hold_nothing():
    far = dia([0, 10**15], np.ones((2, 4)))
    np.testing.assert_array_equal(as_checked_csr(far).toarray(), np.eye(3, 4))


def test_csr_shares_its_numbers():
    X = csr_array(DENSE)
    assert np.shares_memory(as_checked_csr(X).data, X.data)


@pytest.mark.parametrize("dtype", [complex, np.longdouble])
def test_sparse_matrices_of_other_numbers_are_refused(dtype):
    for format in FORMATS:
        with pytest.raises(OrthoNMFError, match=r"Complex|float64"):
            as_matrix(getattr(sp, f"{format}_array")(DENSE.astype(dtype)))
