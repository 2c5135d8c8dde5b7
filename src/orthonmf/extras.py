"""Optional dependencies: imported where they are used, missed with a message that helps."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from orthonmf.errors import MissingExtraError


def import_extra(module: str, extra: str) -> Any:
    """Import a module of an optional dependency."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise MissingExtraError(
            f"this needs {package}, which is not installed: pip install {package}; "
            f"the extra '{extra}' of orthonmf brings it"
        ) from error
