"""Recipes: how chunks are made, where that is short enough to travel with the work on them.

A chunk with a recipe is made inside the task that works on it, so that one task can do several
chunks, one after the other. The others are tasks of Dask's own: what the cluster holds already,
what two chunks share the work of, and what carries its numbers in the graph.
"""

from __future__ import annotations

import io
import pickle
from collections import Counter
from typing import Any

import numpy as np

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
    try:
        return [_pack((graph, chunk.key)) for graph, chunk in zip(graphs, chunks, strict=True)]
    except Exception:  # any object may refuse in any way: Dask may know how to send it
        return None


def follow(recipe: bytes) -> Any:
    """What a recipe makes, in this thread."""
    graph, key = pickle.loads(recipe)
    return import_extra("dask", "dask").get(graph, key)


def _pack(recipe: Any) -> bytes:
    """Bytes of a graph and a key; an error where they are many, or for another process to know."""
    future = import_extra("distributed", "dask").Future

    class Short(import_extra("cloudpickle", "dask").CloudPickler):  # type: ignore[misc]
        def persistent_id(self, content: Any) -> None:
            """Give up at once on many numbers, and on what only a client can look up."""
            if isinstance(content, future) or _size(content) > MOST_BYTES:
                raise pickle.PicklingError("no recipe")

    packed = io.BytesIO()
    Short(packed).dump(recipe)
    if packed.tell() > MOST_BYTES:
        raise pickle.PicklingError("no recipe")
    return packed.getvalue()


def _size(content: Any) -> int:
    if isinstance(content, np.ndarray):
        return content.nbytes
    return len(content) if isinstance(content, bytes | bytearray | str) else 0
