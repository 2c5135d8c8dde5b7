"""What people look at in a result: lines, tables, lists of names, pictures.

Some are methods of `Factorization`. Nothing here computes a certificate: one that is known is
shown, another is not asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from orthonmf.distinctive import distinctive_features, name_components
from orthonmf.engine.losses import KULLBACK_LEIBLER, LOSSES
from orthonmf.engine.placement import find_largest
from orthonmf.engine.sources import to_dense
from orthonmf.extras import import_extra
from orthonmf.inputs.data import as_source
from orthonmf.inputs.parameters import as_choice, as_count
from orthonmf.typing import Array
from orthonmf.vectors import divide, unit_sums

if TYPE_CHECKING:
    from orthonmf.factorization import Factorization

MOST_LINES, MOST_ROWS, FEW = 5, 50, 5
MOST_PIXELS, MOST_NAMED, LONGEST = 500, 25, 24
SHARE_NONE = {"samples": "samples", "features": "features", "both": "samples or features"}
Names = Sequence[str] | None


def name_some(names: Names, places: Any) -> list[Any]:
    """The names at some places, or the places where there are no names."""
    return [int(place) if names is None else names[place] for place in places]


def top_features(result: Factorization, n: int = 10, by: str = "weight") -> list[list[Any]]:
    """For every component the names of its n heaviest features, numbers where there are none.

    ``by="distinctive"`` leaves out what components have in common: only features that matter
    in the component and weigh more in it than in any other, so there may be fewer than n; a
    component without one lists its heaviest. Where components share no features it is the
    same as "weight".
    """
    as_choice(by, ("weight", "distinctive"), "by")
    count = as_count(n, "n")
    weights = weights_of_features(result)
    if by == "weight":
        chosen = [find_largest(values, 0, count) for values in weights]
    else:
        chosen = distinctive_features(weights, count)
    return [name_some(result.feature_names, places) for places in chosen]


def weights_of_features(result: Factorization) -> Array:
    """(k, m) how much every feature matters in a component: its weight there.

    Under the Kullback-Leibler divergence it is what the feature adds to the information that the
    component keeps, ``u ln(u / overall)`` of its share u, where that is positive: a word that is as
    frequent everywhere tells nothing, however frequent it is.
    """
    components = result.components
    if result.beta_loss != KULLBACK_LEIBLER or len(components) < 2:
        return components
    totals, profiles = strengths(result), unit_sums(components)
    overall = divide(totals, totals.sum()) @ profiles
    ratios = np.divide(profiles, overall, out=np.ones_like(profiles), where=profiles > 0)
    return np.maximum(profiles * np.log(ratios), 0.0)


def top_samples(result: Factorization, n: int = 10) -> list[list[Any]]:
    """For every component the names of the n samples with the largest loadings on it."""
    count = as_count(n, "n")
    columns = (to_dense(result.loadings[:, [a]]) for a in range(result.n_components_found))
    chosen = (find_largest(column[:, 0], 0, count) for column in columns)
    return [name_some(result.sample_names, places) for places in chosen]


def strengths(result: Factorization) -> Array:
    """(k,) length of what every component adds to the approximation; of counts the sum of it."""
    loss = LOSSES[result.beta_loss]
    if result.labels is not None and result.scales is not None:
        return loss.group_sizes(result.labels, result.scales, result.n_components_found)
    # One component at a time: loadings are the largest thing that a fit over features makes.
    columns = np.asarray(result.loadings).T
    largest = float(columns.max(initial=0.0)) or 1.0  # whatever the scale, it is in range
    shares = (np.divide(column, largest, dtype=np.float64) for column in columns)
    return largest * np.array([loss.lengths(share[None])[0] for share in shares])


def strongest(result: Factorization) -> Array:
    """(n,) the component of every sample; -1 for none.

    Over features a sample has a loading on every component: the strongest is the one that is
    largest compared with what is usual for its component. One with large loadings everywhere
    would otherwise be that of every sample.
    """
    if result.labels is not None:
        return result.labels
    loadings = np.asarray(result.loadings)
    if not loadings.shape[1]:
        return np.full(len(loadings), -1)
    largest = np.maximum(loadings.max(axis=0, initial=0.0), np.finfo(loadings.dtype).tiny)
    relative = loadings / largest  # whatever the scale, squares are safe
    usual = np.sqrt(np.square(relative, dtype=np.float64).sum(axis=0) / max(1, len(loadings)))
    return np.where(loadings.any(axis=1), divide(relative, usual).argmax(axis=1), -1)


def component_of_features(result: Factorization) -> Array:
    """(m,) the component of every feature: its own, or that which captures most of it.

    With a core the labels of features are groups of their own, of which every component may take.
    """
    if result.feature_labels is not None and not isinstance(result.n_components, tuple):
        return result.feature_labels
    if not result.n_components_found:
        return np.full(result.components.shape[1], -1)
    captured = result.components * strengths(result)[:, None]
    return np.where(captured.any(axis=0), captured.argmax(axis=0), -1)


def to_frame(result: Factorization, of: str = "samples") -> Any:
    """A pandas DataFrame with one row per sample, or per feature with ``of="features"``.

    Samples have their component and scale, over features the loadings on all components;
    features their weights in all components, and their component where they have one.
    """
    as_choice(of, ("samples", "features"), "of")
    import pandas  # takes half a second

    names = result.sample_names if of == "samples" else result.feature_names
    index = None if names is None else pandas.Index(names)
    if of == "samples" and result.labels is not None:
        return pandas.DataFrame({"component": result.labels, "scale": result.scales}, index=index)
    values = result.loadings if of == "samples" else result.components.T
    frame = pandas.DataFrame(np.asarray(values), index=index)
    if of == "features" and result.feature_labels is not None:
        # With a core columns have groups of their own, and components take of all of them.
        has_core = isinstance(result.n_components, tuple)
        frame.insert(0, "group" if has_core else "component", result.feature_labels)
    return frame


def in_lines(result: Factorization) -> str:
    """A few lines: what the result is, cautions, what is proven if that is known, components."""
    n, m = result.loadings.shape[0], result.components.shape[1]
    lines = [
        f"Factorization({n} x {m}, orthogonal={result.orthogonal!r}, "
        f"components={result.n_components_found}, "
        f"{LOSSES[result.beta_loss].error_name}={result.relative_error:.6g})"
    ]
    lines += [f"  caution: {caution}" for caution in result.cautions]
    certificate = result.evidence.settled
    if certificate is not None:
        lines.append(f"  {certificate}")
    rows = _rows(result, MOST_LINES)
    lines += [f"  {number}: {size} samples; {names}" for number, size, _, names in rows]
    more = result.n_components_found - len(rows)
    return "\n".join([*lines, f"  and {more} more"] if more else lines)


def in_html(result: Factorization) -> str:
    """A table of the components for notebooks; names are texts, never markup."""
    import pandas  # takes half a second

    n, m = result.loadings.shape[0], result.components.shape[1]
    certificate = result.evidence.settled
    proven = "" if certificate is None else f"; {escape(str(certificate))}"
    head = (
        f"<p>{n:,} × {m:,}: {result.n_components_found} components that share no "
        f"{SHARE_NONE[result.orthogonal]}; {LOSSES[result.beta_loss].error} "
        f"{result.relative_error:.6g}{proven}</p>"
    )
    cautions = "".join(f"<p>Caution: {escape(caution)}</p>" for caution in result.cautions)
    rows, more = _rows(result, MOST_ROWS), result.n_components_found - MOST_ROWS
    headings = ["component", "samples", "features", "what makes it different"]
    table = pandas.DataFrame(rows, columns=headings).to_html(index=False, border=0)
    return head + cautions + table + (f"<p>and {more} more</p>" if more > 0 else "")


def _rows(result: Factorization, most: int) -> list[tuple[int, int, int, str]]:
    """The first components: number, how many samples and features, what makes it different."""
    samples = strongest(result)
    named = top_features(result, FEW, "distinctive")[:most]
    return [
        (
            component,
            int(np.count_nonzero(samples == component)),
            int(np.count_nonzero(result.components[component])),
            ", ".join(str(name)[:40] for name in names),
        )
        for component, names in enumerate(named)
    ]


def plot(result: Factorization, X: Any = None) -> Any:
    """A matplotlib Figure: the matrix with rows and columns ordered, and the components.

    Without X the approximation is drawn in its place. Of more than 500 rows or columns 500
    are drawn, as the axes say. Names stand at the axes, next to each picture a color bar.
    """
    figure = import_extra("matplotlib.figure", "report").Figure((12, 6), layout="constrained")
    matrix, parts = figure.subplots(1, 2)
    (n, m), k = (result.loadings.shape[0], result.components.shape[1]), result.n_components_found
    weights = result.components.max(axis=0, initial=0.0)
    by_component = order_by_label(component_of_features(result), weights)
    sizes = result.scales if result.scales is not None else result.loadings.max(axis=1, initial=0.0)
    rows, columns = _thin(order_by_label(strongest(result), sizes)), _thin(by_component)
    drawn = result.loadings[rows] @ result.components if X is None else as_source(X).rows(rows)
    some_rows = f"{len(rows):,} of {n:,} samples" if len(rows) < n else f"{n:,} samples"
    some_columns = f"{len(columns):,} of {m:,} features" if len(columns) < m else f"{m:,} features"
    look = {"aspect": "auto", "interpolation": "nearest", "cmap": "viridis"}
    for axes, values, title in (
        (matrix, np.asarray(drawn)[:, columns], "approximation" if X is None else "matrix"),
        (parts, result.components[:, columns], "components"),
    ):
        image = axes.imshow(values, **look)
        figure.colorbar(image, ax=axes, label="weight" if axes is parts else "entry")
        axes.set(title=title, xlabel=f"{some_columns}, ordered by component")
        _name_ticks(axes.xaxis, result.feature_names, columns)
        axes.tick_params("x", rotation=90 if result.feature_names else 0)
        axes.tick_params(labelsize="small")
    matrix.set_ylabel(f"{some_rows}, ordered by component")
    _name_ticks(matrix.yaxis, result.sample_names, rows)
    parts.set_ylabel("component")
    parts.set_yticks(range(k), _call(result))
    return figure


def _call(result: Factorization) -> list[str]:
    """Numbers of the components, and names where features have names."""
    numbers = [str(component) for component in range(result.n_components_found)]
    if result.feature_names is None:
        return numbers
    names = name_components(weights_of_features(result), result.feature_names)
    return [f"{number}: {name[:LONGEST]}" for number, name in zip(numbers, names, strict=True)]


def _name_ticks(axis: Any, names: Names, shown: Array) -> None:
    """Names at some of the places of an axis; places without names are no numbers of theirs."""
    places = range(0, len(shown), max(1, -(-len(shown) // MOST_NAMED)))
    axis.set_ticks(places, [str(name)[:LONGEST] for name in name_some(names, shown[places])])


def order_by_label(labels: Array, strengths: Array) -> Array:
    """Members of label 0 first, the strongest of each first; those of none at the end."""
    last = labels.max(initial=-1) + 1
    return np.lexsort((-strengths, np.where(labels < 0, last, labels)))


def _thin(order: Array) -> Array:
    """As many of these as a picture has pixels, evenly chosen."""
    n_drawn = min(len(order), MOST_PIXELS)
    return order[np.linspace(0, len(order) - 1, n_drawn).round().astype(np.int64)]
