"""Recipes: how chunks are made, where that is short enough to travel with the work on them.

A chunk with a recipe is made inside the task that works on it, so that one task can do several
chunks, one after the other. The others are tasks of Dask's own: what the cluster holds already,
what two chunks share the work of, and what carries its numbers in the graph.
"""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

from orthonmf.extras import import_extra

# A recipe is sent again in every pass.
MOST_BYTES = 2**15


def recipes_of(array: Any, chunks: list[Any]) -> list[bytes] | None:
    """A recipe for every chunk of an array, given as Delayed; None where any of them has none."""
    futures = import_extra("distributed", "dask").futures_of(array)
    graphs = [dict(chunk.__dask_graph__()) for chunk in chunks]
    is_task = import_extra("dask.core", "dask").istask
    tasks = Counter(key for graph in graphs for key, node in graph.items() if is_task(node))
    if futures or any(count > 1 for count in tasks.values()):  # constants may be in several
        return None
    recipes = []
    for graph, chunk in zip(graphs, chunks, strict=True):
        try:
            recipe = import_extra("cloudpickle", "dask").dumps((graph, chunk.key))
        except Exception:  # any object may refuse in any way: Dask may know how to send it
            return None
        if len(recipe) > MOST_BYTES:
            return None
        recipes.append(recipe)
    return recipes


def follow(recipe: bytes) -> Any:
    """What a recipe makes, in this thread."""
    graph, key = pickle.loads(recipe)
    return import_extra("dask", "dask").get(graph, key)
