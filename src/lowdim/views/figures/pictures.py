"""Components, reconstructions and traversals as pictures: the numbers behind their pixels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Shape = tuple[int, ...]
"""(height, width) or (height, width, 3)"""

PICTURE, SIGNED, PART = "picture", "signed", "part"
"""What the numbers of a tile are: those of a picture; of either sign about zero; none of them negative."""

USUAL = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Numbers of components that a series of reconstructions goes through."""


@dataclass(frozen=True)
class Tile:
    """A picture among others."""

    row: Floats
    """(p,) in the data's units."""
    title: str
    kind: str
    """PICTURE, SIGNED or PART."""


@dataclass(frozen=True)
class Gallery:
    """What a model is made of, as pictures."""

    tiles: tuple[Tile, ...]
    shape: Shape
    left_out: int
    """Components for which there is no room."""
    noun: str = "component"
    """What one of these is called."""
    caption: str = ""
    """What a reader should know of the titles."""


@dataclass(frozen=True)
class Series:
    """Rows, and what the first 1, 2, 5, … components make of them."""

    originals: Floats
    """(m, p), NaN where nothing is known."""
    counts: tuple[int, ...]
    """(c,) how many components."""
    rows: Floats
    """(c, m, p)"""
    errors: Floats
    """(c, m) |x − x̂| / |x| over the entries that are known; NaN of a row that is zero."""
    shape: Shape
    noun: str

    @property
    def left(self) -> Floats:
        """(m, p) what the most components leave of the rows."""
        return np.asarray(self.originals - self.rows[-1])


@dataclass(frozen=True)
class Traversal:
    """What rows would be like for all values of two components, the others at their mean."""

    rows: Floats
    """(b, a, p) from the lowest to the highest value, of the second component and of the first."""
    across: Floats
    """(a,) standard deviations of the first component …"""
    up: Floats
    """(b,) … and of the second; (0,) alone where there is only one."""
    names: tuple[str, str]
    shape: Shape

    @property
    def limits(self) -> tuple[float, float]:
        """What is drawn black, and white: 1 % of the numbers may be beyond either.

        Where pixels never change and are among the darkest (or lightest) of the picture in the middle, as the ground
        of a drawing is, they are black (or white): what lies beyond is no colour of such pictures.
        """
        every = self.rows.reshape(-1, self.rows.shape[-1])
        low, high = (float(end) for end in np.quantile(every, [0.01, 0.99]))
        middle = every[len(every) // 2]
        size = float(middle.max() - middle.min())
        still = np.ptp(every, axis=0) <= 1e-3 * size
        if still.any() and middle[still].min() <= middle.min() + 0.01 * size:
            low = max(low, float(middle.min()))
        if still.any() and middle[still].max() >= middle.max() - 0.01 * size:
            high = min(high, float(middle.max()))
        return low, high


def gallery(
    center: Floats | None, components: Floats, titles: Sequence[str], kind: str, shape: Shape, most: int
) -> Gallery:
    """The mean, if there is one, and the first components (k, p), `most` at most."""
    first = () if center is None else (Tile(center, "mean", PICTURE),)
    tiles = tuple(Tile(row, title, kind) for row, title in zip(components[:most], titles, strict=False))
    return Gallery((*first, *tiles), shape, max(0, len(components) - most))


def series(originals: Floats, counts: Sequence[int], rows: Floats, shape: Shape, noun: str = "component") -> Series:
    """How far each reconstruction (c, m, p) is from the rows (m, p)."""
    known = np.isfinite(originals)
    lengths = np.sqrt(np.where(known, originals, 0.0) ** 2 @ np.ones(originals.shape[1]))
    off = np.sqrt(np.where(known, rows - originals, 0.0) ** 2 @ np.ones(originals.shape[1]))
    errors = np.divide(off, lengths, out=np.full(off.shape, np.nan), where=lengths > 0)
    return Series(originals, tuple(int(k) for k in counts), rows, errors, shape, noun)


def usual_counts(most: int) -> tuple[int, ...]:
    """1, 2, 5, 10, … up to all that there are, which come last."""
    return (*(k for k in USUAL if k < most), most)


def traversal(
    decode: Callable[[Floats], Floats],
    center: Floats,
    spread: Floats,
    axes: Sequence[int],
    names: Sequence[str],
    shape: Shape,
    reach: float = 2.0,
    steps: int = 5,
) -> Traversal:
    """Decode scores center + t spread, t from −reach to reach, along one or two components."""
    across = np.linspace(-reach, reach, steps)
    up = across if len(axes) > 1 else np.zeros(1)
    scores = np.tile(np.asarray(center, dtype=np.float64), (len(up), len(across), 1))
    scores[..., axes[0]] += across * spread[axes[0]]
    if len(axes) > 1:
        scores[..., axes[1]] += (up * spread[axes[1]])[:, None]
    rows = np.asarray(decode(scores.reshape(-1, len(center))), dtype=np.float64)
    both = (names[axes[0]], names[axes[1]] if len(axes) > 1 else "")
    return Traversal(rows.reshape(len(up), len(across), -1), across, up, both, shape)
