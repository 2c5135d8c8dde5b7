"""The page in a real browser: what is drawn, what the pointer and the keys do, what it asks for."""

import json
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from orthonmf.report import page
from orthonmf.report.heatmap import heat_maps
from tests.report.stories import EVIL, blocks, story
from tests.report.test_page import SELECTION

pytestmark = pytest.mark.slow  # all together take long

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
CHROMEDRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars",
)  # fmt: skip
CONTRASTS = """
const parse = (text) => text.match(/[0-9.]+/g).map(Number);
const light = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map((v) => v / 255).map((v) =>
    v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4));
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const ground = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const color = parse(getComputedStyle(at).backgroundColor);
    if (color.length === 3 || color[3] > 0) return color;
  }
  return [255, 255, 255];
};
const pairs = [];
for (const element of document.querySelectorAll("body *")) {
  const text = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!text || !element.getClientRects().length || element.closest("script, svg")) continue;
  const pair = [light(parse(getComputedStyle(element).color)), light(ground(element))];
  pairs.push([element.className || element.tagName,
              (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05)]);
}
for (const element of document.querySelectorAll("svg text")) {
  const pair = [light(parse(getComputedStyle(element).fill)), light(ground(element))];
  pairs.push(["svg text", (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05)]);
}
return pairs;
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not (CHROMIUM and CHROMEDRIVER):
        pytest.skip("no browser: install chromium and chromium-driver to test the page in one")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=CHROMEDRIVER)
    driver = webdriver.Chrome(options=options, service=service)
    yield Browser(driver)
    driver.quit()
    service.stop()


class Browser:
    """A browser with one page in it."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path, width=1280, theme="light"):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        wishes = {"prefers-color-scheme": theme, "prefers-reduced-motion": "reduce"}
        media = [{"name": name, "value": value} for name, value in wishes.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
        self.logs()
        self.driver.get(Path(path).as_uri())
        assert self.js("return document.documentElement.dataset.ready") == "yes"
        return self

    def logs(self):
        """Console messages and addresses that files asked for since the last call."""
        asked = [
            json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")
        ]
        addresses = [
            entry["params"]["request"]["url"]
            for entry in asked
            if entry["method"] == "Network.requestWillBeSent"
            and entry["params"]["documentURL"].startswith("file://")  # none of the browser's own
        ]
        return self.driver.get_log("browser"), addresses

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0]).textContent", selector)

    def point_at(self, selector, across, down):
        """Move the pointer to a place in an element, given as shares of its size."""
        self.js("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        box = self.js(
            "const b = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [b.left, b.top, b.width, b.height]",
            selector,
        )
        place = {"x": box[0] + across * box[2], "y": box[1] + down * box[3]}
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", **place})

    def press(self, *keys):
        for key in keys:
            for kind in ("rawKeyDown", "keyUp"):
                event = {"type": kind, "key": key, "code": key}
                self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", event)


@pytest.fixture(scope="module")
def told():
    return story(
        row_names=[f"row {chr(97 + i % 26)}{i}" for i in range(30)],
        column_names=[f"feature {i}!" for i in range(12)],
        selection=SELECTION,
        image_shape=(3, 4),
    )


@pytest.fixture(scope="module")
def written(told, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page(told), encoding="utf-8")
    return path


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_loads_in_silence_fits_and_has_contrast(browser, written, width, theme):
    browser.open(written, width, theme)
    console, addresses = browser.logs()
    assert console == []
    assert [each for each in addresses if not each.startswith(("file://", "data:"))] == []
    assert sum(address.startswith("file://") for address in addresses) == 1
    assert browser.js("return document.documentElement.dataset.theme") == theme
    assert browser.js("return document.documentElement.scrollWidth") <= width
    contrasts = browser.js(CONTRASTS)
    assert len(contrasts) > 50
    assert [pair for pair in contrasts if pair[1] < 4.5] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_cell_has_the_color_of_its_value(browser, written, told, theme):
    browser.open(written, theme=theme)
    colors = browser.js(
        "const style = getComputedStyle(document.documentElement);"
        "return [0, 1, 2, 3, 4].map((i) => style.getPropertyValue('--ramp' + i).trim())"
    )
    stops = [[int(color[at : at + 2], 16) for at in (1, 3, 5)] for color in colors]
    maps = heat_maps(told.findings, told.result)
    for name, levels in maps.levels.items():
        width, height, pixels = browser.js(
            "const c = document.querySelector(arguments[0]);"
            "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
            "return [c.width, c.height, Array.from(d)]",
            f"#map-{name} canvas",
        )
        assert (height, width) == levels.shape
        drawn = np.array(pixels).reshape(height, width, 4)
        places = (levels.astype(float) - 1) / 254 * 3
        wanted = np.stack(
            [np.interp(places, range(4), [stop[c] for stop in stops[1:]]) for c in range(3)],
            axis=-1,
        )
        wanted[levels == 0] = stops[0]
        assert np.abs(drawn[:, :, :3] - wanted).max() <= 1
        assert (drawn[:, :, 3] == 255).all()


