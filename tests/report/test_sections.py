"""What the sections of a page say: groups first, chance, known groups, a map."""

import re

import numpy as np
import pytest

from orthonmf import factorize
from orthonmf.report import find, page
from orthonmf.report.colors import N_COLORS, color_of
from orthonmf.report.shell import read_template
from tests.report.stories import blocks, story

WORDS = [f"word{i}" for i in range(12)]


def test_the_groups_come_first_and_the_proof_last():
    text = page(story(column_names=WORDS))
    places = [text.index(f'id="{name}"') for name in ("overview", "matrix", "missed", "proven")]
    assert places == sorted(places)
    assert text.index("<details", places[-1]) < text.index('id="proof"')


def test_titles_name_what_is_different_not_what_is_common():
    rng = np.random.default_rng(0)
    X = np.kron(np.eye(3), np.ones((10, 3))) * rng.uniform(1, 2, (30, 9))
    X = np.hstack([np.full((30, 1), 6.0), X])  # a word that is heaviest everywhere
    told = story(X, setting="samples", column_names=["the", *WORDS[:9]])
    labels = [told.label(component) for component in range(3)]
    assert not any("the" in label.split(", ") for label in labels)
    assert len(set(labels)) == 3


def test_twelve_components_have_twelve_colors():
    css = read_template("page.css")
    for theme in (css.split("}")[0], css.split("}")[1]):
        colors = re.findall(r"--c\d+: (#[0-9a-f]{6})", theme)
        assert len(set(colors)) == N_COLORS == 12
    assert len({color_of(component) for component in range(12)}) == 12
    assert "component % 12" in read_template("page.js")


def test_over_features_a_row_is_compared_with_what_is_usual():
    X = np.zeros((20, 6))
    X[:, :3] = 50.0  # large in every row
    X[15:, 3:] = 20.0  # in a quarter of the rows
    result = factorize(X, 2, orthogonal="features", certificate=None, random_state=0)
    special = int(result.feature_labels[4])
    assert find(X, result).row_labels.tolist() == [1 - special] * 15 + [special] * 5


def test_chance_stands_next_to_what_is_captured():
    told = story(column_names=WORDS, chance=0.25)
    text = page(told)
    assert "Of shuffled data as many capture 25.0%" in text
    assert "Only what is above chance is structure" in text
    noise = story(chance=1.0 - told.result.relative_squared_error)
    assert "this may be noise" in page(noise)
    assert "shuffled" not in page(story())


def test_known_groups_are_counted():
    told = story(setting="samples", groups=["left"] * 12 + ["right <b>"] * 18)
    text = page(told)
    assert "2 known groups against the components" in text
    assert "right &lt;b&gt;" in text
    labels = told.findings.row_labels
    row = re.search(r"<tr><th scope=.row.>left</th>(.*?)</tr>", text)[1]
    counts = [int(one) for one in re.findall(r">(\d+)</td>", row)]
    wanted = np.bincount(np.where(labels[:12] < 0, 3, labels[:12]), minlength=4)
    assert counts == wanted[: len(counts)].tolist()


def test_a_map_draws_every_row_that_has_a_place():
    places = np.random.default_rng(0).random((30, 2))
    places[4] = np.nan
    text = page(story(positions=places, positions_name="X_umap"))
    assert text.count("h0") >= 29
    drawn = "".join(re.findall(r'<path d="([^"]*)"', text))
    assert drawn.count("M") == 29


@pytest.mark.filterwarnings("ignore::orthonmf.errors.FewerComponentsWarning")
@pytest.mark.parametrize("k", [1, 40])
def test_any_number_of_components_has_an_overview(k):
    X = np.random.default_rng(0).random((90, 60)) + 4 * np.kron(np.eye(30), np.ones((3, 2)))
    text = page(story(X, setting="samples", k=k))
    shown = min(k, 24)
    assert text.count('class="number"') >= shown
    assert ("components that capture most of 40 are shown" in text) == (k == 40)


def test_the_histogram_counts_all_rows_that_are_not_zero():
    told = story()
    text = page(told)
    table = text[text.index("How much of a row is captured") :]
    counts = re.findall(r"to \d+%</th><td>(\d+)</td>", table)
    assert sum(map(int, counts)) == int((blocks() > 0).any(axis=1).sum())
