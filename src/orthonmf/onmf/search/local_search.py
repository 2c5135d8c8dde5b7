"""Directions that no exchange of one of them for a point improves: `init="local-search"`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from orthonmf.certificate import Promise
from orthonmf.engine.points import Points
from orthonmf.kmeans.local_search import exchange_until_stable
from orthonmf.kmeans.seeding import lines
from orthonmf.onmf.options import Options
from orthonmf.onmf.search.descent import descend
from orthonmf.onmf.search.loop import Start
from orthonmf.onmf.search.starts import choose_seeding, way_to_start
from orthonmf.typing import Array


def stable_start(points: Points, options: Options, number: int) -> Start:
    """Exchanges from the first directions of the default, tested with the distance of lines.

    Lines compare with the error itself, so what stable directions promise (Theorem 4) is the ratio
    of the answer.
    """
    step = options.steps.next_step()
    if not step.finished:
        usual = replace(options, init="auto")
        seeding = choose_seeding(points, usual, way_to_start(points, usual), number)
        directions, promise = search_locally(points, seeding.draw().directions, options)
        known = np.array([promise.ratio or 0.0])
        step.finish(text=promise.reason, vectors=directions, ratio=known)
    ratio = float(step.arrays["ratio"][0])
    promise = Promise(ratio, "always") if ratio > 0 else Promise(reason=step.text)
    return Start("local search", step.arrays["vectors"].copy(), promise)


def search_locally(points: Points, directions: Array, options: Options) -> tuple[Array, Promise]:
    """Directions (k, m) by descent and exchanges in turn, and what they promise."""

    def improve(directions: Array) -> Array:
        descended = descend(points, directions, max_iter=options.max_iter, tol=options.tol)
        return with_copies(descended.directions, options.n_components)

    return exchange_until_stable(points, improve(directions), improve, lines)


def with_copies(directions: Array, k: int) -> Array:
    """Directions (k, m), the first one again where fewer are in use.

    Exchanging a copy adds a direction and loses none, so additions are among the exchanges tried.
    """
    used = directions[directions.any(axis=1)]
    return np.concatenate([used, np.repeat(used[:1], k - len(used), axis=0)])
