"""Geometry: from X to Y and back; so the labels, loadings and the error that are published.

The matrix that algorithms see is

    Y = diag(sqrt(row_weights)) @ X' @ diag(column_factors),    X' = X in other units

but Y is never formed: the powers of two of the units are applied block by block (and only when
the weighted matrix leaves the safe range), column factors are folded into the k x m arrays that go
in and come out, and row weights into the coefficients of a block. Scales and weights live here and
nowhere above. Rows expressed by components are what is published, and what new rows get as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import issparse

from orthonmf.engine.executors import Absorb, Executor, Work, with_units
from orthonmf.engine.kernels.dense import DENSE
from orthonmf.engine.kernels.interface import Kernel, Rows, dtype_of
from orthonmf.engine.loadings import ByLabel, Projection, by_label
from orthonmf.engine.other_passes import residual_block, square_residuals
from orthonmf.engine.placement import look_up
from orthonmf.engine.scan import Scan
from orthonmf.engine.sources import Source
from orthonmf.engine.units import NO_ENTRIES, Metric, Units, fold_components, metric_of
from orthonmf.errors import InvalidInputError, ScaleOverflowError
from orthonmf.numerics.arrays import Array
from orthonmf.numerics.vectors import by_value, divide

# Below this share of the squared norm the difference "norm minus captured" has lost its digits.
CANCELLATION = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-2}
# Below this a product with a unit vector may have lost digits to underflow.
LIGHT_PRODUCT = {np.dtype(np.float32): 2.0**-90, np.dtype(np.float64): 2.0**-950}
LIGHT_ENTRIES = 2**20
# So many entries of light rows are looked at by themselves.
MOST_LIGHT_ENTRIES = 2**20


class Geometry:
    """The units and weights of a matrix, and its rows expressed by components (k, m)."""

    complete = True  # no entry is missing
    square_residuals: Callable[..., Array] = staticmethod(square_residuals)

    def __init__(self, source: Source, executor: Executor, scan: Scan) -> None:
        self.source, self.executor = source, executor
        self.source_as_given = source  # with gaps where entries are missing
        self.shape, self.dtype = source.shape, source.dtype
        self.units, self._units_of_rows = scan.units, scan.units_of_rows
        self.row_weights = scan.row_weights  # (n,) or None
        self.column_factors = scan.column_factors  # (m,) or None
        self.row_squares, self._column_squares = scan.row_squares, scan.column_squares
        self._weight_power = scan.weight_power  # of two, divided out of weighted lengths

    @property
    def exponent(self) -> int:
        """The power of two that all entries are divided by; rows and columns may have more."""
        return self.units.exponent

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a fit should say about how the rows were read."""
        return self.source.kernel.remarks(self.dtype)

    @property
    def n_entries(self) -> int:
        """How many numbers one pass reads."""
        return self.source.n_entries

    @cached_property
    def total(self) -> float:
        """Squared Frobenius norm of Y."""
        weights = self.row_squares
        return float((weights if self.row_weights is None else weights * self.row_weights).sum())

    @property
    def products_are_exact(self) -> bool:
        """Whether products are as exact as the data, so that an error can be told from them."""
        return not self.source.kernel.on_device

    def weigh_columns(self, directions: Array) -> Array:
        """Vectors (c, m) over the columns of X as vectors over those of Y."""
        return directions if self.column_factors is None else directions * self.column_factors

    def shift(self, components: Array) -> tuple[Array, Array]:
        """Components (k, m) of X as vectors over the columns of X', each divided by a power of two.

        Returns them in float64, and the powers (k,).
        """
        if self.units.columns is None:
            return components.astype(np.float64), np.zeros(len(components), dtype=np.int32)
        return fold_components(components, np.ones(self.shape[1]), self.units.columns)

    def unshift(self, vectors: Array) -> Array:
        """Vectors (c, m) over the columns of X' as vectors over those of X, of any length."""
        if self.units.columns is None:
            return vectors
        return fold_components(vectors, np.ones(self.shape[1]), -self.units.columns)[0]

    def shift_rows(self, coefficients: Array) -> Array:
        """Coefficients (k, n) of the rows of X as weighted coefficients of those of X'.

        Each of the k may be divided by a power of two.
        """
        weighted = coefficients if self.row_weights is None else coefficients * self.row_weights
        if self.units.rows is None:
            return weighted
        return fold_components(weighted, np.ones(self.shape[0]), self.units.rows)[0]

    def unshift_rows(self, coefficients: Array) -> Array:
        """One entry (k, n) for every row of X' as entries for those of X.

        Each of the k may be divided by a power of two.
        """
        if self.units.rows is None:
            return coefficients
        return fold_components(coefficients, np.ones(self.shape[0]), -self.units.rows)[0]

    def from_components(self, components: Array) -> Array:
        """Components (k, m) of X as vectors over the columns of Y, of any length."""
        return self.weigh_columns(self.shift(components)[0])

    def to_components(self, directions: Array) -> Array:
        """Vectors (c, m) over the columns of Y as components of X, of any length.

        Columns without weight have no part in Y, and entries 0 here.
        """
        if self.column_factors is None:
            return directions
        return self.unshift(divide(directions, self.column_factors[None, :]))

    def _fold(self, work: Work, absorb: Absorb) -> None:
        """Do some work on every block; ``absorb`` in block order."""
        self.executor.fold(self.source, work, absorb)

    def metric(self, components: Array) -> Metric:
        """What to multiply rows with to express them by components (k, m)."""
        return metric_of(components, self.column_factors, self.units.columns)

    def in_units_of_x(self, length: float) -> float:
        """A length in the units of Y as one in the units of X and of the weights given."""
        try:
            return math.ldexp(length, self.exponent + self._weight_power)
        except OverflowError as error:
            raise ScaleOverflowError(
                "the error is too large for a float64; divide X by a power of two"
            ) from error

    def express(self, components: Array, orthogonal: str) -> Projection:
        """Express every row by components (k, m): the one closed form, for the fit and new data."""
        k, m = components.shape
        if self.shape[1] != m:
            raise InvalidInputError(
                f"X has {self.shape[1]} features, but the components have {m} features"
            )
        if orthogonal == "features":
            return Projection(self.loadings(components))
        if k == 0:
            nobody = np.full(self.shape[0], -1, dtype=np.int32)
            return Projection(by_label=ByLabel(nobody, np.zeros(self.shape[0], self.dtype), 0))
        return Projection(by_label=ByLabel(*self.project(components), k))

    def project(self, components: Array) -> tuple[Array, Array]:
        """Winner of every row of X among unit components, and the scale of the row.

        In the units of X and the metric of the feature weights; weights of rows play no part:
        this is what new data get as well. Returns labels (n,) int32, -1 where the scale is zero,
        and scales (n,) in the dtype of X.
        """
        labels = self.source.kernel.room((self.shape[0],), np.int32)
        scales = self.source.kernel.room((self.shape[0],), self.dtype)
        narrow = components.astype(self.dtype, copy=False)
        order = by_value(narrow)
        numbers = np.append(order, np.int32(-1))  # -1 stays -1

        def absorb(part: slice, block: tuple[Array, Array]) -> None:
            labels[part], scales[part] = look_up(numbers, block[0]), block[1]
            refuse_overflow(scales[part], part.start)

        shared = {"metric": self.metric(narrow[order]), "units": self._units_of_rows}
        self._fold(Work(winners_block, shared), absorb)
        return labels, scales

    def project_sweep(self, labels: Array, products: Array) -> tuple[Array, Array] | None:
        """What :meth:`project` gives, from the labels and products of a sweep: no further read.

        None where they do not tell: in other units, with feature weights, and for rows so light
        that products lost digits.
        """
        if not self.units.at_rest or self.column_factors is not None:
            return None
        light = np.flatnonzero(products < LIGHT_PRODUCT[self.dtype])
        if len(light) > 0 and self._any_entries(light):
            return None
        return np.where(products > 0, labels, np.int32(-1)), products

    def _any_entries(self, rows: Array) -> bool:
        """Whether some of these rows hold anything but zeros; or are too many to be looked at."""
        if not self.source.kernel.sparse and len(rows) * self.shape[1] > MOST_LIGHT_ENTRIES:
            return True
        part = self.source.part(rows)
        blocks = (part.block(index) for index in range(len(part.boundaries) - 1))
        return any(part.kernel.find_filled(block).any() for block in blocks)

    def loadings(self, components: Array) -> Array:
        """Loadings of the rows of X on disjoint components (k, m): (n, k) in the dtype of X."""
        loadings = self.source.kernel.room((self.shape[0], len(components)), self.dtype)
        order = by_value(components)

        def absorb(part: slice, block: Array) -> None:
            with np.errstate(over="ignore", under="ignore"):
                loadings[part, order] = block
            refuse_overflow(loadings[part].max(axis=1, initial=0.0), part.start)

        metric = self.metric(components[order].astype(np.float64))
        shared = {"metric": metric, "units": self._units_of_rows}
        self._fold(Work(loadings_block, shared), absorb)
        return loadings

    def lengths_of_loadings(
        self, loadings: Array, components: Array, rows: slice = slice(None)
    ) -> Array:
        """(b, k) what loadings (n, k) of components capture of some rows, as lengths in units of Y.

        Row weights are left out.
        """
        units = self.units.of(rows)
        return self.metric(components).find_captured(
            loadings[rows],
            slice(None),
            units.exponent,
            None if units.rows is None else units.rows[:, None],
        )

    def lengths_of_scales(self, labels: Array, scales: Array, components: Array) -> Array:
        """(n,) what scales (n,) of components capture of every row, as lengths in the units of Y.

        Row weights are left out.
        """
        return self.metric(components).find_captured(
            scales, np.maximum(labels, 0), self.units.exponent, self.units.rows
        )

    def energies_of_loadings(self, loadings: Array, components: Array) -> Array:
        """Energy that every one of k components captures by its loadings (n, k), in units of Y."""
        energies = np.zeros(loadings.shape[1])
        for start, stop in pairwise(self.source.boundaries):
            part = self.lengths_of_loadings(loadings, components, slice(start, stop))
            np.square(part, out=part)
            weights = None if self.row_weights is None else self.row_weights[start:stop]
            energies += part.sum(axis=0) if weights is None else weights @ part
        return energies

    def energies_of_scales(self, labels: Array, scales: Array, components: Array) -> Array:
        """Energy that every one of k components captures by scales (n,), in the units of Y.

        Rows of label -1 have scale 0.
        """
        k = len(components)
        squares = self.lengths_of_scales(labels, scales, components)
        np.square(squares, out=squares)
        if self.row_weights is not None:
            squares *= self.row_weights
        return np.bincount(np.maximum(labels, 0), weights=squares, minlength=k)[:k]

    def energies_of(self, components: Array, projection: Projection) -> Array:
        """(k,) the energy that every component captures, in the units of Y."""
        if projection.by_label is None:
            return self.energies_of_loadings(projection.dense, components)
        return self.energies_of_scales(projection.labels, projection.scales, components)

    def squared_error(
        self, unit: Array, projection: Projection, energies: Array
    ) -> tuple[float, bool]:
        """Squared error in the units of Y, and whether all entries were compared for it.

        Else it is what the components do not capture, which then has its digits.
        """
        squared = self.total - float(energies.sum())
        # The short formula needs the products of the error's own geometry, and every entry.
        apart = self.column_factors is not None or not self.complete or not self.products_are_exact
        scales = projection.dense if projection.by_label is None else projection.scales
        lost = squared < CANCELLATION[self.dtype] * self.total
        if apart or lost or not scales_are_accurate(scales):
            given = projection.dense if projection.by_label is None else projection.by_label
            return self.residual(given, unit), True
        return squared, False

    def residual(self, loadings: Any, components: Array) -> float:
        """Weighted squared error of ``X ~ loadings @ components`` by direct difference.

        In the units of Y; ``loadings`` (n, k), dense, sparse or by labels, with rows that can be
        sliced.
        """
        total = 0.0

        def absorb(part: slice, block: float) -> None:
            nonlocal total
            total += block

        if self.source.kernel.on_device:
            loadings = by_label(loadings) if issparse(loadings) else loadings
        elif isinstance(loadings, ByLabel):
            loadings = loadings.csr()
        shifted, powers = self.shift(components)
        shared = {
            "square": type(self).square_residuals,
            "components": shifted,
            "powers": powers,
            "column_factors": self.column_factors,
        }
        by_row = {"loadings": loadings, "row_weights": self.row_weights}
        work = with_units(residual_block, self.units, shared, by_row)
        self.executor.fold(self.source_as_given, work, absorb)
        return total


