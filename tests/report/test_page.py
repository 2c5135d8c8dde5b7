"""What a page says, without a browser."""

import base64
import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy.sparse import coo_array

import orthonmf
from orthonmf import factorize
from orthonmf.certificate import bound_text
from orthonmf.report import Story, find, page
from orthonmf.report.story import percent, ratio_text
from tests.report.stories import EVIL, blocks, story

WORDS = [f"word{i}" for i in range(12)]
CANDIDATE = {
    "relative_error": 0.3, "lower_bound": 0.2, "null_error": 0.5, "adjusted_rand": 0.9,
}  # fmt: skip
SELECTION = {
    "candidates": [
        {"n_components": k, **CANDIDATE, "matched_cosine": cosine}
        for k, cosine in ((2, 0.9), (3, None), (4, 0.8))
    ],
    "suggestion": 2,
    "reason": "the largest number whose <halves> agree",
}
SETTINGS = ("samples", "features", "both")


class Parsed(HTMLParser):
    """Tags, attributes and texts of a page; fails on tags that do not match."""

    VOID = ("meta", "img", "input", "br", "link")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.attributes, self.texts = [], [], [], []
        self.feed(text)
        assert self.open == []
        self.text = re.sub(r"\s+", " ", " ".join(self.texts))

    def handle_starttag(self, name, attributes):
        self.tags.append(name)
        self.attributes.append((name, dict(attributes)))
        if name not in self.VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.tags.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, text):
        if not self.open or self.open[-1] not in ("script", "style"):
            self.texts.append(text)


