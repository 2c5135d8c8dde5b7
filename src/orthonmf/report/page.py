"""The page of a factorization: the groups, the matrix as pictures, what is missed and proven."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orthonmf.report.cards import cards
from orthonmf.report.charts import Line, line_chart
from orthonmf.report.core_section import core_section
from orthonmf.report.groups_section import groups_section, positions_map
from orthonmf.report.headline import figures, headline, proof
from orthonmf.report.heatmap import heat_maps
from orthonmf.report.maps_section import TIP, maps_data, maps_section, search_section
from orthonmf.report.markup import Safe, remark, row, section, table, tag
from orthonmf.report.missed_section import missed_section
from orthonmf.report.overview import overview
from orthonmf.report.shell import write_page
from orthonmf.report.story import Story, ratio_text

MOST_POINTS = 400
LINKS = (
    ("Overview", "#overview"),
    ("Components", "#components"),
    ("Matrix", "#matrix"),
    ("Find", "#find"),
    ("Not captured", "#missed"),
    ("Proof", "#proven"),
)


def page(story: Story) -> str:
    """Write a story as HTML."""
    maps = heat_maps(story.findings, story.result)
    core = [("Core", "#core")] if story.result.has_full_core else []
    return write_page(
        f"{story.source}: {story.result.n_components_found} components",
        (*LINKS[:3], *core, *LINKS[3:], *story.related),
        _sections(story, maps),
        after=[_footer(story), TIP],
        data=maps_data(story, maps),
        version=story.version,
    )


def _sections(story: Story, maps: Any) -> list[Safe]:
    """What a colleague asks first comes first: groups, sizes, differences; proofs at the end."""
    about_energy = remark(
        "Energy is the sum of squared entries. The number is that of the component in the files. "
        "Behind a weight stands how many times as much it is as in any other component."
    )
    known = [groups_section(story), positions_map(story)]
    inside = [figures(story), proof(story), _sweeps(story)]
    details = tag("details", tag("summary", _in_short(story)), inside, class_="more")
    return [
        headline(story),
        section("The groups", "overview", overview(story)),
        section("What was known before", "known", known) if any(known) else Safe(""),
        section("The matrix", "matrix", maps_section(story, maps)),
        *core_section(story),
        section("Find a name", "find", search_section(story)),
        section("Components", "components", about_energy, cards(story)),
        section("What is not captured", "missed", missed_section(story)),
        _choice(story),
        section("What is proven", "proven", details),
    ]


def _choice(story: Story) -> Safe:
    """The curves over the number of components, where ``select-k`` was run."""
    if not story.selection:
        return Safe("")
    curves = tag("div", _selection(story.selection), class_="charts")
    suggestion = tag("p", _suggestion(story.selection))
    return section("How many components", "choice", curves, suggestion)


def _in_short(story: Story) -> str:
    ratio = story.result.certificate.ratio
    if ratio is None:
        return "The figures of the fit"
    return f"At most {ratio_text(ratio)} times the smallest error possible; the figures of the fit"


def _sweeps(story: Story) -> Safe:
    history = story.result.history
    if len(history) < 2:
        return Safe("")
    places = range(0, len(history), -(-len(history) // MOST_POINTS))
    error = "relative squared error"
    line = Line(error, [float(history[one]) for one in places], "first")
    numbers = [one + 1 for one in places]
    title = "Error after each sweep"
    chart = line_chart(title, numbers, [line], x_label="sweep", y_label=error)
    return tag("div", chart, class_="charts")


def _selection(selection: Mapping[str, Any]) -> list[Safe]:
    """The curves of ``select-k``."""
    tried = selection["candidates"]
    if isinstance(tried[0]["n_components"], list):
        return [_pairs(tried)]
    k = [one["n_components"] for one in tried]
    chosen = selection["suggestion"]

    def line(name: str, key: str, style: str) -> Line:
        return Line(name, [one[key] for one in tried], style)

    errors = [
        line("error", "relative_squared_error", "first"),
        line("no error can be below", "lower_bound", "second"),
        line("permuted data", "null_error", "third"),
    ]
    agreement = [
        line("labels (adjusted Rand index)", "adjusted_rand", "first"),
        line("components (matched cosine)", "matched_cosine", "second"),
    ]
    return [
        line_chart(
            "Error for each number of components", k, errors,
            x_label="components", y_label="relative squared error", marked=chosen, from_zero=True,
        ),
        line_chart(
            "Agreement of two halves of the rows", k, agreement,
            x_label="components", y_label="agreement", marked=chosen,
        ),
    ]  # fmt: skip


def _pairs(tried: Any) -> Safe:
    """The errors over pairs: groups of rows down, groups of features across."""
    found = {tuple(one["n_components"]): one["relative_squared_error"] for one in tried}
    down, across = (sorted({pair[side] for pair in found}) for side in (0, 1))

    def error(pair: tuple[int, int]) -> str:
        return "" if found.get(pair) is None else f"{found[pair]:.4f}"

    rows = [row(k, [error((k, one)) for one in across]) for k in down]
    errors = table(["rows \N{RIGHTWARDS ARROW} features", *across], rows)
    caption = tag("figcaption", "Error for each pair of numbers of groups")
    return tag("figure", caption, tag("div", errors, class_="wide"))


def _suggestion(selection: Any) -> str:
    chosen, reason = selection["suggestion"], selection["reason"]
    if isinstance(chosen, list):
        rows, features = chosen
        return f"Suggested: {rows} groups of rows and {features} of features. It is {reason}."
    return f"Suggested number of components: {chosen}. It is {reason}."


def _footer(story: Story) -> Safe:
    result = story.result
    steps = ", ".join(result.steps_run) or "none"
    return tag(
        "footer",
        tag(
            "p", f"Made by orthonmf {story.version}. Steps run: {steps}; {result.n_sweeps} sweeps."
        ),
        tag(
            "p",
            "Next to this page: assignments.csv (the component of every row), features.csv (of "
            "every feature), components.csv (all weights), model.npz (orthonmf.load reads it), "
            "summary.json. Rows, features and components are counted from 0.",
        ),
    )
