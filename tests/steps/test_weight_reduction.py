import numpy as np
import pytest

from orthonmf.steps.weight_reduction import (
    COS_30,
    COS_60,
    cosine_slack,
    pairs_above_band,
    pairs_in_band,
    pairwise_cosines,
    reduce_weights,
)


def reduce_in_a_plain_loop(weights, pairs):
    reduced, trace = np.array(weights, dtype=float), []
    for i, j in pairs:
        spent = min(reduced[i], reduced[j])
        if spent > 0:
            reduced[i] -= spent
            reduced[j] -= spent
            trace.append((i, j, spent))
    return reduced, trace


def all_pairs(k):
    return [(i, j) for i in range(k) for j in range(i + 1, k)]


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_reduction_equals_a_plain_loop_to_the_bit_in_any_pair_order(seed, shuffled):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 14))
    weights = rng.exponential(size=k) * (rng.random(k) < 0.8)
    if seed % 3 == 0:
        weights = rng.integers(0, 4, size=k).astype(float)
    pairs = [pair for pair in all_pairs(k) if rng.random() < 0.6]
    if shuffled:
        rng.shuffle(pairs)
        pairs = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs]
    expected, trace = reduce_in_a_plain_loop(weights, pairs)
    result = reduce_weights(weights, [np.array(pairs, dtype=int).reshape(-1, 2)])
    assert np.array_equal(result.weights, expected)
    got = list(zip(result.first, result.second, result.removed, strict=True))
    assert got == [tuple(removal) for removal in trace]


def test_pieces_of_the_pairs_give_what_all_pairs_give_at_once():
    rng = np.random.default_rng(1)
    weights = rng.exponential(size=50)
    pairs = np.array([pair for pair in all_pairs(50) if rng.random() < 0.3])
    whole, pieces = (reduce_weights(weights, some) for some in ([pairs], np.split(pairs, [100])))
    for name in ("weights", "first", "second", "removed"):
        assert np.array_equal(getattr(whole, name), getattr(pieces, name))


ANGLE_PAIR = {
    COS_30: np.array([[1.0, 0.0], [COS_30, 0.5]]),
    COS_60: np.array([[1.0, 0.0], [0.5, COS_30]]),
}


@pytest.mark.parametrize("cosine", [COS_30, COS_60])
@pytest.mark.parametrize("direction", [-np.inf, 0.0, np.inf])
def test_vectors_at_the_ends_of_the_band_or_an_ulp_beside_are_in_it(cosine, direction):
    vectors = ANGLE_PAIR[cosine].copy()
    if direction:
        vectors[1, 0] = np.nextafter(vectors[1, 0], direction)
    cosines = pairwise_cosines(vectors)
    assert pairs_in_band(cosines, cosine_slack(2)).tolist() == [[0, 1]]
    assert len(pairs_above_band(cosines, cosine_slack(2))) == 0


def test_cosines_of_huge_tiny_and_zero_rows_are_right():
    cosines = pairwise_cosines(np.array([[1e300, 1e300], [1e-300, 0.0], [0.0, 0.0]]))
    assert cosines[0, 1] == pytest.approx(np.sqrt(0.5), abs=1e-15)
    assert np.all(cosines[2] == 0.0)
    assert np.all((cosines >= 0.0) & (cosines <= 1.0))
