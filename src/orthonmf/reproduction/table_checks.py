"""Checks of the paper's table of real data, on both sides of every set."""

from __future__ import annotations

from collections.abc import Callable

from orthonmf.report.story import sentence
from orthonmf.reproduction.paper import PUBLISHED
from orthonmf.reproduction.summary import BEST, ONMF_APX, SIDES, Measured, Spread
from orthonmf.reproduction.verdicts import SIMILAR, CannotError, Runs, Verdict, check, decide

DIGITS = 4  # of the published values
SMALLER_ON = ("arcene-train", "mfeat-pix")


def fits(published: float, spread: Spread) -> bool:
    """Whether a published value lies within a range."""
    return round(spread.minimum, DIGITS) <= published <= round(spread.maximum, DIGITS)


@check
def in_range(runs: Runs, name: str) -> Verdict:
    """The published value lies within the range of the single starts on one of the sides."""
    measured = runs.measured
    spreads = {side: measured.error_range(name, side, ONMF_APX) for side in SIDES}
    known = {side: one for side, one in spreads.items() if one}
    if not known:
        raise CannotError(_why_missing(measured, name))
    fitting = [side for side, one in known.items() if fits(PUBLISHED[name].published, one)]
    said = "; ".join(
        f"over {side}: {one.minimum:.4f} to {one.maximum:.4f}, median {one.median:.4f}, "
        f"{one.count} starts{_best(measured, name, side)}"
        for side, one in known.items()
    )
    said = sentence(said)
    if not fitting and len(known) < len(SIDES):
        raise CannotError(f"Only one side is in. {said}")
    where = f"Within the range over {' and over '.join(fitting)}" if fitting else "In no range"
    return decide(bool(fitting), f"{where}. {said}")


def close_to_earlier(runs: Runs) -> Verdict:
    """On one side all medians are at most slightly above the earlier values."""
    return _on_one_side(runs.measured, tuple(PUBLISHED), lambda one: one <= 1 + SIMILAR)


def smaller_than_earlier(runs: Runs) -> Verdict:
    """On one side the medians of two sets are below the earlier values."""
    found = [_ratios(runs.measured, SMALLER_ON, side) for side in SIDES]
    if not all(ratios.keys() == set(SMALLER_ON) for ratios in found):
        raise CannotError("Results of Arcene Train and Mfeat Pix on both sides are needed.")
    return _on_one_side(runs.measured, SMALLER_ON, lambda one: one < 1)


def _on_one_side(
    measured: Measured, names: tuple[str, ...], holds: Callable[[float], bool]
) -> Verdict:
    ratios = {side: found for side in SIDES if (found := _ratios(measured, names, side))}
    if not ratios:
        raise CannotError("No results on real data are in.")
    good = [side for side, found in ratios.items() if all(map(holds, found.values()))]
    said = "; ".join(
        f"over {side} "
        + ", ".join(f"{PUBLISHED[name].label} {one:.3f}" for name, one in found.items())
        for side, found in ratios.items()
    )
    there = {name for found in ratios.values() for name in found}
    missing = [PUBLISHED[name].label for name in names if name not in there]
    without = f" Not measured: {', '.join(missing)}." if missing else ""
    where = f"Holds over {' and over '.join(good)}" if good else "Holds on neither side"
    text = f"{where}. Median over the value of Asteris et al.: {said}.{without}"
    return decide(bool(good), text)


def _ratios(measured: Measured, names: tuple[str, ...], side: str) -> dict[str, float]:
    spreads = {name: measured.error_range(name, side, ONMF_APX) for name in names}
    return {name: one.median / PUBLISHED[name].asteris for name, one in spreads.items() if one}


def _best(measured: Measured, name: str, side: str) -> str:
    best = measured.error_range(name, side, BEST)
    return f" (best: {best.median:.4f})" if best else ""


def _why_missing(measured: Measured, name: str) -> str:
    reasons = sorted({row.stop_reason for row in measured.skipped if row.dataset == name})
    return sentence("; ".join(reasons) or "no results are in")
