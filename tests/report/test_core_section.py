"""The part of a page that a full core adds, and that nothing else has."""

import numpy as np
import pytest

from orthonmf.report import core_section as section
from orthonmf.report import page
from tests.report.stories import EVIL, blocks, story
from tests.report.test_page import Parsed


def with_core(sizes=(3, 2), **options):
    return story(setting="both", k=sizes, **options)


def test_the_core_is_a_table_with_a_head_for_every_group_and_every_component():
    told = with_core(column_names=[f"f{i}" for i in range(12)])
    text = page(told)
    parsed = Parsed(text)
    assert "The core" in "".join(parsed.text)
    assert 'href="#core"' in text
    ids = {given.get("id") for _, given in parsed.attributes}
    assert {"group-0", "group-1", "component-2"} <= ids
    assert "group-2" not in ids
    assert "3 groups of rows and 2 groups of features capture" in text
    assert "of 3 \N{MULTIPLICATION SIGN} 2 asked for" in text
    assert "no overlap, to the last bit" in text


def test_shares_of_the_core_add_up_to_what_is_captured():
    told = with_core()
    assert told.core_shares.shape == (3, 2)
    np.testing.assert_allclose(told.core_shares.sum(axis=1), told.findings.energies)
    squares = np.square(told.result.core)
    np.testing.assert_allclose(
        told.core_shares, squares / np.square(blocks()).sum(), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("setting", ["samples", "features", "both"])
def test_no_other_page_has_one(setting):
    text = page(story(setting=setting))
    assert "The core" not in text
    assert section.core_section(story(setting=setting)) == []


def test_names_cannot_break_out_of_the_table():
    names = [*EVIL, *(f"f{i}" for i in range(8))]
    text = page(with_core(column_names=names))
    assert "<script>window" not in text
    assert "<img src=x" not in text


def test_of_a_large_core_a_part_is_shown_and_the_file_named(monkeypatch):
    monkeypatch.setattr(section, "MOST_SHOWN", 1)
    text = page(with_core())
    assert "core.csv holds all" in text
    assert 'id="group-0"' in text
    assert 'id="group-1"' not in text


def test_pixels_of_a_group_are_a_picture():
    text = page(with_core(image_shape=(3, 4)))
    assert 'alt="group 1"' in text
