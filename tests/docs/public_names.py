"""The public names of the package and of its public modules, with what they name."""

import inspect

import orthant

MODULES = ("baselines", "datasets", "measures")


def public_names():
    """Every public name, such as ``orthant.baselines.solve``, and its object."""
    names = {f"orthant.{name}": getattr(orthant, name) for name in orthant.__all__}
    for module in MODULES:
        room = getattr(orthant, module)
        inside = getattr(room, "__all__", None) or [
            name
            for name, value in vars(room).items()
            if inspect.isfunction(value) and value.__module__ == room.__name__ and name[0] != "_"
        ]
        names |= {f"orthant.{module}.{name}": getattr(room, name) for name in inside}
    del names["orthant.__version__"]
    return names
