"""``save`` and ``load``: results and fitted estimators as plain arrays and a JSON header.

A file is an ordinary ``.npz``: one array per name, and the JSON text as an array of bytes named
``header``. Loading executes nothing, and checks that everything fits together before it is used.
"""

from __future__ import annotations

import json
import os
from typing import Any

import orthonmf
from orthonmf.errors import InvalidInputError, InvalidTypeError
from orthonmf.files.archive import open_archive, write_archive
from orthonmf.files.saving.content import Content, plain
from orthonmf.files.saving.kinds import KINDS

__all__ = ["load", "save"]

FORMAT, FORMAT_VERSION = "orthonmf", 1
MAX_BYTES = 2**32


def save(obj: Any, path: str | os.PathLike[str]) -> None:
    """Write a Factorization, a Stability or a fitted estimator to a file.

    ``obj`` is a Factorization, what its ``refit`` gives, a fitted OrthogonalNMF or a fitted
    BipartiteCorrelationClustering; ``path`` is written exactly as named, ".npz" is the usual
    ending. The file is written next to it and renamed over it at the end, so an older one stays
    intact if that fails.

    Raises
    ------
    InvalidTypeError
        For other objects, and for parameters that are not plain values (functions, generators).
    InvalidInputError
        For an object that was changed so that it could not be loaded again.
    OSError
        When the file cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import orthonmf
    >>> result = orthonmf.factorize(np.eye(3), 2, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     orthonmf.save(result, os.path.join(folder, "model.npz"))
    ...     os.listdir(folder)
    ['model.npz']
    """
    name = type(obj).__name__
    if name not in KINDS or type(obj) is not getattr(orthonmf, name):
        raise InvalidTypeError(f"cannot save a {name}; pass one of {', '.join(KINDS)}")
    pack, unpack = KINDS[name]
    content, arrays = pack(obj)
    values = json.loads(json.dumps(plain(content), allow_nan=False))
    try:
        unpack(Content(path, values, arrays))
    except InvalidInputError as error:
        raise InvalidInputError(
            f"this cannot be saved, for it could not be loaded: {error}"
        ) from error
    identity = {"format": FORMAT, "format_version": FORMAT_VERSION, "kind": name}
    write_archive(path, {**identity, "content": values}, arrays)


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Any:
    """Read what :func:`save` wrote, equal in every bit.

    Safe on files from others: nothing is executed, sizes are checked before anything is
    decompressed, and arrays that do not fit together are refused.

    Raises
    ------
    InvalidInputError
        When the file is damaged, of a newer format, not from orthonmf, or would take more than
        ``max_bytes`` when decompressed.
    OSError
        When it cannot be opened.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import orthonmf
    >>> model = orthonmf.OrthogonalNMF(2, random_state=0).fit(np.eye(3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.npz")
    ...     orthonmf.save(model, path)
    ...     again = orthonmf.load(path)
    >>> np.array_equal(again.components_, model.components_)
    True
    """
    with open_archive(path, max_bytes) as archive:
        header = archive.header
        version = header.get("format_version")
        if header.get("format") != FORMAT or type(version) is not int:
            raise InvalidInputError(f"{path} is not an orthonmf file")
        if version > FORMAT_VERSION:
            raise InvalidInputError(
                f"{path} was written by a newer orthonmf: it has format version {version}, and "
                f"this one reads up to {FORMAT_VERSION}; upgrade orthonmf to read it"
            )
        kind = str(header.get("kind"))
        if kind not in KINDS:
            raise InvalidInputError(f"{path} holds a {kind!r}, which is unknown")
        return KINDS[kind][1](Content(path, header.get("content"), archive))
