"""The paper's table of real data: single starts bracket the published values."""

import numpy as np
import pytest

import orthant

PUBLISHED = [  # set, side, relative squared error as printed, k = 6
    ("amazon-commerce-reviews", "samples", 0.0467),
    ("arcene-train", "samples", 0.0760),
    ("mfeat-pix", "features", 0.2382),
    ("bow-kos", "samples", 0.7685),
    ("bow-nips", "samples", 0.7386),
]


@pytest.mark.parametrize(("name", "side", "published"), PUBLISHED)
def test_forty_single_starts_bracket_the_published_value(real_set, name, side, published):
    X = real_set(name)
    errors = np.array(
        [
            orthant.factorize(
                X, 6, orthogonal=side, algorithm="paper", random_state=seed, certificate=None
            ).relative_squared_error
            for seed in range(40)
        ]
    )
    low, middle, high = np.min(errors), np.median(errors), np.max(errors)
    print(f"{name} over {side}: {low:.5f} {middle:.5f} {high:.5f}, published {published}")
    assert round(low, 4) <= published <= round(high, 4)
