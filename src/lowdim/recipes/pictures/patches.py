"""Overlapping square patches of a picture: cut out as rows, laid back as means, worked on in strips."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.runtime.memory import refuse_beyond
from lowdim.runtime.progress import ROW, stage
from lowdim.runtime.threads import in_order
from lowdim.types import Floats

# Overlapping square patches of a picture: cut out as rows of a matrix, and laid back as weighted means.

MOST_NUMBERS = 2**22
"""Numbers in the patches that are held at a time, unless one row of patches has more."""


@dataclass(frozen=True)
class Grid:
    """Where the patches of a picture lie: every `stride` pixels, and against the last row and column in any case.

    So every pixel is in a patch. Patches come row by row; the numbers of one come row by row too, channels last.

    Examples
    --------
    >>> grid = Grid((5, 6), width=4, stride=4)
    >>> grid.tops, grid.lefts
    (array([0, 1]), array([0, 2]))
    >>> grid.cut(np.arange(30.0).reshape(5, 6)).shape
    (4, 16)
    """

    shape: tuple[int, ...]
    """(height, width), or (height, width, channels)."""
    width: int
    stride: int = 1

    def __post_init__(self) -> None:
        if self.width < 1 or self.stride < 1:
            raise BadParameter(f"Patches of {self.width} × {self.width} pixels, {self.stride} apart: both from 1 on.")
        if self.stride > self.width:
            raise BadParameter(
                f"Patches of {self.width} pixels that lie {self.stride} apart leave pixels out: take at most the width."
            )
        if min(self.shape[:2]) < self.width:
            raise BadInput(
                f"The picture has {self.shape[0]} × {self.shape[1]} pixels, fewer than a patch of {self.width} × "
                f"{self.width}: make patches smaller."
            )

    @property
    def tops(self) -> NDArray[np.intp]:
        """First pixel row of each row of patches."""
        return _starts(self.shape[0], self.width, self.stride)

    @property
    def lefts(self) -> NDArray[np.intp]:
        """First pixel column of each column of patches."""
        return _starts(self.shape[1], self.width, self.stride)

    @property
    def n(self) -> int:
        """Patches."""
        return len(self.tops) * len(self.lefts)

    @property
    def p(self) -> int:
        """Numbers in a patch."""
        return self.width**2 * (self.shape[2] if len(self.shape) > 2 else 1)

    def bands(self) -> Iterator[slice]:
        """Rows of patches, as many at a time as may be held."""
        step = max(1, MOST_NUMBERS // (len(self.lefts) * self.p))
        return (slice(first, first + step) for first in range(0, len(self.tops), step))

    def _refuse_large(self) -> None:
        """An error if all patches at once would not fit into memory."""
        pixels = self.shape[0] * self.shape[1]
        needed = 2 * 8 * self.n * self.p  # as they are cut, and what is made of them
        what = f"All patches of a picture of {self.shape[0]:,} × {self.shape[1]:,} pixels"
        refuse_beyond(needed, what, lambda left: (f"cut it into parts of up to {pixels * left // needed:,} pixels",))

    def cut(self, picture: NDArray[np.generic], band: slice = slice(None)) -> Floats:
        """(n, p) patches of a picture of this shape, or of a band of their rows."""
        if band == slice(None):
            self._refuse_large()
        windows = sliding_window_view(picture, (self.width, self.width), axis=(0, 1))  # … × width × width at the end
        chosen = windows[np.ix_(self.tops[band], self.lefts)]
        if chosen.ndim == 5:
            chosen = np.moveaxis(chosen, 2, -1)
        return np.ascontiguousarray(chosen.reshape(-1, self.p), dtype=np.float64)


class Canvas:
    """Patches laid over each other: the sum of the weights at each number of the picture, and of what they weigh."""

    def __init__(self, grid: Grid):
        self.grid = grid
        self.total = np.zeros(grid.shape)
        self.weight = np.zeros(grid.shape)

    def add(self, patches: Floats, weights: Floats | float = 1.0, band: slice = slice(None)) -> None:
        """Lay patches (n, p) of a band on it; weights are one number, one a patch (n,), or one an entry (n, p)."""
        given = np.asarray(weights, dtype=np.float64)
        each = np.broadcast_to(given[:, None] if given.ndim == 1 else given, patches.shape)
        grid = self.grid
        tops, lefts = grid.tops[band], grid.lefts
        form = (len(tops), len(lefts), grid.width, grid.width, *grid.shape[2:])
        shares, weighed = each.reshape(form), (each * patches).reshape(form)
        for i in range(grid.width):
            for j in range(grid.width):
                here = np.ix_(tops + i, lefts + j)  # no pixel twice, so that += adds all
                self.weight[here] += shares[:, :, i, j]
                self.total[here] += weighed[:, :, i, j]

    def mean(self) -> Floats:
        """The picture: weighted means of all patches over each pixel."""
        return self.total / self.weight


def combine(grid: Grid, predictions: Iterable[tuple[slice, Floats, Floats]]) -> tuple[Floats, Floats]:
    """Mean and variance of every pixel from bands of patches (n, p) and the variances of their entries.

    Patches are averaged with the precision of each of their entries as weights. Their predictions are taken as a
    mixture, so the variance of a pixel is the mean variance and the spread of what they say.
    """
    canvas, moments = Canvas(grid), Canvas(grid)
    for band, patches, variances in predictions:
        canvas.add(patches, 1 / variances, band)
        moments.add(variances + patches**2, 1 / variances, band)
    values = canvas.mean()
    return values, np.maximum(moments.mean() - values**2, 0.0)


def _starts(length: int, width: int, stride: int) -> NDArray[np.intp]:
    last = length - width
    return np.unique(np.append(np.arange(0, last + 1, stride), last))


# Strips of a picture worked on in threads, in order, with whoever watches told how far it is.

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_strips(work: Callable[[Item], Result], strips: Sequence[Item], height: int) -> Iterator[Result]:
    """Results of all strips of a picture in their order; a watcher that asks to stop ends it as Ctrl-C does."""
    with stage(ROW, height) as tell:
        for done, result in enumerate(in_order(work, strips), start=1):
            yield result
            tell(height * done // len(strips))
