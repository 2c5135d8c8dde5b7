"""What the tables of the benchmarks show: headings, and the lines of every cell.

A cell holds a few lines: where two programs are compared ours stands above theirs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from orthonmf.bench.rows import FAILED, SKIPPED, Row
from orthonmf.certificate import ratio_text

Lines = Sequence[str]


@dataclass(frozen=True, slots=True)
class Column:
    """A heading and what stands below it for a row."""

    heading: str
    lines: Callable[[Row], Lines]
    is_text: bool = False


def case_lines(row: Row) -> Lines:
    """The matrix: its shape above, components and type below, then its noise."""
    return re.sub(" (?=k=|noise |samples|features)", "\n", row.case).split("\n")


def _verdict(row: Row) -> Lines:
    speed = [goal for goal in row.goals if goal.figure != "error"]
    wanted = dict.fromkeys(f"{goal.relation} {goal.bound:g}" for goal in speed)
    return [*(wanted or ["-"]), row.verdict]


def _goals(row: Row) -> Lines:
    """Every goal by its name, and the verdict."""
    return [*(f"{one.figure} {one.relation} {one.bound:g}" for one in row.goals), row.verdict]


def figure(value: float) -> str:
    """A number with three digits, without powers of ten."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _times(*names: str, unit: float = 1.0, missing: str = "-") -> Callable[[Row], Lines]:
    def lines(row: Row) -> Lines:
        found = [row.figures.get(name) for name in names]
        return [missing if one is None else figure(one / unit) for one in found]

    return lines


def _format(style: str, *names: str) -> Callable[[Row], Lines]:
    return lambda row: [format(row.figures[name], style) for name in names]


_milliseconds = partial(_times, unit=1e-3)
_megabytes = partial(_times, unit=1e6)


def _ratio(method: str, row: Row) -> Lines:
    """The proven ratio, rounded up."""
    ratio = row.figures[f"{method}_ratio"]
    return ["-" if ratio is None else ratio_text(ratio, most_decimals=4)]


def _sizes(row: Row) -> Lines:
    sizes = row.figures["sizes"]
    return [f"{sizes[0]:,} to", f"{sizes[-1]:,}"]


def _ends(row: Row) -> Lines:
    """What was measured at the first and at the last size."""
    name, unit, word = ("seconds", 1e-3, "ms") if "seconds" in row.figures else ("bytes", 1e6, "MB")
    return [f"{figure(row.figures[name][end] / unit)} {word}" for end in (0, -1)]


def _power(row: Row) -> Lines:
    if "exponent" in row.figures:
        return [f"exponent {row.figures['exponent']:.2f}"]
    return [f"{row.figures['bytes_per_row']:.1f} bytes/row"]


def _convergence(row: Row) -> Lines:
    return [" ".join(map(str, row.figures.get("sweeps_to_convergence", "-")))]


def _judged_case(row: Row) -> Lines:
    """The set; the setting and k; the value that gaps are measured from, and where it is from."""
    if not row.figures:
        return [row.case]
    held = row.figures
    known = "best known" if held["best_is_known"] else "best here"
    value = f"{known} {held['best']:.6f}"
    return [held["set"], f"{held['orthogonal']} k={held['n_components']}", value]


def _programs(row: Row) -> Lines:
    return list(row.figures["programs"]) if row.figures else [row.verdict]


def _by_program(name: str, shown: Callable[[Any], str]) -> Callable[[Row], Lines]:
    """A figure of every program of a row."""
    return lambda row: [shown(one[name]) for one in _own(row)]


def _own(row: Row) -> list[dict[str, Any]]:
    return list(row.figures["programs"].values())


def _percent(gap: float) -> str:
    return f"{100 * gap:z.2f}"


def _above(row: Row) -> Lines:
    return [f"{one['n_above']}/{one['n_fits']}" for one in _own(row)]


def _marks(row: Row) -> Lines:
    """Which program is better than ours, and whether a fit is better than all before."""
    if not row.figures:
        return []
    marks = ["better" if one["is_better"] else "" for one in _own(row)]
    return [*marks, "new best"] if row.figures["is_new_best"] else marks


