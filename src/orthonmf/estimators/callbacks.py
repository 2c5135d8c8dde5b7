"""scikit-learn's callbacks (1.9 and later) as listeners to the progress of a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from orthonmf.progress import listening

# Older releases of scikit-learn have no callbacks: an estimator is then simply without them.
_callback: Any = import_module("sklearn.callback") if find_spec("sklearn.callback") else None
CallbackSupport: Any = (
    type("NoCallbackSupport", (), {}) if _callback is None else _callback.CallbackSupportMixin
)


def with_callbacks(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Tear callbacks down when ``fit`` ends, however it ends."""
    return fit if _callback is None else _callback.with_callbacks(fit)


@contextmanager
def telling_callbacks(estimator: Any, X: Any, metadata: dict[str, Any]) -> Iterator[None]:
    """Tell callbacks that a fit begins, every step that is announced inside, and that it ended."""
    if _callback is None:
        yield
        return
    about = {"estimator": estimator, "X": X, "metadata": metadata}
    # How many sweeps a fit takes is not known before it ends.
    fit = estimator._init_callback_context(max_subtasks=None)
    fit.call_on_fit_task_begin(**about)

    def step(name: str, error: float | None) -> None:
        task = fit.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=estimator)
        task.call_on_fit_task_end(estimator=estimator)

    with listening(step):
        yield
    fit.call_on_fit_task_end(**about, reconstruction_attributes=dict)
