"""The page of a factorization: the groups, the matrix as pictures, what is missed and proven."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice, pairwise
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from orthonmf.certificate import bound_text
from orthonmf.report.charts import Chart, Line, dots_path, picture
from orthonmf.report.findings import is_exactly_orthogonal
from orthonmf.report.pictures import color, pictures
from orthonmf.report.stability import told_refits
from orthonmf.report.story import Story, count, percent, ratio_text, sentence, shorten
from orthonmf.report.tables import tables_of, write_rows
from orthonmf.version import __version__

MOST_DOTS = 24  # components, and features, of the table of dots
MOST_GROUPS, MOST_COMPONENTS = 24, 60  # of the table of known groups
MOST_SPOTS = 5_000
SIDE = 480  # of the map of rows
BINS = 20  # of the histogram of shares
MOST_LINES, MOST_CSV = 50_000, 750_000  # lines and bytes of a table that a page carries
STYLES = ("first", "second", "third", "fourth")  # of the lines of a chart


def page(story: Story) -> str:
    """Write a story as one HTML file that needs nothing else, not even a network."""
    dots = [] if story.image_shape else _dots(story)
    chosen = story.selection
    of_pairs = chosen is not None and isinstance(chosen["suggestion"], list)
    return render(
        "report.html",
        title=f"{story.source}: {story.headline}",
        story=story,
        result=story.result,
        findings=story.findings,
        dots=dots,
        largest_dot=max(float(story.result.components[:, dots].max(initial=0.0)), 1e-300),
        cross=_cross_table(story),
        spots=_spots(story),
        refits=told_refits(story),
        captured=_captured_rows(story),
        curves=_curves(story) if chosen and not of_pairs else [],
        of_pairs=of_pairs,
        files={name: _address(*table) for name, table in tables_of(story).items()},
        **pictures(story),
    )


def render(template: str, **told: Any) -> str:
    """A page from a template; everything told is escaped, and one script may run: the page's own.

    A content security policy forbids every request.
    """
    return _environment().get_template(template).render(**told)


@cache
def _environment() -> Environment:
    loader = PackageLoader("orthonmf.report")
    environment = Environment(
        loader=loader,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_printable,
    )
    script, style = (loader.get_source(environment, f"page.{kind}")[0] for kind in ("js", "css"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment.globals.update(
        style=style,
        script=script,
        script_hash=f"sha256-{digest}",
        version=__version__,
        bound_text=bound_text,
        count=count,
        picture=picture,
        color=color,
        ratio_text=ratio_text,
        is_exactly_orthogonal=is_exactly_orthogonal,
        MOST_DOTS=MOST_DOTS,
    )
    environment.filters.update(
        percent=percent,
        whole_percent=_whole_percent,
        sentence=sentence,
        number=_number,
        weight=_weight,
        keep_options=_keep_options,
    )
    return environment


def _printable(value: Any) -> Any:
    """Control characters and lone surrogates have no place in a page; HTML stays as it is."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return "" if value is None else value
    return "".join(
        letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}"
        for letter in value
    )


def _keep_options(text: str) -> Markup:
    """A text in which no line breaks inside an option of a command, such as --seed."""
    escaped = str(escape(_printable(text)))
    return Markup(re.sub(r"(--[\w-]+)", r'<span class="keep">\1</span>', escaped))


def _whole_percent(share: float) -> str:
    """A share in whole per cent for the cell of a table, empty next to nothing, 100 for all."""
    whole = min(round(100 * share), 99 if share < 1 - 1e-12 else 100)
    return str(whole) if whole else ""


def _weight(value: float) -> str:
    """Three decimals of a weight, which is at most 1; no zero for what is none."""
    return "<0.001" if 0 < value < 0.0005 else f"{value:.3f}"


def _number(value: float) -> str:
    """Three digits of a number, without an exponent where that can be read."""
    return f"{value:,.0f}" if 1000 <= value < 1e7 else f"{value:.3g}"


