"""A single default fit of the real sets stays near the best values known."""

import pytest

import orthant

BEST_KNOWN = {  # relative squared error, k = 6; found by long searches, not proven optimal
    "amazon-commerce-reviews": {"samples": 0.046688, "features": 0.044703, "both": 0.051933},
    "arcene-train": {"samples": 0.075610, "features": 0.124253, "both": 0.298219},
    "mfeat-pix": {"samples": 0.241513, "features": 0.237326, "both": 0.357822},
    "bow-kos": {"samples": 0.763725, "features": 0.757740, "both": 0.809366},
    "bow-nips": {"samples": 0.736099, "features": 0.719979, "both": 0.794362},
}
ALLOWED = {"samples": 1.01, "features": 1.015, "both": 1.02}


@pytest.mark.slow
@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
@pytest.mark.parametrize("name", list(BEST_KNOWN))
@pytest.mark.filterwarnings("ignore::orthant.FewerComponentsWarning")
def test_a_default_fit_is_near_the_best_known_and_certified(real_set, name, orthogonal):
    found = orthant.factorize(real_set(name), 6, orthogonal=orthogonal, random_state=0)
    best = BEST_KNOWN[name][orthogonal]
    assert found.relative_squared_error <= ALLOWED[orthogonal] * best
    # No lower bound may exceed what somebody has reached.
    assert found.certificate.lower_bound <= best
    assert 1.0 <= found.certificate.ratio < 2.0