def test_pointing_shows_the_names(browser, written, told):
    browser.open(written)
    ordered = heat_maps(told.findings, told.result).ordered
    for name, rows, columns in (
        ("original", np.arange(30), np.arange(12)),
        ("ordered", ordered[0].order, ordered[1].order),
    ):
        for row, column in ((0, 0), (17, 5), (29, 11)):
            browser.point_at(f"#map-{name} canvas", (column + 0.5) / 12, (row + 0.5) / 30)
            tip = browser.text("#tip")
            assert browser.find("#tip").is_displayed()
            assert told.result.sample_names[rows[row]] in tip
            assert told.result.feature_names[columns[column]] in tip
            assert "root mean square" in tip
    browser.point_at("h1", 0.5, 0.5)
    assert not browser.find("#tip").is_displayed()


def test_the_keyboard_reaches_everything(browser, written, told):
    browser.open(written)
    browser.js("document.querySelector('#map-original .field').focus()")
    browser.press("ArrowRight")
    first = f"row a0 (component {told.result.labels[0]})"
    assert browser.text("#readout").startswith(f"{first} · feature 0! (")
    browser.press("ArrowRight", "ArrowDown", "ArrowDown")
    assert "row c2 (" in browser.text("#readout")
    browser.press(*["ArrowUp"] * 5)
    assert browser.text("#readout").startswith(f"{first} · feature 1! (")
    unreachable = browser.js(
        "return [...document.querySelectorAll('button, a, input, .field, summary')]"
        ".filter((element) => element.tabIndex < 0).length"
    )
    assert unreachable == 0


def test_search_filters_and_marks(browser, written, told):
    browser.open(written)
    browser.find("#search").send_keys("ROW C")
    shown = [hit.text for hit in browser.all("#hits .name")]
    assert shown == ["row c2", "row c28"]
    assert browser.text("#hit-count") == "2 found"
    browser.all("#hits .hit")[0].click()
    marked = browser.all("line.found")
    assert len(marked) == 4
    assert float(marked[0].get_attribute("y1")) == pytest.approx(2.5 / 30)
    place = int(np.flatnonzero(heat_maps(told.findings, told.result).ordered[0].order == 2)[0])
    assert float(marked[1].get_attribute("y1")) == pytest.approx((place + 0.5) / 30)
    component = told.findings.row_labels[2]
    assert browser.js("return document.querySelector('.card.found').id") == f"component-{component}"
    browser.find("#search").clear()
    browser.find("#search").send_keys("nothing is called that")
    assert browser.all("#hits li") == []
    assert browser.text("#hit-count") == "0 found"


def test_find_shows_whole_names(browser, tmp_path):
    long = "a name that is longer than what is shown elsewhere, and that goes on and on to its end"
    path = tmp_path / "long.html"
    told = story(row_names=[f"{long} {i}" for i in range(30)])
    path.write_text(page(told), encoding="utf-8")
    browser.open(path, width=390)
    browser.find("#search").send_keys("its end 17")
    name = browser.find("#hits .name")
    assert name.text == f"{long} 17"
    assert browser.js("return arguments[0].scrollWidth <= arguments[0].clientWidth", name)
    assert browser.js("return document.documentElement.scrollWidth") <= 390


