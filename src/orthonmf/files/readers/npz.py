"""``.npz``: a dense array or a SciPy sparse matrix, sizes checked before anything is unpacked."""

from __future__ import annotations

from scipy.sparse import csr_array

from orthonmf.files.archive import Members
from orthonmf.files.readers.record import NUMBERS, NamedMatrix, Names, Request
from orthonmf.inputs.sparse import PARTS
from orthonmf.numerics.arrays import Array

SPARSE = {"format", "shape", "data"}


def read_npz(request: Request) -> NamedMatrix:
    """The matrix of an archive: SciPy's sparse form, or its one two-dimensional array."""
    with open(request.path, "rb") as file:
        members = Members(file, request.error, "this is no .npz archive, or a damaged one")
        if set(members.entries) >= SPARSE and request.key is None:
            X = _read_sparse(members, request)
        else:
            X = _read_array(members, _choose(members, request), request)
        names = (_read_texts(members, name, request) for name in ("row_names", "column_names"))
        return request.matrix(X, *names)


def _read_array(members: Members, name: str, request: Request, kinds: str = NUMBERS) -> Array:
    return members.read(name, kinds, request.check_size)


def _choose(members: Members, request: Request) -> str:
    """The array to read: the one that was named, the only one, or the one called X."""
    listed = sorted(members.entries)
    if request.key is None:
        return "X" if "X" in members else request.only_one(listed, "array")
    if request.key not in members:
        raise request.error(f"it has no array {request.key!r}; it has {', '.join(listed[:10])}")
    return request.key


def _read_texts(members: Members, name: str, request: Request) -> Names:
    """Names of rows or columns, where an array of text is called that."""
    if name not in members:
        return None
    return tuple(str(one) for one in _read_array(members, name, request, "U").ravel())


def _read_sparse(members: Members, request: Request) -> csr_array:
    """A SciPy sparse matrix whose indices have been checked: nothing follows them blindly."""
    kind = _read_array(members, "format", request, "SU").reshape(-1)
    name = str(kind[0], "ascii", "replace") if kind.dtype.kind == "S" else str(kind[0])
    if name not in PARTS:
        raise request.error(f"it holds a sparse matrix of the unknown format {name!r}")
    shape = _read_array(members, "shape", request, "iu").reshape(-1)
    size = request.check_shape(tuple(int(one) for one in shape))
    needed = PARTS[name]
    missing = [one for one in needed if one not in members]
    if missing:
        raise request.error(f"the sparse matrix lacks {', '.join(missing)}")
    request.check_size(sum(members.entries[one].file_size for one in needed), "the sparse matrix")
    return request.sparse(name, [_read_array(members, one, request) for one in needed], size)
