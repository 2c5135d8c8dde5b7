"""The page of a factorization: the groups, the matrix as pictures, what is missed and proven."""

from __future__ import annotations

from typing import Any

from orthant.report.cards import cards
from orthant.report.charts import Line, line_chart
from orthant.report.core_section import core_section
from orthant.report.groups_section import groups_section, positions_map
from orthant.report.headline import headline, proof
from orthant.report.heatmap import heat_maps
from orthant.report.maps_section import maps_data, maps_section, search_section
from orthant.report.markup import Safe, tag
from orthant.report.missed_section import missed_section
from orthant.report.overview import overview
from orthant.report.shell import write_page
from orthant.report.story import Story, ratio_text

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
    tip = tag("div", id="tip", class_="tip", hidden="", aria_hidden="true")
    return write_page(
        f"{story.source}: {story.result.n_components_found} components",
        (*_links(story), *story.related),
        _sections(story, maps),
        after=[_footer(story), tip],
        data=maps_data(story, maps),
        generator=f"orthant {story.version}".strip(),
    )


def _links(story: Story) -> list[tuple[str, str]]:
    """The parts of the page; the core comes after the matrix where there is a full one."""
    core = [("Core", "#core")] if story.result.has_full_core else []
    return [*LINKS[:3], *core, *LINKS[3:]]


def _sections(story: Story, maps: Any) -> list[Safe]:
    """What a colleague asks first comes first: groups, sizes, differences; proofs at the end."""
    energy = (
        "Energy is the sum of squared entries. The number is that of the component in the files. "
        "Behind a weight stands how many times as much it is as in any other component."
    )
    sections = [
        headline(story),
        tag("h2", "The groups", id="overview"),
        overview(story),
        *_known(story),
        tag("h2", "The matrix", id="matrix"),
        maps_section(story, maps),
        *core_section(story),
        tag("h2", "Find a name", id="find"),
        search_section(story),
        tag("h2", "Components", id="components"),
        tag("p", energy, class_="soft small"),
        cards(story),
        tag("h2", "What is not captured", id="missed"),
        missed_section(story),
        *_choice(story),
        tag("h2", "What is proven", id="proven"),
    ]
    charts = _sweeps(story)
    inside = [proof(story), tag("div", charts, class_="charts") if charts else ""]
    summary = tag("summary", _in_short(story))
    return [*sections, tag("details", summary, inside, class_="more")]


def _known(story: Story) -> list[Safe]:
    """Known groups and a map of the rows, where they came with the data."""
    found = [groups_section(story), positions_map(story)]
    if not any(found):
        return []
    return [tag("h2", "What was known before", id="known"), *found]


def _choice(story: Story) -> list[Safe]:
    """The curves over the number of components, where ``select-k`` was run."""
    if not story.selection:
        return []
    return [
        tag("h2", "How many components", id="choice"),
        tag("div", _selection(story), class_="charts"),
        tag("p", _suggestion(story.selection)),
    ]


def _in_short(story: Story) -> str:
    ratio = story.result.certificate.ratio
    if ratio is None:
        return "The figures of the fit"
    return f"At most {ratio_text(ratio)} times the smallest error possible; the figures of the fit"


def _sweeps(story: Story) -> list[Safe]:
    history = story.result.history
    if len(history) < 2:
        return []
    step = -(-len(history) // MOST_POINTS)
    places = list(range(0, len(history), step))
    heights = [float(history[one]) for one in places]
    return [
        line_chart(
            "Error after each sweep",
            [one + 1 for one in places],
            [Line("relative squared error", heights, "first")],
            x_label="sweep",
            y_label="relative squared error",
        )
    ]


def _selection(story: Story) -> list[Safe]:
    """The curves of ``select-k``."""
    if not story.selection:
        return []
    tried = story.selection["candidates"]
    if isinstance(tried[0]["n_components"], list):
        return [_pairs(tried, "relative_squared_error", "Error for each pair of numbers of groups")]
    k = [one["n_components"] for one in tried]
    chosen = story.selection["suggestion"]

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


def _pairs(tried: Any, key: str, caption: str) -> Safe:
    """A table over pairs: groups of rows down, groups of features across."""
    found = {tuple(one["n_components"]): one[key] for one in tried}
    down, across = (sorted({pair[side] for pair in found}) for side in (0, 1))
    head = tag("tr", tag("th", "rows \N{RIGHTWARDS ARROW} features", scope="col"),
               [tag("th", one, scope="col") for one in across])  # fmt: skip
    body = [
        tag(
            "tr",
            tag("th", k, scope="row"),
            [tag("td", _figure(found.get((k, one)))) for one in across],
        )
        for k in down
    ]
    table = tag("table", tag("thead", head), tag("tbody", body))
    return tag("figure", tag("figcaption", caption), tag("div", table, class_="wide"))


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


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
        tag("p", f"Made by orthant {story.version}. Steps run: {steps}; {result.n_sweeps} sweeps."),
        tag(
            "p",
            "Next to this page: assignments.csv (the component of every row), features.csv (of "
            "every feature), components.csv (all weights), model.npz (orthant.load reads it), "
            "summary.json. Rows, features and components are counted from 0.",
        ),
    )
