"""Imports point one way, and the public names are the promised ones."""

import ast
from pathlib import Path

import orthant

SOURCE = Path(orthant.__file__).parent

# A module may import from its own level and from those after it.
LEVELS = [
    {"cli"},
    {"bench"},
    {"reproduction"},
    {"report"},
    {"persistence", "selection"},
    {"estimators", "baselines"},
    {"fitting"},
    {"datasets"},
    {"correlation_clustering"},
    {"onmf"},
    {"factorization"},
    {"validation", "measures"},
    {"steps", "kmeans", "bounds"},
    {"engine"},
    {"files", "certificate", "progress", "extras"},
    {"numerics"},
    {"errors", "version"},
]
LEVEL = {name: level for level, names in enumerate(LEVELS) for name in names}
PRIVATE_IS_FORBIDDEN = ("numpy", "scipy", "sklearn", "typer", "rich", "threadpoolctl", "networkx")
PRIVATE_IS_FORBIDDEN += ("h5py", "zarr", "pyarrow", "anndata", "pooch", "dask", "distributed")


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules():
    return [p for p in SOURCE.rglob("*.py") if p != SOURCE / "__init__.py"]


def level_of(module):
    return LEVEL[module.split(".")[1]]


def test_every_module_has_a_level():
    parts = {p.relative_to(SOURCE).parts[0].removesuffix(".py") for p in modules()}
    assert parts - {"__main__"} <= set(LEVEL)


def test_imports_point_one_way():
    wrong = []
    for path in modules():
        own = LEVEL.get(path.relative_to(SOURCE).parts[0].removesuffix(".py"), 0)
        for name in imports_of(path):
            if name.startswith("orthant.") and name.split(".")[1] in LEVEL and level_of(name) < own:
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


def test_sparse_data_are_known_to_the_doors_and_the_engine_only():
    allowed = {"engine", "validation", "correlation_clustering", "factorization", "measures"}
    allowed |= {"baselines"}
    wrong = [
        path.relative_to(SOURCE)
        for path in modules()
        if "issparse" in path.read_text()
        and path.relative_to(SOURCE).parts[0].removesuffix(".py") not in allowed
    ]
    assert wrong == []


def test_only_the_engine_asks_where_the_data_lie():
    wrong = [
        path.relative_to(SOURCE)
        for path in modules()
        if path.relative_to(SOURCE).parts[0] != "engine"
        and ("in_memory" in path.read_text() or ".elsewhere" in path.read_text())
    ]
    assert wrong == []


def test_everything_public_is_there_and_documented():
    for name in orthant.__all__:
        assert hasattr(orthant, name)
        if name != "__version__":
            assert getattr(orthant, name).__doc__, name
