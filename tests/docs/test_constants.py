"""The tables of docs/theory/constants.md say what the code says."""

import math
import re
import warnings
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import orthonmf
from orthonmf.certificate import ratio_text
from orthonmf.kmeans.local_search import stability_promise

ROOT = Path(__file__).parents[2]
THEORY = ROOT / "docs" / "theory"
PAGE = (THEORY / "constants.md").read_text(encoding="utf-8")
BOTH = {"algorithm": "paper", "orthogonal": "both"}


def table(heading):
    """The rows of the table under a heading, by the names of its columns."""
    lines = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0].splitlines()
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line[:1] == "|"]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def code(cell):
    return cell.strip("`")


def claiming(ratio):
    """A k-means function of the user that claims a ratio."""

    def kmeans(points, weights, k, rng):
        labels = np.unique(points.round(9), axis=0, return_inverse=True)[1].ravel() % k
        return SimpleNamespace(labels=labels, ratio=ratio)

    return kmeans


def sizes(k):
    """A shape that leaves room for k components, or for k and l groups."""
    n, m = k if isinstance(k, tuple) else (k, k)
    return (3 * n + 4, 2 * m + 5)


@cache
def promise(k=10, *, X=None, shape=None, **options):
    """What a fit of random data promises; nothing when the options are refused."""
    if X is None:
        X = np.random.default_rng(0).random(shape or sizes(k))
    elif X == "float32":
        X = np.random.default_rng(0).random(shape or sizes(k)).astype(np.float32)
    elif X == "missing":
        X = np.random.default_rng(0).random(shape or sizes(k))
        X[0, 0] = np.nan
        options = {name: value for name, value in options.items() if name == "orthogonal"}
        options["missing_values"] = np.nan
    elif X == "exact":
        blocks = k[0] if isinstance(k, tuple) else k
        X = (
            np.kron(np.eye(blocks), np.ones((3, 2)))
            if shape in (None, LARGE["shape"])
            else np.eye(*shape)
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return orthonmf.factorize(X, k, certificate=None, random_state=0, **options).promise


def graph_promise(**options):
    model = orthonmf.BipartiteCorrelationClustering(random_state=0, **options).fit(np.eye(3))
    certificate = model.certificate_
    return SimpleNamespace(ratio=certificate.a_priori_ratio, kind=certificate.a_priori_kind)


LINES, SMALL = {"init": "lines"}, {"algorithm": "paper"}
STABLE = {"init": "local-search"}
FROM_SAMPLES = "both sides, from the answer over samples (k = 10)"
LARGE = {"shape": (1500, 1300)}  # all pairs of columns take longer than a fit of the rest
ONE = claiming(1.0)
THREE = claiming(3.0)
# The case of every row: how many components, and how the fit is called.
CASES = {
    "draws on lines (k = 10): 5 (1 + H)": (10, LINES),
    "draws on lines (k = 1)": (1, LINES),
    "draws of k-means++ (k = 10), over one side: 2r": (10, SMALL),
    "local search, over one side: 2r": (3, {**SMALL, "kmeans": "local-search"}),
    "local search on lines": (3, STABLE),
    "both sides (local search)": (3, {**BOTH, "kmeans": "local-search"}),
    "a core, local search on lines on both sides (k = 3, l = 4): a + b": (
        (3, 4),
        {"orthogonal": "both", **STABLE},
    ),
    "a subroutine of the user (r = 3), over one side: 2r": (3, {**SMALL, "kmeans": THREE}),
    "both sides (r = 1): 2r + 2c (1 + √r)²": (3, {**BOTH, "kmeans": ONE}),
    "both sides (k-means++, k = 10)": (10, BOTH),
    FROM_SAMPLES: (10, {"orthogonal": "both", **LARGE}),
    "both sides, the heaviest classes (k = 10)": (10, {"orthogonal": "both"}),
    "both sides, the paper's steps with as many components as the smaller side": (
        4,
        {**BOTH, "shape": (4, 6)},
    ),
    "a core, draws on lines on both sides (k = 3, l = 4): a + b": (
        (3, 4),
        {"orthogonal": "both", **LINES},
    ),
}


def is_gone(k, options, **changes):
    return promise(k, **{**options, **changes}).ratio is None


def is_another(k, options, shape):
    """Whether a matrix of this shape has another promise, or the options are refused for it."""
    try:
        return promise(k, **{**options, "shape": shape}).ratio != promise(k, **options).ratio
    except orthonmf.OrthoNMFError as error:
        return "would be ignored" in str(error)


def is_refused(k, options):
    with pytest.raises(orthonmf.OrthoNMFError):
        promise(k, **{**options, "kmeans": claiming(0.5)})
    return is_gone(k, options, kmeans=claiming(None))


def all_gone(k, options):
    """Draws in rounds, which are another law."""
    if "init" in options:
        return is_gone(k, options, init="k-means||")
    return is_gone(k, options, kmeans="k-means||")


def stability_ends(k, options):
    """An exchange that would still gain the whole cost leaves nothing to claim."""
    weights = np.ones(6)
    k = max(k) if isinstance(k, tuple) else k
    points = SimpleNamespace(weights=weights, dimension=3)
    exchange = SimpleNamespace(centers=np.ones((k, 3)), cost=1.0, points=points)
    stable, unstable = stability_promise(exchange, 0.0), stability_promise(exchange, 1.0)
    return stable.ratio is not None and unstable.ratio is None


# How every condition is broken, and that nothing (or another number) is claimed then.
CHECKS = {
    "plain draws": all_gone,
    "float64": lambda k, options: is_gone(k, options, X="float32"),
    "no missing values": lambda k, options: is_gone(k, options, X="missing"),
    "above rounding": lambda k, options: is_gone(k, options, X="exact"),
    "no exchange helps": stability_ends,
    "a ratio of at least 1": is_refused,
    "pairs that cost less than the fit": lambda k, options: is_another(k, options, **LARGE),
    "pairs that cost more than the fit": lambda k, options: is_another(k, options, (30, 25)),
    "fewer components than rows and columns": lambda k, options: is_another(k, options, (2 * k, k)),
    "no fewer components than rows or columns": lambda k, options: is_another(k, options, (12, 14)),
}
PROMISES = table("Promises")
GRAPHS = {
    "correlation clustering": {"algorithm": "paper"},
    "correlation clustering, random starts": {},
}
PUBLISHED = "both sides, the paper's steps with as many components as the smaller side"


@pytest.mark.parametrize("row", PROMISES, ids=lambda row: row["promise"])
def test_a_printed_ratio_and_its_kind_are_those_of_the_code(row):
    if row["promise"] in GRAPHS:
        made = graph_promise(**GRAPHS[row["promise"]])
    else:
        k, options = CASES[row["promise"]]
        made = promise(k, **options)
    assert made.kind == row["kind"]
    # Rounding of the fit enlarges a ratio in its last digits, more for large matrices; the text is
    # rounded up.
    enlarged = 1e-5 if row["promise"] == FROM_SAMPLES else 1e-7
    assert ratio_text(made.ratio * (1 - enlarged)) == row["printed"]


@pytest.mark.parametrize("row", PROMISES, ids=lambda row: row["promise"])
def test_without_any_one_of_its_conditions_a_promise_is_not_made(row):
    conditions = row["conditions"].split(", ")
    if row["promise"] in GRAPHS:
        assert conditions[0] == "entries 0 and 1"
        if "a random start" in conditions:
            assert graph_promise(n_init=0).kind == "always"
        with pytest.raises(orthonmf.OrthoNMFError, match="other than 0 and 1"):
            orthonmf.BipartiteCorrelationClustering().fit(np.eye(3) / 2)
        return
    k, options = CASES[row["promise"]]
    assert [condition for condition in conditions if not CHECKS[condition](k, options)] == []
    # What always counts is listed in every row.
    assert {"float64", "above rounding"} <= set(conditions)


def test_every_case_is_a_row_and_numbers_by_setting_are_those_of_the_first_table():
    assert {row["promise"] for row in PROMISES} == {*CASES, *GRAPHS}
    printed = {row["printed"] for row in PROMISES}
    for row in table("Promises by setting"):
        assert set(re.findall(r"\d+\.\d+", row["now"] + " " + row["before"])) <= printed, row[
            "setting"
        ]


def test_ratios_of_the_paper_are_those_of_its_formulas():
    papers = {row["promise"]: row["the paper's"] for row in PROMISES}
    c = 1 / math.sin(math.pi / 12) ** 2

    def double(r):
        return 2 * r + (8 * r + 8) * c

    assert ratio_text(double(1)) == papers["both sides (r = 1): 2r + 2c (1 + √r)²"]
    drawn = 1.002 * 5 * (1 + sum(1 / j for j in range(1, 10)))
    assert math.isclose(
        double(drawn), float(papers["both sides (k-means++, k = 10)"]), rel_tol=1e-4
    )
    assert c <= float(papers[PUBLISHED])


def test_every_bound_that_a_certificate_may_name_is_in_the_table():
    named = {row["proven by"] for row in table("Bounds")}
    sources = "".join(p.read_text() for p in (ROOT / "src" / "orthonmf").rglob("*.py"))
    said = set(re.findall(r'^METHOD\w* = "(.+)"$', sources, re.MULTILINE))
    said |= set(re.findall(r'\bmethod="(an? .+)"', sources))
    said |= set(re.findall(r'LowerBound\(packed, "(.+)"\)', sources))
    assert named == said


def test_numbers_in_the_proofs_are_those_of_the_code():
    for row in table("Numbers in the proofs"):
        module, name = code(row["name"]).rsplit(".", 1)
        in_code = getattr(import_module(module), name)
        stated = eval(row["value"], {"__builtins__": {}})
        assert math.isclose(in_code, stated, rel_tol=1e-15), row["name"]
        assert in_code >= stated, row["name"]


@pytest.mark.parametrize("path", sorted(THEORY.glob("*.md")), ids=lambda path: path.name)
def test_every_file_and_every_name_in_it_that_the_theory_names_is_there(path):
    text = path.read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", text)
    homes = (ROOT, ROOT / "src" / "orthonmf")
    assert [file for file in named if not any((home / file).exists() for home in homes)] == []
    text = " ".join(text.split())
    for names, file in re.findall(r"((?:`[\w.]+`(?:,| and)? )+)in `((?:\w+/)*\w+)\.py`", text):
        module = import_module("orthonmf." + file.replace("/", "."))
        for name in re.findall(r"`([\w.]+)`", names):
            value = module
            for part in name.split("."):
                value = getattr(value, part)


def test_every_theorem_of_the_table_is_stated():
    stated = "".join(path.read_text(encoding="utf-8") for path in THEORY.glob("*.md"))
    numbers = {n for row in table("Bounds") for n in row["theorem"].split(", ")}
    assert [n for n in numbers if f"**Theorem {n}" not in stated] == []