def test_tables_are_sorted_by_a_click_on_a_heading_and_names_are_copied(browser, written, told):
    browser.open(written)
    heading = browser.all("table.overview .sort")[2]
    for order in ("descending", "ascending"):
        heading.click()
        assert browser.find("table.overview [aria-sort]").get_attribute("aria-sort") == order
        numbers = [int(number.text) for number in browser.all("table.overview .number")]
        energies = told.findings.energies[numbers].tolist()
        assert energies == sorted(energies, reverse=order == "descending")
    permission = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    browser.driver.execute_cdp_cmd("Browser.grantPermissions", permission)
    browser.js("document.querySelector('#component-1 .copy').click()")
    read = "navigator.clipboard.readText().then(arguments[0])"
    names = browser.driver.execute_async_script(read).split("\n")
    assert names == [told.result.feature_names[column] for column in told.distinctive_columns(1, 5)]


def test_what_is_wider_than_the_screen_is_scrolled_by_itself(browser, tmp_path):
    path = tmp_path / "wide.html"
    names = [f"a feature with a name {i}" for i in range(12)]
    path.write_text(page(story(setting="samples", column_names=names)), encoding="utf-8")
    browser.open(path, width=390)
    assert browser.js(
        "return [...document.querySelectorAll('.wide')]"
        ".some((element) => element.scrollWidth > element.clientWidth + 2)"
    )
    hidden = browser.js(
        "return [...document.querySelectorAll('main *')].filter((element) => {"
        " const box = element.getBoundingClientRect();"
        " const frame = element.closest('.wide, .hidden, svg');"
        " return box.width && box.right > innerWidth + 1 && !frame; }).length"
    )
    assert hidden == 0


def test_screen_readers_are_told_what_things_are(browser, written):
    browser.open(written)
    browser.find("#theme").click()
    assert browser.js("return document.documentElement.dataset.theme") == "dark"
    assert browser.find("#theme").get_attribute("aria-label") == "Switch to light colors"
    assert browser.js("return document.documentElement.lang") == "en"
    assert browser.js("return [...document.images].every((element) => element.alt)")
    assert browser.js("return document.querySelectorAll('.field[aria-label]').length") == 4
    assert browser.js("return document.querySelector('#search').labels.length") == 1
    levels = browser.js(
        "return [...document.querySelectorAll('h1, h2, h3, h4')].map((head) => +head.tagName[1])"
    )
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert browser.js("return document.querySelectorAll('svg[role=img] > title').length") == 3


def test_names_from_strangers_stay_text(browser, tmp_path):
    names = [EVIL[i % 4] + str(i) for i in range(30)]
    path = tmp_path / "evil <b>&.html"
    told = story(row_names=names, column_names=names[:12], source=EVIL[1], remarks=[EVIL[0]])
    path.write_text(page(told), encoding="utf-8")
    browser.open(path)
    browser.find("#search").send_keys("onerror")
    browser.all("#hits .hit")[0].click()
    browser.point_at("#map-ordered canvas", 0.5, 0.5)
    assert browser.js("return window.hacked") is None
    assert browser.js("return document.querySelectorAll('img, b b').length") == 0
    assert browser.logs()[0] == []
    assert EVIL[1] in browser.text(".lead")


def test_cells_of_many_rows_say_how_many(browser, tmp_path):
    X = np.kron(blocks(60, 40, seed=1), np.ones((20, 20)))
    path = tmp_path / "large.html"
    told = story(X, setting="samples", certificate=None)
    path.write_text(page(told), encoding="utf-8")
    browser.open(path)
    browser.point_at("#map-original canvas", 0.001, 0.001)
    assert f"row 0 … row 2 (3 rows, component {told.result.labels[0]})" in browser.text("#tip")
    assert "feature 0 … feature 1 (2 features)" in browser.text("#tip")


@pytest.mark.parametrize(("k", "width"), [(1, 1280), (40, 390)])
def test_one_and_forty_components_fit_and_have_contrast(browser, tmp_path, k, width):
    X = np.random.default_rng(0).random((120, 80)) + 4 * np.kron(np.eye(40), np.ones((3, 2)))
    path = tmp_path / "many.html"
    path.write_text(page(story(X, setting="samples", k=k, certificate=None)), encoding="utf-8")
    browser.open(path, width, "dark")
    assert browser.logs()[0] == []
    assert browser.js("return document.documentElement.scrollWidth") <= width
    assert [pair for pair in browser.js(CONTRASTS) if pair[1] < 4.5] == []
    assert len(browser.all(".card")) == k
