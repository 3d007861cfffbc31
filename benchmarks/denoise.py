"""Pictures with white noise of known strength: lowdim beside scikit-image and BM3D, in decibels and seconds.

All are given the true strength of the noise; one column more shows lowdim when it has to find it. Pictures are those
of the folder images/ of LOWDIM_DATA; what could be chosen was chosen on TUNED alone.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import lowdim.recipes.pictures.denoise as recipe
from lowdim.recipes.pictures.noise import noise_sd
from lowdim.recipes.pictures.picture import psnr
from lowdim.sources.formats.pictures import read_picture
from workloads import SEED

NAME = "denoising"

SIGMAS = (10, 20, 25, 50)

CROP = 96
"""Rows and columns in the middle of each picture: whole ones would take hours, most of them BM3D."""

TUNED = ("camera", "chelsea", "kodak_05")
"""Pictures on which settings were chosen."""


def non_local_means(noisy: np.ndarray, sigma: float) -> np.ndarray:
    from skimage.restoration import denoise_nl_means

    settings = {"patch_size": 5, "patch_distance": 6, "fast_mode": True, "channel_axis": channels(noisy)}
    return denoise_nl_means(noisy / 255, h=0.6 * sigma / 255, sigma=sigma / 255, **settings) * 255


def total_variation(noisy: np.ndarray, sigma: float) -> np.ndarray:
    from skimage.restoration import denoise_tv_chambolle

    return denoise_tv_chambolle(noisy / 255, weight=0.75 * sigma / 255, channel_axis=channels(noisy)) * 255


def wavelets(noisy: np.ndarray, sigma: float) -> np.ndarray:
    """With all shifts up to three pixels averaged, as scikit-image's gallery shows it."""
    from skimage.restoration import cycle_spin, denoise_wavelet

    axis = channels(noisy)
    settings = {"sigma": sigma / 255, "method": "BayesShrink", "mode": "soft", "rescale_sigma": True}
    settings |= {"channel_axis": axis, "convert2ycbcr": axis is not None, "wavelet": "db2"}
    found = cycle_spin(noisy / 255, func=denoise_wavelet, max_shifts=3, func_kw=settings, workers=1, channel_axis=axis)
    return found * 255


def bm3d(noisy: np.ndarray, sigma: float) -> np.ndarray:
    import bm3d

    return bm3d.bm3d(noisy, sigma) if noisy.ndim == 2 else bm3d.bm3d_rgb(noisy, sigma)


def channels(picture: np.ndarray) -> int | None:
    return None if picture.ndim == 2 else 2


def ours(method: str, blind: bool = False) -> Callable[[np.ndarray, float], np.ndarray]:
    def run(noisy: np.ndarray, sigma: float) -> np.ndarray:
        return recipe.denoise(noisy, None if blind else sigma, method=method, peak=255).picture

    return run


CONTENDERS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    **{f"lowdim {name}": ours(name) for name in recipe.METHODS},
    "lowdim grouped, σ found": ours("grouped", blind=True),
    "BM3D": bm3d,
    "non-local means": non_local_means,
    "total variation": total_variation,
    "wavelets": wavelets,
}


def pictures() -> dict[str, np.ndarray]:
    """Middles of all pictures, by name."""
    found = {}
    for path in sorted((Path(os.environ["LOWDIM_DATA"]) / "images").glob("*.png")):
        whole = read_picture(path).astype(np.float64)
        top, left = ((whole.shape[axis] - CROP) // 2 for axis in (0, 1))
        found[path.stem] = whole[top : top + CROP, left : left + CROP, ...]
    return found


def measured() -> list[dict[str, Any]]:
    """Decibels, seconds and the noise that was found, of every contender on every picture."""
    rows = []
    for number, (name, clean) in enumerate(pictures().items()):
        for sigma in SIGMAS:
            rng = np.random.default_rng([SEED, number, sigma])
            noisy = clean + sigma * rng.standard_normal(clean.shape)
            found = noise_sd(noisy) / sigma - 1
            for contender, run in CONTENDERS.items():
                if not rows:
                    run(noisy, sigma)  # what is loaded and compiled once
                start = time.perf_counter()
                answer = run(noisy, sigma)
                seconds = time.perf_counter() - start
                decibels = psnr(np.clip(answer, 0, 255), clean, 255)
                rows.append(
                    {"name": name, "sigma": sigma, "contender": contender, "dB": decibels, "seconds": seconds}
                    | {"colour": clean.ndim == 3, "found": found}
                )
            print(name, sigma, file=sys.stderr, flush=True)
    return rows


def mean(rows: list[dict[str, Any]], key: str, **wanted: Any) -> float:
    return float(np.mean([row[key] for row in rows if all(row[name] == value for name, value in wanted.items())]))


def table() -> list[str]:
    rows = measured()
    names = list(dict.fromkeys(row["name"] for row in rows))
    rest = [row for row in rows if row["name"] not in TUNED]
    lines = [
        "",
        "## Denoising",
        "",
        f"Middles of {CROP} × {CROP} pixels of {len(names)} pictures (grey: "
        f"{', '.join(name for name in names if not mean(rows, 'colour', name=name))}; the others in colour), with "
        "white noise of standard deviation σ, neither rounded nor clipped. Mean decibels (PSNR); all know σ but the "
        f"one that says so. Settings were chosen on {', '.join(TUNED)}; the last column is without these. "
        f"scikit-image {version('scikit-image')}, bm3d {version('bm3d')}.",
        "",
        f"| method | {' | '.join(f'σ = {sigma}' for sigma in SIGMAS)} | grey | colour | all | not tuned on | seconds |",
        f"|---|{'---|' * (len(SIGMAS) + 5)}",
    ]
    for contender in CONTENDERS:
        cells = [mean(rows, "dB", contender=contender, sigma=sigma) for sigma in SIGMAS]
        cells += [mean(rows, "dB", contender=contender, colour=colour) for colour in (False, True)]
        cells += [mean(rows, "dB", contender=contender), mean(rest, "dB", contender=contender)]
        seconds = mean(rows, "seconds", contender=contender)
        lines.append(f"| {contender} | {' | '.join(f'{cell:.2f}' for cell in cells)} | {seconds:.2f} |")
    return [*lines, "", *noise_table(rows)]


def noise_table(rows: list[dict[str, Any]]) -> list[str]:
    """How far the strength of the noise was found from the true one."""
    once = [row for row in rows if row["contender"] == "BM3D"]
    worst = max(once, key=lambda row: abs(row["found"]))
    lines = ["| σ | mean error of the σ found | mean size of the error | grey | colour |", "|---|---|---|---|---|"]
    for sigma in SIGMAS:
        here = [{**row, "size": abs(row["found"])} for row in once if row["sigma"] == sigma]
        sizes = [mean(here, "size"), mean(here, "size", colour=False), mean(here, "size", colour=True)]
        lines.append(f"| {sigma} | {mean(here, 'found'):+.1%} | {' | '.join(f'{size:.1%}' for size in sizes)} |")
    return [*lines, "", f"The worst is {worst['name']} at σ = {worst['sigma']}: {worst['found']:+.1%}."]
