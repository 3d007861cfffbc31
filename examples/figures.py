"""Draw every figure of docs/plots.md from real data. `make figures` runs it.

LOWDIM_DATA=data python examples/figures.py OUTPUT_FOLDER [NAME …]

Files in examples/figure_list each have `FIGURES`, a dictionary from names to functions without arguments that give the
Axes they drew on, and `DARK`, the names that are drawn for dark pages too. A new file there is found by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from matplotlib import pyplot
from PIL import Image

import figure_list
from lowdim.views.plots.canvas import dark_paper, write_figure

DPI = 90
COLOURS = 255

MODULES = [import_module(f"figure_list.{found.name}") for found in iter_modules(figure_list.__path__)]
FIGURES: dict[str, Callable[[], Any]] = {
    name: draw for module in MODULES for name, draw in getattr(module, "FIGURES", {}).items()
}
"""Name of a figure → what draws it."""

DARK: set[str] = {name for module in MODULES for name in getattr(module, "DARK", ())}


def main(folder: Path, names: list[str]) -> None:
    """Draw the figures of these names, or all of them."""
    pyplot.switch_backend("agg")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or FIGURES:
        keep(FIGURES[name](), folder / f"{name}.png")
        if name in DARK:
            with dark_paper():
                keep(FIGURES[name](), folder / f"{name}-dark.png")


def keep(ax: Any, path: Path) -> None:
    """Write the figure that axes belong to."""
    write_figure(path, ax.figure, dpi=DPI)
    pyplot.close(ax.figure)
    with Image.open(path) as picture:  # so many colours are enough, and a third of the bytes
        picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"), sys.argv[2:])