def refuse_overflow(values: Array, first_row: int) -> None:
    """Name the first row whose scale does not fit its dtype."""
    finite = np.isfinite(values)
    if not finite.all():
        raise ScaleOverflowError(
            f"the scale of row {first_row + int(finite.argmin())} is too large for "
            f"{values.dtype}; divide X by a power of two"
        )


def scales_are_accurate(values: Array) -> bool:
    """Whether no scale (n,) or loading (n, k) is so small that it has lost digits to underflow."""
    limits = np.finfo(values.dtype)
    smallest = np.min(values, initial=np.inf, where=values > 0)
    return bool(smallest > limits.tiny / limits.eps)


def winners_block(kernel: Kernel, raw: Rows, metric: Metric, units: Units) -> tuple[Array, Array]:
    """Winner of every row among components, -1 for none, and its scale in the units of X.

    Every row of the block has the same power in these units.
    """
    rows = kernel.scale(raw, units)
    labels, largest = kernel.find_winners(rows, metric.vectors)
    found = metric.scales(largest, labels, units.exponent)
    dtype = dtype_of(rows)
    for light, products, exponents in _light_rows(kernel, raw, dtype, largest, metric, units):
        labels[light] = products.argmax(axis=1)
        found[light] = metric.scales(products.max(axis=1), labels[light], exponents)
    with np.errstate(over="ignore", under="ignore"):
        published = found.astype(dtype_of(raw), copy=False)  # where a scale may vanish
    return np.where(published > 0, labels, np.int32(-1)), published


