"""From a run to its row: the same matrix for all methods, measures that mean what they say."""

import numpy as np
import pytest

from orthonmf.baselines import solve
from orthonmf.reproduction.data import data_of, method_generator
from orthonmf.reproduction.definition import PLANTED, Run, Setting, plan_all
from orthonmf.reproduction.measuring import measure, run_method
from orthonmf.reproduction.paper import QUICK, experiments

SMALL = Setting(PLANTED, "samples", 40, 8, 3, 0.5)
LARGE = Setting(PLANTED, "samples", 4000, 200, 20, 0.5)


def run_of(method, setting=SMALL, seed=0, experiment="experiment-1", time_limit=30.0):
    return Run(experiment, setting, seed, method, time_limit)


def test_all_methods_see_the_same_matrix_and_nobody_else_does():
    runs = [run for run in plan_all(experiments(QUICK).values()) if run.setting.n_samples == 50]
    matrices = {}
    for run in runs:
        X = data_of(run).X
        seen = matrices.setdefault((run.setting, run.seed), X.copy())
        assert np.array_equal(seen, X)
    assert len({X.tobytes() for X in matrices.values()}) == len(matrices) == 3 * 3


def test_a_matrix_depends_on_the_experiment_and_not_on_what_ran_before():
    first = data_of(run_of("nmf")).X.copy()
    assert not np.array_equal(first, data_of(run_of("nmf", experiment="inner-dimensions")).X)
    assert np.array_equal(first, data_of(run_of("hals")).X)


def test_methods_have_random_choices_of_their_own():
    draws = [method_generator(run_of(name)).random() for name in ("nmf", "pnmf", "nmf")]
    assert draws[0] == draws[2] != draws[1]


@pytest.mark.parametrize("method", ["onmf-apx", "best", "hals", "em-onmf"])
def test_measures_are_those_of_the_factors(method):
    run = run_of(method)
    row, data = measure(run), data_of(run)
    found = run_method(method, data.X, SMALL, method_generator(run), 30.0)
    dense = [f.toarray() if hasattr(f, "toarray") else f for f in (found.A, found.W)]
    product = dense[0] @ dense[1]
    M, truth = data.X.T, data.M_truth
    assert row.reconstruction_error == pytest.approx(np.linalg.norm(M - product))
    assert row.recovery_error == pytest.approx(np.linalg.norm(truth - product))
    assert row.planted_error == pytest.approx(np.linalg.norm(M - truth))
    squared = np.linalg.norm(M - product) ** 2 / np.linalg.norm(M) ** 2
    assert row.relative_squared_error == pytest.approx(squared)
    for rows, value in (
        (dense[1], row.non_orthogonality),
        (dense[0].T, row.column_non_orthogonality),
    ):
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        assert value == pytest.approx(np.linalg.norm(unit @ unit.T - np.eye(3)), abs=1e-12)
    assert row.key == run.key
    assert row.serial == 1
    assert row.seconds > 0
    assert row.iterations == found.iterations > 0


def test_three_factors_are_measured_with_the_middle_one():
    setting = Setting(PLANTED, "both", 40, 8, 2, 0.1)
    run = run_of("onmf-ding-double", setting)
    X = data_of(run).X
    found = solve("onmf-ding-double", X, 2, random_state=method_generator(run), harden=False)
    assert measure(run).reconstruction_error == pytest.approx(
        np.linalg.norm(X.T - found.A @ found.S @ found.W)
    )


def test_noise_for_ding_has_the_mean_of_the_paper():
    run = run_of("onmf-ding-double-noisy", Setting(PLANTED, "both", 40, 8, 2, 0.1))
    X = data_of(run).X
    share = 0.01 / np.sqrt((X**2).mean())
    found = solve(
        run.method, X, 2, random_state=method_generator(run), harden=False, relative_noise=share
    )
    assert measure(run).reconstruction_error == pytest.approx(found.error)


@pytest.mark.parametrize("method", ["nmf", "onmfs", "onmf-ding-double"])
def test_an_earlier_method_leaves_what_it_has_when_time_is_up(method):
    row = measure(run_of(method, LARGE, time_limit=0.001))
    assert row.stop_reason == "time_limit"
    assert row.time_limit == 0.001 <= row.seconds
    assert row.iterations == 1
    assert row.reconstruction_error > 0


@pytest.mark.parametrize("method", ["onmf-apx", "best"])
@pytest.mark.parametrize("orthogonal", ["samples", "both"])
def test_ours_stop_in_time_as_well_but_without_factors(method, orthogonal):
    setting = Setting(PLANTED, orthogonal, 4000, 200, 20, 0.5)
    row = measure(run_of(method, setting, time_limit=0.001))
    assert row.stop_reason == "time_limit"
    assert row.seconds >= 0.001
    assert row.reconstruction_error is None
    assert row.planted_error > 0


def test_a_run_beside_others_has_no_time():
    alone, beside = measure(run_of("hals")), measure(run_of("hals"), alone=False)
    assert (beside.seconds, beside.serial) == (None, 0)
    assert alone.reconstruction_error == beside.reconstruction_error


def test_a_method_that_raises_gives_a_row_that_says_so():
    row = measure(run_of("no-such-method"))
    assert row.stop_reason.startswith("failed: No baseline is called 'no-such-method'; there are")
    assert row.reconstruction_error is row.seconds is None
    assert row.planted_error > 0


def test_a_set_that_is_not_known_or_has_another_shape_is_not_measured(tmp_path):
    unknown = Setting("no-such-set", "samples", 5, 4, 2)
    row = measure(run_of("best", unknown, experiment="real-data"), tmp_path)
    assert row.stop_reason.startswith("not measured: ")
    assert "no-such-set" in row.stop_reason
    assert row.relative_squared_error is row.recovery_error is row.planted_error is None


def test_real_data(real_set):
    X = real_set("mfeat-pix")
    for side in ("samples", "features"):
        setting = Setting("mfeat-pix", side, 2000, 240, 6)
        row = measure(run_of("onmf-apx", setting, experiment="real-data"))
        assert row.reconstruction_error**2 / np.linalg.norm(X) ** 2 == pytest.approx(
            row.relative_squared_error
        )
        assert 0.22 < row.relative_squared_error < 0.3
        orthogonal = row.non_orthogonality if side == "samples" else row.column_non_orthogonality
        assert orthogonal == 0
        assert (row.noise, row.recovery_error, row.planted_error) == (None, None, None)
    wrong = measure(run_of("best", Setting("mfeat-pix", "samples", 2000, 241, 6)))
    assert wrong.stop_reason == "not measured: mfeat-pix is 2000 x 240, not 2000 x 241"


@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_the_error_before_the_last_assignment_stands_beside_the_error(orthogonal):
    setting = Setting(PLANTED, orthogonal, 40, 8, 3, 0.5)
    paper, best = (measure(run_of(name, setting)) for name in ("onmf-apx", "best"))
    assert paper.published_error >= paper.relative_squared_error * (1 - 1e-12)
    assert best.published_error is None
