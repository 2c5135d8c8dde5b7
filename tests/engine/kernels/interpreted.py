"""Every fused kernel against float64, interpreted: run by test_triton.py in its own process."""

import numpy as np
import torch

from orthonmf.engine.gpu import triton_launch as fused

SHAPES = {
    "fused halves": (130, 36, 10),
    "fused, rows not aligned": (18, 37, 1),
    "one row": (1, 7, 3),
    "fused, many": (70, 24, 40),
    "indicated halves": (40, 132, 3),
    "indicated rounded": (40, 132, 33),
    "sorted, short rows": (70, 20, 70),
    "sorted": (40, 132, 70),
    "two tiles of directions": (10, 20, 260),
}


def check(n, m, k):
    rng = np.random.default_rng(n * m)
    rows = torch.tensor(rng.exponential(size=(n, m)) ** 2, dtype=torch.float32)
    rows[n // 2] = 0.0
    directions = torch.tensor(rng.random((k, m)), dtype=torch.float32)
    directions /= directions.norm(dim=1, keepdim=True)
    if k > 2:
        directions[2] = directions[1]
    products = rows.double() @ directions.double().T
    largest = products.amax(dim=1)
    everyone = torch.arange(n)

    labels, best = fused.assign(rows, directions)
    assert (products[everyone, labels.long()] >= largest * (1 - 1e-6)).all()
    torch.testing.assert_close(best.double(), largest, rtol=1e-5, atol=1e-6)
    assert labels[n // 2] == 0
    assert k <= 2 or not (labels == 2).any(), "of equal directions the first wins"

    weights = torch.tensor(rng.random(n))
    labels, best, sums = fused.sweep(rows, directions, weights, True)
    own = products[everyone, labels.long()]
    assert (own >= largest * (1 - 1e-3)).all()
    assert k <= 2 or not (labels == 2).any()
    torch.testing.assert_close(best.double(), own, rtol=1e-3, atol=1e-6)
    expected = by_label(labels, own * weights, rows, k)
    torch.testing.assert_close(sums, expected, rtol=2e-3, atol=1e-4 * float(expected.max()))
    # Rounded to nearest, errors of either sign cancel.
    energy, exact = float(sums.sum()), float(expected.sum())
    assert abs(energy - exact) <= 2e-4 * exact
    _, _, alone = fused.sweep(rows, directions, None, False)
    torch.testing.assert_close(
        alone, by_label(labels, own, rows, k), rtol=2e-3, atol=1e-4 * float(alone.max())
    )

    given = fused.sum_rows(rows, labels, weights.float(), k)
    expected = by_label(labels, weights.float().double(), rows, k)
    torch.testing.assert_close(given, expected, rtol=1e-3, atol=1e-4 * float(expected.max()))

    factors = torch.tensor(rng.random(m))
    squares, most, bad = fused.look(rows, factors)
    torch.testing.assert_close(squares, rows.double().square() @ factors, rtol=1e-12, atol=0.0)
    assert most == rows.max()
    assert not bad
    for value in (float("nan"), -1.0, float("inf")) if n > 100 else ():
        spoiled = rows.clone()
        spoiled[-1, -1] = value
        assert fused.look(spoiled, None)[2]

    labels[0], best[0] = -1, 0.0
    for given_factors in (None, factors):
        squares = fused.residual(rows, labels, best, directions.double(), given_factors)
        fitted = best.double()[:, None] * directions.double()[labels.clamp(min=0).long()]
        difference = rows.double() - fitted
        if given_factors is not None:
            difference *= given_factors
        torch.testing.assert_close(squares, difference.square().sum(dim=1), rtol=1e-12, atol=0.0)


def by_label(labels, coefficients, rows, k):
    members = torch.nn.functional.one_hot(labels.long(), k).double() * coefficients[:, None]
    return members.T @ rows.double()


if __name__ == "__main__":
    for name, shape in SHAPES.items():
        check(*shape)
        print(name, "is right")
