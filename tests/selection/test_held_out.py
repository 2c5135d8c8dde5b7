"""Counts in two halves: how they are split, and what groups lose of the other half."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.engine.copies import can_split, split_counts
from orthonmf.selection import select_n_components
from orthonmf.selection.held_out import held_out_error
from tests.arrays import to_array

LOSS = {"beta_loss": "kullback-leibler"}


def planted(n, m, k, words, seed):
    rng = np.random.default_rng(seed)
    profiles = 0.7 * rng.dirichlet(np.full(m, 0.1), k) + 0.3 * rng.dirichlet(np.full(m, 0.5))
    return rng.poisson(words * profiles[np.arange(n) % k]).astype(float)


@pytest.mark.parametrize("store", [np.asarray, csr_array])
def test_halves_add_up_and_hold_no_more_than_there_is(store):
    X = planted(40, 30, 3, 20, 0)
    X[7] = X[:, 4] = 0
    X[3, 5] = 2.0**40  # more than any toss of single coins could do
    data = store(X)
    halves = split_counts(data, np.random.default_rng(1))
    first, second = map(to_array, halves)
    np.testing.assert_array_equal(first + second, X)
    np.testing.assert_array_equal(first, np.floor(first))
    assert first.min() == second.min() == 0
    assert first[3, 5] == pytest.approx(2.0**39, rel=1e-4)
    np.testing.assert_array_equal(to_array(data), X)


def test_halves_of_poisson_counts_are_poisson_and_do_not_depend_on_each_other():
    rng = np.random.default_rng(0)
    X = rng.poisson(4.0, size=(500, 400)).astype(float)
    first, second = (half.ravel() for half in split_counts(X, rng))
    # Means and variances are 2, with standard errors of 0.0032 and 0.0071.
    assert [first.mean(), second.mean()] == pytest.approx([2.0, 2.0], abs=0.02)
    assert [first.var(), second.var()] == pytest.approx([2.0, 2.0], abs=0.04)
    # A standard error of 0.0022; halves of numbers that are not Poisson fail.
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.011
    fixed = split_counts(np.full((100, 100), 4.0), rng)
    assert np.corrcoef(fixed[0].ravel(), fixed[1].ravel())[0, 1] == pytest.approx(-1)


@pytest.mark.parametrize(
    ("X", "may"), [([[0, 3]], True), ([[0, 0.5]], False), ([[2.0**54, 1]], False), ([[0, 0]], True)]
)
def test_only_whole_numbers_are_split(X, may):
    X = np.array(X, dtype=float)
    assert can_split(X) == can_split(csr_array(X)) == may


@pytest.mark.parametrize("setting", ["samples", "features", "core"])
def test_held_out_counts_cost_what_the_definition_says(setting):
    fitted, held_out = planted(30, 20, 3, 40, 0), planted(30, 20, 3, 40, 0)
    held_out = np.random.default_rng(5).poisson(fitted + 0.1).astype(float)
    fitted[4], held_out[5] = 0, 0  # a row that no group knows, and one that has nothing to lose
    fitted[:, 7] = 0  # held out counts of a column that the fitted half lacks cost something finite
    k = (3, 4) if setting == "core" else 3
    side = "both" if setting == "core" else setting
    result = orthonmf.factorize(fitted, k, orthogonal=side, random_state=0, **LOSS)
    seen, judged, labels = fitted, held_out, result.labels
    profiles = result.components
    if setting == "features":
        seen, judged, labels = fitted.T, held_out.T, result.feature_labels
        profiles = np.array([seen[labels == group].sum(axis=0) for group in range(3)])
    overall = (seen.sum(axis=0) + 0.5) / (seen.sum() + 0.5 * seen.shape[1])
    lost = alone = 0.0
    for row, label in zip(judged, labels, strict=True):
        own = profiles[label] / profiles[label].sum()
        predicted = overall if label < 0 else 0.9 * own + 0.1 * overall
        shares, average = row / max(row.sum(), 1), judged.sum(axis=0) / judged.sum()
        some = row > 0
        lost += (row[some] * np.log(shares[some] / predicted[some])).sum()
        alone += (row[some] * np.log(shares[some] / average[some])).sum()
    assert (labels < 0).any()
    for store in (np.asarray, csr_array):
        error = held_out_error(result, store(fitted), store(held_out))
        assert error == pytest.approx(lost / alone)


def test_where_nothing_is_left_to_tell_nothing_is_kept():
    result = orthonmf.factorize(np.eye(4), 2, random_state=0, **LOSS)
    assert held_out_error(result, np.eye(4), np.zeros((4, 4))) == 1.0


@pytest.mark.slow
def test_the_planted_number_of_counts_is_suggested():
    data = csr_array(planted(120, 50, 3, 25, 3).T)
    options = {"n_repetitions": 1, "random_state": 0, "orthogonal": "features", **LOSS}
    selection = select_n_components(data, [2, 3, 4], **options)
    assert selection.suggestion == 3
    assert "held-out counts" in selection.reason
    errors = selection.table["held_out_error"]
    assert errors.idxmin() == 3
    assert errors[3] < 1
    # In the fit itself the error falls on and on.
    assert selection.table["relative_error"].idxmin() == 4


@pytest.mark.slow
def test_counts_without_groups_are_said_to_have_none_and_fractions_are_not_split(tmp_path):
    X = np.random.default_rng(0).poisson(2.0, size=(60, 20)).astype(float)
    X[:, 3] = X[11] = 0
    options = {"n_repetitions": 1, "random_state": 0, "n_init": 1, **LOSS}
    selection = select_n_components(X, [2, 3], **options, results=tmp_path / "trials.jsonl")
    assert "no parts" in selection.reason
    assert (selection.table["held_out_error"] > 1).all()
    again = select_n_components(X, [2, 3], **options, results=tmp_path / "trials.jsonl")
    assert again.trials == selection.trials
    fractions = select_n_components(X / 4, [2, 3], **options)
    assert "not all entries of X are whole numbers" in fractions.reason
    assert fractions.table["held_out_error"].isna().all()
    squared = select_n_components(X, [2], n_repetitions=1, random_state=0)
    assert squared.table["held_out_error"].isna().all()
