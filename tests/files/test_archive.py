"""What is in an archive is checked before it is unpacked, and read in the usual order."""

import zipfile

import numpy as np
import pytest

from orthonmf.errors import InvalidInputError
from orthonmf.files.archive import open_archive
from tests.files.making import npy, npz, packed


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
