"""What happens around a fit: interrupts, threads, failed refits, files that cannot be written."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import orthonmf
from benchmarks.reliability.inputs import plain
from orthonmf.datasets import make_planted


class Fault(NamedTuple):
    """A fault, and what each library makes of it."""

    name: str
    orthonmf: Callable[[], str]
    scikit_learn: Callable[[], str]


def nmf(**options: Any) -> Any:
    from sklearn.decomposition import NMF

    return NMF(3, random_state=0, **options)


def ours(**options: Any) -> Any:
    return orthonmf.OrthogonalNMF(3, random_state=0, **options)


def large() -> np.ndarray:
    return make_planted(3000, 50, 10, noise=0.5, random_state=0).X


def bits_for_threads(components: Callable[[int], Any]) -> Callable[[], str]:
    """Whether one, two and four threads give the same bits."""

    def work() -> str:
        answers = [components(count) for count in (1, 2, 4)]
        same = all(np.array_equal(answers[0], answer) for answer in answers[1:])
        return "same bits" if same else "**other bits**"

    return work


def our_components(threads: int) -> Any:
    return orthonmf.factorize(large(), 10, random_state=0, n_jobs=threads).components


def their_components(threads: int) -> Any:
    from sklearn.cluster import KMeans

    with threadpool_limits(threads):
        return KMeans(10, n_init=1, random_state=0).fit(large()).cluster_centers_


def failed_refit(make: Callable[[], Any]) -> Callable[[], str]:
    """Whether a model that refuses new data keeps what it had learned."""

    def work() -> str:
        model = make().fit(plain())
        before = model.components_.copy()
        with suppress(ValueError):
            model.fit(np.full((4, 8), np.nan))
        return "old fit kept" if np.array_equal(model.components_, before) else "**old fit lost**"

    return work


def interrupt(fit: Callable[[], Any]) -> Callable[[], str]:
    """Whether an interrupt ends a long fit."""

    def work() -> str:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                fit()
        except KeyboardInterrupt:
            return "KeyboardInterrupt"

    return work


def touch_random_state(make: Callable[[], Any]) -> Callable[[], str]:
    """Whether a fit without a seed draws from the generator that all programs share."""

    def work() -> str:
        np.random.seed(0)  # noqa: NPY002 - the old generator is what this is about
        make().fit(plain())
        drawn = np.random.random()  # noqa: NPY002
        same = drawn == np.random.RandomState(0).random()
        return "left alone" if same else "moves on (as documented)"

    return work


def change_input(make: Callable[[], Any]) -> Callable[[], str]:
    """Whether the matrix of the caller is as it was."""

    def work() -> str:
        X = plain()
        X.setflags(write=True)
        before = X.copy()
        make().fit_transform(X)
        return "left alone" if np.array_equal(X, before) else "**changed**"

    return work


def two_at_once(make: Callable[[], Any]) -> Callable[[], str]:
    """Whether fits in two threads of the caller give what one gives."""

    def work() -> str:
        alone = make().fit(plain()).components_
        answers: list[Any] = []
        threads = [
            threading.Thread(target=lambda: answers.append(make().fit(plain()).components_))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        same = len(answers) == 2 and all(np.array_equal(alone, answer) for answer in answers)
        return "same bits" if same else "**other bits**"

    return work


def killed_while_saving(save: Callable[[Any, Path], None], load: Callable[[Path], Any]) -> Any:
    """Whether an older file is whole after the process that replaces it was killed."""

    def work() -> str:
        path = Path(os.getcwd()) / "model.npz"
        model = make_planted(3000, 2000, 3, noise=0.1, random_state=0).X
        save(model, path)
        child = os.fork()
        if child == 0:
            while True:
                save(model, path)
        for number in range(20):  # at many moments of the writing
            time.sleep(0.01 + 0.003 * number)
            os.kill(child, signal.SIGSTOP)
            try:
                load(path)
            except Exception as error:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return f"**the old file is lost**: {type(error).__name__}"
            os.kill(child, signal.SIGCONT)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        load(path)
        return "old or new file, whole"

    return work


def save_ours(X: Any, path: Path) -> None:
    if not hasattr(save_ours, "result"):
        save_ours.result = orthonmf.factorize(X, 3, random_state=0, certificate=None)
    orthonmf.save(save_ours.result, path)


def save_theirs(X: Any, path: Path) -> None:
    import joblib

    joblib.dump(X, path)


def load_theirs(path: Path) -> Any:
    import joblib

    return joblib.load(path)


def resume() -> str:
    """A fit that was broken off goes on from its checkpoint to the same bits."""
    X = large()
    whole = orthonmf.factorize(X, 10, random_state=0, certificate=None).components
    child = os.fork()
    options = {"random_state": 0, "certificate": None, "checkpoint": "run.ckpt"}
    if child == 0:
        orthonmf.factorize(X, 10, **options)
        os._exit(0)
    while not Path("run.ckpt").exists():
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    again = orthonmf.factorize(X, 10, **options).components
    return "goes on, same bits" if np.array_equal(whole, again) else "**other bits**"


FAULTS = [
    Fault(
        "1, 2 and 4 threads", bits_for_threads(our_components), bits_for_threads(their_components)
    ),
    Fault("two fits at once in threads of the caller", two_at_once(ours), two_at_once(nmf)),
    Fault("a refit that fails", failed_refit(ours), failed_refit(nmf)),
    Fault(
        "Ctrl-C during a fit",
        interrupt(lambda: ours().fit(large())),
        interrupt(lambda: nmf(max_iter=10**6, tol=0).fit(large())),
    ),
    Fault(
        "the random state that all programs share",
        touch_random_state(lambda: orthonmf.OrthogonalNMF(3)),
        touch_random_state(lambda: nmf(init="random").set_params(random_state=None)),
    ),
    Fault("the matrix of the caller", change_input(ours), change_input(nmf)),
    Fault(
        "the process is killed while a model replaces an older file",
        killed_while_saving(save_ours, orthonmf.load),
        killed_while_saving(save_theirs, load_theirs),
    ),
    Fault("the process is killed during a fit", resume, lambda: "no checkpoints"),
]