def _dots(story: Story) -> list[int]:
    """The most distinctive features of every component, each once, in the order of components."""
    shown = min(story.result.n_components_found, MOST_DOTS)
    each = max(1, min(3, MOST_DOTS // max(1, shown)))
    columns = [
        column
        for component in range(shown)
        for column in story.distinctive_columns(component, each).tolist()
    ]
    return list(dict.fromkeys(columns))[:MOST_DOTS]


def _cross_table(story: Story) -> dict[str, Any] | None:
    """Rows of every known group in every component, the largest groups first."""
    if story.groups is None:
        return None
    from pandas import crosstab  # with what follows it takes a second to import
    from sklearn.metrics import adjusted_rand_score

    labels, k = story.findings.row_labels, story.result.n_components_found
    groups = np.asarray(story.groups, dtype=object).astype(str)
    counts = crosstab(groups, labels).reindex(columns=[*range(k), -1], fill_value=0)
    counts = counts.iloc[np.argsort(-counts.sum(axis=1), kind="stable")]
    rows = [(shorten(name), row) for name, row in counts[:MOST_GROUPS].iterrows()]
    if len(counts) > MOST_GROUPS:
        rest = counts[MOST_GROUPS:]
        rows.append((f"{len(rest)} smaller groups", rest.sum()))
    shown = [*range(min(k, MOST_COMPONENTS)), *([-1] if counts[-1].any() else [])]
    return {
        "n_groups": len(counts),
        "agreement": adjusted_rand_score(groups, labels),
        "head": ["none" if component < 0 else str(component) for component in shown],
        "rows": [(name, [(int(n), n / row.sum()) for n in row[shown]]) for name, row in rows],
    }


def _spots(story: Story) -> dict[str, Any] | None:
    """The rows at places that came with the data, one path for every component."""
    if story.positions is None:
        return None
    places = np.asarray(story.positions, dtype=np.float64)[:, :2]
    placed = np.flatnonzero(np.isfinite(places).all(axis=1))
    if not len(placed):
        return None
    step = -(-len(placed) // MOST_SPOTS)
    drawn = placed[::step]
    shares = places[drawn] - places[drawn].min(axis=0)
    shares /= np.where(shares.any(axis=0), shares.max(axis=0), 1.0)
    across, down = 8 + shares[:, 0] * (SIDE - 16), 8 + (1 - shares[:, 1]) * (SIDE - 16)
    labels = story.findings.row_labels[drawn]
    paths = {
        component: dots_path(across[labels == component], down[labels == component])
        for component in np.unique(labels).tolist()
    }
    return {"paths": paths, "step": step, "side": SIDE, "width": 5.2 if len(drawn) > 1000 else 7.2}


def _captured_rows(story: Story) -> dict[str, Any] | None:
    """How much of the energy of the rows is captured: three quantiles and a histogram."""
    shares = story.findings.row_shares
    shares = shares[~np.isnan(shares)]
    if not len(shares):
        return None
    counts, edges = np.histogram(np.clip(shares, 0.0, 1.0), bins=BINS, range=(0.0, 1.0))
    chart = Chart(
        "How much of a row is captured",
        f"share of the row's {story.loss.amount}",
        "rows",
        edges.tolist(),
        [Line("rows", counts.tolist())],
        [f"{100 * low:.0f} to {100 * high:.0f}%" for low, high in pairwise(edges)],
        [(share, f"{share:.0%}") for share in (0, 0.25, 0.5, 0.75, 1)],
    )
    return {"quantiles": np.quantile(shares, (0.1, 0.5, 0.9)).tolist(), "chart": chart}


def _curves(story: Story) -> list[Chart]:
    """The curves of ``select-k``, with the number it suggests and that of this page marked."""
    from orthonmf.selection.choice import AGREEMENTS, ERRORS  # takes a second to import

    assert story.selection is not None
    tried, suggestion = story.selection["candidates"], story.selection["suggestion"]
    k = story.result.n_components_found
    places = [candidate["n_components"] for candidate in tried]
    ticks = sorted(set(places))[:: -(-len(places) // 10)]
    marked = [(suggestion, f"suggested: k = {suggestion}"), (k, f"this page: k = {k}")]
    marked = [(place, word) for place, word in marked if min(places) <= place <= max(places)]
    halves = "rows" if tried[0].get("held_out_error") is None else "counts"
    charts = (
        ("Error for each number of components", "relative error", ERRORS),
        (f"Agreement of two halves of the {halves}", "agreement", AGREEMENTS),
    )
    return [
        Chart(
            title,
            "components",
            y_label,
            places,
            [
                Line(name, heights, style)
                for (key, name), style in zip(curves.items(), STYLES, strict=False)
                if set(heights := [candidate.get(key) for candidate in tried]) != {None}
            ],
            list(map(str, places)),
            [(place, str(place)) for place in ticks],
            marked if k != suggestion else marked[:1],
        )
        for title, y_label, curves in charts
    ]


def _address(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table in a data URI; nothing where it is too long for a page."""
    text = io.StringIO()
    kept = list(islice(rows, MOST_LINES + 1))
    write_rows(text, headings, kept)
    content = text.getvalue().encode("utf-8", "replace")
    if len(kept) > MOST_LINES or len(content) > MOST_CSV:
        return ""
    return f"data:text/csv;base64,{base64.b64encode(content).decode()}"
