"""Every public name has an example that runs, and a place in the reference."""

import doctest
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

import orthonmf

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
# Tables: their example stands in the module that holds them.
DATA = {"orthonmf.baselines.BASELINES"}
MODULES = ("baselines", "datasets", "measures")


@cache
def public_names():
    """Every public name, such as ``orthonmf.baselines.solve``, and its object."""
    names = {f"orthonmf.{name}": getattr(orthonmf, name) for name in orthonmf.__all__}
    for module in MODULES:
        room = getattr(orthonmf, module)
        inside = getattr(room, "__all__", None) or [
            name
            for name, value in vars(room).items()
            if inspect.isfunction(value) and value.__module__ == room.__name__ and name[0] != "_"
        ]
        names |= {f"orthonmf.{module}.{name}": getattr(room, name) for name in inside}
    del names["orthonmf.__version__"]
    return names


def examples_of(value):
    return doctest.DocTestParser().get_examples(inspect.getdoc(value) or "")


def test_no_public_name_is_without_an_example():
    without = [
        name
        for name, value in public_names().items()
        if name not in DATA and not examples_of(value)
    ]
    assert without == []


@pytest.mark.parametrize("name", sorted(set(public_names()) - DATA))
def test_the_example_of_a_public_name_runs(name):
    value = public_names()[name]
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(value), {}, name, None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    told = []
    runner.run(test, out=told.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(told)


def test_every_public_name_has_its_place_in_the_reference():
    text = "".join(path.read_text(encoding="utf-8") for path in REFERENCE.glob("*.md"))
    listed = re.findall(r"auto(?:function|class|module|exception|data):: (\S+)", text)
    assert sorted(set(public_names()) - set(listed)) == []
    assert len(listed) == len(set(listed))


def test_the_front_page_lists_every_public_name_and_no_other():
    text = (REFERENCE / "index.md").read_text(encoding="utf-8")
    table = [line.split("|")[2] for line in text.splitlines() if line.startswith("| [")]
    listed = re.findall(r"`([\w.]+)`", " ".join(table))
    named = [name if name.startswith("orthonmf.") else f"orthonmf.{name}" for name in listed]
    assert sorted(named) == sorted([*public_names(), "orthonmf.errors"])
