"""Archives come back as they were written; what is in them is checked before it is unpacked."""

import zipfile

import numpy as np
import pytest

from orthonmf.errors import InvalidInputError
from orthonmf.files.archive import open_archive, write_archive
from tests.files.making import npy, npz, packed

ARRAYS = {
    "float": np.array([[1.5, -0.0], [np.nan, 5e-324]]),
    "narrow": np.arange(6, dtype=np.float32).reshape(2, 3),
    "labels": np.array([-1, 3], dtype=np.int32),
    "flags": np.array([True, False]),
    "bytes": np.arange(24, dtype=np.uint8).reshape(2, 3, 4)[:, ::2],
    "nothing": np.zeros((0, 4)),
}


@pytest.mark.parametrize("compressed", [True, False])
def test_what_is_written_comes_back_bit_for_bit(tmp_path, compressed):
    header = {"format": "x", "history": [0.1, 1e-300], "names": ["ä", None], "deep": {"a": True}}
    write_archive(tmp_path / "a", header, ARRAYS, compressed=compressed)
    with open_archive(tmp_path / "a", 2**20) as archive:
        assert archive.header == header
        arrays = {name: archive[name] for name in ARRAYS if name in archive}
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
    arrays = {"columns": np.asfortranarray(X), "swapped": X.astype(">f4")}
    (tmp_path / "a").write_bytes(npz(header=np.frombuffer(b"{}", np.uint8), **arrays))
    with open_archive(tmp_path / "a", 2**20) as archive:
        for name in ("columns", "swapped"):
            again = archive[name]
            np.testing.assert_array_equal(again, X)
            assert again.flags.c_contiguous
            assert again.dtype.isnative


ARRAY = npy(np.arange(4.0))


@pytest.mark.parametrize(
    ("content", "how", "why"),
    [
        (ARRAY, zipfile.ZIP_BZIP2, "is packed in a way that NumPy never uses"),
        (ARRAY[:-1], zipfile.ZIP_STORED, "is damaged: EOF"),
        (ARRAY + b"\0", zipfile.ZIP_DEFLATED, "is damaged: more follows"),
        (npy(np.array(["a"])), zipfile.ZIP_DEFLATED, "holds <U1 values"),
        (b"none", zipfile.ZIP_DEFLATED, "is damaged"),
    ],
)
def test_an_array_that_is_not_what_it_claims_is_refused_by_name(content, how, why, tmp_path):
    header = npy(np.frombuffer(b"{}", np.uint8))
    (tmp_path / "a").write_bytes(packed({"header.npy": header, "x.npy": content}, how))
    with pytest.raises(InvalidInputError, match=f"the array '(x|header)' {why}"):  # noqa: SIM117
        with open_archive(tmp_path / "a", 2**20) as archive:
            archive["x"]
