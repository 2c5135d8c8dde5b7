"""The loop of every descent, by a method whose gains are known, and by k-means on a line."""

import threading

import numpy as np
import pytest

from orthonmf.alternation import Method, Update, alternate
from orthonmf.checkpoint import Checkpoint, Step
from orthonmf.progress import announce, listening, silence


class Known(Method):
    """A method that captures what a list says, one entry after the other."""

    name = "sweep"

    def __init__(self, captured, total=10.0):
        self.captured, self.total = captured, total
        self.swept = []  # the vectors that were swept, by their number

    def update(self, vectors):
        number = int(vectors[0, 0])
        self.swept.append(number)
        return Update(captured=self.captured[number], vectors=np.array([[number + 1.0]]))


def run(method, *, max_iter=100, tol=0.1):
    step = Step(Checkpoint())
    return alternate(method, np.zeros((1, 1)), max_iter=max_iter, tol=tol, step=step)


def test_it_ends_when_a_gain_is_a_small_share_of_what_is_not_captured():
    # 0.4 is more than a tenth of 10 - 6.4, 0.2 is less than one of 10 - 6.6.
    found = run(Known([4.0, 6.0, 6.4, 6.6, 9.0]))
    assert found.history == (4.0, 6.0, 6.4, 6.6)
    assert found.converged
    assert found.last.captured == 6.6


@pytest.mark.parametrize("max_iter", [1, 2, 3])
def test_the_limit_on_sweeps_is_kept_and_told(max_iter):
    method = Known([1.0, 2.0, 3.0, 4.0])
    found = run(method, max_iter=max_iter)
    assert len(method.swept) == len(found.history) == max_iter
    assert not found.converged


def test_a_loss_is_rounding_so_it_ends_and_history_never_falls():
    found = run(Known([5.0, 4.9, 9.0]), tol=0.0)
    assert found.history == (5.0, 5.0)
    assert found.last.captured == 4.9
    assert found.converged


def test_every_sweep_is_announced_with_the_error_it_left():
    heard = []
    with listening(lambda step, error: heard.append((step, error))):
        run(Known([5.0, 7.5, 10.5, 10.5]), tol=0.0)
    assert heard == [("sweep", 0.5), ("sweep", 0.25), ("sweep", 0.0), ("sweep", 0.0)]


def test_listeners_hear_the_inner_ones_and_none_hears_what_is_silenced():
    outer, inner = [], []
    with listening(lambda *given: outer.append(given)):
        with listening(lambda *given: inner.append(given)), listening(None):
            announce("a", 0.5)
            with silence():
                announce("b")
        announce("c")
    announce("d")
    assert inner == [("a", 0.5)]
    assert outer == [("a", 0.5), ("c", None)]


def test_two_threads_do_not_hear_each_other():
    heard = []
    thread = threading.Thread(target=announce, args=("there",))
    with listening(lambda *given: heard.append(given)):
        thread.start()
        thread.join()
        announce("here")
    assert heard == [("here", None)]
