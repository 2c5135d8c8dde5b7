"""What happens around a fit: interrupts, threads, failed refits, files that cannot be written."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF
from threadpoolctl import threadpool_limits

import orthonmf
from benchmarks.reliability.inputs import plain
from benchmarks.reliability.trying import Try
from orthonmf.datasets import make_planted

Make = Callable[[], Any]  # a model


def of_both(name: str, work: Callable[..., str], ours: Any, theirs: Any) -> Try:
    """A fault that is tried in the same way with something of either library."""
    return Try(name, partial(work, ours), partial(work, theirs))


nmf = partial(NMF, 3, random_state=0)
ours = partial(orthonmf.OrthogonalNMF, 3, random_state=0)
our_fit = partial(orthonmf.factorize, random_state=0, certificate=None)


def large() -> np.ndarray:
    return make_planted(3000, 50, 10, noise=0.5, random_state=0).X


def bits_for_threads(components: Callable[[int], Any]) -> str:
    """Whether one, two and four threads give the same bits."""
    answers = [components(count) for count in (1, 2, 4)]
    same = all(np.array_equal(answers[0], answer) for answer in answers[1:])
    return "same bits" if same else "**other bits**"


def our_components(threads: int) -> Any:
    return our_fit(large(), 10, n_jobs=threads).components


def their_components(threads: int) -> Any:
    with threadpool_limits(threads):
        return KMeans(10, n_init=1, random_state=0).fit(large()).cluster_centers_


def two_at_once(make: Make) -> str:
    """Whether fits in two threads of the caller give what one gives."""

    def fit(_: int) -> Any:
        return make().fit(plain()).components_

    alone = fit(0)
    with ThreadPoolExecutor(2) as pool:
        same = all(np.array_equal(alone, answer) for answer in pool.map(fit, range(2)))
    return "same bits" if same else "**other bits**"


def failed_refit(make: Make) -> str:
    """Whether a model that refuses new data keeps what it had learned."""
    model = make().fit(plain())
    before = model.components_.copy()
    with suppress(ValueError):
        model.fit(np.full((4, 8), np.nan))
    return "old fit kept" if np.array_equal(model.components_, before) else "**old fit lost**"


def interrupt(make: Make) -> str:
    """Whether an interrupt ends a long fit."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        while True:
            make().fit(large())
    except KeyboardInterrupt:
        return "KeyboardInterrupt"


def touch_random_state(make: Make) -> str:
    """Whether a fit without a seed draws from the generator that all programs share."""
    np.random.seed(0)  # noqa: NPY002 - the old generator is what this is about
    make().fit(plain())
    same = np.random.random() == np.random.RandomState(0).random()  # noqa: NPY002
    return "left alone" if same else "moves on (as documented)"


def change_input(make: Make) -> str:
    """Whether the matrix of the caller is as it was."""
    X = plain()
    X.setflags(write=True)
    before = X.copy()
    make().fit_transform(X)
    return "left alone" if np.array_equal(X, before) else "**changed**"


def killed_while_saving(
    library: tuple[Callable[[Any], Any], Callable[[Any, Path], Any], Callable[[Path], Any]],
) -> str:
    """Whether an older file is whole after the process that replaces it was killed."""
    make, save, load = library
    path = Path(os.getcwd()) / "model.npz"
    model = make(make_planted(3000, 2000, 3, noise=0.1, random_state=0).X)
    save(model, path)
    child = os.fork()
    if child == 0:
        while True:
            save(model, path)
    try:
        for number in range(20):  # at many moments of the writing
            time.sleep(0.01 + 0.003 * number)
            os.kill(child, signal.SIGSTOP)
            try:
                load(path)
            except Exception as error:
                return f"**the old file is lost**: {type(error).__name__}"
            os.kill(child, signal.SIGCONT)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    load(path)
    return "old or new file, whole"


def resume() -> str:
    """A fit that was broken off goes on from its checkpoint to the same bits."""
    X = large()
    whole = our_fit(X, 10).components
    child = os.fork()
    if child == 0:
        our_fit(X, 10, checkpoint="run.ckpt")
        os._exit(0)
    while not Path("run.ckpt").exists():
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    again = our_fit(X, 10, checkpoint="run.ckpt").components
    return "goes on, same bits" if np.array_equal(whole, again) else "**other bits**"


FAULTS = [
    of_both("1, 2 and 4 threads", bits_for_threads, our_components, their_components),
    of_both("two fits at once in threads of the caller", two_at_once, ours, nmf),
    of_both("a refit that fails", failed_refit, ours, nmf),
    of_both("Ctrl-C during a fit", interrupt, ours, partial(nmf, max_iter=10**6, tol=0)),
    of_both(
        "the random state that all programs share", touch_random_state,
        partial(orthonmf.OrthogonalNMF, 3), partial(NMF, 3, init="random"),
    ),
    of_both("the matrix of the caller", change_input, ours, nmf),
    of_both(
        "the process is killed while a model replaces an older file", killed_while_saving,
        (partial(our_fit, n_components=3), orthonmf.save, orthonmf.load),
        (lambda X: X, joblib.dump, joblib.load),
    ),
    Try("the process is killed during a fit", resume, lambda: "no checkpoints"),
]  # fmt: skip
