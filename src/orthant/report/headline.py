"""The top of a page, in one sentence; and the figures of the fit with what is proven."""

from __future__ import annotations

from orthant.certificate import bound_text
from orthant.report.findings import is_exactly_orthogonal
from orthant.report.markup import Safe, tag
from orthant.report.shell import figure_list
from orthant.report.story import Story, percent, ratio_text

FULL_CORE = (
    "Rows belong to one component and features to one group each; a component takes as much of "
    "every group as the core says."
)
SHARED = {
    "samples": "share no row",
    "features": "share no feature",
    "both": "share neither a row nor a feature",
}
MEANING = {
    "samples": "Every row belongs to one component and is a multiple of its profile.",
    "features": "Every feature belongs to one component; a row mixes the components freely.",
    "both": "Rows and features belong to one component each: the components are separate blocks.",
}


def headline(story: Story) -> Safe:
    """The title, what was asked, and the figures that matter."""
    result, (n, m) = story.result, story.shape
    parts = _parts(story)
    share = max(0.0, 1.0 - result.relative_squared_error)
    entries = story.findings.matrix.n_entries
    filled = "" if entries == n * m else f", {entries:,} entries filled"
    return Safe(
        tag("h1", f"{parts} {percent(share)} of the energy of {story.source}")
        + tag(
            "p",
            f"{n:,} rows \N{MULTIPLICATION SIGN} {m:,} features{filled}. "
            + (FULL_CORE if result.has_full_core else MEANING[result.orthogonal])
            + _chance(story),
            class_="lead",
        )
        + "".join(tag("p", remark, class_="note") for remark in _remarks(story))
    )


def proof(story: Story) -> Safe:
    """The figures of the fit, and what is proven."""
    return Safe(_figures(story) + _proof(story))


def _chance(story: Story) -> str:
    if story.chance is None:
        return ""
    return f" Of shuffled data as many capture {percent(story.chance)}."


def _parts(story: Story) -> str:
    """What captures the energy, and the verb."""
    k = story.result.n_components_found
    if story.result.has_full_core:
        rows, features = (_count(k, "row"), _count(story.n_groups, "feature"))
        return f"{rows} and {features} capture"
    if k == 1:
        return "1 component captures"
    return f"{k} components that {SHARED[story.result.orthogonal]} capture"


def _count(n_groups: int, what: str) -> str:
    return f"{n_groups} group{'s' * (n_groups != 1)} of {what}s"


def _sizes(story: Story) -> tuple[str, str]:
    """How many components, or groups of both sides, are in use and were asked for."""
    result, asked = story.result, story.result.n_components
    if not isinstance(asked, tuple):
        return f"{result.n_components_found}", f"of {asked} asked for"
    times = "\N{MULTIPLICATION SIGN}"
    found = f"{result.n_components_found} {times} {story.n_groups}"
    return found, f"rows {times} features, of {asked[0]} {times} {asked[1]} asked for"


def _figures(story: Story) -> Safe:
    result, certificate = story.result, story.result.certificate
    exact = is_exactly_orthogonal(result)
    figures = [
        (
            "Relative squared error",
            f"{result.relative_squared_error:.4f}",
            "squared error / squared norm",
        ),
        ("Proven ratio", ratio_text(certificate.ratio), "of this error to the smallest possible"),
        (
            "Orthogonality",
            "exact" if exact else "not exact",
            "no overlap, to the last bit" if exact else "see the model",
        ),
        ("Groups" if result.has_full_core else "Components", *_sizes(story)),
        (
            "Time",
            _seconds(result.seconds),
            f"for the fit, {_seconds(certificate.seconds)} for the proof"
            if certificate.seconds
            else f"{result.n_sweeps} sweeps over the data",
        ),
    ]
    return figure_list(figures)


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"


def _proof(story: Story) -> Safe:
    certificate = story.result.certificate
    sentence = str(certificate)
    text = sentence[0].upper() + sentence[1:] + "."
    if certificate.lower_bound:
        text += (
            " No factorization of this kind with as many components has a relative squared error "
            f"below {bound_text(certificate.lower_bound)}."
        )
    return tag("p", tag("b", "What is proven. "), text, id="proof")


def _remarks(story: Story) -> list[str]:
    shortage = story.result.shortage
    return [*([shortage[0].upper() + shortage[1:] + "."] if shortage else []), *story.remarks]
