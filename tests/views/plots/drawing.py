"""What tests read off a figure."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.text import Text


def label_boxes(ax: Any) -> dict[str, Any]:
    """Boxes in pixels (left, bottom, right, top) of the names beside points that are seen, once all is drawn."""
    ax.figure.draw_without_rendering()
    renderer = ax.figure._get_renderer()
    return {
        f"{i} {text.get_text()}": Text.get_window_extent(text, renderer).extents
        for i, text in enumerate(ax.texts)
        if text.get_visible() and text.get_text() and text.arrow_patch is not None
    }


def note_of(ax: Any) -> str:
    """What is said of names without room."""
    ax.figure.draw_without_rendering()
    return next((text.get_text() for text in ax.texts if text.get_visible() and "without room" in text.get_text()), "")


def offsets(ax: Any) -> np.ndarray:
    """Points of all scatters, one after the other."""
    return np.concatenate([np.asarray(one.get_offsets()) for one in ax.collections if len(one.get_offsets())])


def bar_lengths(ax: Any) -> np.ndarray:
    """Lengths of horizontal bars, by their places from the top."""
    return np.array([bar.get_width() for bar in sorted(ax.patches, key=lambda bar: bar.get_y())])
