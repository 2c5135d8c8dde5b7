"""scikit-learn's callbacks (1.9 and later) as listeners to the progress of a fit."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

# Older releases of scikit-learn have no callbacks: an estimator is then simply without them.
_callback: Any = import_module("sklearn.callback") if find_spec("sklearn.callback") else None
CallbackSupport: Any = (
    type("NoCallbackSupport", (), {}) if _callback is None else _callback.CallbackSupportMixin
)


def with_callbacks(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Tear callbacks down when ``fit`` ends, however it ends."""
    return fit if _callback is None else _callback.with_callbacks(fit)


class FitTasks:
    """The tasks of one fit as callbacks see them: the fit, and one task per announced step."""

    def __init__(self, estimator: Any, X: Any, metadata: dict[str, Any]) -> None:
        self._estimator = estimator
        self._given = {"X": X, "metadata": metadata}
        self._fit: Any = None
        if _callback is not None:
            # How many sweeps a fit takes is not known before it ends.
            self._fit = estimator._init_callback_context(max_subtasks=None)
            self._fit.call_on_fit_task_begin(estimator=estimator, **self._given)

    def step(self, name: str, error: float | None = None) -> None:
        """Tell the callbacks that one step is done."""
        if self._fit is not None:
            task = self._fit.subcontext(task_name=name)
            task.call_on_fit_task_begin(estimator=self._estimator)
            task.call_on_fit_task_end(estimator=self._estimator)

    def end(self) -> None:
        """Tell the callbacks that the fit is done."""
        if self._fit is not None:
            self._fit.call_on_fit_task_end(
                estimator=self._estimator, **self._given, reconstruction_attributes=dict
            )
