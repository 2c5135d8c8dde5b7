"""The loop of every descent, by a method whose gains are known."""

import numpy as np

from orthonmf.alternation import Method, Update, alternate
from orthonmf.checkpoint import Checkpoint, Step


class Known(Method):
    """A method that captures what a list says, one entry after the other."""

    name = "sweep"

    def __init__(self, captured, total=10.0):
        self.captured, self.total = captured, total

    def update(self, vectors):
        number = int(vectors[0, 0])
        return Update(captured=self.captured[number], vectors=np.array([[number + 1.0]]))


def run(method, *, max_iter=100, tol=0.1):
    step = Step(Checkpoint())
    return alternate(method, np.zeros((1, 1)), max_iter=max_iter, tol=tol, step=step)


def test_it_ends_when_a_gain_is_a_small_share_of_what_is_not_captured():
    # 0.4 is more than a tenth of 10 - 6.4, 0.2 is less than one of 10 - 6.6.
    ended = run(Known([4.0, 6.0, 6.4, 6.6, 9.0]))
    assert ended.history == (4.0, 6.0, 6.4, 6.6)
    assert ended.converged
    assert ended.last.captured == 6.6
