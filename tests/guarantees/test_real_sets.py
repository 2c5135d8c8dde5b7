"""A single default fit of the real sets stays near the best values known."""

import numpy as np
import pytest

import orthonmf

# Over both sides the largest sets take long: `python -m benchmarks quality` looks at all.
BEST_KNOWN = {  # relative squared error, k = 6; found by long searches, not proven optimal
    "amazon-commerce-reviews": {"samples": 0.046688, "features": 0.044703},
    "arcene-train": {"samples": 0.075610, "features": 0.124253, "both": 0.298219},
    "mfeat-pix": {"samples": 0.241513, "features": 0.237326, "both": 0.357822},
    "bow-kos": {"samples": 0.763725, "features": 0.757740, "both": 0.809366},
    "bow-nips": {"samples": 0.736099, "features": 0.719979},
}
THREE_FACTORS = {  # (6, 6)
    "amazon-commerce-reviews": 0.0485,
    "arcene-train": 0.1298,
    "mfeat-pix": 0.2782,
    "bow-kos": 0.7800,
    "bow-nips": 0.7535,
}
ALLOWED = {"samples": 1.01, "features": 1.015, "both": 1.02}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "orthogonal"), [(name, side) for name, known in BEST_KNOWN.items() for side in known]
)
@pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
def test_a_default_fit_is_near_the_best_known_and_certified(real_set, name, orthogonal):
    found = orthonmf.factorize(real_set(name), 6, orthogonal=orthogonal, random_state=0)
    best = BEST_KNOWN[name][orthogonal]
    assert found.relative_squared_error <= ALLOWED[orthogonal] * best
    # No lower bound may exceed what somebody has reached.
    assert found.certificate.lower_bound <= best
    assert 1.0 <= found.certificate.ratio < 2.0


@pytest.mark.slow
@pytest.mark.parametrize("name", list(THREE_FACTORS))
def test_default_fits_with_a_core_are_near_the_best_known(real_set, name):
    X, options = real_set(name), {"orthogonal": "both", "certificate": None}
    fits = [orthonmf.factorize(X, (6, 6), random_state=seed, **options) for seed in range(3)]
    errors = [fit.relative_squared_error for fit in fits]
    assert np.median(errors) <= THREE_FACTORS[name]
    assert fits[0].core.shape == (6, 6)
