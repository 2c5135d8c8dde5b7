"""Plug-ins: modules of the user that register methods, in this process and in those it starts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from orthonmf.errors import InvalidInputError

VARIABLE = "ORTHONMF_PLUGINS"  # read by worker processes, which inherit it
_loaded: set[str] = set()


def load_plugins(names: Iterable[str] = ()) -> None:
    """Import modules by name, or files that end in ``.py``, and those that the environment names.

    Each is imported once. Processes that are started later import the same.
    """
    given = [str(Path(one).resolve()) if one.endswith(".py") else one for one in names]
    earlier = os.environ.get(VARIABLE, "").split(os.pathsep)
    wanted = [one for one in dict.fromkeys((*earlier, *given)) if one]
    for name in wanted:
        if name not in _loaded:
            _load(name)
            _loaded.add(name)
    if wanted:
        os.environ[VARIABLE] = os.pathsep.join(wanted)


def _load(name: str) -> None:
    try:
        if not name.endswith(".py"):
            if (here := os.getcwd()) not in sys.path:
                sys.path.append(here)
            import_module(name)
            return
        spec = spec_from_file_location(Path(name).stem, name)
        if spec is None or spec.loader is None or not Path(name).is_file():
            raise ImportError("there is no such file")
        spec.loader.exec_module(module_from_spec(spec))
    except (ImportError, SyntaxError) as error:
        raise InvalidInputError(f"the plug-in {name} cannot be imported: {error}") from error
