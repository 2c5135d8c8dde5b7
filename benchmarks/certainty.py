"""Would I get these groups again: what certainty is worth, what it repeats, and what it costs.

Calibration: of rows of planted groups whose certainty lies in a bin, the share that is in its
place, with weights on the columns and with other seeds alone; labels of one default fit each, all
cases and seeds together. Repetition: two default fits of a real set, twenty refits of each from
other seeds; of the rows that one set keeps, the share that the other gives the same name by most
votes. Cost: twenty refits against twenty default fits, wall seconds, all cores for both.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.data import TINY, Data, real
from benchmarks.planted_groups import CASES, in_place, refit_case
from benchmarks.rows import Row, clock, guard, judge, measure
from orthonmf import Stability, factorize

SEEDS = (401, 402, 403)
EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
REFITS = 20
SETS = {
    "bow-kos": 6, "bow-nips": 6, "mfeat-pix": 10, "arcene-train": 6, "amazon-commerce-reviews": 6
}  # fmt: skip
TIMED = ("mfeat-pix", "bow-kos", "bow-nips")
TURNS = 3


def certainty(tiny: bool) -> Iterator[Row]:
    """Rows of all three questions."""
    cases, seeds = (tuple(CASES)[:1], SEEDS[:1]) if tiny else (tuple(CASES), SEEDS)
    n_refits, turns = (2, 1) if tiny else (REFITS, TURNS)
    for resample in ("coordinates", None):
        yield from measure(calibrate, resample, cases, seeds, 2 * n_refits if tiny else n_refits)
    sets = [(TINY, TINY.n_components)] if tiny else [(real(name), k) for name, k in SETS.items()]
    for data, k in sets:
        questions = [
            (f"refits of {side}", repeat, side, n_refits) for side in ("coordinates", "both")
        ]
        if tiny or data.name in TIMED:
            questions.append((f"{REFITS} default fits", compare_cost, turns, n_refits))
        case = f"{data.name or data.title} k={k}"
        for against, question, *about in questions:
            yield guard(case, measure, question, data, k, *about, against=against)


def calibrate(
    resample: str | None, cases: tuple[str, ...], seeds: tuple[int, ...], n_refits: int
) -> list[Row]:
    """The share in its place, by certainty; a row for every bin."""
    rows_of_cases = [refit_case(case, seed, resample, n_refits) for case in cases for seed in seeds]
    sure, in_group = (np.concatenate(arrays) for arrays in zip(*rows_of_cases, strict=True))
    rows = []
    for low, high in pairwise(EDGES):
        inside = (sure >= low) & ((sure < high) | (high == EDGES[-1]))
        row: Row = {
            "case": f"planted, certainty {low:g} to {high:g}",
            "against": "weights on columns" if resample else "seeds alone",
            "share_right": float(in_group[inside].mean()) if inside.any() else float("nan"),
            "share_of_rows": float(inside.mean()),
        }
        row["above_middle"] = row["share_right"] - (low + high) / 2
        goals = (("above_middle", ">=", -0.05), ("above_middle", "<=", 0.12)) if resample else ()
        rows.append(judge(row, *goals) if goals else row)
    return rows


def repeat(data: Data, k: int, resample: str, n_refits: int) -> Row:
    """Two fits, and a set of refits of each: how much of what one keeps the other names alike."""
    X = data.make()
    fits = [factorize(X, k, random_state=seed, certificate=None) for seed in (0, 1)]
    sets = [
        result.refit(X, n_refits, resample, random_state=seed)
        for result, seed in zip(fits, (10, 11), strict=True)
    ]
    alike = [same_name(one, other) for one, other in (sets, sets[::-1])]
    kept = [stability.kept() for stability in sets]
    both = (kept[0] >= 0) & (kept[1] >= 0)
    row: Row = {
        "rand_of_fits": float(adjusted_rand_score(fits[0].labels, fits[1].labels)),
        "kept": float(np.mean([np.mean(labels >= 0) for labels in kept])),
        "same_name": float(np.mean(alike)),
        "rand_where_both_keep": float(adjusted_rand_score(kept[0][both], kept[1][both])),
        "agreement": float(np.mean([stability.agreement for stability in sets])),
    }
    return judge(row, ("same_name", ">=", 0.97)) if resample == "both" else row


def same_name(one: Stability, other: Stability) -> float:
    """Of the rows that one set keeps, the share that most refits of the other name alike."""
    votes = other.samples.counts.argmax(axis=1)
    alike = in_place(one.samples.labels, votes, other.samples.counts.shape[1])
    inside = one.kept() >= 0
    return float(np.mean(alike[inside])) if inside.any() else float("nan")


def compare_cost(data: Data, k: int, turns: int, n_refits: int) -> Row:
    """Wall seconds of refits over those of as many default fits, in turns."""
    X = data.make()
    result = factorize(X, k, random_state=0, certificate=None)
    result.refit(X, 2, random_state=0)  # what is only done the first time
    ratios, seconds = [], []
    for turn in range(turns):
        _, refits = clock(lambda turn=turn: result.refit(X, n_refits, random_state=turn))
        _, fits = clock(
            lambda: [factorize(X, k, random_state=s, certificate=None) for s in range(n_refits)]
        )
        ratios.append(refits / fits)
        seconds.append(refits)
    row = {"ratio": float(np.median(ratios)), "seconds": float(np.median(seconds))}
    return judge(row, ("ratio", "<=", 1.1))
