"""From rows to something one can look at: a summary, figures, and a page of Markdown."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.checks import AGREE, CANNOT, DIFFER, NEARLY, Runs, Verdict, fits, real_errors
from experiments.claims import Claim, judge
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
    "words, before these runs."
)
REAL = (
    "Relative squared errors. Smallest, median and largest are over all single starts of the "
    "paper's algorithm; no seed is chosen. The paper wants one factor orthogonal and does not say "
    "which side of its matrices holds the samples, so both sides are shown, and on which of them "
    "the paper's value lies within the range. As published: the error before the last assignment."
)
AGAIN = (
    "Again: `python -m experiments all`. It goes on where it ended; with `--page-only` it runs "
    f"nothing and makes the figures and this page again. All runs: [{RESULTS}]({RESULTS}). "
    f"Medians, smallest, largest and counts: [{SUMMARY}]({SUMMARY})."
)


def publish(folder: Path) -> list[Path]:
    """Write summary.csv, the figure of every experiment and README.md; the paths written.

    Reads results.csv and, where there is one, environment.json; works on whatever runs are in.
    """
    results = read_results(folder / RESULTS)
    present = [name for name in EXPERIMENTS if name in set(results["experiment"])]
    contents = {SUMMARY: summary(results).to_csv(index=False, float_format="%.6g")}
    contents |= {f"{name}.svg": draw(results, name) for name in present}
    contents[PAGE] = page(results, present, read_sittings(folder / ENVIRONMENT))
    for name, text in contents.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in contents]


def page(results: pd.DataFrame, present: list[str], sittings: list[dict[str, Any]]) -> str:
    """The paper's claims next to what was measured."""
    verdicts = judge(results)
    counts = Counter(verdict.verdict for judged in verdicts.values() for _, verdict in judged)
    measured = results[~results["missing"]]
    planned = sum(len(EXPERIMENTS[name].runs()) for name in EXPERIMENTS)
    parts = [
        "# The paper's experiments, run again",
        f"Of {counts.total()} claims of the paper {counts[AGREE]} agree with what was measured, "
        f"{counts[NEARLY]} nearly, {counts[DIFFER]} differ, {counts[CANNOT]} cannot be checked. "
        f"{len(measured):,} of {planned:,} runs are in.",
        LEAD,
        WORDS,
    ]
    for name in present:
        parts += [f"## {EXPERIMENTS[name].title}", _state(results, name)]
        parts += [f"![{EXPERIMENTS[name].title}]({name}.svg)", _claims(verdicts[name])]
        if name == "real-data":
            parts += [REAL, markdown(_real_table(measured))]
    limits = ", ".join(f"{limit:g}" for limit in sorted(measured["time_limit"].unique()))
    parts += [
        "## Machine, limits, and how to run it again",
        "\n".join(
            f"* {sitting['date']}: {in_words(sitting)}; {sitting['jobs']} at a time"
            for sitting in sittings
        )
        or "The environment was not recorded.",
        f"Time limits of one run: {limits or 'none'} seconds. {measured['cut'].sum()} of "
        f"{len(measured):,} runs were ended by the limit; {measured['seconds'].notna().sum():,} "
        "ran alone and were timed.",
        AGAIN,
    ]
    return "\n\n".join(parts) + "\n"


def _state(results: pd.DataFrame, name: str) -> str:
    own = results[results["experiment"] == name]
    state = f"{(~own['missing']).sum():,} of {len(EXPERIMENTS[name].runs()):,} runs are in"
    for word, column in (("ended by the time limit", "cut"), ("failed", "failed")):
        if count := own[column].sum():
            state += f"; {count} {word}"
    missing = own[own["missing"]].groupby("dataset")["stop_reason"].agg(["size", "first"])
    said = [f" {group.Index}: {group.size} runs {group.first}." for group in missing.itertuples()]
    return f"{state}.{''.join(said)}"


def _claims(judged: list[tuple[Claim, Verdict]]) -> str:
    rows = [
        {
            "What the paper says": f"{claim.statement} *{claim.where}*",
            "Verdict": SIGNS[verdict.verdict],
            "What was measured here, and the rule": f"{verdict.evidence}<br>*{claim.rule}*",
        }
        for claim, verdict in judged
    ]
    return markdown(pd.DataFrame(rows))


def _real_table(measured: pd.DataFrame) -> pd.DataFrame:
    """The paper's table next to the single starts on both sides and `best`."""
    runs = Runs("real-data", measured[measured["experiment"] == "real-data"], measured.iloc[:0])
    rows = []
    for name, known in PUBLISHED.items():
        for side in SIDES:
            starts = real_errors(runs, name, side, ONMF_APX)
            before = real_errors(runs, name, side, ONMF_APX, "published_error")
            row = {"Set": known.label, "Paper": f"{known.published:.4f}"}
            row |= {"Asteris et al.": f"{known.asteris:.4f}", "Orthogonal over": side}
            for word, value in (
                ("Smallest", starts.min()),
                ("Median", starts.median()),
                ("Largest", starts.max()),
                ("Median as published", before.median()),
            ):
                row[word] = NOTHING if pd.isna(value) else f"{value:.4f}"
            within = len(starts) and fits(known.published, starts)
            row["Starts"] = str(len(starts))
            row["Paper's value"] = "within the range" if within else "outside"
            row["Paper's value"] = row["Paper's value"] if len(starts) else "not measured"
            for word, method in (("Best of 10", OF_TEN), ("orthonmf (best)", BEST)):
                errors = real_errors(runs, name, side, method)
                row[word] = f"{errors.median():.4f}" if len(errors) else NOTHING
            rows.append(row)
    return pd.DataFrame(rows)
