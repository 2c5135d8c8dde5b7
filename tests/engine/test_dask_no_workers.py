"""A fit on a cluster without workers says so, goes on when some come, and ends when none do."""

import threading
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

import orthonmf
from orthonmf.engine.dask.waiting import DEFAULTS, TIMEOUT, WARNING, seconds_of
from orthonmf.errors import InvalidInputError, NoWorkersError, NoWorkersWarning

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

from tests.engine.crew import crew, until  # noqa: E402


@pytest.fixture(scope="module")
def workers():
    with crew() as workers:
        yield workers


def some_blocks():
    X = orthonmf.datasets.make_planted(400, 20, 3, 0.3, random_state=1).X
    return da.from_array(X, chunks=(100, 20))


def fit(X):
    return orthonmf.factorize(X, 3, random_state=0, certificate=None)


def times(warning, timeout):
    """Settings of this long before a warning and until the end."""
    return dask.config.set({WARNING: warning, TIMEOUT: timeout})


@pytest.mark.cluster
def test_a_fit_ends_with_a_remedy_when_no_worker_comes(workers):
    workers.kill_all()
    message = (
        r"tcp://127\.0\.0\.1:\d+ has had no workers for \d+ s.*cluster\.scale\(2\).*dask worker"
    )
    with (
        workers.client.as_current(),
        times(None, "1 s"),
        pytest.raises(NoWorkersError, match=message) as caught,
    ):
        fit(some_blocks())
    assert isinstance(caught.value, orthonmf.OrthoNMFError)
    assert isinstance(caught.value, TimeoutError)
    assert TIMEOUT in str(caught.value)


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
def test_a_fit_warns_again_and_again_and_goes_on_when_a_worker_comes(workers):
    workers.kill_all()
    starting = threading.Thread(target=workers.start, args=(1,))
    with (
        workers.client.as_current(),
        times("0.1 s", None),
        at_warning(2, starting.start) as told,
    ):
        found = fit(some_blocks())
    starting.join()
    assert len(told) >= 2
    assert all("cluster.scale(2)" in message for message in told)
    np.testing.assert_array_equal(found.components, fit(some_blocks()).components)


@pytest.mark.cluster
def test_a_fit_whose_workers_all_die_ends_and_the_next_one_finds_new_workers(workers, tmp_path):
    workers.fill(1)
    begun = tmp_path / "begun"

    def wait_for_death(rows):
        begun.touch()
        until(lambda: False)

    stuck = some_blocks().map_blocks(wait_for_death, dtype=float, meta=np.empty((0, 0)))

    def kill():
        until(begun.exists)
        workers.kill_all()

    killer = threading.Thread(target=kill)
    killer.start()
    with (
        workers.client.as_current(),
        times(None, "1 s"),
        pytest.raises(NoWorkersError, match="no workers"),
    ):
        fit(stuck)
    killer.join()
    workers.fill(1)
    with workers.client.as_current():
        found = fit(some_blocks())
    np.testing.assert_array_equal(found.components, fit(some_blocks()).components)
    until(lambda: not any(workers.client.who_has().values()))  # nothing of either fit is left


def late(rows):
    raise TimeoutError("the store did not answer")


@pytest.mark.cluster
def test_a_block_that_times_out_itself_is_told_as_it_is(workers):
    workers.fill(1)
    X = some_blocks().map_blocks(late, dtype=float, meta=np.empty((0, 0)))
    with workers.client.as_current(), pytest.raises(TimeoutError, match="store did not") as caught:
        fit(X)
    assert "This happened in rows 0:100 of X." in caught.value.__notes__


def test_the_times_are_settings_of_dask():
    assert [seconds_of(name) for name in (WARNING, TIMEOUT)] == [30, 600]
    assert set(DEFAULTS) == {WARNING, TIMEOUT}
    with dask.config.set({"orthonmf.no_workers_timeout": "1 hour"}):
        assert seconds_of(TIMEOUT) == 3600
    with times(0.5, None):
        assert seconds_of(WARNING) == 0.5
        assert seconds_of(TIMEOUT) == np.inf


@pytest.mark.parametrize("found", ["soon", "", "5 apples", [3], {"hours": 2}])
def test_what_is_no_time_is_refused_by_name(found):
    with times(None, found), pytest.raises(InvalidInputError, match=TIMEOUT):
        seconds_of(TIMEOUT)
