"""From rows to something one can look at: a summary, figures, and a page of Markdown."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.bounds import BOUNDS, table_of_bounds
from experiments.checks import AGREE, CANNOT, DIFFER, NEARLY, Runs, Verdict, fits, real_errors
from experiments.claims import Claim, judge, judge_instead
from experiments.figures import draw
from experiments.machine import in_words
from experiments.paper import BEST, OF_TEN, ONMF_APX, PUBLISHED, SIDES
from experiments.runner import ENVIRONMENT, RESULTS, read_sittings
from experiments.tables import EXPERIMENTS, markdown, read_results, summary

SUMMARY, PAGE = "summary.csv", "README.md"
NOTHING = "-"
SIGNS = {AGREE: "✓ agree", NEARLY: "≈ nearly", DIFFER: "✗ differ", CANNOT: "? cannot be checked"}
LEAD = (
    "Approximation Algorithms for Orthogonal Non-negative Matrix Factorization (Charikar & Hu, "
    "2021): every experiment of the paper carried out again, ours three times: as the paper has "
    "it (ONMF-apx), as the best of ten starts of that, and as orthonmf does it (best). ONMF-apx "
    "ends with one assignment by the final components that the paper does not have; it can only "
    "lower the error, and the error before it is in the results as `published_error`."
)
WORDS = (
    "A claim agrees when its rule holds at every level it speaks of. Where it holds at more than "
    "half of them it is nearly right, else it differs. All comparisons are between medians over "
    "the seeds. What counts as similar, slight, large or much faster was fixed from the paper's "
    "words, before these runs. The paper does not say how many starts its figures took: every "
    "claim is judged for one start, and once more for the best of ten by the cost of k-means."
)
REAL = (
    "Relative squared errors. Smallest, median and largest are over all single starts of the "
    "paper's algorithm; no seed is chosen. The paper wants one factor orthogonal and does not say "
    "which side of its matrices holds the samples, so both sides are shown, and on which of them "
    "the paper's value lies within the range. As published: the error before the last assignment."
)
PROVEN = (
    "What is proven: no solution that is orthogonal over that side has a relative squared error "
    "below the bound (a tight certificate of orthonmf's answer, on one core). Next to every error "
    "stands how many times the bound it is, rounded up: our answers, and the published values as "
    "printed, if they are about these matrices and that side. Those below the bound are not."
)
AGAIN = (
    "Again: `python -m experiments all`. It goes on where it ended, with the same code; with "
    "`--page-only` it runs nothing and makes the figures and this page again. All runs: "
    f"[{RESULTS}]({RESULTS}). Medians, smallest, largest and counts: [{SUMMARY}]({SUMMARY})."
)


def publish(folder: Path) -> list[Path]:
    """Write summary.csv, the figure of every experiment and README.md; the paths written.

    Reads results.csv and, where there is one, environment.json; works on whatever runs are in.
    """
    results = read_results(folder / RESULTS)
    present = [name for name in EXPERIMENTS if name in set(results["experiment"])]
    contents = {SUMMARY: summary(results).to_csv(index=False, float_format="%.6g")}
    contents |= {f"{name}.svg": draw(results, name) for name in present}
    contents[PAGE] = page(folder, results, present)
    for name, text in contents.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in contents]


def page(folder: Path, results: pd.DataFrame, present: list[str]) -> str:
    """The paper's claims next to what was measured."""
    sittings = read_sittings(folder / ENVIRONMENT)
    verdicts, of_ten = judge(results), judge_instead(results, OF_TEN)
    counts = Counter(verdict.verdict for judged in verdicts.values() for _, verdict in judged)
    best = Counter(verdict.verdict for verdict in of_ten.values())
    measured = results[~results["missing"]]
    planned = sum(len(EXPERIMENTS[name].runs()) for name in EXPERIMENTS)
    parts = [
        "# The paper's experiments, run again",
        f"Of {counts.total()} claims of the paper {counts[AGREE]} agree with what was measured, "
        f"{counts[NEARLY]} nearly, {counts[DIFFER]} differ, {counts[CANNOT]} cannot be checked; "
        f"with the best of ten starts {best[AGREE]} agree, {best[NEARLY]} nearly, {best[DIFFER]} "
        f"differ, {best[CANNOT]} cannot be checked. "
        f"{len(measured):,} of {planned:,} runs are in.",
        _origin(sittings, results),
        LEAD,
        WORDS,
    ]
    for name in present:
        parts += [f"## {EXPERIMENTS[name].title}", _state(results, name)]
        parts += [f"![{EXPERIMENTS[name].title}]({name}.svg)", _claims(verdicts[name], of_ten)]
        if name == "real-data":
            parts += [REAL, markdown(_real_table(measured))]
            if (folder / BOUNDS).exists():
                parts += [PROVEN, markdown(table_of_bounds(folder, _medians(measured)))]
    limits = ", ".join(f"{limit:g}" for limit in sorted(measured["time_limit"].unique()))
    parts += [
        "## Machine, limits, and how to run it again",
        "\n".join(
            f"* {sitting['date']}: {in_words(sitting)}; {sitting['jobs']} at a time"
            f"{_duration(sitting)}"
            for sitting in sittings
        )
        or "The environment was not recorded.",
        f"Time limits of one run: {limits or 'none'} seconds. {measured['cut'].sum()} of "
        f"{len(measured):,} runs were ended by the limit; {measured['seconds'].notna().sum():,} "
        "ran alone and were timed.",
        AGAIN,
    ]
    return "\n\n".join(parts) + "\n"


