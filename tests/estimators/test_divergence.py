"""The estimator and pages under the Kullback-Leibler divergence."""

import numpy as np
import pytest

import orthonmf
from orthonmf import OrthogonalNMF
from tests.topics import topics

KL = "kullback-leibler"


@pytest.fixture(scope="module")
def counts():
    return topics(60, 30, 3)[0]


@pytest.mark.parametrize("orthogonal", ["samples", "features"])
def test_the_estimator_scores_by_the_information_that_is_kept(counts, orthogonal):
    model = OrthogonalNMF(3, orthogonal=orthogonal, beta_loss=KL, random_state=0).fit(counts)
    assert model.score(counts) == pytest.approx(1 - model.relative_error_)
    assert model.relative_squared_error_ is None
    assert model.reconstruction_err_ == pytest.approx(np.sqrt(2 * model.result_.divergence))
    loadings = model.transform(counts)
    np.testing.assert_array_equal(loadings, np.asarray(model.result_.loadings @ np.eye(3)))
    if orthogonal == "samples":
        np.testing.assert_array_equal(model.predict(counts), model.labels_)


def test_new_rows_are_compared_with_the_average_row_of_the_fit(counts):
    counts = counts + 0.1  # no row holds what its component lacks
    model = OrthogonalNMF(3, beta_loss=KL, random_state=0).fit(counts)
    x, average = counts[7], counts.sum(axis=0)
    fitted = model.inverse_transform(model.transform(counts[7:8]))[0]
    expected = x.sum() * average / average.sum()
    kept = 1 - (x * np.log(x / fitted)).sum() / (x * np.log(x / expected)).sum()
    assert model.score(counts[7:8]) == pytest.approx(kept)
    told = np.column_stack([counts, np.zeros(60)])
    model = OrthogonalNMF(3, beta_loss=KL, random_state=0).fit(told)
    assert model.score(np.ones((1, 31))) == -np.inf  # nobody held the last column


def test_words_are_named_by_what_they_tell(counts):
    told = np.column_stack([counts, np.full(60, 200.0)])  # a word that is everywhere
    result = orthonmf.factorize(told, 3, beta_loss=KL, random_state=0)
    assert all(30 not in names for names in result.top_features(5))
    assert result.components[:, 30].min() > 0


def test_a_page_speaks_of_information(counts, tmp_path):
    for size, side in ((3, "samples"), (3, "features"), ((3, 2), "both")):
        result = orthonmf.factorize(counts, size, orthogonal=side, beta_loss=KL, random_state=0)
        html = orthonmf.write_report(result, counts, tmp_path / "page.html").read_text()
        assert "of the information" in html
        assert "Share of the information lost" in html
        assert "energy" not in html.split("<main")[-1].replace("energy-", "")
    with pytest.raises(orthonmf.OrthoNMFError, match="not the matrix of this result"):
        orthonmf.write_report(result, counts[:, ::-1], tmp_path / "page.html")


def test_rows_that_tell_nothing_have_no_share_on_the_page(tmp_path):
    X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    result = orthonmf.factorize(X, 1, beta_loss=KL, random_state=0)
    html = orthonmf.write_report(result, X, tmp_path / "page.html").read_text()
    assert "row 0 <span>–</span>" in html
    assert "nan%" not in html
