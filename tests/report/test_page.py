"""What a page says, without a browser."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy.sparse import coo_array

from orthonmf import factorize
from orthonmf.certificate import bound_text
from orthonmf.report import Story, find, page
from orthonmf.report.charts import Line, line_chart, nice_ticks
from orthonmf.report.markup import Safe, data_block, tag
from orthonmf.report.pictures import png
from orthonmf.report.story import percent, ratio_text
from tests.report.stories import EVIL, blocks, story

CANDIDATE = {
    "relative_squared_error": 0.3, "lower_bound": 0.2, "null_error": 0.5, "adjusted_rand": 0.9,
    "matched_cosine": 0.95,
}  # fmt: skip
SELECTION = {
    "candidates": [{"n_components": k, **CANDIDATE} for k in (2, 3, 4)],
    "suggestion": 3,
    "reason": "the largest number whose <halves> agree",
}


class Parsed(HTMLParser):
    """Tags and addresses of a page; fails on tags that do not match."""

    VOID = ("meta", "img", "input", "br", "link")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.attributes, self.text = [], [], [], []
        self.feed(text)
        assert self.open == []

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
        self.text.append(text)


@pytest.mark.parametrize("setting", ["samples", "features", "both"])
def test_a_page_is_whole_and_needs_nothing_else(setting):
    text = page(story(setting=setting, selection=SELECTION, image_shape=(3, 4)))
    parsed = Parsed(text)
    assert "link" not in parsed.tags
    for name, attributes in parsed.attributes:
        for key in ("src", "href", "srcset", "action"):
            address = attributes.get(key)
            assert address is None or address.startswith(("#", "data:image/png")), (name, address)
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|WebSocket|import\(", text)
    assert "default-src 'none'" in text
    assert len(text) < 200_000


def test_it_says_what_was_found():
    told = story(column_names=[f"word{j}" for j in range(12)])
    text = " ".join(Parsed(page(told)).text)
    assert "3 components that share neither a row nor a feature capture" in text
    assert f"{told.result.relative_squared_error:.4f}" in text
    sentence = str(told.result.certificate)
    assert sentence[0].upper() + sentence[1:] in text
    assert "exact" in text
    for component in range(3):
        heaviest = int(told.result.components[component].argmax())
        assert f"word{heaviest}" in told.label(component)
        assert told.label(component) in text


def test_names_cannot_become_markup_or_script():
    names = [EVIL[j % 4] + str(j) for j in range(30)]
    text = page(
        story(
            row_names=names, column_names=names[:12], source=EVIL[0],
            remarks=[EVIL[1]], selection=SELECTION,
        )
    )  # fmt: skip
    parsed = Parsed(text)
    assert parsed.tags.count("script") == 2  # the data and the page's own
    assert "img" not in parsed.tags
    assert not any(key.startswith("on") for _, one in parsed.attributes for key in one)
    assert "\x1b" not in text
    assert "\x00" not in text
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert data["names"]["rows"]["name"][0] == names[0]


@pytest.mark.slow
def test_large_input_gives_a_page_of_bounded_size():
    rng = np.random.default_rng(0)
    places = rng.integers(12_000, size=30_000), rng.integers(11_000, size=30_000)
    X = coo_array((rng.random(30_000), places), shape=(12_000, 11_000)).tocsr()
    result = factorize(X, 5, certificate=None, random_state=0)
    names = [
        f"a rather long name of a row, number {i}, that goes on and on {i}" for i in range(12_000)
    ]
    text = page(Story(result, find(X, result), "large.mtx", names, names[:11_000]))
    assert len(text) < 4_000_000
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert len(data["names"]["rows"]["name"]) == 12_000  # the search finds every row
    assert len(data["names"]["columns"]["name"]) == 11_000


def test_many_components_are_capped_with_a_note():
    X = np.eye(80) + 0.01
    text = page(story(X, setting="samples", k=80))
    assert "60 components that capture most are shown; all 80 are in components.csv" in text


def test_edge_cases_have_pages():
    with pytest.warns(UserWarning, match="zero"):
        Parsed(page(story(np.zeros((3, 4)), k=2)))
    Parsed(page(story(np.ones((1, 1)), k=1)))
    Parsed(page(story(blocks()[:, :1], setting="samples", k=1)))


def test_claims_are_rounded_to_the_safe_side():
    assert ratio_text(1.00001) == "1.001"
    assert ratio_text(1.0) == "1.000"
    assert ratio_text(None) == "none"
    assert bound_text(0.73769) == "0.7376"
    assert bound_text(0.00012349) == "0.0001234"
    assert float(bound_text(0.99999)) < 1
    assert percent(0.9999) == "over 99.9%"
    assert percent(1e-9) == "under 0.1%"


def test_markup_escapes_all_but_its_own():
    assert tag("p", "<i>", class_='"x"') == '<p class="&quot;x&quot;">&lt;i&gt;</p>'
    assert tag("p", Safe("<i/>"), [tag("b", "&")]) == "<p><i/><b>&amp;</b></p>"
    assert "</script" not in data_block("x", ["</script>"])[:-9]


def test_pictures_are_png():
    content = png(np.array([[0, 255], [128, 7]], np.uint8))
    assert content.startswith(b"\x89PNG")
    assert content.endswith(b"IEND\xaeB`\x82")


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.3, 0.31), (5, 5), (0, 0), (1e-9, 3e-9)])
def test_ticks_enclose_the_range(low, high):
    ticks = nice_ticks(low, high)
    assert ticks[0] <= low
    assert ticks[-1] >= high
    assert 2 <= len(ticks) <= 12


def test_charts_carry_their_numbers_as_a_table():
    drawn = line_chart(
        "A", [1, 2, 3], [Line("a", [1, None, 2], "first"), Line("b", [3, 4, 5], "second")],
        x_label="x", y_label="y", marked=2,
    )  # fmt: skip
    assert drawn.count("<tr>") == 4
    assert drawn.count("<polyline") == 2
    assert "<td></td>" in drawn
