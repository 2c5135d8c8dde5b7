"""Small factorizations to write pages about."""

import numpy as np

from orthonmf import factorize
from orthonmf.report import Story, find

ROWS = [f"row {name}" for name in ("α", "<b>bold</b>", "x&y", '"quoted"')]
EVIL = [
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "javascript:window.hacked=3",
    "\x1b[31mred\x00",
]


def blocks(n=30, m=12, k=3, seed=7):
    """Blocks in no order, with a little noise, a zero row and a zero column."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(k, size=n), rng.integers(k, size=m)
    X = (rows[:, None] == columns) * rng.uniform(1, 3, (n, m)) + 0.05 * rng.random((n, m))
    X[n // 2], X[:, m // 2] = 0, 0
    return X


def story(
    X=None, setting="both", k=3, certificate="svd", row_names=None, column_names=None, **options
):
    X = blocks() if X is None else X
    names = {"sample_names": row_names, "feature_names": column_names}
    result = factorize(X, k, orthogonal=setting, certificate=certificate, random_state=0, **names)
    return Story(result, find(X, result), options.pop("source", "blocks.csv"), **options)
