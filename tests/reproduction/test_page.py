"""The page of the experiments: whole, silent, escaped, and fit for small screens."""

import re
from dataclasses import replace

import pytest

from orthonmf.reproduction.claims import CLAIMS
from orthonmf.reproduction.page import page
from orthonmf.reproduction.summary import Measured
from tests.report.stories import EVIL
from tests.report.test_browser import CONTRASTS, browser  # noqa: F401
from tests.report.test_page import Parsed
from tests.reproduction.made_results import made_rows, small

pytestmark = pytest.mark.slow  # all together take long

SITTINGS = [{"date": "2021-03-04", "cpu": EVIL[0], "blas": ["openblas 0.3"], "timed": True}]


def evil_rows():
    """Results with a cut run, a failed one, and names that want to be markup."""
    rows = [row for row in made_rows() if small(row)]
    strange = rows[0], next(row for row in rows if row.experiment == "real-data")
    rows.append(replace(strange[0], method=EVIL[1]))
    rows.append(replace(strange[1], dataset=EVIL[0]))
    rows.append(replace(strange[0], seed=5, stop_reason="time_limit"))
    rows.append(replace(strange[0], seed=6, stop_reason=f"failed: {EVIL[1]}", recovery_error=None,
                        reconstruction_error=None, relative_squared_error=None))  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def text():
    return page(Measured(evil_rows()), SITTINGS)


@pytest.fixture(scope="module")
def written(text, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "index.html"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.slow
def test_it_is_whole_and_asks_for_nothing(text):
    parsed = Parsed(text)
    assert not {"link", "img", "iframe", "image"} & set(parsed.tags)
    beside = re.compile(r"#|(results|summary)\.csv$|[a-z0-9-]+\.(svg|png)$")
    for name, attributes in parsed.attributes:
        for key in ("src", "href", "xlink:href", "srcset", "action"):
            address = attributes.get(key)
            assert address is None or beside.match(address), (name, address)
    text = text.replace("http://www.w3.org/2000/svg", "")  # a name, not an address
    assert not re.search(r"https?://|@import|url\((?!#)|fetch\(|XMLHttpRequest", text)
    assert "default-src 'none'" in text
    assert len(text) < 2_000_000


@pytest.mark.slow
def test_names_cannot_become_markup(text):
    parsed = Parsed(text)
    assert parsed.tags.count("script") == 2
    assert not any(key.startswith("on") for _, one in parsed.attributes for key in one)
    words = " ".join(parsed.text)
    assert EVIL[0] in words
    assert EVIL[1] in words


def test_identities_are_used_once_and_all_references_lead_somewhere(text):
    identities = re.findall(r'\sid="([^"]+)"', text)
    assert len(identities) == len(set(identities))
    wanted = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text))
    assert {a or b for a, b in wanted} <= set(identities)


def test_every_claim_stands_with_a_verdict_and_the_counts_add_up(text):
    badges = re.findall(r'class="badge (agree|nearly|differ|cannot)"', text)
    claims = [claim for found in CLAIMS.values() for claim in found]
    assert len(badges) == len(claims)
    head = re.search(r"<h1>Of (\d+) claims of the paper (\d+) agree with what was measured, "
                     r"(\d+) nearly, (\d+) differ, (\d+) cannot be checked</h1>", text)  # fmt: skip
    counts = [badges.count(word) for word in ("agree", "nearly", "differ", "cannot")]
    assert [int(one) for one in head.groups()] == [len(claims), *counts]
    assert counts[0] > 30
    assert [text.count(f'id="claim-{claim.id}"') for claim in claims] == [1] * len(claims)
    assert [text.count(f'href="#claim-{claim.id}"') for claim in claims] == [1] * len(claims)
    assert (
        text.index('class="verdicts"') < text.index('id="experiment-1"') < text.index('id="claims"')
    )


def test_runs_cut_failed_and_missing_are_counted(text):
    words = " ".join(Parsed(text).text)
    assert "; 1 ended by the time limit; 1 failed." in words
    assert "pems-train: 18 runs not measured: the set cannot be had." in words
    assert "Time limits of one run: 30, 60 seconds. 1 of" in words


def test_the_real_table_shows_both_sides(text):
    table = text[text.index('class="wide sides"') :]
    rows = re.findall(r"<tr><th scope=\"row\">BoW: KOS</th>(.*?)</tr>", table)
    cells = [re.findall(r"<td[^>]*>([^<]*)", row) for row in rows]
    assert [one[:3] for one in cells] == [
        ["0.7685", "0.7609", "samples"], ["0.7685", "0.7609", "features"],
    ]  # fmt: skip
    assert cells[0][-3:] == ["outside", "0.9891", "0.9891"]
    assert cells[1][3:6] == ["0.7654", "0.7656", "0.7657"]
    assert cells[1][-4:-1] == ["3", "outside", "0.7608"]
    assert re.search(r"Pems Train</th>.*?not measured", table)


def test_figures_take_the_colors_of_the_page(text):
    drawn = re.findall(r'<svg class="drawn".*?</svg>', text, re.DOTALL)
    assert len(drawn) > 20
    assert not any(re.search(r"#[0-9a-f]{6}\b", one) for one in drawn)
    assert all("var(--" in one for one in drawn)


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_loads_in_silence_and_fits(browser, written, width, theme):  # noqa: F811
    browser.open(written, width, theme)
    browser.js("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    console, addresses = browser.logs()
    assert console == []
    assert addresses == [written.as_uri()]
    assert browser.js("return document.documentElement.scrollWidth") <= width
    assert browser.js("return window.hacked") is None
    contrasts = browser.js(CONTRASTS)
    assert len(contrasts) > 100
    assert [one for one in contrasts if one[1] < 4.5] == []