def read(told):
    return Parsed(page(told)).text


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_page_is_whole_and_needs_nothing_else(setting):
    text = page(story(setting=setting, selection=SELECTION, image_shape=(3, 4)))
    parsed = Parsed(text)
    assert "link" not in parsed.tags
    for name, attributes in parsed.attributes:
        for key in ("src", "href", "srcset", "action"):
            address = attributes.get(key)
            own = ("#", "data:image/png", "data:text/csv")
            assert address is None or address.startswith(own), (name, address)
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|WebSocket|import\(", text)
    assert "default-src 'none'" in text
    assert len(text) < 200_000


@pytest.mark.parametrize(
    ("setting", "k", "words"),
    [
        ("samples", 3, "3 groups of rows explain "),
        ("features", 3, "3 groups of features explain "),
        ("both", 3, "3 blocks of rows and features explain "),
        ("both", (3, 2), "3 groups of rows and 2 groups of features explain "),
        ("samples", 1, "1 group of rows explains "),
    ],
)
def test_the_first_sentence_is_plain(setting, k, words):
    told = story(setting=setting, k=k, chance=0.25)
    captured = percent(1 - told.result.relative_squared_error, 0)
    text = read(told)
    assert f"{words}{captured} of the data; chance alone gives 25%" in text
    assert text.index("energy , the sum of the squared entries") < text.index("The groups")
    assert "chance" not in story(setting=setting, k=k).headline


def test_shares_that_are_close_are_told_apart():
    told = story(chance=0.9)
    near = replace(told, chance=told.captured - 0.002)
    first, second = re.findall(r"[\d.]+%", near.headline)
    assert first != second


def test_cautions_come_before_everything_else():
    told = story(chance=0.99, selection={**SELECTION, "orthogonal": "both"})
    told = replace(told, result=replace(told.result, cautions=("Column ID counts rows.",)))
    _, _, text = read(told).partition("Before you use this")
    expected = ("counts rows", "hardly more than chance", "select-k", "3 blocks")
    places = [text.index(words) for words in expected]
    assert places == sorted(places)
    assert "Before you use this" not in read(story())


def test_the_seed_says_how_to_make_the_answer_again():
    result = replace(story().result, random_state=7291)
    told = Story(result, find(blocks(), result), "x", by_command=True)
    assert "Seed 7291; the same command with --seed 7291 gives the same answer." in read(told)
    assert "random_state=7291 gives the same answer" in read(replace(told, by_command=False))
    unknown = replace(told, result=replace(result, random_state=None))
    assert "same answer" not in read(unknown)


def test_it_says_what_was_found():
    told = story(column_names=WORDS)
    text = read(told)
    assert f"{told.result.relative_squared_error:.4f}" in text
    sentence = str(told.result.certificate)
    assert sentence[0].upper() + sentence[1:] in text
    assert "no overlap, to the last bit" in text
    counts = re.findall(r"to \d+%</th><td>(\d+)</td>", page(told))
    assert sum(map(int, counts)) == blocks().any(axis=1).sum()  # rows that are not zero
    for component in range(3):
        assert f"word{int(told.result.components[component].argmax())}" in told.labels[component]
        assert told.labels[component] in text


def test_names_cannot_become_markup_or_script():
    names = [EVIL[j % 4] + str(j) for j in range(30)]
    for k in (3, (3, 2)):
        text = page(
            story(
                k=k, row_names=names, column_names=names[:12], source=EVIL[0], groups=names,
                remarks=[EVIL[1]], selection=SELECTION,
            )
        )  # fmt: skip
        parsed = Parsed(text)
        assert parsed.tags.count("script") == 2  # the data and the page's own
        assert "img" not in parsed.tags
        assert not any(key.startswith("on") for _, given in parsed.attributes for key in given)
        assert "\x1b" not in text
        assert "\x00" not in text
        data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
        assert data["names"]["rows"]["name"][0] == names[0]


@pytest.mark.parametrize("k", [3, (3, 2)])
def test_the_tables_can_be_taken_from_the_page(k):
    told = story(k=k, row_names=[f"=row {i}" for i in range(30)])
    files = {
        given["download"]: base64.b64decode(given["href"].partition(",")[2]).decode()
        for _, given in Parsed(page(told)).attributes
        if "download" in given
    }
    core = [] if k == 3 else ["core.csv"]
    assert list(files) == ["assignments.csv", "features.csv", "components.csv", *core]
    rows = list(csv.DictReader(io.StringIO(files["assignments.csv"])))
    assert [int(row["component"]) for row in rows] == told.result.labels.tolist()
    assert not rows[0]["row"].startswith("=")  # no formula


def test_whole_names_can_be_found_and_long_tables_are_left_to_the_folder():
    rng = np.random.default_rng(0)
    places = rng.integers(60_000, size=60_000), rng.integers(11_000, size=60_000)
    X = coo_array((rng.random(60_000), places), shape=(60_000, 11_000)).tocsr()
    long = "a rather long name of a row that goes on and on, longer than what is shown elsewhere"
    names = [f"{long}, number {i}" for i in range(60_000)]
    given = {"sample_names": names, "feature_names": names[:11_000]}
    result = factorize(X, 5, certificate=None, n_init=1, random_state=0, **given)
    told = Story(result, find(X, result), "large.mtx", by_command=True)
    text = page(told)
    assert len(text) < 15_000_000  # what the documentation promises
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    searchable = data["names"]["rows"]["name"]
    assert set(searchable) <= set(names)
    assert 20_000 < len(searchable) < 60_000
    assert f"Searched: {len(searchable):,} of 60,000 rows" in Parsed(text).text
    assert 'download="assignments.csv"' not in text
    assert "assignments.csv: the component of every row (too long" in Parsed(text).text


def test_many_components_are_capped_with_a_note():
    text = read(story(np.eye(80) + 0.01, setting="samples", k=80))
    assert "60 components that explain most are shown; all 80 are in components.csv" in text
    assert "24 components that explain most of 80 are shown" in text


@pytest.mark.parametrize("setting", SETTINGS)
def test_edge_cases_have_pages(setting):
    with pytest.warns(UserWarning, match="zero"):
        Parsed(page(story(np.zeros((3, 4)), setting=setting, k=2)))
    Parsed(page(story(np.ones((1, 1)), setting=setting, k=1)))


def test_claims_are_rounded_to_the_safe_side():
    assert ratio_text(1.00001) == "1.001"
    assert ratio_text(1.0) == "1.000"
    assert ratio_text(None) == "none"
    assert bound_text(0.73769) == "0.7376"
    assert bound_text(0.00012349) == "0.0001234"
    assert float(bound_text(0.99999)) < 1
    assert percent(0.9999) == "over 99.9%"
    assert percent(0.999, 0) == "over 99%"
    assert percent(1e-9) == "under 0.1%"


def test_charts_carry_their_numbers_as_a_table():
    text = page(story(selection=SELECTION))
    chart = text[text.index("Agreement of two halves") :]
    assert len(re.findall("<tr>", chart[: chart.index("</table>")])) == 4
    assert "<td></td>" in chart
    assert re.search(r"halves &lt;|&lt;halves&gt;", text)


def test_over_features_a_row_is_compared_with_what_is_usual():
    X = np.zeros((20, 6))
    X[:, :3] = 50.0  # large in every row
    X[15:, 3:] = 20.0  # in a quarter of the rows
    result = factorize(X, 2, orthogonal="features", certificate=None, random_state=0)
    special = int(result.feature_labels[4])
    assert find(X, result).row_labels.tolist() == [1 - special] * 15 + [special] * 5


def test_known_groups_are_counted():
    told = story(setting="samples", groups=["left"] * 12 + ["right <b>"] * 18)
    text = page(told)
    assert "2 known groups against the components" in text
    assert "right &lt;b&gt;" in text
    row = re.search(r'<th scope="row">left</th>(.*?)</tr>', text)[1]
    counts = [int(number) for number in re.findall(r">(\d+)</td>", row)]
    labels = told.findings.row_labels[:12]
    wanted = np.bincount(np.where(labels < 0, 3, labels), minlength=4)
    assert counts == wanted[: len(counts)].tolist()


def test_a_map_draws_every_row_that_has_a_place():
    places = np.random.default_rng(0).random((30, 2))
    places[4] = np.nan
    drawn = "".join(re.findall(r'<path d="([^"]*)"', page(story(positions=places))))
    assert drawn.count("M") == 29


def test_the_core_is_a_table_with_a_head_for_every_group_and_every_component():
    told = story(k=(3, 2), column_names=WORDS, image_shape=(3, 4))
    parsed = Parsed(page(told))
    ids = {given.get("id") for _, given in parsed.attributes}
    assert {"core", "group-0", "group-1", "component-2"} <= ids
    assert "of 3 \N{MULTIPLICATION SIGN} 2 asked for" in parsed.text
    assert "group 1" in [given.get("alt") for _, given in parsed.attributes]
    np.testing.assert_allclose(told.core_shares.sum(axis=1), told.findings.energies)
    squares = np.square(told.result.core) / np.square(blocks()).sum()
    np.testing.assert_allclose(told.core_shares, squares, rtol=1e-9, atol=1e-12)
    assert "The core" not in read(story())


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_other_data_of_the_same_shape_are_refused(orthogonal, tmp_path):
    X = blocks()
    weights = np.linspace(1, 5, 30)
    for weight in (None, weights):
        result = factorize(X, 3, orthogonal=orthogonal, sample_weight=weight, random_state=0)
        orthonmf.write_report(result, X, tmp_path / "page.html")
        for other in (X[:5], X[:, ::-1], X + 0.3, X * np.linspace(1, 2, 30)[:, None]):
            told = "of shape .30, 12. was" if len(other) == 5 else "not the matrix of this result"
            with pytest.raises(orthonmf.OrthoNMFError, match=told):
                orthonmf.write_report(result, other, tmp_path / "other.html")
    assert not (tmp_path / "other.html").exists()


def test_data_with_gaps_are_compared_too(tmp_path):
    X = blocks()
    X[2, 3] = X[7, 1] = np.nan
    given = {"missing_values": np.nan}
    result = factorize(X, 3, sample_weight=np.linspace(1, 5, 30), random_state=0, **given)
    orthonmf.write_report(result, X, tmp_path / "page.html", **given)
    with pytest.raises(orthonmf.OrthoNMFError, match="not the matrix of this result"):
        orthonmf.write_report(result, X[:, ::-1], tmp_path / "other.html", **given)


def test_known_groups_are_taken_from_sequences_and_annotations(tmp_path):
    anndata = pytest.importorskip("anndata")
    X, kinds = blocks(), ["left"] * 12 + ["right"] * 18
    cells = anndata.AnnData(X)
    cells.obs["kind"] = kinds
    result = factorize(X, 3, random_state=0)
    for data, groups in ((X, kinds), (X, np.array(kinds)), (cells, "kind")):
        path = orthonmf.write_report(result, data, tmp_path / "page.html", groups=groups)
        assert "2 known groups against the components" in path.read_text(encoding="utf-8")
    for data, groups in ((X, kinds[1:]), (X, "kind"), (cells, "other")):
        with pytest.raises(orthonmf.OrthoNMFError, match="groups"):
            orthonmf.write_report(result, data, tmp_path / "page.html", groups=groups)
    with pytest.raises(orthonmf.OrthoNMFError, match="no Factorization"):
        orthonmf.write_report({}, X, tmp_path / "page.html")


def test_a_fitted_estimator_is_taken(tmp_path):
    X = blocks()
    model = orthonmf.OrthogonalNMF(3, random_state=0).fit(X)
    path = orthonmf.write_report(model, X, tmp_path / "page.html", title="blocks & more")
    assert "blocks &amp; more" in path.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="image_shape"):
        orthonmf.write_report(model, X, path, image_shape=(2, 2))
    with pytest.raises(orthonmf.OrthoNMFError, match="no Factorization"):
        orthonmf.write_report(orthonmf.OrthogonalNMF(3), X, path)