def loadings_block(kernel: Kernel, raw: Rows, metric: Metric, units: Units) -> Array:
    """Loadings of rows on components (k, m), in the units of X: (b, k) float64."""
    rows = kernel.scale(raw, units)
    block = kernel.multiply_directions(rows, metric.vectors)
    everyone = slice(None)
    found = metric.scales(block, everyone, units.exponent)
    largest = block.max(axis=1, initial=0.0)
    dtype = dtype_of(rows)
    for light, products, exponents in _light_rows(kernel, raw, dtype, largest, metric, units):
        found[light] = metric.scales(products, everyone, exponents[:, None])
    return found


def _light_rows(
    kernel: Kernel, raw: Rows, dtype: np.dtype, largest: Array, metric: Metric, units: Units
) -> Iterator[tuple[Array, Array, Array]]:
    """Rows of a block too small for the common scale, a few at a time, each by its own.

    ``largest`` (b,) are their largest products, computed in this dtype. Yields their positions in
    the block, their products with the vectors after scaling, and the exponents of those scales.
    Empty rows are left out.
    """
    light = np.flatnonzero(largest < LIGHT_PRODUCT[dtype])
    if len(light):
        light = light[kernel.find_filled(raw)[light]]
    size = max(1, LIGHT_ENTRIES // raw.shape[1])
    vectors = metric.vectors.T.astype(np.float64)
    for start in range(0, len(light), size):
        some = light[start : start + size]
        rows = kernel.take_dense(raw, some)
        exponents = DENSE.find_row_powers(rows, units.columns)
        exponents = np.where(exponents == NO_ENTRIES, 0, exponents)
        own = DENSE.scale(rows, Units(0, exponents, units.columns))
        yield some, own @ vectors, exponents
