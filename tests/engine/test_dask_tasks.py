"""Several blocks to one task of Dask: which arrays allow it, and that nobody can tell."""

import itertools

import numpy as np
import pytest

import orthonmf
from orthonmf.engine.dask import blocks as tasks
from orthonmf.engine.dask.recipes import MOST_BYTES, recipes_of
from orthonmf.engine.executors import Executor, Work, executor_for
from orthonmf.inputs.data import as_source

pytestmark = pytest.mark.slow  # all together take long

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

UNEQUAL = (7, 0, 1, 40, 3, 3, 0, 90, 2, 11, 5, 60, 1, 1, 30, 8, 0, 25, 13)
M = 12


def make_rows(start, stop):
    """Rows that depend on their numbers alone."""
    rows = np.arange(start, stop, dtype=float)[:, None]
    return 1 + np.sin(rows * np.arange(1, M + 1)) + 2 * (rows % 3 == np.arange(M) % 3)


def array_of(lengths, make=make_rows):
    edges = np.concatenate(([0], np.cumsum(lengths))).tolist()
    delayed = dask.delayed(make, pure=True)
    parts = [
        da.from_delayed(delayed(start, stop), (stop - start, M), float)
        for start, stop in itertools.pairwise(edges)
    ]
    return da.concatenate(parts)


def first_and_own(kernel, rows, shared, own):
    return rows[0, 0] * shared[0], own.tolist()


def results(source, executor, work):
    seen = []
    executor.fold(source, work, lambda *result: seen.append(result))
    return seen


# The four threads of the cluster have eight tasks in a pass.
@pytest.mark.parametrize("lengths", [(5,), (3,) * 8, (3,) * 9, UNEQUAL], ids=str)
def test_results_are_those_of_one_block_after_the_other(client, lengths):
    array, n = array_of(lengths), sum(lengths)
    shared = np.full(2 * 10**6, 3.0)  # so large that Dask advises to scatter it
    work = Work(first_and_own, {"shared": shared}, {"own": np.arange(n)})
    expected = results(as_source(array), Executor(), work)
    assert len(expected) == np.count_nonzero(lengths)
    with client.as_current():
        source = as_source(array)
        assert source.recipes is not None
        assert results(source, executor_for(source, 1), work) == expected


def test_a_fit_has_the_same_bits_with_and_without_recipes(client):
    made = array_of(UNEQUAL)
    alone = orthonmf.factorize(made, 3, random_state=0, n_jobs=1)
    with client.as_current():
        for X in (made, made.persist()):
            fitted = orthonmf.factorize(X, 3, random_state=0)
            np.testing.assert_array_equal(fitted.components, alone.components)
            np.testing.assert_array_equal(fitted.labels, alone.labels)
            assert fitted.history == alone.history


def test_large_results_come_back_a_few_at_a_time(client, monkeypatch):
    monkeypatch.setattr(tasks, "MOST_BYTES_BACK", 1000)  # in-process workers see it too
    array, work = array_of((4,) * 23), Work(large_result)
    expected = results(as_source(array), Executor(), work)
    with client.as_current():
        source = as_source(array)
        computed = results(source, executor_for(source, 1), work)
    for (rows, result), (same_rows, same_result) in zip(computed, expected, strict=True):
        assert rows == same_rows
        np.testing.assert_array_equal(result, same_result)


def large_result(kernel, rows):
    return np.full(100 if rows[0, 0] > 2 else 400, rows[0, 0])


def recipes(array):
    return recipes_of(array, [dask.optimize(chunk)[0] for chunk in array.to_delayed()[:, 0]])


def test_what_the_cluster_holds_or_shares_or_is_long_has_no_recipe(client):
    made = array_of((4,) * 6)
    numbers, unsendable = np.zeros(MOST_BYTES), Unsendable()
    with client.as_current():
        persisted = made.persist()
        piece = dask.delayed(client.scatter(make_rows(0, 4)))
        assert recipes(persisted) is None
        assert recipes(persisted + 1) is None
        assert recipes(da.concatenate([da.from_delayed(piece, (4, M), float)])) is None
    assert recipes(made.rechunk((5, M))) is None  # a chunk of four is in two of five
    assert recipes(da.from_array(np.zeros((2000, M)), chunks=(1000, M))) is None
    assert recipes(made.map_blocks(lambda rows: rows + numbers[0])) is None
    assert recipes(made.map_blocks(lambda rows: (rows, unsendable)[0])) is None


class Unsendable:
    def __reduce__(self):
        raise TypeError("stays where it is")
