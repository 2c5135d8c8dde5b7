"""AnnData: fit what it holds and write the answer into it, where people look for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthonmf.errors import InvalidInputError
from orthonmf.factorization import Factorization
from orthonmf.fitting import factorize
from orthonmf.inputs.data import is_anndata
from orthonmf.inputs.names import names_of
from orthonmf.inputs.parameters import name_nearest
from orthonmf.stability.record import Stability
from orthonmf.typing import Array
from orthonmf.views import component_of_features, strongest

KEY = "orthonmf"
# What ``uns`` says of a result under the name that it has in Python, where there is any.
SETTINGS = (
    "orthogonal", "error", "beta_loss", "relative_error", "relative_squared_error", "divergence",
    "information", "labels", "feature_labels", "core",
)  # fmt: skip
# What a refit is given again, of the options of the fit.
REFITTED = ("sample_weight", "missing_values", "n_jobs", "max_memory", "verbose")


def annotate(
    adata: Any,
    n_components: Any = 8,
    *,
    layer: str | None = None,
    key_added: str = KEY,
    n_refits: int = 0,
    **options: Any,
) -> Factorization:
    """Factorize the matrix of an AnnData and write the answer into it.

    Parameters
    ----------
    adata
        The AnnData. It gets ``obs[key_added]`` and ``var[key_added]``, the component of every cell
        and gene as categories (where several components hold one, the strongest),
        ``obsm["X_" + key_added]``, the loadings, ``varm[key_added]``, the weights of the genes, and
        ``uns[key_added]``, the settings and the error.
    n_components
        How many parts. With two numbers ``var[key_added + "_group"]`` is the group of every gene,
        a column of the core, which ``uns[key_added]`` then holds.
    layer
        The layer to factorize; None for ``X``.
    key_added
        Under which name the answer is written.
    n_refits
        With 2 or more, that many refits (:meth:`Factorization.refit`) from the seed of the fit:
        ``obs[key_added + "_certainty"]`` is the share of them that keep a cell in its component
        (over features ``var``, over both both), and ``uns[key_added]`` holds their ``agreement``
        and ``exchange``.
    **options
        All others of :func:`orthonmf.factorize`.

    Returns
    -------
    Factorization
        With the names of cells and genes. Its certificate is computed when it is looked at.

    Examples
    --------
    >>> import anndata, orthonmf
    >>> cells = anndata.AnnData(orthonmf.datasets.make_planted(30, 12, 3, 0.1, random_state=0).X)
    >>> result = orthonmf.annotate(cells, 3, random_state=0)
    >>> list(cells.obs["orthonmf"].cat.categories)
    ['0', '1', '2']
    """
    if not is_anndata(adata):
        raise InvalidInputError(
            f"a {type(adata).__name__} is no AnnData; orthonmf.factorize takes matrices and frames"
        )
    matrix, names = adata, {}
    if layer is not None:
        cells, genes = names_of(adata)
        names = {"sample_names": cells, "feature_names": genes}
        if layer not in adata.layers:
            layers = [name for name in adata.layers if name is not None]  # None is X
            raise InvalidInputError(
                f"there is no layer {layer!r}; there are {', '.join(layers) or 'none'}"
                f"{name_nearest(layer, layers)}"
            )
        matrix = adata.layers[layer]
    result = factorize(matrix, n_components, **names | options)
    stability = None
    if n_refits != 0:
        given = {name: options[name] for name in REFITTED if name in options}
        stability = result.refit(matrix, n_refits, random_state=result.random_state, **given)
    for part, values in parts_of(result, key_added, stability).items():
        for name, value in values.items():
            getattr(adata, part)[name] = value
    if layer is not None:
        adata.uns[key_added]["layer"] = layer
    return result


def parts_of(
    result: Factorization, key: str = KEY, stability: Stability | None = None
) -> dict[str, dict[str, Any]]:
    """What goes into which part of an AnnData, by name."""
    loadings = result.loadings
    dense = loadings.toarray() if hasattr(loadings, "toarray") else np.asarray(loadings)
    of_features: dict[str, Any] = {key: as_categories(component_of_features(result))}
    if result.feature_labels is not None and isinstance(result.n_components, tuple):
        of_features[f"{key}_group"] = as_categories(result.feature_labels)
    of_samples: dict[str, Any] = {key: as_categories(strongest(result))}
    settings = _settings(result)
    if stability is not None:
        told = ("n_refits", "agreement", "exchange")
        settings |= {name: getattr(stability, name) for name in told}
        if stability.certainty is not None:
            of_samples[f"{key}_certainty"] = stability.certainty
        if stability.feature_certainty is not None:
            of_features[f"{key}_certainty"] = stability.feature_certainty
    return {
        "obs": of_samples,
        "var": of_features,
        "obsm": {f"X_{key}": dense},
        "varm": {key: np.ascontiguousarray(result.components.T)},
        "uns": {key: settings},
    }


def as_categories(labels: Array) -> Any:
    """Labels as categories of pandas in the order of their numbers; missing where they are -1."""
    import pandas

    names = [str(number) for number in range(int(labels.max(initial=-1)) + 1)]
    return pandas.Categorical.from_codes(labels, categories=names)


def _settings(result: Factorization) -> dict[str, Any]:
    """How it was fitted and how well; what is proven, where that is known."""
    values = {name: getattr(result, name) for name in SETTINGS}
    values["n_components"] = np.asarray(result.n_components)
    certificate = result.evidence.settled
    if certificate is not None:
        values |= {"certificate": str(certificate), "ratio": certificate.ratio}
    return {name: value for name, value in values.items() if value is not None}
