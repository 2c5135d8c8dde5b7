"""Headers of arrays are read as NumPy writes them, and nothing else is believed."""

import io

import numpy as np
import pytest
from numpy.lib import format as npy

from orthonmf.files.npy_header import LONGEST, NpyHeaderError, read_npy_header


def written(array, version=(1, 0)):
    stream = io.BytesIO()
    npy.write_array(stream, array, version=version)
    return stream.getvalue()


def with_header(text, version=(1, 0)):
    length = len(text).to_bytes(2 if version == (1, 0) else 4, "little")
    return b"\x93NUMPY" + bytes(version) + length + text.encode("latin-1")


def read(content):
    return read_npy_header(io.BytesIO(content))


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
@pytest.mark.parametrize("dtype", ["<f8", ">f4", "|b1", "<i2", "|u1", "<c16", "<U7", "<M8[ns]"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (1, 2, 0, 4)])
def test_what_numpy_writes_is_read_up_to_the_first_byte_of_the_content(version, dtype, shape):
    array = np.zeros(shape, dtype=dtype)
    stream = io.BytesIO(written(array, version))
    header = read_npy_header(stream)
    assert (header.shape, header.dtype) == (shape, np.dtype(dtype))
    assert header.n_bytes == array.nbytes
    assert len(stream.read()) == array.nbytes


def test_the_order_of_entries_is_told():
    assert read(written(np.asfortranarray(np.ones((2, 3))))).in_columns
    assert not read(written(np.ones((2, 3)))).in_columns


@pytest.mark.parametrize(
    "text",
    [
        "{'shape': (10L, 20L), 'descr': '<f8', 'fortran_order': False}",  # as Python 2 wrote it
        '{"fortran_order": False,"descr":"<f8","shape":(10,20,),}\n',
        "  { 'descr' : '<f8' , 'fortran_order' : False , 'shape' : ( 10 , 20 ) , }   \n",
    ],
)
def test_keys_and_blanks_may_stand_in_any_order(text):
    assert read(with_header(text)).shape == (10, 20)


GOOD = {"descr": "'<f8'", "fortran_order": "False", "shape": "(2, 3)"}


def header_of(**changes):
    items = {**GOOD, **changes}
    return "{" + ", ".join(f"'{key}': {value}" for key, value in items.items()) + "}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (header_of(shape="(-1, 3)"), "makes no sense"),
        (header_of(shape="(2 3)"), "makes no sense"),
        (header_of(shape="(" + "9" * 20 + ",)"), "makes no sense"),
        (header_of(shape="'(2, 3)'"), "makes no sense"),
        (header_of(shape="(__import__('os'),)"), "damaged at"),
        (header_of(fortran_order="'yes'"), "fortran_order is"),
        (header_of(descr="'<f3'"), "no plain numbers"),
        (header_of(descr="'float64'"), "no plain numbers"),
        (header_of(descr="'numpy.float64'"), "no plain numbers"),
        (header_of(descr="[('a', '<f8')]"), "no plain numbers"),
        (header_of(descr="'|O'"), "pickled Python objects"),
        (header_of(other="True"), "does not name"),
        ("{'shape': (2,)}", "does not name"),
        ("{}", "does not name"),
        ("", "not closed"),
        (header_of()[:-1], "not closed"),
        (header_of(shape="1 + 1"), "damaged at"),
    ],
)
def test_a_header_that_claims_what_cannot_be_is_refused_with_the_reason(text, why):
    with pytest.raises(NpyHeaderError, match=why):
        read(with_header(text))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no NumPy array"),
        (b"\x93NUMPY\x01", "no NumPy array"),
        (b"\x93NUMPX\x01\x00" + 20 * b" ", "no NumPy array"),
        (b"\x93NUMPY\x03\x00" + 20 * b" ", r"version \(3, 0\)"),
        (b"\x93NUMPY\x01\x00\x10", "ends within its header"),
        (written(np.ones(3))[:40], "ends within its header"),
        (with_header((LONGEST + 1) * " "), "longer than any fair one"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "4,294,967,295 bytes is longer"),
    ],
)
def test_what_is_no_array_or_ends_early_is_refused(content, why):
    with pytest.raises(NpyHeaderError, match=why):
        read(content)


def test_sizes_of_hostile_shapes_are_counted_without_overflow():
    header = read(with_header(header_of(shape=f"({2**62}, {2**62})")))
    assert header.n_bytes == 2**127
