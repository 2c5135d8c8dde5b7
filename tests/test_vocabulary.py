"""The words of docs/vocabulary.md: none that it rules out, and one spelling."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RULED_OUT = ["anew", "at hand", "at_hand", "brought along", "brought_along", "errand", "beside"]
BRITISH = ["centre", "normalis", "colour", "behaviour", "neighbour", "minimis", "optimis(?!t|m)"]
BRITISH += ["catalogue", r"\bgrey\b", "licence", "artefact", "labelled", "recognis", "summaris"]
FORBIDDEN = re.compile(rf"\b({'|'.join(RULED_OUT)})\b|{'|'.join(BRITISH)}", re.IGNORECASE)
FILES = [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")]
FILES += [*ROOT.glob("examples/*.py"), *ROOT.glob("benchmarks/**/*.py")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_word_that_the_vocabulary_rules_out(path):
    if path.name == "vocabulary.md":
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [f"{n}: {line}" for n, line in enumerate(lines, 1) if FORBIDDEN.search(line)] == []


def test_the_vocabulary_names_what_it_rules_out():
    text = (ROOT / "docs" / "vocabulary.md").read_text()
    assert all(f"*{word}*" in text for word in RULED_OUT if "_" not in word)


# Verbs that end like participles.
VERBS = {"seed", "need", "feed", "embed", "bring", "string"}


def functions_of(path):
    """All functions of a file but properties and context managers.

    A context manager says what goes on inside: ``with replacing(path)``.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            marks = " ".join(ast.unparse(one) for one in node.decorator_list)
            if "property" not in marks and "contextmanager" not in marks:
                yield node.name


FOLDERS = sorted({path.parent for path in ROOT.glob("src/**/*.py")})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_function_is_named_by_a_participle(folder):
    wrong = [
        f"{path.name}: {name}"
        for path in folder.glob("*.py")
        for name in functions_of(path)
        if re.fullmatch(r"_*[a-z]+(ed|ing)", name) and name.strip("_") not in VERBS
    ]
    assert wrong == []
