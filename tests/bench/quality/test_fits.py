"""Every program is fitted with one thread and judged from its factors."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from threadpoolctl import threadpool_info

from orthonmf.bench.quality.best_known import Case
from orthonmf.bench.quality.fits import PROGRAMS, Matrix, Program, fit_once
from orthonmf.bench.rivals import direction_error, three_lines
from orthonmf.datasets import make_planted
from orthonmf.fitting import factorize


@pytest.fixture(scope="module")
def X():
    X = make_planted(40, 12, 3, 0.3, "both", random_state=1).X
    X[X < 0.3] = 0.0
    X[4], X[:, 2] = 0.0, 0.0  # programs have to live with empty rows and columns
    return X


@pytest.mark.parametrize("kind", [np.array, csr_array])
@pytest.mark.parametrize("setting", ["samples", "features", "both"])
def test_our_error_is_the_one_the_library_reports(setting, kind, X):
    found = factorize(X, 3, orthogonal=setting, random_state=5, certificate=None)
    fit = fit_once("orthonmf", Matrix(kind(X)), Case("a", setting, 3), 5)
    assert fit.error == pytest.approx(found.relative_squared_error, rel=1e-9)
    assert fit.n_components_found == 3
    assert fit.seconds > 0


@pytest.mark.parametrize("kind", [np.array, csr_array])
def test_three_lines_over_features_cluster_the_columns(kind, X):
    fit = fit_once("three lines", Matrix(kind(X)), Case("a", "features", 3), 5)
    turned = np.ascontiguousarray(X.T)
    answer = three_lines(turned, 3, 5)
    expected = direction_error(turned, answer.labels, answer.directions)
    assert fit.error == pytest.approx(expected, rel=1e-9)


def test_ten_tournaments_are_what_their_name_says(X):
    found = factorize(X[:15], 2, n_init=10, random_state=0, certificate=None)
    fit = fit_once("n_init=10", Matrix(X[:15]), Case("a", "samples", 2), 0)
    assert fit.error == pytest.approx(found.relative_squared_error, rel=1e-9)


def test_every_program_has_one_thread(X, monkeypatch):
    seen = []
    look = Program(
        lambda matrix, case, seed: seen.extend(one["num_threads"] for one in threadpool_info()),
        lambda matrix, case, found: (0.5, 1),
    )
    monkeypatch.setitem(PROGRAMS, "looks", look)
    fit_once("looks", Matrix(X), Case("a", "samples", 3), 0)
    assert set(seen) == {1}


def test_a_matrix_is_known_by_its_entries(X):
    assert Matrix(X).digest == Matrix(X.copy()).digest
    assert Matrix(X).digest != Matrix(2 * X).digest
    assert Matrix(np.ones((2, 3), dtype=np.int8)).digest == Matrix(np.ones((2, 3))).digest
