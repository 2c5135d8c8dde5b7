"""A source that changes while it is fitted is told, with the row; one that does not never is."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.datasets import make_planted
from orthonmf.engine.checksums import Checksums, add_bits, digest
from orthonmf.engine.executors import COPIES_OF_A_BLOCK
from orthonmf.errors import SourceChangedError
from orthonmf.progress import listening
from tests.engine.stores import Slices, mapped
from tests.quick_cases import mostly_slow

N, M, ROW = 3000, 40, 1204
SETTINGS = ["samples", "features", "both"]
ALL_ROWS = N * M * 8
# Room for all rows while they are worked on, none to keep them between passes.
NOTHING_KEPT = COPIES_OF_A_BLOCK * ALL_ROWS


@pytest.fixture
def X():
    return make_planted(N, M, 4, 0.3, random_state=0).X


def fit_while(change, stored, **options):
    """Fit, and let something happen once at the first announced step."""
    steps = []

    def heard(step, error):
        if not steps:
            change()
        steps.append(step)

    with listening(heard):
        result = orthonmf.factorize(stored, 4, random_state=0, certificate=None, **options)
    assert steps
    return result


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("algorithm", ["best", "paper"])
@pytest.mark.parametrize(("kind", "dtype"), [("slices", np.int64), ("memory map", np.float32)])
def test_the_row_that_changed_is_named(X, orthogonal, algorithm, kind, dtype, tmp_path):
    array = (X * 100).astype(dtype)
    stored = Slices(array) if kind == "slices" else mapped(array, tmp_path)
    target = array if kind == "slices" else stored

    def change():
        target[ROW, 3] += 1

    limit = NOTHING_KEPT // 2 if dtype == np.float32 else NOTHING_KEPT
    options = {"orthogonal": orthogonal, "algorithm": algorithm, "max_memory": limit}
    with pytest.raises(SourceChangedError, match=r"row 1,204 of X changed since the first read"):
        fit_while(change, stored, tol=1e-12, **options)  # else the first sweep may be the last


def test_rows_that_are_kept_are_those_of_the_first_read_though_a_store_hands_out_views(X):
    class Views(Slices):
        def __getitem__(self, rows):
            return self.array[rows]

    before = fit_while(lambda: None, Slices(X.copy()))
    after = fit_while(lambda: X.__setitem__((ROW, 3), 50.0), Views(X))
    np.testing.assert_array_equal(after.components, before.components)


def test_missing_values_and_new_ones_are_told_too(X):
    X[5, 6] = np.nan
    options = {"missing_values": np.nan, "max_memory": NOTHING_KEPT}
    with pytest.raises(SourceChangedError, match="row 1,204"):
        fit_while(lambda: X.__setitem__((ROW, 2), np.nan), Slices(X), **options)


def test_rows_that_were_swapped_are_told():
    rows, checksums = np.arange(12.0).reshape(4, 3), Checksums()
    checksums.check_rows(100, rows)
    checksums.check_rows(100, rows.copy())
    with pytest.raises(SourceChangedError, match="row 101 of"):
        checksums.check_rows(100, rows[[0, 2, 1, 3]])


def test_what_a_sparse_block_holds_and_where_counts():
    eye, moved = csr_array(np.eye(3)), csr_array(np.eye(3)[[0, 0, 2]])
    assert add_bits(eye) == add_bits(eye.copy())
    assert add_bits(eye) != add_bits(moved)
    assert add_bits(eye) != add_bits(eye * 2)


def chunks_of(array):
    da = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")
    rows = dask.delayed(lambda start: array[start : start + 500], pure=False)
    parts = (rows(start) for start in range(0, N, 500))
    return da.concatenate([da.from_delayed(part, (500, M), array.dtype) for part in parts])


@pytest.mark.parametrize(
    ("orthogonal", "on_cluster"),
    mostly_slow([("samples", False), ("features", False), ("both", True)], quick=2),
)
def test_rows_of_a_dask_array_that_changed_are_named(X, orthogonal, on_cluster, request):
    if on_cluster:
        request.getfixturevalue("current")

    def change():
        X[ROW, 3] += 1

    with pytest.raises(
        SourceChangedError, match="rows 1,000 to 1,499 of X changed since the first"
    ):
        fit_while(change, chunks_of(X), orthogonal=orthogonal)


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ((np.arange(3.0),), "d4086f26383e4b6d5f11c63e21b71cd4"),
        ((np.eye(2), None), "7a186ea747ffeea6d682dcda7d7141d0"),
    ],
)
def test_digests_in_files_of_earlier_versions_stay_the_same(arrays, expected):
    assert digest(*arrays) == expected


def test_lengths_count_and_so_do_missing_arrays():
    a, b = np.arange(3.0), np.arange(3.0, 5.0)
    assert digest(a, b) != digest(np.concatenate((a, b)))
    assert digest(a, None) != digest(None, a) != digest(a)
    assert digest(a[::2]) == digest(a[::2].copy())
