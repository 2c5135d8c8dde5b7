"""The public names of the package and of its public modules, with what they name."""

import inspect

import orthonmf

MODULES = ("baselines", "datasets", "measures")


def public_names():
    """Every public name, such as ``orthonmf.baselines.solve``, and its object."""
    names = {f"orthonmf.{name}": getattr(orthonmf, name) for name in orthonmf.__all__}
    for module in MODULES:
        room = getattr(orthonmf, module)
        inside = getattr(room, "__all__", None) or [
            name
            for name, value in vars(room).items()
            if inspect.isfunction(value) and value.__module__ == room.__name__ and name[0] != "_"
        ]
        names |= {f"orthonmf.{module}.{name}": getattr(room, name) for name in inside}
    del names["orthonmf.__version__"]
    return names
