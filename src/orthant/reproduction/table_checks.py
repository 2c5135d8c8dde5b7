"""Checks of the paper's table of real data, on both sides of every set."""

from __future__ import annotations

from collections.abc import Callable

from orthant.reproduction.paper import PUBLISHED
from orthant.reproduction.summary import BEST, ONMF_APX, SIDES, Measured, Spread
from orthant.reproduction.verdicts import (
    AGREE,
    CANNOT,
    DIFFER,
    SIMILAR,
    Check,
    Verdict,
)

DIGITS = 4  # of the published values
SMALLER_ON = ("arcene-train", "mfeat-pix")


def error_range(
    measured: Measured, name: str, side: str, method: str, measure: str = "relative_squared_error"
) -> Spread | None:
    """The relative squared errors of a method on one side of a set."""
    group = measured.real(name, side, method)
    return group.spread(measure) if group else None


def sides_that_fit(measured: Measured, name: str) -> list[str]:
    """The sides on which the published value lies within the range of single starts."""
    published = PUBLISHED[name].published
    spreads = {side: error_range(measured, name, side, ONMF_APX) for side in SIDES}
    return [
        side
        for side, one in spreads.items()
        if one and round(one.minimum, DIGITS) <= published <= round(one.maximum, DIGITS)
    ]


def in_range(name: str) -> Check:
    """The published value lies within the range of the single starts on one of the sides."""

    def check(measured: Measured) -> Verdict:
        spreads = {side: error_range(measured, name, side, ONMF_APX) for side in SIDES}
        known = {side: one for side, one in spreads.items() if one}
        if not known:
            return Verdict(CANNOT, _why_missing(measured, name))
        fitting = sides_that_fit(measured, name)
        said = "; ".join(
            f"over {side}: {one.minimum:.4f} to {one.maximum:.4f}, median {one.median:.4f}, "
            f"{one.count} starts{_best(measured, name, side)}"
            for side, one in known.items()
        )
        where = f"Within the range over {' and over '.join(fitting)}" if fitting else "In no range"
        if not fitting and len(known) < len(SIDES):
            return Verdict(CANNOT, f"Only one side is in. {said[0].upper()}{said[1:]}.")
        return Verdict(AGREE if fitting else DIFFER, f"{where}. {said[0].upper()}{said[1:]}.")

    return check


def close_to_earlier(measured: Measured) -> Verdict:
    """On one side all medians are at most slightly above the earlier values."""
    return _on_one_side(measured, tuple(PUBLISHED), lambda one: one <= 1 + SIMILAR)


def smaller_than_earlier(measured: Measured) -> Verdict:
    """On one side the medians of two sets are below the earlier values."""
    if not all(_ratios(measured, SMALLER_ON, side).keys() == set(SMALLER_ON) for side in SIDES):
        return Verdict(CANNOT, "Results of Arcene Train and Mfeat Pix on both sides are needed.")
    return _on_one_side(measured, SMALLER_ON, lambda one: one < 1)


def _on_one_side(
    measured: Measured, names: tuple[str, ...], holds: Callable[[float], bool]
) -> Verdict:
    ratios = {side: _ratios(measured, names, side) for side in SIDES}
    if not any(ratios.values()):
        return Verdict(CANNOT, "No results on real data are in.")
    good = [side for side, found in ratios.items() if found and all(map(holds, found.values()))]
    said = "; ".join(
        f"over {side} "
        + ", ".join(f"{PUBLISHED[name].label} {one:.3f}" for name, one in found.items())
        for side, found in ratios.items()
        if found
    )
    there = {name for found in ratios.values() for name in found}
    missing = [PUBLISHED[name].label for name in names if name not in there]
    without = f" Not measured: {', '.join(missing)}." if missing else ""
    where = f"Holds over {' and over '.join(good)}" if good else "Holds on neither side"
    text = f"{where}. Median over the value of Asteris et al.: {said}.{without}"
    return Verdict(AGREE if good else DIFFER, text)


def _ratios(measured: Measured, names: tuple[str, ...], side: str) -> dict[str, float]:
    spreads = {name: error_range(measured, name, side, ONMF_APX) for name in names}
    return {name: one.median / PUBLISHED[name].asteris for name, one in spreads.items() if one}


def _best(measured: Measured, name: str, side: str) -> str:
    best = error_range(measured, name, side, BEST)
    return f" (best: {best.median:.4f})" if best else ""


def _why_missing(measured: Measured, name: str) -> str:
    reasons = sorted({row.stop_reason for row in measured.skipped if row.dataset == name})
    why = "; ".join(reasons) or "no results are in"
    return f"{why[0].upper()}{why[1:]}."
