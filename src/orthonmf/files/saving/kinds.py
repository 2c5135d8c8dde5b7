"""How each kind of object becomes plain values and arrays, and what must hold to make it again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from orthonmf.certificate import KINDS as KINDS_OF_PROMISES
from orthonmf.certificate import Certificate, Promise
from orthonmf.engine.loadings import one_per_row
from orthonmf.engine.losses import LOSSES, Loss
from orthonmf.errors import InvalidTypeError
from orthonmf.evidence import Evidence
from orthonmf.factorization import Factorization, FitOptions
from orthonmf.files.saving.content import (
    LARGEST,
    UNIT_LENGTH,
    Check,
    Content,
    count_from,
    is_name,
    is_text,
    list_of,
    number_from,
    one_of,
    optional,
    plain,
    unplain,
)
from orthonmf.normalization import STEPS, Preparation
from orthonmf.onmf.algorithms import SETTINGS
from orthonmf.stability.record import RESAMPLES, Membership, Stability
from orthonmf.typing import REAL, Array
from orthonmf.vectors import divide

# scikit-learn, which the estimators need, is slow to import: only where there is an estimator.
if TYPE_CHECKING:
    from orthonmf.estimators.bipartite_correlation_clustering import BipartiteCorrelationClustering
    from orthonmf.estimators.orthogonal_nmf import OrthogonalNMF

Packed = tuple[dict[str, Any], dict[str, Array]]  # plain values, and arrays by name
NAMES = "feature_names_in_"  # where scikit-learn keeps the names of columns, if there are any
is_amount, is_index = number_from(0, LARGEST), number_from(-1, 1)
is_count, is_positive = count_from(0), count_from(1)
# The values of each kind in the order in which files hold them, and the check of each.
FACTORIZATION: dict[str, Check] = {
    "n_components": lambda value: is_count(value) or list_of(is_count, 2)(value),
    "error": is_amount,
    "relative_squared_error": optional(is_amount),
    "history": list_of(is_amount),
    "n_sweeps": is_count,
    "steps_run": list_of(is_text),
    "seconds": is_amount,
    "shortage": is_text,
    "random_state": optional(is_count),
    "cautions": list_of(is_text),
    "beta_loss": one_of(LOSSES),
    "divergence": optional(is_amount),
    "information": optional(is_amount),
}
# What they may be is checked by the fit that repeats them.
FIT_OPTIONS: dict[str, Check] = {field.name: optional(is_name) for field in fields(FitOptions)}
ARRAYS = (
    *("components", "loadings", "labels", "scales", "feature_labels", "feature_scales"),
    *("feature_weight", "information_shares"),
)
STABILITY: dict[str, Check] = {
    "n_refits": is_positive,
    "resample": one_of(RESAMPLES),
    "random_state": is_count,
}
CERTIFICATE: dict[str, Check] = {field.name: optional(is_amount) for field in fields(Certificate)}
CERTIFICATE |= dict.fromkeys(("method", "a_priori_kind", "reason", "quantity"), optional(is_text))


def _read(content: Content, checks: dict[str, Check]) -> dict[str, Any]:
    return {name: content.value(name, fits) for name, fits in checks.items()}


def _pack_factorization(result: Factorization) -> Packed:
    content = {
        "orthogonal": result.orthogonal,
        **{name: getattr(result, name) for name in FACTORIZATION},
        "promise": result.promise,
        "certificate": result.evidence.without_data(),
        "sample_names": result.sample_names,
        "feature_names": result.feature_names,
        "fit_options": result.fit_options,
        "preparation": result.preparation.names if result.preparation else None,
    }
    arrays = {name: getattr(result, name) for name in ARRAYS}
    if result.labels is not None:  # with the scales, one entry per row, they are the loadings
        del arrays["loadings"]
    for name, learned in result.preparation.steps if result.preparation else ():
        arrays[f"preparation_{name}"] = learned
    return content, {name: array for name, array in arrays.items() if array is not None}


def _unpack_factorization(content: Content) -> Factorization:
    setting = content.value("orthogonal", one_of(SETTINGS))
    values = _read(content, FACTORIZATION)
    components = content.amounts("components", None, None)
    loss = LOSSES[values["beta_loss"]]
    lengths = loss.lengths(components.astype(np.float64))
    if np.any(np.abs(lengths - 1.0) > UNIT_LENGTH[components.dtype]):
        raise content.wrong("components holds rows that are not of length or sum 1")
    k, m = components.shape
    arrays: dict[str, Any] = dict.fromkeys(ARRAYS) | {"components": components}
    if setting == "features":
        arrays["loadings"] = content.amounts("loadings", None, k)
    else:
        labels, scales = _check_labels(content, "", None, k)
        arrays |= {"labels": labels, "scales": scales, "loadings": one_per_row(labels, scales, k)}
    if setting != "samples":
        asked = values["n_components"]
        n_groups = asked[1] if isinstance(asked, tuple) else k
        feature_labels, feature_scales = _check_labels(content, "feature_", m, n_groups)
        if isinstance(asked, tuple):
            fits = _fit_groups(components, feature_labels, feature_scales, loss)
        else:
            blocks = one_per_row(feature_labels, feature_scales, k)
            fits = np.array_equal(components, blocks.T.toarray())
        if not fits:
            raise content.wrong(
                "feature_labels, feature_scales and components contradict each other"
            )
        arrays |= {"feature_labels": feature_labels, "feature_scales": feature_scales}
    for name, size in (("feature_weight", m), ("information_shares", k)):
        arrays[name] = content.amounts(name, size) if name in content.arrays else None
    if arrays["feature_weight"] is not None and not arrays["feature_weight"].any():
        raise content.wrong("feature_weight is zero everywhere")
    n = arrays["loadings"].shape[0]
    options = content.inner_or_none("fit_options")
    return Factorization(
        orthogonal=setting,
        evidence=Evidence(_certificate(content)),
        promise=_promise(content.inner("promise")),
        sample_names=content.value("sample_names", optional(list_of(is_text, n))),
        feature_names=content.value("feature_names", optional(list_of(is_text, m))),
        preparation=_preparation(content, m),
        fit_options=None if options is None else FitOptions(**_read(options, FIT_OPTIONS)),
        **arrays,
        **values,
    )


def _certificate(content: Content) -> Certificate:
    return Certificate(**_read(content.inner("certificate"), CERTIFICATE))


def _promise(content: Content) -> Promise:
    """What was promised, on average or always, and of what."""
    kind = content.value("kind", one_of((None, *KINDS_OF_PROMISES)))
    fits = one_of((None,)) if kind is None else is_amount
    return Promise(content.value("ratio", fits), kind, content.value("reason", is_text))


def _preparation(content: Content, m: int) -> Preparation | None:
    """The steps that were taken before the fit, with what each learned; None for none."""
    names = content.value("preparation", optional(list_of(is_text)))
    if names is None:
        return None
    if list(names) != [name for name in STEPS if name in names]:
        raise content.wrong(f"preparation is {names!r}")
    steps: list[tuple[str, Array | None]] = []
    for name in names:
        size = 1 if name == "totals" else m
        learns = STEPS[name].learn is not None
        steps.append((name, content.amounts(f"preparation_{name}", size) if learns else None))
    return Preparation(tuple(steps))


def _check_labels(content: Content, prefix: str, size: int | None, k: int) -> tuple[Array, Array]:
    labels = content.labels(f"{prefix}labels", size, k=k)
    scales = content.amounts(f"{prefix}scales", *labels.shape)
    if np.any((labels < 0) != (scales == 0)):
        raise content.wrong(f"{prefix}labels and {prefix}scales contradict each other")
    return labels, scales


def _fit_groups(components: Array, labels: Array, scales: Array, loss: Loss) -> bool:
    """Whether columns of a group differ by their scales alone, and all components are of them."""
    n_groups = int(labels.max(initial=-1)) + 1
    groups = one_per_row(labels, scales.astype(np.float64), n_groups)
    squares = np.asarray(groups.multiply(groups).sum(axis=0)).ravel()
    seen = divide(np.asarray(components @ groups), squares) @ groups.T
    rounding = UNIT_LENGTH[components.dtype]
    sizes = loss.group_sizes(labels, scales, n_groups)
    return (
        np.array_equal(components.any(axis=0), labels >= 0)
        and bool(np.all(np.abs(sizes - 1.0) <= rounding))
        and bool(np.all(np.abs(seen - components) <= rounding))
    )


def _pack_stability(stability: Stability) -> Packed:
    content: dict[str, Any] = {name: getattr(stability, name) for name in STABILITY}
    arrays: dict[str, Array] = {}
    for side in ("samples", "features"):
        members = getattr(stability, side)
        content[side] = None if members is None else {"agreement": members.agreement}
        if members is not None:
            parts = ("labels", "counts", "jaccard", "energy_certainty")
            arrays |= {f"{side}_{name}": getattr(members, name) for name in parts}
    return content, arrays


def _unpack_stability(content: Content) -> Stability:
    values = _read(content, STABILITY)
    samples, features = (
        _unpack_membership(content, side, values["n_refits"]) for side in ("samples", "features")
    )
    if samples is None and features is None:
        raise content.wrong("it holds neither samples nor features")
    return Stability(samples, features, **values)


def _unpack_membership(content: Content, side: str, n_refits: int) -> Membership | None:
    agreement = content.inner_or_none(side)
    if agreement is None:
        return None
    jaccard = content.shares(f"{side}_jaccard", None)
    k = len(jaccard)
    labels = content.labels(f"{side}_labels", None, k=k)
    counts = content.labels(f"{side}_counts", len(labels), k, k=n_refits + 1, lowest=0)
    if np.any(counts.sum(axis=1, dtype=np.int64) > n_refits) or counts[labels < 0].any():
        raise content.wrong(f"{side}_counts holds more votes than there were refits")
    return Membership(
        labels=labels,
        counts=counts,
        n_refits=n_refits,
        jaccard=jaccard,
        energy_certainty=content.shares(f"{side}_energy_certainty", k),
        agreement=float(agreement.value("agreement", is_index)),
    )


def _pack_nmf(model: OrthogonalNMF) -> Packed:
    own, arrays = _pack_estimator(model, "names_in")
    content, parts = _pack_factorization(model.result_)
    return own | content, arrays | parts


def _unpack_nmf(content: Content) -> OrthogonalNMF:
    from orthonmf.estimators.orthogonal_nmf import OrthogonalNMF

    result = _unpack_factorization(content)
    m = result.components.shape[1]
    model: OrthogonalNMF = _make_estimator(OrthogonalNMF, content, "names_in", m)
    model.result_ = result
    return model


def _pack_clustering(model: BipartiteCorrelationClustering) -> Packed:
    own, arrays = _pack_estimator(model, "feature_names")
    content = {
        **own,
        "disagreements": model.disagreements_,
        "certificate": model.certificate_,
        "row_names": _list_names(model.row_names_, "row_names_"),
        "column_names": _list_names(model.column_names_, "column_names_"),
    }
    labels = {"row_labels": model.row_labels_, "column_labels": model.column_labels_}
    return content, arrays | labels


def _unpack_clustering(content: Content) -> BipartiteCorrelationClustering:
    from orthonmf.estimators.bipartite_correlation_clustering import BipartiteCorrelationClustering

    n, m = content.array("row_labels").size, content.array("column_labels").size
    kind = BipartiteCorrelationClustering
    model: BipartiteCorrelationClustering = _make_estimator(kind, content, "feature_names", m)
    model.disagreements_ = content.value("disagreements", is_count)
    model.certificate_ = _certificate(content)
    model.row_labels_ = content.labels("row_labels", n, k=n + m, lowest=0)
    model.column_labels_ = content.labels("column_labels", m, k=n + m, lowest=0)
    model.row_names_ = _read_names(content, "row_names", n)
    model.column_names_ = _read_names(content, "column_names", m)
    return model


def _pack_estimator(model: Any, names_key: str) -> Packed:
    """Parameters, those that are arrays under ``parameter_`` names, and names of features."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    values: dict[str, Any] = {}
    arrays: dict[str, Array] = {}
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, np.ndarray) and value.dtype.kind in REAL:
            arrays[f"parameter_{name}"] = value
            continue
        try:
            values[name] = plain(value)
        except TypeError as error:
            raise InvalidTypeError(
                f"{name}={value!r} cannot be written to a file; "
                f"save a copy with set_params({name}=None) or another plain value"
            ) from error
    names = _list_names(getattr(model, NAMES, None), NAMES)
    return {"parameters": values, names_key: names}, arrays


