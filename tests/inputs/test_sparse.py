"""Every kind of sparse matrix: honest ones come through, corrupt ones are refused before use."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, dia_array, lil_array

from orthonmf.correlation_clustering.graph import as_graph
from orthonmf.errors import InvalidInputError, OrthoNMFError
from orthonmf.estimators.orthogonal_nmf import OrthogonalNMF
from orthonmf.inputs.data import as_matrix
from orthonmf.inputs.sparse import as_checked_csr
from orthonmf.measures import non_orthogonality

DENSE = np.array([[0.0, 2.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0], [3.0, 0.0, 4.0, 0.0]])
FORMATS = ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"]


def changed(X, **parts):
    for name, value in parts.items():
        setattr(X, name, value)
    return X


def csr(**parts):
    return changed(csr_array(DENSE), **parts)


def bsr(**parts):
    return changed(bsr_array(np.ones((4, 4)), blocksize=(2, 2)), **parts)


def coo(rows, columns):
    return changed(coo_array(DENSE), coords=(np.array(rows), np.array(columns)))


CORRUPT = {
    "csr index too large": lambda: csr(indices=np.array([1, 99, 0, 2])),
    "csr index negative": lambda: csr(indices=np.array([1, 3, -1, 2])),
    "csr data short": lambda: csr(data=np.ones(2)),
    "csr indptr short": lambda: csr(indptr=np.array([0, 2, 4])),
    "csr indptr too large": lambda: csr(indptr=np.array([0, 2, 2**30, 4])),
    "csr indptr beyond 64 bits": lambda: csr(indptr=np.array([0, 2**63 - 1, -(2**63), 4])),
    "csc indptr ends at 0": lambda: changed(csc_array(DENSE), indptr=np.array([0, 1, 2, 3, 0])),
    "bsr indptr ends at 0": lambda: bsr(indptr=np.array([0, 3, 0])),
    "bsr index too large": lambda: bsr(indices=np.array([0, 99, 0, 1])),
    "coo row too large": lambda: coo([9, 0, 0, 0], [0, 0, 0, 0]),
    "coo column negative": lambda: coo([0, 0, 0, 0], [0, -1, 0, 0]),
    "coo too few rows": lambda: coo([0, 1], [0] * 4),
    "dia too many offsets": lambda: changed(dia_array(DENSE), offsets=np.arange(9)),
    "lil column too large": lambda: changed(
        lil_array(DENSE), rows=np.array([[1, 99], [], [0, 2]], dtype=object)
    ),
}


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


def test_csr_shares_its_numbers():
    X = csr_array(DENSE)
    assert np.shares_memory(as_checked_csr(X).data, X.data)


@pytest.mark.parametrize("dtype", [complex, np.longdouble])
def test_sparse_matrices_of_other_numbers_are_refused(dtype):
    for format in FORMATS:
        with pytest.raises(OrthoNMFError, match=r"Complex|float64"):
            as_matrix(getattr(sp, f"{format}_array")(DENSE.astype(dtype)))
