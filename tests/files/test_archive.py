"""Archives come back as they were written; what is in them is checked before it is unpacked."""

import io
import os
import zipfile

import numpy as np
import pytest

from orthonmf.errors import InvalidInputError
from orthonmf.files.archive import Members, open_archive, write_archive

ARRAYS = {
    "float": np.array([[1.5, -0.0], [np.nan, 5e-324]]),
    "narrow": np.arange(6, dtype=np.float32).reshape(2, 3),
    "labels": np.array([-1, 3], dtype=np.int32),
    "flags": np.array([True, False]),
    "bytes": np.arange(24, dtype=np.uint8).reshape(2, 3, 4)[:, ::2],
    "nothing": np.zeros((0, 4)),
}


def read_all(path, max_bytes=2**20):
    with open_archive(path, max_bytes) as archive:
        return archive.header, {name: archive[name] for name in ARRAYS if name in archive}


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("flushed", [True, False])
def test_what_is_written_comes_back_bit_for_bit(tmp_path, compressed, flushed):
    header = {"format": "x", "history": [0.1, 1e-300], "names": ["ä", None], "deep": {"a": True}}
    write_archive(tmp_path / "a", header, ARRAYS, flushed=flushed, compressed=compressed)
    again, arrays = read_all(tmp_path / "a")
    assert again == header
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()
    arrays["labels"][0] = 5  # of the reader's own
    with np.load(tmp_path / "a") as plain:
        np.testing.assert_array_equal(plain["narrow"], ARRAYS["narrow"])


def test_any_order_of_bytes_and_of_entries_is_read_as_the_usual_one(tmp_path):
    X = np.arange(6.0).reshape(2, 3)
    with zipfile.ZipFile(tmp_path / "a", "w") as target:
        for name, array in (
            ("header", np.frombuffer(b"{}", np.uint8)),
            ("columns", np.asfortranarray(X)),
            ("swapped", X.astype(">f4")),
        ):
            stream = io.BytesIO()
            np.lib.format.write_array(stream, array)
            target.writestr(f"{name}.npy", stream.getvalue())
    with open_archive(tmp_path / "a", 2**20) as archive:
        for name in ("columns", "swapped"):
            again = archive[name]
            np.testing.assert_array_equal(again, X)
            assert again.flags.c_contiguous
            assert again.dtype.isnative


@pytest.mark.parametrize(
    ("header", "arrays", "error"),
    [
        ({"x": float("nan")}, {}, ValueError),
        ({"x": object()}, {}, TypeError),
        ({}, {"x": np.array([object()])}, ValueError),
    ],
)
def test_what_cannot_be_read_again_is_not_written_and_the_older_file_stays(
    tmp_path, header, arrays, error
):
    write_archive(tmp_path / "a", {"old": 1}, ARRAYS)
    before = (tmp_path / "a").read_bytes()
    with pytest.raises(error):
        write_archive(tmp_path / "a", header, arrays)
    assert (tmp_path / "a").read_bytes() == before
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_the_limit_is_on_what_is_declared_for_all_arrays(tmp_path):
    write_archive(tmp_path / "a", {}, {"zeros": np.zeros(10**5)})
    assert (tmp_path / "a").stat().st_size < 10**4
    with zipfile.ZipFile(tmp_path / "a") as archive:
        declared = sum(entry.file_size for entry in archive.infolist())
    assert declared > 8 * 10**5
    read_all(tmp_path / "a", declared)
    with pytest.raises(InvalidInputError, match=f"declares {declared:,} bytes.*max_bytes"):
        read_all(tmp_path / "a", declared - 1)


def members_of(content, **entry):
    """An open file with one array x of this content."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        target.writestr("x.npy", content, **entry)
    return Members(stream, lambda why: InvalidInputError(why), "it is no zip file")


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    return stream.getvalue()


def test_only_what_numpy_packs_with_is_unpacked():
    array = np.arange(4.0)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        again = members_of(npy(array), compress_type=method).read("x", "f")
        np.testing.assert_array_equal(again, array)
    odd = members_of(npy(array), compress_type=zipfile.ZIP_BZIP2)
    with pytest.raises(InvalidInputError, match="packed in a way that NumPy never uses"):
        odd.read("x", "f")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (npy(np.arange(4.0))[:-1], "is damaged: EOF"),
        (npy(np.arange(4.0)) + b"\0", "more follows than its shape tells"),
        (npy(np.arange(4)), "holds int64 values"),
        (b"none", "is damaged"),
    ],
)
def test_an_array_that_is_not_what_it_claims_is_refused_by_name(content, why):
    with pytest.raises(InvalidInputError, match=f"the array 'x'.*{why}"):
        members_of(content).read("x", "f")


@pytest.mark.skipif(os.name != "posix", reason="needs a device")
def test_a_device_is_no_archive():
    with (
        pytest.raises(InvalidInputError, match="is a device or a pipe, not a file"),
        open_archive("/dev/zero", 2**20),
    ):
        pass