def _make_estimator(kind: type, content: Content, names_key: str, n_features: int) -> Any:
    """A model with its parameters and the names of its features."""
    model = kind()
    names = model.get_params(deep=False)
    stored = content.inner("parameters").values
    given = {name: unplain(value) for name, value in stored.items() if name in names}
    for name in names:
        if f"parameter_{name}" in content.arrays:
            given[name] = content.array(f"parameter_{name}")
    if isinstance(given.get("n_components"), list):  # two numbers, which JSON has no tuple for
        given["n_components"] = tuple(given["n_components"])
    model.set_params(**given)
    model.n_features_in_ = n_features
    feature_names = _read_names(content, names_key, n_features)
    if feature_names is not None:
        setattr(model, NAMES, feature_names)
    return model


def _list_names(names: Array | None, what: str) -> list[Any] | None:
    """Names as JSON can hold them and give them back: texts and numbers, not tuples."""
    if names is None:
        return None
    given = [name.item() if isinstance(name, np.generic) else name for name in names]
    if not all(map(is_name, given)):
        raise InvalidTypeError(f"{what} cannot be written to a file: use texts or numbers")
    return given


def _read_names(content: Content, key: str, size: int) -> Array | None:
    """As many names as there are things, as an array of objects; None for none."""
    names = content.value(key, optional(list_of(is_name, size)))
    return None if names is None else np.array(names, dtype=object)


# By the public names of the types: how one becomes plain values and arrays, and how it comes back.
KINDS: dict[str, tuple[Callable[[Any], Packed], Callable[[Content], Any]]] = {
    "Factorization": (_pack_factorization, _unpack_factorization),
    "OrthogonalNMF": (_pack_nmf, _unpack_nmf),
    "Stability": (_pack_stability, _unpack_stability),
    "BipartiteCorrelationClustering": (_pack_clustering, _unpack_clustering),
}