def _origin(sittings: list[dict[str, Any]], results: pd.DataFrame) -> str:
    """When, by which commit, in how many minutes, and on which real sets."""
    real = results[results["experiment"] == "real-data"]
    there = set(real.loc[~real["missing"], "dataset"])
    sets, absent = (
        ", ".join(known.label for name, known in PUBLISHED.items() if (name in there) == is_there)
        or "none"
        for is_there in (True, False)
    )
    told = f"Real sets: {sets}; not measured: {absent}."
    if not sittings:
        return told
    commits = ", ".join(dict.fromkeys(s.get("commit") or s["orthonmf"] for s in sittings))
    minutes = sum(sitting.get("minutes", 0.0) for sitting in sittings)
    long = f"in {minutes:.0f} minutes" if minutes else "in a time that was not noted"
    return f"Made {sittings[0]['date'][:10]} by commit {commits}, {long}. {told}"


def _duration(sitting: dict[str, Any]) -> str:
    return f", {sitting['minutes']:.0f} minutes" if "minutes" in sitting else ""


def _medians(measured: pd.DataFrame) -> dict[tuple[str, str], float]:
    """The median error of single starts by real set and side."""
    own = measured[(measured["experiment"] == "real-data") & (measured["method"] == ONMF_APX)]
    grouped = own.groupby(["dataset", "orthogonal"])["relative_squared_error"]
    return dict(grouped.median().items())


def _state(results: pd.DataFrame, name: str) -> str:
    own = results[results["experiment"] == name]
    state = f"{(~own['missing']).sum():,} of {len(EXPERIMENTS[name].runs()):,} runs are in"
    for word, column in (("ended by the time limit", "cut"), ("failed", "failed")):
        if count := own[column].sum():
            state += f"; {count} {word}"
    missing = own[own["missing"]].groupby("dataset")["stop_reason"].agg(["size", "first"])
    said = [f" {group.Index}: {group.size} runs {group.first}." for group in missing.itertuples()]
    return f"{state}.{''.join(said)}"


def _claims(judged: list[tuple[Claim, Verdict]], of_ten: dict[str, Verdict]) -> str:
    rows = [
        {
            "What the paper says": f"{claim.statement} *{claim.where}*",
            "Verdict": SIGNS[verdict.verdict],
            "Best of ten": SIGNS[of_ten[claim.id].verdict] + _levels(of_ten[claim.id]),
            "What was measured here, and the rule": f"{verdict.evidence}<br>*{claim.rule}*",
        }
        for claim, verdict in judged
    ]
    return markdown(pd.DataFrame(rows))


def _levels(verdict: Verdict) -> str:
    """At which levels a rule fails, where it speaks of several."""
    failing = ", ".join(f"{level:g}" for level, holds in verdict.held if not holds)
    return f", not at {failing}" if failing else ""


def _real_table(measured: pd.DataFrame) -> pd.DataFrame:
    """The paper's table next to the single starts on both sides and `best`."""
    runs = Runs("real-data", measured[measured["experiment"] == "real-data"], measured.iloc[:0])
    rows = []
    for name, known in PUBLISHED.items():
        for side in SIDES:
            starts = real_errors(runs, name, side, ONMF_APX)
            before = real_errors(runs, name, side, ONMF_APX, "published_error")
            within = "not measured"
            if len(starts):
                within = "within the range" if fits(known.published, starts) else "outside"
            row = {
                "Set": known.label, "Paper": known.published, "Asteris et al.": known.asteris,
                "Orthogonal over": side, "Smallest": starts.min(), "Median": starts.median(),
                "Largest": starts.max(), "Median as published": before.median(),
                "Starts": len(starts), "Paper's value": within,
                "Best of 10": real_errors(runs, name, side, OF_TEN).median(),
                "orthonmf (best)": real_errors(runs, name, side, BEST).median(),
            }  # fmt: skip
            rows.append({word: _cell(value) for word, value in row.items()})
    return pd.DataFrame(rows)


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return NOTHING if pd.isna(value) else f"{value:.4f}"
