"""A fit on a cluster without workers says so, and goes on when some come."""

import re
import threading
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

import orthonmf
from orthonmf.engine.dask import executor
from orthonmf.errors import NoWorkersWarning

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

from tests.engine.crew import crew  # noqa: E402


@pytest.fixture(scope="module")
def workers():
    with crew() as workers:
        yield workers


def some_blocks():
    X = orthonmf.datasets.make_planted(400, 20, 3, 0.3, random_state=1).X
    return da.from_array(X, chunks=(100, 20))


def fit(X):
    return orthonmf.factorize(X, 3, random_state=0, certificate=None)


@contextmanager
def at_warning(number, act):
    """Call a function at one of the warnings of no workers; a list of the texts of all."""
    told = []

    def hear(message, category, *place):
        if category is NoWorkersWarning:  # Dask leaves sockets, of which Python warns
            told.append(str(message))
            if len(told) == number:
                act()

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = hear
        yield told


@pytest.mark.cluster
def test_a_fit_warns_again_and_again_and_goes_on_when_a_worker_comes(workers, monkeypatch):
    monkeypatch.setattr(executor, "BETWEEN_LOOKS", 0.1)
    workers.kill_all()
    starting = threading.Thread(target=workers.start, args=(1,))
    with (
        workers.client.as_current(),
        at_warning(2, starting.start) as told,
    ):
        result = fit(some_blocks())
    starting.join()
    assert len(told) >= 2
    message = r"tcp://127\.0\.0\.1:\d+ has no workers.*cluster\.scale\(2\).*dask worker"
    assert all(re.search(message, text) for text in told)
    np.testing.assert_array_equal(result.components, fit(some_blocks()).components)


def late(rows):
    raise TimeoutError("the store did not answer")


@pytest.mark.cluster
def test_a_block_that_times_out_itself_is_told_as_it_is(workers):
    workers.fill(1)
    X = some_blocks().map_blocks(late, dtype=float, meta=np.empty((0, 0)))
    with workers.client.as_current(), pytest.raises(TimeoutError, match="store did not") as caught:
        fit(X)
    assert "This happened in rows 0:100 of X." in caught.value.__notes__
