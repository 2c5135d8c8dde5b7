"""Which files of a folder are sets, what they are called, and how some are chosen."""

import pytest

from orthonmf.bench.quality.sets import select, sets_of_folder, sets_of_paper
from orthonmf.errors import InvalidInputError


@pytest.fixture
def folder(tmp_path):
    for name in ("b.npy", "a.csv.gz", "a.mtx", "notes.md", "best.json", ".hidden.csv", "x.npy.gz"):
        (tmp_path / name).touch()
    (tmp_path / "cells.zarr").mkdir()
    (tmp_path / "more").mkdir()
    return tmp_path


def test_files_with_the_ending_of_a_format_are_sets_with_names_of_their_own(folder):
    sets = sets_of_folder(folder, lambda path: path.name)
    assert {one.name: one.load() for one in sets} == {
        "a.csv.gz": "a.csv.gz",
        "a.mtx": "a.mtx",
        "b": "b.npy",
        "cells": "cells.zarr",
    }


def test_one_file_is_a_folder_of_one(folder):
    assert [one.name for one in sets_of_folder(folder / "b.npy", str)] == ["b"]
    assert [one.name for one in sets_of_folder(folder / "cells.zarr", str)] == ["cells"]


def test_a_folder_without_matrices_is_refused(folder):
    with pytest.raises(InvalidInputError, match="no file in it has the ending of a matrix"):
        sets_of_folder(folder / "more", str)
    with pytest.raises(InvalidInputError, match="there is no such folder"):
        sets_of_folder(folder / "nowhere", str)


def test_sets_are_chosen_by_parts_of_their_names():
    sets = sets_of_paper()
    assert [one.name for one in select(sets, ["kos", "arcene"])] == ["arcene-train", "bow-kos"]
    assert [one.name for one in select(sets, ["bow"])] == ["bow-kos", "bow-nips"]
    with pytest.raises(InvalidInputError, match="--sets: no set is called like 'iris'; there are"):
        select(sets, ["iris"])


def test_a_whole_name_stands_for_one_set_alone(folder):
    (folder / "bb.csv").touch()
    sets = sets_of_folder(folder, str)
    assert [one.name for one in select(sets, ["b"])] == ["b"]
