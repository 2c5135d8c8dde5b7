"""What rounding adds to a promise; the ratios themselves are those of docs/theory/constants.md."""

import pytest

from orthonmf.certificate import Promise
from orthonmf.onmf.promises import (
    double_from_lines,
    double_from_means,
    in_floating_point,
    single_from_means,
)


@pytest.mark.parametrize("derived", [double_from_means, double_from_lines])
def test_what_rounding_adds_to_clusters_counts_as_often_as_the_slope_of_the_ratio_says(derived):
    """A cost of clusters that is larger by d leaves an error larger by at most that times d."""
    best = 1.0  # the optimum over both sides
    for ratio in (1.0, 5.0, 40.0):
        promise = derived(Promise(ratio, "always"))
        # Means cost twice what lines do: their unit of cost is that of the optimum over one side.
        unit = 2.0 if derived is double_from_means else 1.0
        more = derived(Promise(ratio + 1e-6 / unit, "always"))
        slope = (more.ratio - promise.ratio) * best / 1e-6
        assert slope <= promise.amplifies * (1 + 1e-6)
        assert promise.amplifies <= slope * (1 + 1e-4)
    assert single_from_means(Promise(3.0, "always")).amplifies == 1.0


def test_rounding_enlarges_amplified_promises_more():
    plain, amplified = Promise(30.0, "expected"), Promise(30.0, "expected", amplifies=20.0)
    sizes = {"relative_squared_error": 1e-3, "shape": (500, 400), "k": 5}
    enlarged = [in_floating_point(p, **sizes).ratio / 30.0 - 1.0 for p in (plain, amplified)]
    assert 0 < enlarged[0] < enlarged[1] < 1e-3
    # Draws are what is amplified most; there the error has to be further above rounding.
    assert in_floating_point(plain, 1e-5, (500, 400), 5).ratio is not None
    assert in_floating_point(amplified, 1e-7, (500, 400), 5).ratio is None
