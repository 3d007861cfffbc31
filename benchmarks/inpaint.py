"""Pictures with holes, filled by lowdim and by scikit-image: decibels, seconds, and how many true values are covered.

Pictures are those of the folder images/ of LOWDIM_DATA. `python benchmarks/run.py inpainting` writes the section.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

from lowdim.recipes.pictures.inpaint import inpaint
from lowdim.sources.formats.pictures import read_picture

NAME = "inpainting"
HEAD = """
Decibels are over the whole picture with observed pixels kept, clipped but not rounded. Covered: share of the missing
values within ± 1.96 of the standard deviations that are given for them; 95 % is right. Nothing is chosen by the true
picture; constants were set on bsds_mushroom, bsds_train and chelsea (the castle was looked at in between, which is why
there are others). 80 % of the values of each channel of the castle is the example of the first lecture (Zhou et al.
2009 report 29.12 dB with BPFA; one PPCA of 40 components 28.98). Masks are drawn from seeds 1, 2, 3; those of
dots stand apart for every channel unless pixels are said.
"""


@dataclass(frozen=True)
class Case:
    """A picture and how holes are made in it."""

    picture: str
    title: str
    holes: Callable[[tuple[int, ...], np.random.Generator], np.ndarray]
    seeds: tuple[int, ...] = (1,)
    methods: tuple[str, ...] = ("grouped", "biharmonic")


def dots(share: float) -> Callable[[tuple[int, ...], np.random.Generator], np.ndarray]:
    return lambda shape, rng: rng.random(shape) < share


def whole_pixels(share: float) -> Callable[[tuple[int, ...], np.random.Generator], np.ndarray]:
    return lambda shape, rng: np.broadcast_to((rng.random(shape[:2]) < share).reshape(*shape[:2], 1), (*shape[:2], 3))


def scratches(shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Forty straight lines, three pixels wide, from border to border."""
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    holes = np.zeros(shape[:2], dtype=bool)
    for _ in range(40):
        angle, y, x = rng.uniform(0, np.pi), rng.uniform(0, shape[0]), rng.uniform(0, shape[1])
        holes |= np.abs((rows - y) * np.cos(angle) + (columns - x) * np.sin(angle)) < 1.5
    return np.broadcast_to(holes.reshape(*shape[:2], 1), shape)


CASES = (
    Case("bsds_castle", "castle, 80 % of values", dots(0.8), (1, 2, 3), ("grouped",)),
    Case("bsds_castle", "castle, 80 % of values", dots(0.8), (1,), ("mixture", "ppca", "biharmonic")),
    Case("kodak_23", "kodak 23, 80 % of values", dots(0.8)),
    Case("bsds_horses", "horses, 80 % of values", dots(0.8)),
    Case("bsds_kangaroo", "kangaroo, 50 % of pixels", whole_pixels(0.5)),
    Case("bsds_horses", "horses, scratches", scratches),
    Case("coins", "coins (grey), 70 % of values", dots(0.7)),
    Case("bsds_castle", "castle, 10 % of values", dots(0.1)),
)


def measured(case: Case, folder: Path) -> Iterator[str]:
    true = read_picture(folder / "images" / f"{case.picture}.png")
    inpaint(true[:64, :64], dots(0.5)(true[:64, :64].shape, np.random.default_rng(0)))  # compiles
    for seed in case.seeds:
        holes = np.array(case.holes(true.shape, np.random.default_rng(seed)))
        holed = np.where(holes, 0, true).astype(np.uint8)
        for method in case.methods:
            begun = time.perf_counter()
            if method == "biharmonic":
                decibels = biharmonic(holed, holes, true)
                seconds = time.perf_counter() - begun
                yield f"| {case.title}, seed {seed} | scikit-image biharmonic | {decibels:.2f} | {seconds:.1f} | - |"
                continue
            found = inpaint(holed, holes, method=method, clean=true)
            seconds = time.perf_counter() - begun
            inside = (np.abs(found.picture - true) <= 1.96 * found.deviations)[holes].mean()
            yield f"| {case.title}, seed {seed} | lowdim {method} | {found.psnr:.2f} | {seconds:.1f} | {inside:.1%} |"


def biharmonic(holed: np.ndarray, holes: np.ndarray, true: np.ndarray) -> float:
    """scikit-image's, one channel after the other as their holes differ."""
    from skimage.restoration import inpaint_biharmonic

    channels = [(holed, holes)] if true.ndim == 2 else [(holed[..., c], holes[..., c]) for c in range(3)]
    filled = [255 * inpaint_biharmonic(values / 255, np.ascontiguousarray(mask)) for values, mask in channels]
    values = filled[0] if true.ndim == 2 else np.stack(filled, axis=2)
    return float(10 * np.log10(255**2 / np.mean((np.clip(values, 0, 255) - true) ** 2)))


def table() -> list[str]:
    folder = Path(os.environ["LOWDIM_DATA"])
    made = ["", "## Inpainting", *HEAD.rstrip().splitlines(), f"scikit-image {version('scikit-image')}.", ""]
    made += ["| picture | method | dB | seconds | covered |", "|---|---|---|---|---|"]
    for case in CASES:
        for line in measured(case, folder):
            print(line, file=sys.stderr, flush=True)
            made.append(line)
    return made
