"""The paper's table of real data: single starts bracket the published values."""

import pytest

import orthonmf

PUBLISHED = [  # set, side, relative squared error as printed, k = 6
    ("amazon-commerce-reviews", "samples", 0.0467),
    ("arcene-train", "samples", 0.0760),
    ("mfeat-pix", "features", 0.2382),
    ("bow-kos", "samples", 0.7685),
    ("bow-nips", "samples", 0.7386),
]


MOST_STARTS = 80  # of Arcene about one start in thirty is as good as the published value


@pytest.mark.slow
@pytest.mark.parametrize(("name", "side", "published"), PUBLISHED)
def test_single_starts_bracket_the_published_value(real_set, name, side, published):
    X = real_set(name)
    errors = []
    # More starts only widen the range, so no more are made than are needed.
    while len(errors) < MOST_STARTS and not (errors and min(errors) <= published <= max(errors)):
        found = orthonmf.factorize(
            X, 6, orthogonal=side, algorithm="paper", random_state=len(errors), certificate=None
        )
        errors.append(round(found.relative_squared_error, 4))
    print(f"{name} over {side}: {sorted(errors)}, published {published}")
    assert min(errors) <= published <= max(errors)
