"""Powers of two are exact: everything here is compared with fractions, or bit for bit."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.engine.loadings import ByLabel, by_label
from orthonmf.engine.units import (
    AT_REST,
    SAFE_EXPONENT,
    SWITCHED_OFF,
    Units,
    UnitsByRow,
    exponent_of,
    fold_components,
    is_safe,
    largest_power,
    metric_of,
    split_weights,
)

ROWS = np.array([900, -3, 0], np.int32)
COLUMNS = np.array([5, -700], np.int32)


def test_the_power_of_an_entry_is_that_of_matrix_row_and_column():
    units = Units(7, ROWS, COLUMNS)
    expected = [[7 + row + column for column in COLUMNS] for row in ROWS]
    np.testing.assert_array_equal(units.shift(), expected)
    np.testing.assert_array_equal(units.transpose().shift(), np.transpose(expected))
    np.testing.assert_array_equal(units.of(slice(1, 3)).shift(), expected[1:])
    np.testing.assert_array_equal(UnitsByRow(units)[1:2].shift(), expected[1:2])
    np.testing.assert_array_equal(Units(7, ROWS).of(np.array([2, 0])).shift(), [[7], [907]])
    assert Units(7).of(slice(1)).shift() == 7


def test_units_are_at_rest_only_without_any_power():
    assert AT_REST.at_rest
    assert AT_REST.transpose().at_rest
    for units in (Units(1), Units(0, ROWS), Units(0, None, COLUMNS)):
        assert not units.at_rest


@pytest.mark.parametrize("rows", [None, ROWS])
@pytest.mark.parametrize("form", [np.asarray, csr_array, lambda held: by_label(csr_array(held))])
def test_loadings_are_shifted_alike_in_every_form(form, rows):
    loadings = np.array([[0.0, 1.5], [3.0, 0.0], [0.0, 0.0]], dtype=np.float32)
    powers = np.array([40, -2])
    found = Units(-11, rows).scale_loadings(form(loadings), powers)
    dense = found.csr() if isinstance(found, ByLabel) else found
    dense = dense if isinstance(dense, np.ndarray) else dense.toarray()
    own = np.zeros(3, int) if rows is None else rows
    expected = [
        [float(x) * 2.0 ** float(powers[s] + 11 - own[i]) for s, x in enumerate(row)]
        for i, row in enumerate(loadings)
    ]
    np.testing.assert_array_equal(dense, expected)
    assert dense.dtype == np.float64


def test_loadings_at_rest_are_widened_copies():
    loadings = np.ones((2, 2))
    found = AT_REST.scale_loadings(loadings, np.zeros(2, int))
    found[0, 0] = 5.0
    assert loadings[0, 0] == 1.0


@pytest.mark.parametrize("value", [1.0, 0.75, 2.0**-1074, 2.0**900, 3e-310])
def test_the_exponent_is_that_of_the_power_of_two_just_above(value):
    power = exponent_of(value)
    assert Fraction(2) ** (power - 1) <= Fraction(value) < Fraction(2) ** power


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_safe_range_ends_where_it_says_on_both_sides(dtype):
    kind = np.dtype(dtype)
    most = SAFE_EXPONENT[kind]
    assert is_safe(0.0, kind)
    assert is_safe(2.0 ** (most - 1), kind)
    assert not is_safe(2.0**most, kind)
    assert is_safe(2.0 ** (-most - 1), kind)
    assert not is_safe(2.0 ** (-most - 2), kind)


def test_weights_are_fractions_from_1_to_below_4_and_powers_of_four():
    weights = np.array([0.0, 1.0, 3.9, 4.0, 0.25, 0.9, 7.0, 2.0**900, 2.0**-901, 5e-324])
    fractions, powers = split_weights(weights)
    assert fractions[0] == 0.0
    assert ((fractions[1:] >= 1) & (fractions[1:] < 4)).all()
    for weight, fraction, power in zip(weights, fractions, powers, strict=True):
        assert Fraction(weight) == Fraction(fraction) * Fraction(4) ** int(power)


def test_the_largest_weight_sets_the_power_of_all():
    assert largest_power(None) == 0
    assert largest_power(np.array([0.0, 2.0**-900, 5.0])) == 1
    assert largest_power(np.array([2.0**-900, 0.0])) == -450


def plain_folded(components, factors, columns):
    """Entries of components times ``factor * 2**-column`` as fractions; 0 where switched off."""
    return [
        [
            Fraction(0)
            if column >= SWITCHED_OFF
            else Fraction(c) * Fraction(f) / Fraction(2) ** int(column)
            for c, f, column in zip(component, factors, columns, strict=True)
        ]
        for component in components.tolist()
    ]


def test_folded_components_are_in_range_and_exact_up_to_their_power():
    components = np.array([[1.0, 0.5, 0.0], [0.0, 0.0, 1.0], [2.0**-900, 0.0, 0.0]])
    factors = np.array([1.0, 1.5, 1.0])
    columns = np.array([800, -900, SWITCHED_OFF], np.int32)
    folded, powers = fold_components(components, factors, columns)
    expected = plain_folded(components, factors, columns)
    assert powers.tolist() == [900, 0, -1699]  # the second has nothing left
    assert not folded[1].any()
    for s in (0, 2):
        assert 0.5 <= folded[s].max() < 1
        for found, exact in zip(folded[s], expected[s], strict=True):
            # Only what is far below the largest entry may vanish.
            power = Fraction(2) ** int(powers[s])
            assert abs(Fraction(found) * power - exact) < power * Fraction(2) ** -1000


def test_components_of_no_column_and_no_component_fold_to_nothing():
    folded, powers = fold_components(np.zeros((0, 2)), np.ones(2), None)
    assert folded.shape == (0, 2)
    assert powers.shape == (0,)


@pytest.mark.parametrize("columns", [None, np.array([600, -600, 3, SWITCHED_OFF], np.int32)])
def test_a_metric_gives_the_best_scale_of_the_weighted_error_and_what_it_captures(columns):
    rng = np.random.default_rng(0)
    components, factors = rng.random((3, 4)), np.array([1.0, 0.0, 1.7, 1.2])
    powers = np.zeros(4, int) if columns is None else columns
    metric = metric_of(components, factors, columns)
    x = rng.random(4)  # over the columns of X', where the power of a column is divided out
    products = metric.vectors @ x
    scales = metric.scales(products, slice(None), 2)
    captured = metric.find_captured(scales, slice(None), 2, None)
    np.testing.assert_allclose(captured, products, rtol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(metric.directions, axis=1), 1.0)
    for s, component in enumerate(plain_folded(components, factors, powers)):
        lengths = sum(c * c for c in component)
        terms = zip(component, factors, x, strict=True)
        product = sum(c * Fraction(factor) * Fraction(value) for c, factor, value in terms)
        assert scales[s] == pytest.approx(float(4 * product / lengths), rel=1e-13)
    # Captured lengths go with the power of the row.
    own = metric.find_captured(scales[:2], np.array([0, 1]), 2, np.array([1, -1]))
    np.testing.assert_allclose(own, products[:2] * [0.5, 2.0], rtol=1e-14)


def test_without_weights_components_are_their_own_metric_and_float32_stays():
    components = np.eye(2, dtype=np.float32)
    metric = metric_of(components, None, None)
    assert metric.vectors is components
    products = np.array([[1.0, 3.0]], dtype=np.float32)
    scales = metric.scales(products, slice(None), -3)
    assert scales.dtype == np.float32
    np.testing.assert_array_equal(scales, products / 8)
    captured = metric.find_captured(scales, slice(None), -200, None)
    np.testing.assert_array_equal(captured, scales.astype(np.float64) * 2.0**200)


def test_a_component_without_weight_captures_nothing_and_is_no_number_gone_wrong():
    metric = metric_of(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, 0.0]), None)
    products = metric.vectors @ np.array([2.0, 3.0])
    np.testing.assert_array_equal(metric.scales(products, slice(None), 0), [0.0, 2.0])
