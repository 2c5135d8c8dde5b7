"""ONMFS: sampled directions in a low-rank subspace, an exact local step, the best one kept."""

import numpy as np

from orthonmf.baselines.interface import Baseline, Iterate, Matrix, Steps
from orthonmf.baselines.rank_one import scatter, top_directions
from orthonmf.baselines.subspace import leading_subspace
from orthonmf.typing import Array

# So many columns take both signs; further ones keep the sign with which they were drawn, which
# is as good as any since -C is drawn as often as C.
MOST_SIGNED = 12
CHUNK_ENTRIES = 1 << 16  # stays in the cache


def pattern_values(B: Array) -> Array:
    """Return for every sign pattern sum_i max(0, max_j sign_j B_ij)^2.

    Bit j of a pattern's number tells that column j is turned. The maxima of all patterns are
    built up column by column, each from those of half as many: 2^(k+1) n steps, not k 2^k n.
    """
    signed = min(B.shape[1], MOST_SIGNED)
    values = np.zeros(1 << signed)
    rows = max(1, CHUNK_ENTRIES >> signed)
    for start in range(0, len(B), rows):
        columns = np.ascontiguousarray(B[start : start + rows].T)
        peaks = np.empty((1 << signed, columns.shape[1]))
        peaks[0] = columns[signed:].max(axis=0, initial=0.0)
        for j, column in enumerate(columns[:signed]):
            straight, turned = peaks[: 1 << j], peaks[1 << j : 2 << j]
            np.maximum(straight, -column, out=turned)
            np.maximum(straight, column, out=straight)
        values += np.einsum("pi,pi->p", peaks, peaks)
    return values


def local_step(B: Array) -> tuple[Array, Array]:
    """Maximize sum_s <v_s, b_s>^2 over non-negative v_s with disjoint supports.

    B is n x k. For fixed signs every row of B goes to its largest signed entry if that is
    positive; the value is the sum of their squares, and the best sign pattern is exact. Returns
    the labels (-1: in no support) and the entries of V before normalization.
    """
    pattern = int(pattern_values(B).argmax())
    turned = np.array([pattern >> j & 1 for j in range(B.shape[1])])
    signed = B * (1.0 - 2.0 * turned)
    labels = signed.argmax(axis=1)
    entries = signed[np.arange(len(B)), labels]
    return np.where(entries > 0, labels, -1), np.maximum(entries, 0.0)


def refit(M: Matrix, labels: Array, k: int) -> tuple[Iterate, float]:
    """Replace every v_s by the top right singular vector of M on its support."""
    A = top_directions(M, labels, k)
    scales = (A.T @ M)[labels, np.arange(len(labels))]
    scales = np.where(labels >= 0, scales, 0.0)
    return Iterate(A, scatter(labels, scales, k)), float(scales @ scales)


def sample_labels(low_rank: Array, k: int, rng: np.random.Generator) -> Array:
    """Return the supports for directions drawn uniformly from the sphere of the subspace."""
    C = rng.standard_normal((low_rank.shape[1], k))
    return local_step(low_rank @ (C / np.linalg.norm(C, axis=0)))[0]


def iterates(
    M: Matrix, k: int, *, rng: np.random.Generator, tol: float, rank: int | None = None
) -> Steps:
    """Try one sampled C per iteration and keep the supports that capture most of M.

    The supports come from B = V_r Sigma_r C, the rank-r part of M^T, and are judged by the whole
    of M after the refit, so the error of the iterates never rises. `max_iter` is the number of
    samples; `tol` is not used.
    """
    # One direction more than k lets the supports leave the best rank-k subspace where noise is
    # large; many more would spread the samples too thin.
    r = min(rank or k + 1, *M.shape)
    directions, values = leading_subspace(M, r, rng)
    low_rank = directions * values
    best, best_captured = refit(M, sample_labels(low_rank, k, rng), k)
    while True:
        yield best
        candidate, captured = refit(M, sample_labels(low_rank, k, rng), k)
        if captured > best_captured:
            best, best_captured = candidate, captured


ONMFS = Baseline(
    name="onmfs",
    label="ONMFS",
    exact=True,
    sources=(
        "M. Asteris, D. Papailiopoulos, A. Dimakis. Orthogonal NMF through subspace exploration. "
        "2015.",
    ),
    iterates=iterates,
    max_iter=2000,
    tol=0.0,
    period=100,
    our_reading=(
        "Directions are sampled, not taken from a net, as in the authors' program; every sample "
        "is judged after the refit of its supports, where they refit only the best at the end. The "
        "rank is theirs to choose; k + 1 did best for k = 2."
    ),
)
