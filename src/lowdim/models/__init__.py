"""Promises to the user: scikit-learn estimators, a folder a model, named like its public class.

`base` is what every model has, `linear` the ground of the linear ones. Each folder opens with a page of its files.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def class_of(folder: str) -> Callable[[str], Any]:
    """`__getattr__` of a model's folder: its public class, loaded when it is first asked for.

    So `lowdim.models.nmf.NMF` is found by pickles that name it, while importing the folder loads nothing.
    """

    def get(name: str) -> Any:
        from lowdim import _PUBLIC

        if _PUBLIC.get(name, ("", None))[0] != f"{folder}.model":
            raise AttributeError(f"module {folder!r} has no attribute {name!r}")
        return getattr(import_module(f"{folder}.model"), name)

    return get
