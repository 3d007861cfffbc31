"""Fits as work that is watched: stages with parts, and scikit-learn's callbacks, which hear of them; fit_transform."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from types import FunctionType
from typing import Any

import numpy as np

from lowdim.errors import NeedsAnotherPass, NeedsExtra
from lowdim.runtime.memory import budget_of, lack_of, within
from lowdim.runtime.progress import Observer, Progress, Stage, observing, stage
from lowdim.sources.open import open_rows

FIT = "fit"
"""What the stage of a fit is called."""

WATCHED = ("fit", "partial_fit")


def watch_fits(cls: type) -> None:
    """Have the fits that a class of models defines be stages, under the budget that the model has."""
    for name in WATCHED:
        member = vars(cls).get(name)
        if isinstance(member, FunctionType):
            setattr(cls, name, _as_stage(member))


def _as_stage(method: FunctionType) -> Callable[..., Any]:
    @wraps(method)
    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if getattr(self, "memory", None) is None:
                return staged(self, *args, **kwargs)
            with within_budget(self):
                return staged(self, *args, **kwargs)
        except (MemoryError, RuntimeError, ImportError, OSError) as error:
            lack = lack_of(error, f"A fit of {type(self).__name__}")
            if lack is None:
                raise
            raise lack from error

    def staged(self: Any, *args: Any, **kwargs: Any) -> Any:
        with stage(FIT, parts=self._parts):
            if "_skl_callbacks" in vars(self) and method.__name__ == "fit":
                return _with_callbacks(self, method, args, kwargs)
            return method(self, *args, **kwargs)

    return watched


def within_budget(model: Any) -> AbstractContextManager[None]:
    """Put the budget of a model in force, if it has one."""
    return within(budget_of(type(model).__name__, getattr(model, "memory", None)))


# Callbacks of scikit-learn (since 1.9): objects that are told when tasks of a fit begin and end, as a tree of contexts.


def set_callbacks(model: Any, callbacks: Sequence[Any]) -> None:
    """Have these hear of later fits."""
    try:
        from sklearn.callback import CallbackSupportMixin
    except ImportError:
        raise NeedsExtra("Callbacks need scikit-learn 1.9 or newer: pip install -U scikit-learn.") from None
    CallbackSupportMixin.set_callbacks(model, *callbacks)


def _with_callbacks(model: Any, method: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Fit with every stage inside told as a task."""
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    def fit(model: Any) -> Any:
        root = CallbackSupportMixin._init_callback_context(model, task_name=FIT, max_subtasks=None)
        data = dict(zip(("X", "y"), args, strict=False)) | {name: kwargs[name] for name in ("X", "y") if name in kwargs}
        root.call_on_fit_task_begin(estimator=model, **data)
        with observing(_Tasks(model, root)):
            fitted = method(model, *args, **kwargs)
        # a copy of the model, with nothing to be set in it, is what is ready to transform
        root.call_on_fit_task_end(estimator=model, **data, reconstruction_attributes=dict)
        return fitted

    return with_callbacks(fit)(model)


class _Tasks(Observer):
    """Tells stages as tasks: each turn of a loop is a task of the loop, and holds the loops inside it."""

    def __init__(self, model: Any, root: Any):
        self._model = model
        self._loops: list[Any] = []
        self._turns = [root]
        """Contexts of loops that are under way, and of their turns; the fit itself is the outermost turn."""

    def begin(self, stages: Sequence[Stage]) -> None:
        """A loop within the turn under way, which begins with it if it had not yet."""
        if len(self._turns) == len(self._loops):
            self._begin_turn(stages[-2].name, None)
        loop = self._turns[-1].subcontext(task_name=stages[-1].name, max_subtasks=stages[-1].most)
        self._loops.append(loop.call_on_fit_task_begin(estimator=self._model))

    def move(self, progress: Progress) -> bool:
        """The end of a turn; whether a callback asks for no more of them."""
        if len(self._turns) == len(self._loops):
            self._begin_turn(progress.stages[-1].name, 0)
        return bool(self._turns.pop().call_on_fit_task_end(estimator=self._model))

    def end(self, stages: Sequence[Stage]) -> None:
        """The end of a loop, and of the turn that was not told of."""
        if len(self._turns) > len(self._loops):
            self._turns.pop().call_on_fit_task_end(estimator=self._model)
        self._loops.pop().call_on_fit_task_end(estimator=self._model)

    def _begin_turn(self, name: str, most: int | None) -> None:
        """`most` is the number of loops inside it: none, or nobody knows."""
        turn = self._loops[-1].subcontext(task_name=name, max_subtasks=most)
        self._turns.append(turn.call_on_fit_task_begin(estimator=self._model))


# Methods that some models have: their classes list those that they share.


def refuse_one_pass(X: Any) -> None:
    """Raise an error if fit_transform, which reads rows again, would meet rows that can be read only once."""
    if not isinstance(X, np.ndarray) and not open_rows(X).repeatable:
        raise NeedsAnotherPass(
            "fit_transform reads the rows again for their scores, so twice at least, but these can be read only once: "
            "pass an array, or the path of a file, or call fit, and transform with the rows again."
        )


def fit_transform(self: Any, X: Any, y: Any = None) -> Any:
    """Fit, and give the scores (n, k) of the same rows.

    Parameters
    ----------
    X : whatever `fit` takes
        Rows, (n, p).
    y : ignored

    Returns
    -------
    array
        (n, k), as `transform` gives them.
    """
    refuse_one_pass(X)
    return self.fit(X, y).transform(X)


def fit_transform_weighted(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Fit, and give the scores (n, k) of the same rows.

    Parameters
    ----------
    X : whatever `fit` takes
        Rows, (n, p).
    y : ignored
    sample_weight : array of shape (n,) or None
        How often each row counts: 2 means twice.

    Returns
    -------
    array
        (n, k), as `transform` gives them.
    """
    refuse_one_pass(X)
    return self.fit(X, y, sample_weight=sample_weight).transform(X)
