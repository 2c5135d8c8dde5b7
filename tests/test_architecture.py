"""Imports point one way, and the public names are the promised ones."""

import ast
from functools import cache
from importlib.util import find_spec
from inspect import isroutine
from pathlib import Path

import pytest

import orthonmf
from orthonmf.engine.kernels.dense import DENSE
from orthonmf.engine.kernels.interface import Kernel
from orthonmf.engine.kernels.sparse import SPARSE

SOURCE = Path(orthonmf.__file__).parent
KERNELS = [type(DENSE), type(SPARSE)]
if find_spec("torch") is not None:
    from orthonmf.engine.gpu.kernel import TensorKernel

    KERNELS.append(TensorKernel)

# A module may import from its own level and from those after it.
LEVELS = [
    {"cli"},
    {"report"},
    {"files.saving", "selection"},
    {"estimators", "baselines"},
    {"annotation"},
    {"stability"},
    {"fitting", "partitions"},
    {"datasets"},
    {"files.readers"},
    {"correlation_clustering"},
    {"onmf", "cautions"},
    {"factorization", "certifying", "cost", "evidence", "exact_fit", "views"},
    {"normalization"},
    {"inputs", "measures", "chi_square", "distinctive"},
    {"steps", "kmeans", "bounds", "alternation"},
    {"engine"},
    {"files", "certificate", "progress", "extras", "interrupts"},
    {"rounding", "vectors", "checkpoint"},
    {"typing"},
    {"errors", "version"},
]
LEVEL = {name: level for level, names in enumerate(LEVELS) for name in names}
PRIVATE_IS_FORBIDDEN = ("numpy", "scipy", "sklearn", "typer", "rich", "threadpoolctl", "networkx")
PRIVATE_IS_FORBIDDEN += ("h5py", "zarr", "pyarrow", "anndata", "pooch", "dask", "distributed")
PRIVATE_IS_FORBIDDEN += ("torch", "triton")


@cache
def nodes_of(path):
    """All of the syntax tree of a file."""
    return tuple(ast.walk(ast.parse(path.read_text())))


def imports_of(path):
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules():
    return [p for p in SOURCE.rglob("*.py") if p != SOURCE / "__init__.py"]


def level_of(module):
    """The level of a dotted name below the package: of its room, or of a room inside it."""
    parts = module.split(".")
    return LEVEL.get(".".join(parts[:2]), LEVEL.get(parts[0]))


def name_of(path):
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def test_every_module_has_a_level():
    assert [name_of(p) for p in modules() if level_of(name_of(p)) is None] == ["__main__"]


# A result answers what only fits can tell: this one method calls up to where fits are made.
UPWARD = {
    ("factorization", "orthonmf.stability.refits"),
    ("factorization", "orthonmf.stability.refits.refit"),
    ("factorization", "orthonmf.stability.record"),
    ("factorization", "orthonmf.stability.record.Stability"),
}


def test_imports_point_one_way():
    wrong = []
    for path in modules():
        own = level_of(name_of(path)) or 0
        for name in imports_of(path):
            level = level_of(name.removeprefix("orthonmf.")) if "orthonmf." in name else None
            if (name_of(path), name) in UPWARD:
                continue
            if level is not None and level < own:
                wrong.append(f"{path.relative_to(SOURCE)} imports {name}")
    assert wrong == []


def test_no_private_name_of_a_dependency_is_imported():
    wrong = [
        f"{path.relative_to(SOURCE)} imports {name}"
        for path in modules()
        for name in imports_of(path)
        if name.split(".")[0] in PRIVATE_IS_FORBIDDEN
        and any(part.startswith("_") for part in name.split("."))
    ]
    assert wrong == []


# Between the engine and the doors no code asks what kind of array it holds, or where it lies.
CORE = {"onmf", "kmeans", "steps", "bounds", "fitting", "selection"}
CONTAINERS = {"ndarray", "csr_array", "csc_array", "coo_array", "sparray", "spmatrix", "issparse"}
PLACES = {"in_memory", "elsewhere", "can_transpose", "kernel", "boundaries"}


def room_of(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def nodes_of_kind(path, kind):
    return (node for node in nodes_of(path) if isinstance(node, kind))


def last_name(node):
    return getattr(node, "attr", getattr(node, "id", None))


def asks_for_a_container(call):
    """Whether a call is ``isinstance(x, np.ndarray)``, ``issparse(x)`` or ``x.toarray()``."""
    name = last_name(call.func)
    if name == "isinstance":
        return any(last_name(node) in CONTAINERS for node in ast.walk(call.args[1]))
    if name == "hasattr":
        return any(isinstance(one, ast.Constant) and one.value == "toarray" for one in call.args)
    return name in ("issparse", "toarray", "todense")


def test_no_code_of_the_core_asks_what_kind_of_array_it_holds():
    wrong = [
        f"{path.relative_to(SOURCE)}:{call.lineno}"
        for path in modules()
        if room_of(path) in CORE
        for call in nodes_of_kind(path, ast.Call)
        if asks_for_a_container(call)
    ]
    assert wrong == []


def test_only_the_engine_asks_where_the_data_lie():
    wrong = [
        f"{path.relative_to(SOURCE)}:{node.lineno} .{node.attr}"
        for path in modules()
        if room_of(path) in CORE
        for node in nodes_of_kind(path, ast.Attribute)
        if node.attr in PLACES
    ]
    assert wrong == []


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_provides_all_of_the_interface_and_nothing_else(kernel):
    """What is called on a kernel is in the interface, so a new kernel knows all it must provide."""
    offered = {name for name in dir(kernel) if not name.startswith("_")}
    assert offered == {name for name in dir(Kernel) if not name.startswith("_")}


def test_no_module_shares_its_name_with_a_public_function():
    modules_of_the_package = {path.stem for path in SOURCE.iterdir()}
    functions = {name for name in orthonmf.__all__ if isroutine(getattr(orthonmf, name))}
    assert functions
    assert functions & modules_of_the_package == set()


def test_everything_public_is_there_and_documented():
    for name in orthonmf.__all__:
        assert hasattr(orthonmf, name)
        if name != "__version__":
            assert getattr(orthonmf, name).__doc__, name