GAPS = [
    Column("", _programs, True),
    Column("median\ngap, %", _by_program("median_gap", _percent)),
    Column("largest\ngap, %", _by_program("largest_gap", _percent)),
]
CASE, VERDICT = Column("case", case_lines, True), Column("goal\nverdict", _verdict, True)
FITS = [
    CASE,
    Column("", lambda row: ["orthonmf", row.against], True),
    Column("ms", _milliseconds("seconds", "their_seconds")),
    Column("fewest", _milliseconds("fewest_seconds", "their_fewest_seconds")),
    Column("times\nfaster", _times("ratio", "ratio_of_minima")),
    Column("error", _format(".5f", "error", "their_error")),
    Column("certi-\nficate\nms", _milliseconds("certificate_seconds")),
    VERDICT,
]
COLUMNS: dict[str, list[Column]] = {
    "sweep": [
        CASE,
        Column("X @ U.T\nms", _milliseconds("product_seconds")),
        Column("sweep\nms", _milliseconds("sweep_seconds")),
        Column("ratio", _times("sweep_ratio", "sweep_ratio_of_minima")),
        Column("ratio over\nfeatures", _times("features_ratio", "features_ratio_of_minima")),
        Column("ratio of\nfirst scan", _times("scan_ratio", "scan_ratio_of_minima")),
        VERDICT,
    ],
    "overhead": [
        CASE,
        Column("ms", _milliseconds("seconds")),
        Column("fewest", _milliseconds("fewest_seconds")),
        Column("certificate\nms", _milliseconds("certificate_seconds")),
        VERDICT,
    ],
    "memory": [
        CASE,
        Column("input\nMB", _megabytes("input_bytes")),
        Column("extra\nMB", _megabytes("extra_bytes")),
        Column("of which\nresult", _megabytes("result_bytes")),
        Column("share", _format(".1%", "share")),
        Column("bytes\nper row", _times("bytes_per_row")),
        VERDICT,
    ],
    "places": [
        CASE,
        Column("place", lambda row: [row.against], True),
        Column("ms", _milliseconds("seconds")),
        Column("of one\nthread", _times("ratio")),
        Column("same\nbits", lambda row: ["yes" if row.figures["same_bits"] else "no"]),
    ],
    "growth": [
        CASE,
        Column("doubled", _sizes),
        Column("first\nand last", _ends),
        Column("growth", _power),
        Column("sweeps to\nconvergence", _convergence),
        VERDICT,
    ],
    "certificates": [
        CASE,
        Column("error", _format(".5f", "error")),
        Column("fit\nseconds", _times("seconds")),
        *(
            column
            for method in ("svd", "tight")
            for column in (
                Column(f"{method}\nratio", partial(_ratio, method)),
                Column(f"{method}\nseconds", _times(f"{method}_seconds")),
            )
        ),
        Column("peak\nMB", _megabytes("peak_bytes")),
    ],
    "gpu": [
        CASE,
        Column("", lambda row: row.against.split(": "), True),
        Column("ms", _milliseconds("seconds", "their_seconds")),
        Column("ratio", _times("ratio")),
        Column("whole\npass", _milliseconds("pass_seconds", missing="")),
        Column("goals\nverdict", _goals, True),
    ],
    "quality": [
        Column("case", _judged_case, True),
        *GAPS,
        Column("above\n1 %", _above),
        Column("CPU\nseconds", _by_program("seconds", figure)),
        Column("", _marks, True),
    ],
    "quality by setting": [
        Column("setting", lambda row: [row.case], True),
        *GAPS,
        Column("fits", _by_program("n_fits", str)),
        Column("above\n1 %", _by_program("n_above", str)),
        Column("share\nabove", _by_program("share_above", lambda share: f"{share:.1%}")),
        Column("CPU,\nours = 1", _by_program("ratio_of_seconds", figure)),
        Column("rows\nbetter", _by_program("n_rows_better", str)),
    ],
}
EXPLAINED = {
    "fits": "Medians over seeds, each program in processes of its own, warmed by one fit; ours "
    "without the certificate, whose time stands apart. The second ratio is that of "
    "the fewest seconds; the goal asks for both, and for an error not above theirs.",
    "sweep": "Each repeated alone, with a pause between, same number of threads; ratios of "
    "medians above, of the fewest seconds below; the goal asks for both.",
    "memory": "Peak resident memory of a fit beyond its input, in a process of its own.",
    "places": "Fewest milliseconds of three fits that start from the same directions and do five "
    "sweeps; Dask's blocks are those of the array.",
    "overhead": "Median and fewest milliseconds of many fits in one process.",
    "growth": "Fewest seconds of a fit with a fixed number of sweeps while one size doubles; "
    "memory beyond input and result.",
    "certificates": "The answer of n_init=10 with random_state=0, and what is proven of it: how "
    "many times the smallest possible squared error it is at most. Seconds of the fit and of "
    "each certificate; peak memory of the process, matrix included.",
    "gpu": "Ours above, what it is compared with below. Of a sweep: how many reads of X at the "
    "speed at which this GPU copies it takes, then how many times faster than plain torch it is, "
    "by the device's clock; a whole pass, with what the host does for it, stands apart. "
    "Of a fit: how many times faster than all cores of the host. X lies on the device before "
    "the clock starts, and the result on the host when it stops; medians, kernels compiled before.",
    "quality": "Gap: relative squared error over the best value, minus one. Best known: the value "
    "of the file; new best: a fit here is below it. Best here: no value is known, so the gap is "
    "only that to the best fit of this row. Better: the median gap of this line is more than "
    "0.05 points below ours. CPU seconds of one thread, medians; ours without the certificate.",
    "quality by setting": "All fits of a setting together; CPU seconds: median over the rows of "
    "the ratio to ours; rows better: where the median gap is more than 0.05 points below ours.",
    "profile": "Milliseconds and shares of a fit with default settings and of its certificate; "
    "what a phase calls counts for it.",
}


def columns_of(name: str) -> list[Column]:
    """The columns of a benchmark's table."""
    return COLUMNS.get(name, FITS)


def explain(name: str, profile: bool) -> str:
    """What the figures of a table are."""
    if profile:
        return EXPLAINED["profile"]
    return EXPLAINED[name if name in COLUMNS else "fits"]


def cells(row: Row, columns: list[Column]) -> list[Lines]:
    """What stands in every column; a row without figures has its case and its verdict."""
    if row.state in (SKIPPED, FAILED):
        return [one.lines(row) if one.is_text else [""] for one in columns]
    return [one.lines(row) for one in columns]
