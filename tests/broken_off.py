"""A fit that ends before it is done, with what it has kept in a file."""

import orthonmf
from orthonmf.progress import listening


class BrokenOffError(Exception):
    """Stands for whatever ends a process."""


def written(path):
    return path.stat().st_mtime_ns if path.exists() else None


def break_off(path, after, X, k, **options):
    """Whether a fit was broken off, as it is when it has kept something new so many times."""
    before = written(path)
    seen = set()

    def count(*announced):
        seen.add(written(path))
        if len(seen - {before}) == after:
            raise BrokenOffError

    try:
        with listening(count):
            orthonmf.factorize(X, k, checkpoint=path, **options)
    except BrokenOffError:
        return True
    return False
