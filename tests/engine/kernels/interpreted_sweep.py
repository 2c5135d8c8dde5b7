"""The kernels with tiles that no table has: run by test_triton_sweep.py in its own process.

Rows come in slabs of 32 and tiles of 16, columns in tiles of 16, rows of a label in chunks of 16,
and the last of each is cut short: what a kernel does at such borders shows in small matrices.
"""

import numpy as np
import torch

from orthonmf.engine.gpu import triton_launch as fused
from orthonmf.engine.gpu.triton_table import Plan, Tiles

N, M, K = 75, 20, 5
SMALL, WHOLE = Tiles(16, 16, 4, 1), Tiles(16, 32, 4, 1)  # the latter holds all columns
PLANS = {
    "fused": Plan("fused", True, WHOLE, WHOLE),
    "indicated, halves": Plan("indicated", True, SMALL, SMALL),
    "indicated, rounded": Plan("indicated", False, SMALL, SMALL),
    "sorted": Plan("sorted", False, SMALL, Tiles(8, 16, 4, 1)),
    "sorted, directions held": Plan("sorted", False, WHOLE, Tiles(8, 16, 4, 1), held=True),
}

rng = np.random.default_rng(0)
rows = torch.tensor(rng.exponential(size=(N, M)), dtype=torch.float32)
directions = torch.tensor(rng.random((K, M)), dtype=torch.float32)
directions[3] = directions[1]  # of equals the first wins
weights = torch.tensor(rng.random(N))
products = rows.double() @ directions.double().T
wanted, largest = products.argmax(dim=1), products.amax(dim=1)


def use(plan, most_scaled):
    fused.sweep_plan = fused.sum_plan = lambda m, k: plan
    fused.assign_tiles = fused.look_tiles = fused.residual_tiles = lambda size: SMALL
    fused.slab_rows = lambda n, k, tile: 32
    fused.CHUNK, fused.MOST_SCALED = 16, most_scaled


def same(found, expected, rtol=1e-3):
    torch.testing.assert_close(found.double(), expected.double(), rtol=rtol, atol=1e-5)


def sums_of(labels, coefficients):
    members = torch.nn.functional.one_hot(labels.long(), K).double()
    return (members * coefficients.double()[:, None]).T @ rows.double()


def check_sweep():
    for given in (None, weights):
        labels, best, sums = fused.sweep(rows, directions, given, True)
        assert not (labels == 3).any()
        assert (labels == wanted).double().mean() > 0.95, "but where rounded products are equal"
        same(best, largest)
        coefficients = largest if given is None else largest * given
        same(sums, sums_of(labels, coefficients), rtol=2e-3)
        _, _, alone = fused.sweep(rows, directions, given, False)
        same(alone, sums, rtol=1e-6)


def check_sums():
    labels, coefficients = wanted.int(), torch.tensor(rng.random(N), dtype=torch.float32)
    same(fused.sum_rows(rows, labels, coefficients, K), sums_of(labels, coefficients))


def check_assignment():
    labels, best = fused.assign(rows, directions)
    assert torch.equal(labels.long(), wanted)
    same(best, largest, 1e-6)


def check_look():
    factors = torch.tensor(rng.random(M))
    for given in (None, factors):
        squares, most, bad = fused.look(rows, given)
        ones = torch.ones(M, dtype=torch.float64)
        same(squares, rows.double().square() @ (ones if given is None else given), 1e-12)
        assert most == rows.max()
        assert not bad
    for value in (float("nan"), float("inf"), -1.0):
        for place in ((0, 0), (N - 1, M - 1), (40, 17)):
            spoiled = rows.clone()
            spoiled[place] = value
            assert fused.look(spoiled, None)[2], (value, place)


def check_residual():
    labels, scales = wanted.int(), torch.tensor(rng.random(N), dtype=torch.float32)
    labels[2], scales[2] = -1, 0.0
    factors = torch.tensor(rng.random(M))
    fitted = scales.double()[:, None] * directions.double()[labels.clamp(min=0).long()]
    for given in (None, factors):
        left = (rows.double() - fitted) * (1.0 if given is None else given)
        found = fused.residual(rows, labels, scales, directions.double(), given)
        same(found, left.square().sum(dim=1), 1e-12)


if __name__ == "__main__":
    for name, plan in PLANS.items():
        for most_scaled in (0, 64) if name == "fused" else (0,):
            use(plan, most_scaled)
            check_sweep()
        if plan.kind != "fused":
            check_sums()
        print(name, "is right")
    check_assignment()
    check_look()
    check_residual()
    print("the rest is right")
