"""Fits in threads of the user: the same bits, and the BLAS count of the process is given back."""

import os
import random
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import orthonmf
from orthonmf import certifying
from orthonmf.engine import executors
from orthonmf.engine.executors import one_blas_thread
from tests.same_bits import assert_same_bits


def blas_counts():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def two_blas_threads():
    """A machine with one core has nothing to limit, so the count is set to two for the test."""
    with threadpool_limits(2, user_api="blas"):
        yield


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).exponential(size=(20_000, 60))


def fitted(X):
    return orthonmf.factorize(X, 8, random_state=0, certificate=None, n_jobs=2)


def test_fits_in_other_threads_after_one_in_the_main_thread_give_the_same_bits(X):
    alone = fitted(X)
    fits = []
    threads = [threading.Thread(target=lambda: fits.append(fitted(X))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(fits) == 3
    for other in fits:
        assert_same_bits(other, alone)


@pytest.mark.parametrize("seed", range(3))
def test_four_threads_that_enter_and_leave_in_any_order_share_one_limit(seed):
    """Every thread is told by an event when to enter and when to leave: no clock is involved."""
    order = random.Random(seed)
    enter, leave, entered, left = ([threading.Event() for _ in range(4)] for _ in range(4))

    def visit(number):
        enter[number].wait()
        with one_blas_thread():
            entered[number].set()
            leave[number].wait()
        left[number].set()

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    outside, inside = list(range(4)), []
    try:
        while outside or inside:
            if outside and (not inside or order.random() < 0.5):
                number = outside.pop(order.randrange(len(outside)))
                enter[number].set()
                entered[number].wait()
                inside.append(number)
            else:
                number = inside.pop(order.randrange(len(inside)))
                leave[number].set()
                left[number].wait()
            assert set(blas_counts()) == ({1} if inside else {2})
    finally:
        for event in (*enter, *leave):
            event.set()
        for thread in threads:
            thread.join()


def test_a_limit_of_the_user_around_a_fit_is_given_back(X):
    with threadpool_limits(1, user_api="blas"):
        fitted(X[:500])
        assert set(blas_counts()) == {1}
    assert set(blas_counts()) == {2}


def test_a_certificate_is_computed_inside_the_limit(monkeypatch):
    seen = []
    compute = certifying.find_bounds

    def watched(*arguments, **keywords):
        seen.extend(blas_counts())
        return compute(*arguments, **keywords)

    monkeypatch.setattr(certifying, "find_bounds", watched)
    X = np.random.default_rng(1).exponential(size=(40, 12))
    assert orthonmf.factorize(X, 3, random_state=0).certificate.ratio
    assert set(seen) == {1}


def test_an_interrupt_on_the_way_in_leaves_no_limit_behind(monkeypatch):
    set_counts = executors._BlasLimit._set

    def interrupted(limit, counts):
        set_counts(limit, counts)
        if set(counts) == {1}:
            raise KeyboardInterrupt

    monkeypatch.setattr(executors._BlasLimit, "_set", interrupted)
    with pytest.raises(KeyboardInterrupt), one_blas_thread():
        pass
    monkeypatch.undo()
    assert set(blas_counts()) == {2}
    with one_blas_thread():
        assert set(blas_counts()) == {1}
    assert set(blas_counts()) == {2}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_that_is_forked_during_a_fit_has_the_count_from_before():
    with one_blas_thread():
        child = os.fork()
        if child == 0:  # nothing of pytest may run here
            right = set(blas_counts()) == {2}
            with one_blas_thread():
                right = right and set(blas_counts()) == {1}
            os._exit(0 if right and set(blas_counts()) == {2} else 1)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
