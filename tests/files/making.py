"""Files byte by byte: honest arrays and archives, and such as claim more than they hold."""

import io
import struct
import zipfile

import numpy as np


def npy(array):
    """The bytes of a ``.npy`` file."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asanyarray(array))
    return buffer.getvalue()


def npy_claiming(shape, dtype="<f8", content=b""):
    """The same with a header that says what it likes."""
    header = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


def packed(members, how=zipfile.ZIP_DEFLATED):
    """A zip file of these contents by name, without dates."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = how
            archive.writestr(entry, content)
    return buffer.getvalue()


def unpacked(content):
    """The contents of a zip file by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def npz(how=zipfile.ZIP_DEFLATED, **members):
    """An ``.npz`` archive of arrays, or of the bytes that stand for them."""
    contents = {
        f"{name}.npy": member if isinstance(member, bytes) else npy(member)
        for name, member in members.items()
    }
    return packed(contents, how)
