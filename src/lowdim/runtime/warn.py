"""Warnings at the line of the user's that called lowdim, however deep inside they are given."""

from __future__ import annotations

import sys
import warnings

PASSED_OVER = ("lowdim", "sklearn.callback", "contextlib")
"""Packages whose lines are not the user's."""


def warn_user(message: Warning | str, category: type[Warning] = UserWarning) -> None:
    """Warn, once for each line of the user's, as Python does.

    Parameters
    ----------
    message : str or Warning
        What is said; an object brings its own category.
    category : type
        Of a text.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in PASSED_OVER)
