"""The choice of n_components: what is tried, kept, suggested and shown."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.datasets import make_planted
from orthonmf.errors import InvalidInputError
from orthonmf.selection import select_n_components

X = make_planted(90, 30, 4, 0.1, random_state=0).X


def select(data=X, candidates=range(2, 7), **options):
    options = {"n_repetitions": 2, "random_state": 0, "n_jobs": 2, **options}
    return select_n_components(data, candidates, **options)


@pytest.fixture(scope="module")
def selection():
    return select()


@pytest.mark.slow
def test_the_planted_number_is_suggested_with_a_reason(selection):
    assert selection.suggestion == 4
    assert "permuted" in selection.reason
    assert "4" in repr(selection)


@pytest.mark.slow
@pytest.mark.parametrize("orthogonal", ["features", "both"])
def test_the_planted_number_is_found_in_every_setting(orthogonal):
    data = make_planted(40, 30, 3, 0.1, orthogonal=orthogonal, random_state=0).X
    assert select(data, range(2, 5), orthogonal=orthogonal, n_repetitions=1).suggestion == 3


def test_the_table_holds_the_curves(selection):
    table = selection.table
    assert table.index.tolist() == [2, 3, 4, 5, 6]
    assert table["suggested"].tolist() == [False, False, True, False, False]
    assert np.all(table["lower_bound"] <= table["relative_error"])
    assert np.all(np.diff(table["relative_error"]) <= 1e-3)
    assert table.loc[4, "null_error"] > table.loc[4, "relative_error"]
    assert table.loc[4, "adjusted_rand"] > 0.9
    assert table.loc[4, "matched_cosine"] > 0.99


def test_the_plot_shows_errors_and_agreement(selection, tmp_path):
    pytest.importorskip("matplotlib")
    figure = selection.plot()
    labels = [text.get_text() for axes in figure.axes for text in axes.get_legend().texts]
    assert {"error", "no error can be below", "suggested: 4"} <= set(labels)
    figure.savefig(tmp_path / "selection.png")
    assert (tmp_path / "selection.png").stat().st_size > 1000


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_workers(selection):
    alone = select(candidates=[2, 4], n_jobs=1)
    assert set(alone.trials) <= set(selection.trials)


def test_sparse_and_dense_data_give_the_same_numbers():
    data = np.where(X > 0.5, X, 0.0)
    (trial,), (other,) = (
        select(rows, [4], n_repetitions=1).trials for rows in (data, csr_array(data))
    )
    # The permutations are other ones, so only what does not rest on them must agree.
    assert trial.relative_error == pytest.approx(other.relative_error, rel=1e-6)


def test_finished_trials_are_read_from_the_results_file(tmp_path):
    path = tmp_path / "results.jsonl"
    first = select(candidates=[2, 3], results=path)
    lines = path.read_text().splitlines()
    assert len(lines) == 1 + 4
    changed = json.dumps({**json.loads(lines[1]), "null_error": 0.125})
    # Killed before the third trial was done, and told another number by the first.
    path.write_text("\n".join([lines[0], changed, lines[2]]) + "\n")
    again = select(candidates=[2, 3], results=path, random_state=None)
    assert again.random_state == first.random_state == 0
    assert sum(trial not in first.trials for trial in again.trials) == 1
    assert sum(trial.null_error == 0.125 for trial in again.trials) == 1
    assert path.read_text().splitlines()[:3] == [lines[0], changed, lines[2]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidates": []}, "candidates is empty"),
        ({"candidates": [0]}, "candidates must be a positive integer"),
        ({"n_repetitions": 0}, "n_repetitions"),
        ({"data": X[:3]}, "3 samples"),
        ({"data": -X}, "Negative"),
        ({"orthogonal": "rows", "candidates": [2]}, "orthogonal"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        select(**options)


def test_more_components_than_the_data_hold_are_an_answer_not_a_warning():
    data = np.kron(np.eye(2), np.ones((6, 3)))
    result = select(data, [2, 5], n_repetitions=1)
    assert result.suggestion == 2
    assert result.candidates[-1].n_components_found == 2


def test_progress_is_shown_when_asked_for(capfd):
    select(candidates=[2], n_repetitions=1, verbose=1)
    assert "selecting n_components" in capfd.readouterr().err
    select(candidates=[2], n_repetitions=1)
    assert capfd.readouterr().err == ""


@pytest.fixture(scope="module")
def two_sides():
    """Three groups of samples and four of features, with a core between them."""
    rng = np.random.default_rng(0)
    labels, feature_labels = np.arange(60) % 3, np.arange(40) % 4
    core = rng.gamma(0.5, size=(3, 4))
    grouped = core[labels][:, feature_labels]
    data = grouped * np.outer(rng.gamma(4, size=60), rng.gamma(4, size=40))
    return data + 0.1 * data.mean() * rng.exponential(size=data.shape)


@pytest.fixture(scope="module")
def of_pairs(two_sides):
    pairs = [(2, 4), (3, 2), (3, 4), (3, 6), (4, 4)]
    return select(two_sides, pairs, orthogonal="both", n_repetitions=1)


@pytest.mark.slow
def test_the_planted_pair_is_suggested_and_errors_fall_with_either_number(of_pairs):
    assert of_pairs.suggestion == (3, 4)
    by_size = {candidate.n_components: candidate for candidate in of_pairs.candidates}
    for (k, groups), candidate in by_size.items():
        for (fewer, fewer_groups), other in by_size.items():
            if fewer <= k and fewer_groups <= groups:
                assert candidate.relative_error <= other.relative_error
        assert candidate.lower_bound <= candidate.relative_error
    assert of_pairs.table["suggested"].sum() == 1
    assert (3, 4) in of_pairs.table.index.tolist()
    pytest.importorskip("matplotlib")
    assert len(of_pairs.plot().axes) == 4


def test_what_is_no_pair_is_refused(two_sides):
    with pytest.raises(InvalidInputError, match="numbers and pairs"):
        select(two_sides, [2, (2, 3)], orthogonal="both")
    with pytest.raises(InvalidInputError, match="needs orthogonal='both'"):
        select(two_sides, [(2, 3)])


def test_refits_stand_next_to_halves_and_change_nothing_else(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "results.jsonl"
    plain, refitted = select(candidates=[3, 4]), select(candidates=[3, 4], refits=4, results=path)
    assert plain.table["refit_agreement"].isna().all()
    assert refitted.table.loc[4, "refit_agreement"] > 0.9
    same = [column for column in plain.table if column != "refit_agreement"]
    assert plain.table[same].equals(refitted.table[same])
    labels = [text.get_text() for text in refitted.plot().axes[1].get_legend().texts]
    assert "refits (adjusted Rand index)" in labels
    assert select(candidates=[3, 4], refits=4, results=path).trials == refitted.trials
    with pytest.raises(InvalidInputError, match="refits"):
        select(candidates=[3, 4], refits=5, results=path)
