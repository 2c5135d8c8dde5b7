"""The loop of every descent, by updates whose gains are known."""

import numpy as np

from orthonmf.alternation import Update, alternate
from orthonmf.checkpoint import Checkpoint, Step


def run(energies, *, max_iter=100, tol=0.1):
    """Alternate where vectors capture what a list says, one entry after the other."""

    def update(vectors):
        number = int(vectors[0, 0])
        return Update(captured=energies[number], vectors=np.array([[number + 1.0]]))

    step, start = Step(Checkpoint()), np.zeros((1, 1))
    return alternate(update, start, total=10.0, max_iter=max_iter, tol=tol, step=step)


def test_it_ends_when_a_gain_is_a_small_share_of_what_is_not_captured():
    # 0.4 is more than a tenth of 10 - 6.4, 0.2 is less than one of 10 - 6.6.
    ended = run([4.0, 6.0, 6.4, 6.6, 9.0])
    assert ended.history == (4.0, 6.0, 6.4, 6.6)
    assert ended.converged
    assert ended.last.captured == 6.6
