"""Damaged and hostile files: every one is refused before it can do harm."""

import json
import os
import zipfile

import numpy as np
import pytest

from orthonmf import load
from orthonmf.errors import InvalidInputError
from orthonmf.files import archive
from tests.files.making import npy, npy_claiming, npz
from tests.files.saving.test_contradictions import parts_of, put_together


def test_object_arrays_are_never_unpickled(file):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(file) + ".trap",)

    header, arrays = parts_of(file)
    arrays["components"] = np.array([Trap()], dtype=object)
    put_together(file, header, arrays)
    with pytest.raises(InvalidInputError, match="never loaded"):
        load(file)
    assert not os.path.exists(str(file) + ".trap")


@pytest.mark.parametrize("share", [0.1, 0.999])
def test_truncated_files_are_refused(file, share):
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    with pytest.raises(InvalidInputError, match="not an orthonmf file"):
        load(file)


def test_a_flipped_bit_is_noticed(file):
    content = bytearray(file.read_bytes())
    with zipfile.ZipFile(file) as members:
        first = members.infolist()[0]
    # Inside what it holds: in the names and times of the archive itself not every bit matters.
    place = first.header_offset + len(first.FileHeader()) + first.compress_size // 2
    content[place] ^= 1
    file.write_bytes(content)
    with pytest.raises(InvalidInputError):
        load(file)


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06" + 18 * b"\0", b"\x80\x04N."])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(InvalidInputError, match="not an orthonmf file"):
        load(tmp_path / "x")


def test_a_bomb_is_refused_before_it_is_decompressed(file, monkeypatch):
    header, arrays = parts_of(file)
    arrays["components"] = np.zeros((4, 2**20))  # 33 megabytes of zeros in 33 kilobytes
    put_together(file, header, arrays)
    assert file.stat().st_size < 2**16
    monkeypatch.setattr(archive.Members, "read", lambda *given: pytest.fail("decompressed"))
    with pytest.raises(InvalidInputError, match=r"declares 33,\d+,\d+ bytes.*max_bytes"):
        load(file, max_bytes=2**24)


def test_a_shape_larger_than_its_data_takes_no_memory(file):
    header = np.frombuffer(json.dumps(parts_of(file)[0]).encode(), dtype=np.uint8)
    huge = npy_claiming((2**40, 2**20), content=64 * b"\0")
    file.write_bytes(npz(header=header, components=huge))
    with pytest.raises(InvalidInputError, match="'components' is damaged"):
        load(file)


TEXT = npy(np.frombuffer(b'{"format": "orthonmf"}', dtype=np.uint8))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (npz(other=TEXT), "no header"),
        *(
            (npz(header=np.frombuffer(text, dtype=np.uint8)), "its header is")
            for text in (b"[1]", b"{", b"\xff", b"[" * 100_000)
        ),
    ],
    ids=["no header", "list", "cut", "no text", "deep"],
)
def test_strange_archives_are_refused(content, why, tmp_path):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(InvalidInputError, match=why):
        load(tmp_path / "x")