def test_a_page_from_python_says_what_chance_gives(tmp_path):
    noise = np.random.default_rng(0).random((60, 20))
    for X, told in ((blocks(), "chance alone gives"), (noise, "Before you use this")):
        result = factorize(X, 3, random_state=0)
        first = orthonmf.write_report(result, X, tmp_path / "page.html").read_text("utf-8")
        assert told in first
        assert orthonmf.write_report(result, X, tmp_path / "page.html").read_text("utf-8") == first
    weighted = factorize(blocks(), 3, sample_weight=np.linspace(1, 5, 30), random_state=0)
    text = orthonmf.write_report(weighted, blocks(), tmp_path / "page.html").read_text("utf-8")
    assert "chance alone" not in text  # the weights are not known


def test_chance_leaves_missing_entries_out(tmp_path):
    X = np.ones((60, 8))
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    result = factorize(X, 1, missing_values=np.nan, random_state=0)
    path = orthonmf.write_report(result, X, tmp_path / "page.html", missing_values=np.nan)
    assert "chance alone gives 100" in path.read_text("utf-8")


@pytest.mark.parametrize("kind", ["tensor", "dask", "map"])
def test_wherever_the_rows_lie_the_page_is_the_same(kind, tmp_path):
    X = blocks(600, 12)
    np.save(tmp_path / "x.npy", X)
    make = {
        "tensor": lambda: pytest.importorskip("torch").from_numpy(X),
        "dask": lambda: pytest.importorskip("dask.array").from_array(X, chunks=(150, 12)),
        "map": lambda: np.load(tmp_path / "x.npy", mmap_mode="r"),
    }
    result = factorize(X, 3, certificate=None, random_state=0)
    drawn = []
    for rows in (X, make[kind]()):
        text = orthonmf.write_report(result, rows, tmp_path / "page.html").read_text("utf-8")
        drawn.append(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize(("setting", "k"), [*((s, 3) for s in SETTINGS), ("both", (3, 2))])
def test_refits_have_a_map_dots_and_a_sentence_for_every_unsure_group(setting, k):
    X = blocks() + np.random.default_rng(1).random((30, 12))
    told = story(X, setting, k)
    stability = told.result.refit(X, 5, random_state=0)
    told = replace(told, stability=stability)
    text = page(told)
    read_text = Parsed(text).text
    assert stability.summary() in read_text
    for sentence in stability.findings():
        assert sentence in read_text
    sides = [side for side in (stability.samples, stability.features) if side is not None]
    bands = re.findall(r'<path d="M[^"]+" class="spot"', text)
    assert len(bands) == sum(len(side.jaccard) for side in sides)


def test_refits_of_another_result_are_refused(tmp_path):
    X, Y = blocks(), blocks(seed=8)
    result, other = (factorize(data, 3, random_state=0) for data in (X, Y))
    path = tmp_path / "page.html"
    orthonmf.write_report(result, X, path, stability=result.refit(X, 2, random_state=0))
    assert "Would these groups come back?" in path.read_text()
    with pytest.raises(ValueError, match="refits of this result"):
        orthonmf.write_report(result, X, path, stability=other.refit(Y, 2, random_state=0))
