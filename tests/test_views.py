"""What people look at in a result."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.views import strengths

SETTINGS = ("samples", "features", "both")
ROWS, COLUMNS = 12, 9


@pytest.fixture
def frame():
    pandas = pytest.importorskip("pandas")
    X = np.kron(np.eye(3), np.ones((4, 3))) * np.arange(1, 10) + 0.01
    index = [f"<r{i}>" for i in range(ROWS)]
    return pandas.DataFrame(X, index=index, columns=[f"g{j}" for j in range(COLUMNS)])


def fit(X, orthogonal="samples"):
    return orthonmf.factorize(X, 3, orthogonal=orthogonal, random_state=0)


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_names_of_frames_reach_the_result_and_its_file(orthogonal, frame, tmp_path):
    result = fit(frame, orthogonal)
    assert result.sample_names == tuple(frame.index)
    assert result.feature_names == tuple(frame.columns)
    orthonmf.save(result, tmp_path / "r")
    loaded = orthonmf.load(tmp_path / "r")
    assert loaded.sample_names == result.sample_names
    assert loaded.feature_names == result.feature_names
    assert fit(frame.to_numpy(), orthogonal).feature_names is None
    assert fit(frame.reset_index(drop=True), orthogonal).sample_names is None


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_top_features_and_samples_are_the_largest(orthogonal, frame):
    result = fit(frame, orthogonal)
    loadings = np.asarray(result.loadings @ np.eye(3))
    for a in range(3):
        features, samples = result.top_features(2)[a], result.top_samples(3)[a]
        weights = dict(zip(frame.columns, result.components[a], strict=True))
        assert features == sorted(weights, key=weights.get, reverse=True)[:2]
        largest = [loadings[frame.index.get_loc(name), a] for name in samples]
        assert largest == sorted(loadings[:, a], reverse=True)[:3]
    numbers = fit(frame.to_numpy(), orthogonal)
    assert all(isinstance(place, int) for top in numbers.top_features(2) for place in top)


def test_distinctive_features_are_those_that_others_lack():
    common = np.full((20, 1), 3.0)
    X = np.hstack([common, np.kron(np.eye(2), np.ones((10, 2)))])
    result = orthonmf.factorize(X, 2, random_state=0)
    assert [top[0] for top in result.top_features(1)] == [0, 0]
    assert {top[0] for top in result.top_features(1, by="distinctive")} <= {1, 2, 3, 4}
    assert all(0 not in top[:2] for top in result.top_features(3, by="distinctive"))
    with pytest.raises(ValueError, match="did you mean weight"):
        result.top_features(1, by="weights")
    with pytest.raises(ValueError, match="positive integer"):
        result.top_samples(0)


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_the_approximation_and_the_strengths_of_its_parts(orthogonal, frame):
    result = fit(frame, orthogonal)
    built = result.reconstruct()
    error = np.linalg.norm(frame.to_numpy() - built)
    assert error == pytest.approx(result.error, abs=1e-9)
    assert np.square(strengths(result)).sum() == pytest.approx(np.square(built).sum())


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_frames_of_samples_and_features(orthogonal, frame):
    result = fit(frame, orthogonal)
    samples, features = result.to_frame(), result.to_frame("features")
    assert list(samples.index) == list(frame.index)
    assert list(features.index) == list(frame.columns)
    if orthogonal == "features":
        assert samples.shape == (ROWS, 3)
    else:
        assert list(samples.columns) == ["component", "scale"]
    assert ("component" in features.columns) == (orthogonal != "samples")


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_looking_computes_no_certificate_and_shows_one_that_is_known(orthogonal, frame):
    result = fit(frame, orthogonal)
    for shown in (repr(result), result._repr_html_()):
        assert "at most" not in shown
    assert result.evidence.settled is None
    assert 4 <= len(repr(result).splitlines()) <= 7
    assert "g" in repr(result)
    assert str(result.certificate) in repr(result)
    assert "components that share no" in result._repr_html_()
    shown = fit(frame.T)._repr_html_()  # names are texts
    assert "&lt;r" in shown
    assert "<r" not in shown


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_the_picture_shows_the_matrix_in_order(orthogonal, frame):
    pytest.importorskip("matplotlib")
    shuffled = frame.sample(frac=1, random_state=0)
    result = fit(shuffled, orthogonal)
    for X in (None, shuffled, csr_array(shuffled.to_numpy())):
        matrix, parts = result.plot(X).axes[:2]
        drawn = np.asarray(matrix.images[0].get_array())
        assert drawn.shape == (ROWS, COLUMNS)
        blocks = drawn.reshape(3, 4, 3, 3).sum(axis=(1, 3))
        assert np.array_equal(blocks > 1, np.eye(3, dtype=bool))
        assert parts.images[0].get_array().shape == (3, COLUMNS)


def test_a_picture_says_what_part_it_shows_and_has_names_and_color_bars():
    pytest.importorskip("matplotlib")
    X = np.random.default_rng(0).random((700, 5))
    names = {"sample_names": [f"s{i}" for i in range(700)], "feature_names": list("abcde")}
    figure = orthonmf.factorize(X, 2, random_state=0, **names).plot(X)
    matrix, parts, *bars = figure.axes
    assert matrix.images[0].get_array().shape == (500, 5)
    assert matrix.get_ylabel() == "500 of 700 samples, ordered by component"
    assert matrix.get_xlabel() == "5 features, ordered by component"
    assert {bar.get_ylabel() for bar in bars} == {"entry", "weight"}
    assert sorted(tick.get_text() for tick in matrix.get_xticklabels()) == list("abcde")
    rows = [tick.get_text() for tick in matrix.get_yticklabels()]
    assert 10 <= len(rows) <= 25
    assert set(rows) <= set(names["sample_names"])
    assert parts.get_yticklabels()[0].get_text().startswith("0: ")
    figure.canvas.draw()


def test_cautions_are_seen_where_a_result_is_looked_at(frame):
    result = replace(fit(frame), cautions=("Column <ID> counts by ones.",))
    assert "caution: Column <ID> counts by ones." in repr(result).splitlines()[1]
    assert "Caution: Column &lt;ID&gt; counts by ones." in result._repr_html_()


def test_with_a_core_features_belong_to_groups():
    planted = orthonmf.datasets.make_planted(30, 20, (2, 3), 0.05, "both", random_state=0)
    result = orthonmf.factorize(planted.X, (2, 3), orthogonal="both", random_state=0)
    frame = result.to_frame("features")
    assert frame["group"].tolist() == result.feature_labels.tolist()
    assert frame.shape == (20, 3)
