"""The top of a page, in one sentence; and the figures of the fit with what is proven."""

from __future__ import annotations

from orthonmf.certificate import bound_text
from orthonmf.report.findings import is_exactly_orthogonal
from orthonmf.report.markup import Safe, escape, tag
from orthonmf.report.shell import figure_list
from orthonmf.report.story import Story, count, percent, ratio_text, sentence

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
    share = percent(max(0.0, 1.0 - result.relative_squared_error))
    entries = story.findings.matrix.n_entries
    filled = "" if entries == n * m else f", {entries:,} entries filled"
    meaning = FULL_CORE if result.has_full_core else MEANING[result.orthogonal]
    lead = f"{n:,} rows \N{MULTIPLICATION SIGN} {m:,} features{filled}. {meaning}"
    if story.chance is not None:
        lead += f" Of shuffled data as many capture {percent(story.chance)}."
    shortage = [sentence(result.shortage)] if result.shortage else []
    return escape([
        tag("h1", f"{_parts(story)} {share} of the energy of {story.source}"),
        tag("p", lead, class_="lead"),
        [tag("p", remark, class_="note") for remark in (*shortage, *story.remarks)],
    ])  # fmt: skip


def _parts(story: Story) -> str:
    """What captures the energy, and the verb."""
    k = story.result.n_components_found
    if story.result.has_full_core:
        rows, features = count(k, "group"), count(story.n_groups, "group")
        return f"{rows} of rows and {features} of features capture"
    if k == 1:
        return "1 component captures"
    return f"{k} components that {SHARED[story.result.orthogonal]} capture"


def _sizes(story: Story) -> tuple[str, str]:
    """How many components, or groups of both sides, are in use and were asked for."""
    result, asked = story.result, story.result.n_components
    if not isinstance(asked, tuple):
        return f"{result.n_components_found}", f"of {asked} asked for"
    times = "\N{MULTIPLICATION SIGN}"
    found = f"{result.n_components_found} {times} {story.n_groups}"
    return found, f"rows {times} features, of {asked[0]} {times} {asked[1]} asked for"


def figures(story: Story) -> Safe:
    """The numbers of the fit that matter."""
    result, certificate = story.result, story.result.certificate
    exact = is_exactly_orthogonal(result)
    spent = f"{result.n_sweeps} sweeps over the data"
    if certificate.seconds:
        spent = f"for the fit, {_seconds(certificate.seconds)} for the proof"
    error = f"{result.relative_squared_error:.4f}"
    ratio = ratio_text(certificate.ratio)
    overlap = ("exact", "no overlap, to the last bit") if exact else ("not exact", "see the model")
    return figure_list([
        ("Relative squared error", error, "squared error / squared norm"),
        ("Proven ratio", ratio, "of this error to the smallest possible"),
        ("Orthogonality", *overlap),
        ("Groups" if result.has_full_core else "Components", *_sizes(story)),
        ("Time", _seconds(result.seconds), spent),
    ])  # fmt: skip


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"


def proof(story: Story) -> Safe:
    """What is proven, in a paragraph."""
    certificate = story.result.certificate
    text = sentence(str(certificate))
    if certificate.lower_bound:
        text += (
            " No factorization of this kind with as many components has a relative squared error "
            f"below {bound_text(certificate.lower_bound)}."
        )
    return tag("p", tag("b", "What is proven. "), text, id="proof")
