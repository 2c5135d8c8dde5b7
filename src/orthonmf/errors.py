"""Every exception and warning that orthonmf raises on purpose.

Each error is also the builtin error that callers expect, so ``except ValueError`` keeps
working, while ``except orthonmf.OrthoNMFError`` catches everything that orthonmf refuses.
"""

from typing import Self


class OrthoNMFError(Exception):
    """Base of every error that orthonmf raises on purpose.

    ``problem`` says what is wrong and where, ``remedy`` what to do about it in Python, where that
    is said apart; the message is both.

    Examples
    --------
    >>> import numpy as np
    >>> import orthonmf
    >>> try:
    ...     orthonmf.factorize(np.array([[1.0, 2.0], [3.0, np.nan]]), 1)
    ... except orthonmf.OrthoNMFError as error:
    ...     isinstance(error, ValueError), "X[1, 1]" in str(error)
    (True, True)
    """

    def __init__(self, problem: object = "", remedy: str = "") -> None:
        super().__init__(f"{problem}; {remedy}" if remedy else problem)
        self.problem, self.remedy = str(problem), remedy


class InvalidInputError(OrthoNMFError, ValueError):
    """A value in the data or in a parameter is not acceptable; the message names the place."""


class NegativeEntryError(InvalidInputError):
    """The matrix holds a negative entry; the message names the first."""


class MissingEntryError(InvalidInputError):
    """The matrix holds NaN where every entry is needed; the message names the first."""


class FileError(InvalidInputError):
    """A file does not hold what it should; the message is ``FILE: line L: why``."""


class InvalidTypeError(OrthoNMFError, TypeError):
    """An argument has a type that cannot be used; the message says what to pass instead."""


class ScaleOverflowError(OrthoNMFError, OverflowError):
    """A factor is too large for its dtype; the message names the row."""


class TooLargeError(OrthoNMFError, MemoryError):
    """The work would need more memory than is allowed; the message gives the estimate."""

    def __new__(cls, *args: object) -> Self:
        """An error as any other: MemoryError makes none of its subclasses, as clusters need it."""
        return Exception.__new__(cls, *args)


class SourceChangedError(OrthoNMFError, RuntimeError):
    """The data changed while or since they were fitted; the message names the rows it knows."""


class WrongBoundError(OrthoNMFError, ArithmeticError):
    """A lower bound came out above the cost of an answer: an error of orthonmf itself."""


class BlockFailedError(OrthoNMFError, RuntimeError):
    """A cluster could not work on a block of rows; the message names them."""


class MissingExtraError(OrthoNMFError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""


class FewerComponentsWarning(UserWarning):
    """Fewer components than asked for were found; the message says why.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import orthonmf
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     result = orthonmf.factorize(np.ones((4, 3)), 2, random_state=0)
    >>> result.n_components_found, caught[0].category is orthonmf.FewerComponentsWarning
    (1, True)
    """


class NoWorkersWarning(UserWarning):
    """A fit waits for a cluster without workers; the message says how to start some."""
