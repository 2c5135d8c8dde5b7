"""The page: the paper's claims next to what was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from orthonmf.report.markup import Safe, remark, row, section, tag
from orthonmf.report.shell import figure_list, read_template, write_page
from orthonmf.reproduction.claims import Claim, Judged, Verdict, judge
from orthonmf.reproduction.figures import CAPTION, HOLLOW, inline, key_figures, panel_figures
from orthonmf.reproduction.summary import (
    DEFINITIONS,
    Group,
    Measured,
    count_planned,
    is_cut,
    is_measured,
)
from orthonmf.reproduction.tables import environment_table, median_tables, real_table
from orthonmf.reproduction.verdicts import AGREE, CANNOT, DIFFER, NEARLY

# How every verdict looks: a class of the style sheet, and a sign.
LOOK = {AGREE: "agree", NEARLY: "nearly", DIFFER: "differ", CANNOT: "cannot"}
SIGNS = dict(zip(LOOK, "\N{CHECK MARK}\N{ALMOST EQUAL TO}\N{MULTIPLICATION SIGN}?", strict=True))
WORDS = (
    "A claim agrees when its rule holds at every level it speaks of. Where it holds at more than "
    "half of them it is nearly right, else it differs; a dot for every level shows where. "
    "All comparisons are between medians over the seeds. What "
    "counts as similar, slight, large or much faster was fixed from the paper's words, before "
    "these runs."
)

REAL = (
    "Relative squared errors. Smallest, median and largest are over all single starts of the "
    "paper's algorithm; no seed is chosen. The paper wants one factor orthogonal and does not say "
    "which side of its matrices holds the samples, so both sides are shown, and on which of them "
    "the paper's value lies within the range. As published: the error before the last assignment."
)


def page(measured: Measured, sittings: Sequence[Mapping[str, Any]]) -> str:
    """Write everything as HTML."""
    verdicts = judge(measured)
    names = measured.experiments()
    links = [(one.replace("-", " ").capitalize(), f"#{one}") for one in names]
    sections = [
        _headline(measured, verdicts),
        _grid(verdicts),
        [_experiment(measured, name) for name in names],
        section("Claims", "claims", remark(WORDS), _claims(verdicts)),
        _provenance(measured, sittings),
    ]
    return write_page(
        Safe("The paper's experiments, run again"),
        (*links, ("Claims", "#claims"), ("Machine", "#machine")),
        sections,
        style=read_template("experiments.css", "orthonmf.reproduction"),
    )


def _headline(measured: Measured, verdicts: Judged) -> Safe:
    counts = Counter(one.verdict for found in verdicts.values() for _, one in found)
    claims = counts.total()
    total = sum(count_planned(name) for name in DEFINITIONS)
    figures = [
        ("Agree", f"{counts[AGREE]}", f"of {claims} claims of the paper"),
        ("Nearly", f"{counts[NEARLY]}", "right at more than half of the levels"),
        ("Differ", f"{counts[DIFFER]}", "with the numbers that say so"),
        ("Cannot be checked", f"{counts[CANNOT]}", "with the reason"),
        ("Runs", f"{len(measured.rows):,}", f"of {total:,} in the whole plan"),
    ]
    lead = (
        "Approximation Algorithms for Orthogonal Non-negative Matrix Factorization (Charikar & "
        "Hu, 2021): every experiment of the paper carried out again, ours three times: as the "
        "paper has it (ONMF-apx), as the best of ten starts of that, and as orthonmf does it "
        "(best). ONMF-apx ends with one assignment by the "
        "final components that the paper does not have; it can only lower the error, and the "
        "error before it is in the results as published_error."
    )
    sentence = (
        f"Of {claims} claims of the paper {counts[AGREE]} agree with what was measured, "
        f"{counts[NEARLY]} nearly, {counts[DIFFER]} differ, {counts[CANNOT]} cannot be checked"
    )
    return Safe(tag("h1", sentence) + tag("p", lead, class_="lead") + figure_list(figures))


def _grid(verdicts: Judged) -> Safe:
    """A sign for every claim, by experiment, that leads to it."""
    rows = [
        row(DEFINITIONS[experiment].title, [tag("td", [_sign(*one) for one in found])])
        for experiment, found in verdicts.items()
    ]
    key = [
        tag("span", tag("span", sign, class_=f"sign {LOOK[one]}"), f" {one}")
        for one, sign in SIGNS.items()
    ]
    return Safe(
        tag("table", tag("tbody", rows), class_="verdicts") + tag("p", key, class_="legend")
    )


def _sign(claim: Claim, verdict: Verdict) -> Safe:
    words = f"{claim.statement} {verdict.verdict}"
    return tag(
        "a", SIGNS[verdict.verdict], href=f"#claim-{claim.id}", title=words, aria_label=words,
        class_=f"sign {LOOK[verdict.verdict]}",
    )  # fmt: skip


def _dots(verdict: Verdict) -> Safe:
    """A dot for every level: filled where the rule holds."""
    if not verdict.held:
        return Safe("")
    looks = {True: ("held", "holds"), False: ("failed", "does not hold")}
    dots = [
        tag("i", class_=looks[one][0], title=f"{at:g}: {looks[one][1]}") for at, one in verdict.held
    ]
    count = sum(one for _, one in verdict.held)
    words = f"holds at {count} of {len(verdict.held)} levels"
    return tag("p", dots, class_="levels", role="img", aria_label=words)


def _claims(verdicts: Judged) -> Safe:
    words = ("What the paper says", "Verdict", "What was measured here, and the rule")
    head = tag("thead", tag("tr", [tag("th", one, scope="col") for one in words]))
    groups = []
    for experiment, found in verdicts.items():
        title = tag("th", DEFINITIONS[experiment].title, colspan="3", scope="rowgroup")
        rows = [tag("tr", title, class_="group"), [_claim(*one) for one in found]]
        groups.append(tag("tbody", rows))
    return tag("table", head, groups, class_="claims")


def _claim(claim: Claim, verdict: Verdict) -> Safe:
    badge = tag("span", verdict.verdict, class_=f"badge {LOOK[verdict.verdict]}")
    cells = [
        tag("td", badge, _dots(verdict), class_="verdict"),
        tag("td", tag("p", verdict.evidence), remark(claim.rule)),
    ]
    return row([tag("p", claim.statement), remark(claim.where)], cells, id=f"claim-{claim.id}")


def _experiment(measured: Measured, name: str) -> list[Safe]:
    runs = Group(tuple(measured.of(name)))
    state = f"{len(runs.rows):,} of {count_planned(name):,} runs are in"
    state += f"; {runs.cut} ended by the time limit" if runs.cut else ""
    state += f"; {runs.failed} failed" if runs.failed else ""
    skipped = Counter(
        (row.dataset, row.stop_reason) for row in measured.skipped if row.experiment == name
    )
    missing = [f" {which}: {count} runs {why}." for (which, why), count in skipped.items()]
    drawn = [
        tag("figure", inline(figure, f"{name}-{place}", f"{title}, {DEFINITIONS[name].title}"))
        for place, (title, figure) in enumerate(panel_figures(measured, name).items())
    ]
    keys = [
        tag("li", inline(figure, f"{name}-key-{place}", None), word)
        for place, (word, figure) in enumerate(key_figures(measured, name).items())
    ]
    caption = CAPTION if name == "real-data" else f"{CAPTION}; {HOLLOW}"
    files = [tag("a", f"{name}.{kind}", href=f"{name}.{kind}") for kind in ("svg", "png")]
    return [
        tag("h2", DEFINITIONS[name].title, id=name),
        tag("p", f"{state}.", missing),
        tag("div", drawn, class_="panels"),
        tag("ul", keys, class_="keys"),
        remark([f"{caption}. The figure as a file: ", files[0], ", ", files[1], "."]),
        remark(REAL) if name == "real-data" else Safe(""),
        real_table(measured) if name == "real-data" else median_tables(measured, name),
    ]  # fmt: skip


def _provenance(measured: Measured, sittings: Sequence[Mapping[str, Any]]) -> list[Safe]:
    seconds = sorted({row.time_limit for row in measured.rows})
    cut = sum(map(is_cut, measured.rows))
    timed = sum(row.seconds is not None for row in measured.rows)
    often = Counter(row.stop_reason for row in measured.rows if not is_measured(row))
    facts = (
        f"Time limits of one run: {', '.join(f'{one:g}' for one in seconds) or 'none'} seconds. "
        f"{cut} of {len(measured.rows):,} runs were ended by the limit; {timed:,} ran alone and "
        "were timed."
    )
    return [
        tag("h2", "Machine, limits, and how to run it again", id="machine"),
        environment_table(sittings),
        tag("p", facts),
        tag("ul", [tag("li", f"{count} runs {why}") for why, count in sorted(often.items())])
        if often
        else Safe(""),
        tag("p", "Again: ", tag("code", "orthonmf reproduce all"),
            ". It goes on where it ended; with ", tag("code", "--page-only"),
            " it runs nothing and makes the figures and this page again."),
        tag("p", "All runs: ", tag("a", "results.csv", href="results.csv"),
            ". Medians, smallest, largest and counts: ",
            tag("a", "summary.csv", href="summary.csv"), "."),
    ]  # fmt: skip
