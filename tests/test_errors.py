"""Every error is one of orthonmf and the builtin one that callers expect, also across processes."""

import inspect
import pickle

from orthonmf import errors

BUILTIN = {
    "InvalidInputError": ValueError,
    "NegativeEntryError": ValueError,
    "MissingEntryError": ValueError,
    "FileError": ValueError,
    "InvalidTypeError": TypeError,
    "ScaleOverflowError": OverflowError,
    "TooLargeError": MemoryError,
    "SourceChangedError": RuntimeError,
    "WrongBoundError": ArithmeticError,
    "BlockFailedError": RuntimeError,
    "MissingExtraError": ImportError,
}
CLASSES = {
    name: kind
    for name, kind in inspect.getmembers(errors, inspect.isclass)
    if kind.__module__ == errors.__name__
}


def test_every_error_is_in_the_table_and_every_other_class_is_a_warning():
    others = CLASSES.keys() - BUILTIN.keys() - {"OrthoNMFError"}
    assert all(issubclass(CLASSES[name], UserWarning) for name in others)
    assert not any(issubclass(CLASSES[name], errors.OrthoNMFError) for name in others)


def test_an_error_is_caught_as_ours_and_as_the_builtin_one():
    for name, kind in BUILTIN.items():
        assert issubclass(CLASSES[name], errors.OrthoNMFError)
        assert issubclass(CLASSES[name], kind)


def test_what_a_worker_raises_keeps_its_kind_and_its_message():
    for kind in CLASSES.values():
        back = pickle.loads(pickle.dumps(kind("row 7 is wrong")))
        assert (type(back), str(back)) == (kind, "row 7 is wrong")
