"""Answers as arrays of the user's own library: torch in, torch out.

Whatever a method gives for rows X is an array of X's own library and device, or a frame if that was asked for. With
scikit-learn's `set_config(array_api_dispatch=True)` the learnt attributes are so too, in the type of the data: arrays
of the library that `fit` was given, as scikit-learn has it. Records, `fit_`, are always NumPy and float64.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

import sklearn

from lowdim.sources.array_api import as_numpy, in_kind, is_other_array, kind_of


class OwnKind:
    """A model whose methods and read-outs answer in kind; those that a subclass defines are wrapped when it is."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, member in list(vars(cls).items()):
            if name.startswith(("_", "fit", "partial_fit")):  # fits give the model itself; fit_transform, transform's
                continue
            if isinstance(member, FunctionType):
                setattr(cls, name, _answering_in_kind(member))
            elif name.endswith("_") and hasattr(type(member), "__set__"):
                setattr(cls, name, ReadOut(member))

    def _remember_kind(self, X: Any) -> None:
        """What attributes are to be, from now on: NumPy unless X is another library's and dispatch was asked for."""
        dispatched = is_other_array(X) and sklearn.get_config()["array_api_dispatch"]
        self._kind_of_fit = kind_of(X) if dispatched else None


class ReadOut:
    """A property, or whatever else reads an attribute of a fit, whose arrays are of the kind of the fit."""

    def __init__(self, inner: Any):
        self._inner = inner
        self.__doc__ = inner.__doc__

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        value = self._inner.__get__(model, owner)
        kind = model.__dict__.get("_kind_of_fit")
        return value if kind is None else in_kind(value, kind, floats=True)

    def __set__(self, model: Any, value: Any) -> None:
        self._inner.__set__(model, as_numpy(value))


def _answering_in_kind(method: FunctionType) -> Callable[..., Any]:
    """The method, which then sees NumPy arrays only, and gives arrays of the kind of X; without rows, of the fit's."""
    names = method.__code__.co_varnames[: method.__code__.co_argcount]
    place = names.index("X") - 1 if "X" in names else None

    @wraps(method)
    def in_the_kind_of_rows(self: Any, *args: Any, **kwargs: Any) -> Any:
        if place is None:
            kind = self.__dict__.get("_kind_of_fit")
            answer = method(self, *args, **kwargs)
            return answer if kind is None else in_kind(answer, kind, floats=True)
        X = args[place] if len(args) > place else kwargs.get("X")
        if not is_other_array(X):
            return method(self, *args, **kwargs)
        given = {name: as_numpy(value) for name, value in kwargs.items()}
        return in_kind(method(self, *map(as_numpy, args), **given), kind_of(X))

    return in_the_kind_of_rows
