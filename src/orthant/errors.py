"""Every exception and warning that orthant raises on purpose.

Each error is also the builtin error that callers expect, so ``except ValueError`` keeps
working, while ``except orthant.OrthantError`` catches everything that orthant refuses.
"""

from typing import Self


class OrthantError(Exception):
    """Base of every error that orthant raises on purpose.

    Examples
    --------
    >>> import numpy as np
    >>> import orthant
    >>> try:
    ...     orthant.factorize(np.array([[1.0, 2.0], [3.0, np.nan]]), 1)
    ... except orthant.OrthantError as error:
    ...     isinstance(error, ValueError), "X[1, 1]" in str(error)
    (True, True)
    """


class InvalidInputError(OrthantError, ValueError):
    """A value in the data or in a parameter is not acceptable; the message names the place."""


class NegativeEntryError(InvalidInputError):
    """The matrix holds a negative entry; the message names the first."""


class FileError(InvalidInputError):
    """A file does not hold what it should; the message is ``FILE: line L: why``."""


class InvalidTypeError(OrthantError, TypeError):
    """An argument has a type that cannot be used; the message says what to pass instead."""


class ScaleOverflowError(OrthantError, OverflowError):
    """A factor is too large for its dtype; the message names the row."""


class TooLargeError(OrthantError, MemoryError):
    """The work would need more memory than is allowed; the message gives the estimate."""

    def __new__(cls, *args: object) -> Self:
        """An error as any other: MemoryError makes none of its subclasses, as clusters need it."""
        return Exception.__new__(cls, *args)


class SourceChangedError(OrthantError, RuntimeError):
    """The data changed while or since they were fitted; the message names the rows it knows."""


class BlockFailedError(OrthantError, RuntimeError):
    """A cluster could not work on a block of rows; the message names them."""


class NoWorkersError(OrthantError, TimeoutError):
    """A cluster has had no workers for too long; the message says how to start some."""


class MissingExtraError(OrthantError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""


class FewerComponentsWarning(UserWarning):
    """Fewer components than asked for were found; the message says why.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import orthant
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     result = orthant.factorize(np.ones((4, 3)), 2, random_state=0)
    >>> result.n_components_found, caught[0].category is orthant.FewerComponentsWarning
    (1, True)
    """


class NoWorkersWarning(UserWarning):
    """A fit waits for a cluster without workers; the message says how to start some."""
