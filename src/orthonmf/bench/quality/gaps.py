"""Gaps: how far errors are above the best value known, by row and by setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from orthonmf.bench.quality.best_known import Case
from orthonmf.bench.quality.fits import OURS, PROGRAMS, Fit
from orthonmf.bench.rows import Row

QUALITY, BY_SETTING = "quality", "quality by setting"
ROUNDING = 1e-12  # a relative squared error below this is zero
ABOVE = 0.01  # a gap that is counted
BETTER = 0.0005  # by how much a median gap is below ours where it is marked
NEW_BEST = -1e-6  # a gap below this is no rounding of the value in the file


def gap(error: float, best: float) -> float:
    """The error over the best value, minus one."""
    return max(error, ROUNDING) / max(best, ROUNDING) - 1


def figures_of(
    case: Case, fits: Mapping[str, Sequence[Fit]], known: float | None
) -> dict[str, Any]:
    """What a row says of the fits of every program; without a value known, next to their best."""
    found = min(fit.error for own in fits.values() for fit in own)
    best = found if known is None else known
    programs = {name: _spread(own, best) for name, own in fits.items()}
    for one in programs.values():
        one["is_better"] = programs[OURS]["median_gap"] - one["median_gap"] > BETTER
    return {
        "set": case.name,
        "orthogonal": case.orthogonal,
        "n_components": case.n_components,
        "best": best,
        "best_is_known": known is not None,
        "best_found": found,
        "is_new_best": gap(found, best) < NEW_BEST,
        "programs": programs,
    }


def _spread(fits: Sequence[Fit], best: float) -> dict[str, Any]:
    """Gaps, errors and seconds of the fits of one program in one row."""
    gaps = [gap(fit.error, best) for fit in fits]
    return {
        **_spread_of(gaps),
        "median_error": float(np.median([fit.error for fit in fits])),
        "largest_error": max(fit.error for fit in fits),
        "seconds": float(np.median([fit.seconds for fit in fits])),
        "fewest_components": min(fit.n_components_found for fit in fits),
        "gaps": gaps,
    }


def _spread_of(gaps: Sequence[float]) -> dict[str, Any]:
    n_above = sum(one > ABOVE for one in gaps)
    return {
        "n_fits": len(gaps),
        "median_gap": float(np.median(gaps)),
        "largest_gap": max(gaps),
        "n_above": n_above,
        "share_above": n_above / len(gaps),
    }


def sum_up(rows: Sequence[Row]) -> list[Row]:
    """One row for every setting: all gaps of every program together."""
    measured = [row.figures for row in rows if row.figures]
    settings = dict.fromkeys(figures["orthogonal"] for figures in measured)
    return [_of_setting(one, [f for f in measured if f["orthogonal"] == one]) for one in settings]


def _of_setting(setting: str, measured: Sequence[Mapping[str, Any]]) -> Row:
    programs = {}
    for name in PROGRAMS:
        own = [one["programs"] for one in measured if name in one["programs"]]
        if own:
            programs[name] = {
                **_spread_of([gap for one in own for gap in one[name]["gaps"]]),
                "n_rows": len(own),
                "n_rows_better": sum(one[name]["is_better"] for one in own),
                "ratio_of_seconds": float(np.median([_ratio(one, name) for one in own])),
            }
    return Row(BY_SETTING, setting, figures={"orthogonal": setting, "programs": programs})


def _ratio(programs: Mapping[str, Mapping[str, Any]], name: str) -> float:
    """Seconds over ours; no number where the clock is so coarse that ours took no time."""
    return float(programs[name]["seconds"] / (programs[OURS]["seconds"] or np.nan))
