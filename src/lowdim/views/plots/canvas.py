"""Where figures are drawn: axes, colours for light and dark paper, files."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lowdim.errors import BadParameter, NeedsExtra
from lowdim.runtime.files import atomic_write
from lowdim.words import shown

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#7F7F7F"
"""From Okabe & Ito's palette, which colour-blind readers can tell apart."""

FILES = {".png": "png", ".svg": "svg", ".pdf": "pdf"}
"""Ending → what matplotlib calls it."""

NO_DATE: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
"""Kind of file → what is left out of it, so that the same figure gives the same file."""


PAD = 0.08
"""Inches of paper around axes and their titles."""


@dataclass(frozen=True)
class Inks:
    """Colours that can be read on the paper of some axes."""

    text: str
    faint: str
    """Grids, lines at zero, what is not counted."""
    paper: str
    groups: tuple[str, ...]
    """Okabe & Ito's, in the order in which neighbours differ most; on dark paper lighter."""
    shades: tuple[float, float]
    """The part of the colour map viridis that can be read on the paper: where the smallest number is, and the largest,
    which stands out most."""
    signed: str
    """Name of a colour map for numbers about zero, which is the paper."""

    @property
    def first(self) -> str:
        """What is drawn."""
        return self.groups[0]

    @property
    def second(self) -> str:
        """What stands out."""
        return self.groups[1]


LIGHT = Inks(
    "#1a1a1a",
    GREY,
    "#ffffff",
    (BLUE, ORANGE, "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#8c7a00"),
    (0.7, 0.0),
    "RdBu_r",
)
DARK = Inks(
    "#e8e8e8",
    "#8f8f8f",
    "#16181d",
    ("#56B4E9", "#E69F00", "#2bc49a", "#e39ac4", "#4d94ff", "#ff8a3d", "#f5f5f5", "#f0e442"),
    (0.3, 1.0),
    "berlin",
)


def inks(ax: Any) -> Inks:
    """Colours for these axes, by how light their paper is: figures follow whatever style matplotlib has."""
    from matplotlib.colors import to_hex, to_rgb

    paper = _paper(ax)
    r, g, b = to_rgb(paper)
    return replace(LIGHT if 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.4 else DARK, paper=to_hex(paper))


def _paper(ax: Any) -> Any:
    """Colour behind axes: their own, or that of the figure where they have none."""
    own = ax.get_facecolor()
    behind: Any = ax.figure.get_facecolor()
    return own if own[3] > 0 or behind[3] == 0 else behind


def before_drawing(ax: Any, work: Callable[[Any], None]) -> None:
    """Call `work` with the renderer whenever axes are drawn, before what is in them: then sizes are known at last.

    Layout, zoom, the size of the figure and its resolution all move things; what is placed earlier is placed wrongly.
    """
    from matplotlib.artist import Artist

    class Early(Artist):
        """Draws nothing."""

        def draw(self, renderer: Any) -> None:
            work(renderer)

        def get_tightbbox(self, renderer: Any = None) -> None:
            """It takes no place."""

    first = Early()
    first.set_zorder(-1e9)
    ax.add_artist(first)


def solid_axes(width: float, height: float, ax: Any = None) -> Any:
    """Axes of three dimensions: those that came, in the place of flat ones, or those of a new figure."""
    if ax is None:
        return shown_figure(width, height).add_subplot(projection="3d")
    if not hasattr(ax, "transData"):
        raise BadParameter(f"ax is a {type(ax).__name__}, but Axes are needed, as figure.subplots() gives.")
    if ax.name == "3d":
        return ax
    figure, place = ax.figure, ax.get_subplotspec()
    if place is None:
        raise BadParameter("Three components need axes of three dimensions: figure.add_subplot(projection='3d').")
    ax.remove()
    return figure.add_subplot(place, projection="3d")


def new_figure(width: float, height: float) -> Any:
    """A figure that is drawn without a screen."""
    _need_matplotlib()
    from matplotlib.figure import Figure

    return padded(Figure(figsize=(width, height), layout="constrained"))


def shown_figure(width: float, height: float) -> Any:
    """A figure that notebooks and windows show, as pyplot keeps it."""
    _need_matplotlib()
    from matplotlib import pyplot

    return padded(pyplot.figure(figsize=(width, height), layout="constrained"))


def without_screen() -> None:
    """From now on no figure opens a window."""
    _need_matplotlib().use("agg")


def _need_matplotlib() -> Any:
    """The package, or an error that says how to get it."""
    try:
        import matplotlib
    except ImportError as error:
        raise NeedsExtra.package("matplotlib", "Drawing", "plots") from error
    return matplotlib


def let_go(figure: Any) -> None:
    """Let pyplot forget a figure that was written."""
    from matplotlib import pyplot

    pyplot.close(figure)


def write_unshown(path: str | os.PathLike[str], draw: Callable[[], Any]) -> None:
    """Write the figure that `draw` makes, or that of the axes it gives; no window shows it."""
    without_screen()
    drawn = draw()
    write_figure(path, drawn.figure)  # the figure of a figure is itself
    let_go(drawn.figure)


def padded(figure: Any) -> Any:
    """A figure with some paper around what is drawn."""
    figure.get_layout_engine().set(w_pad=PAD, h_pad=PAD)
    return figure


def new_axes(width: float = 5.0, height: float = 4.0) -> Any:
    """Axes of their own figure."""
    return new_figure(width, height).subplots()


@contextmanager
def dark_paper() -> Iterator[None]:
    """Figures made inside are for dark pages."""
    import matplotlib

    inked = ("text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color")
    papers = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
    panes = tuple(f"axes3d.{side}axis.panecolor" for side in "xyz")
    colours: dict[Any, Any] = {**dict.fromkeys(inked, DARK.text), **dict.fromkeys(papers + panes, DARK.paper)}
    colours["grid.color"] = "#3d4048"
    with matplotlib.rc_context(colours):
        yield


def figure_kind(path: str | os.PathLike[str]) -> str:
    """Kind of file that the ending of a path asks for; an error, before any work, if none is written so."""
    ending = Path(path).suffix.lower()
    if ending not in FILES:
        known = ", ".join(FILES)
        raise BadParameter(f"{os.fspath(path)}: figures ending in {ending or 'nothing'} are not written; {known} are.")
    return FILES[ending]


def write_figure(path: str | os.PathLike[str], figure: Any, dpi: int = 130) -> None:
    """Write a figure as its ending says (PNG, SVG, PDF), whole or not at all."""
    kind = figure_kind(path)
    drawn = io.BytesIO()
    figure.savefig(drawn, format=kind, dpi=dpi, metadata=NO_DATE[kind])
    with atomic_write(path) as file:
        file.write(drawn.getbuffer())


def plain(ax: Any) -> Any:
    """Axes without the frame's upper and right sides."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def literal(text: str) -> str:
    """A label from data as matplotlib shows it letter by letter, in one line: a dollar sign begins no formula."""
    return shown(" ".join(text.split())).replace("$", r"\$")


def note(ax: Any, text: str) -> None:
    """A remark above the axes, at the left: how something was scaled, what was left out. Titles have the middle."""
    ax.set_title(text, loc="left", fontsize="small", color=inks(ax).text, alpha=0.8)


def shades(ink: Inks) -> Any:
    """Colour map for numbers, all of which can be read on the paper."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    start, end = ink.shades
    steps = [start + (end - start) * i / 255 for i in range(256)]
    return ListedColormap(colormaps["viridis"](steps), name="shades")


def readable_on(color: Any) -> str:
    """Black or white, whichever can be read on this colour."""
    from matplotlib.colors import to_rgb

    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(color)]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if light > 0.179 else "#ffffff"  # where both contrasts (WCAG 2.2) are the same


def text_size(text: Any, renderer: Any) -> tuple[float, float]:
    """(width, height) of a text in pixels, without the line that leads from it to a point."""
    from matplotlib.text import Text

    box = Text.get_window_extent(text, renderer)
    return float(box.width), float(box.height)


def halo(ax: Any) -> Any:
    """What makes text readable over points: a rim of paper."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.2, foreground=_paper(ax))]


def signed_colours(values: Any, ink: Inks) -> Any:
    """(…, 4) colours of numbers from −1 to 1, zero being the paper; nothing at all where they are NaN."""
    from matplotlib import colormaps

    return colormaps[ink.signed].with_extremes(bad=(0, 0, 0, 0))(0.5 + 0.5 * values)


def polygons(outlines: Any, **style: Any) -> Any:
    """Closed outlines (n, m, 2), as one thing that axes take; style as matplotlib's PolyCollection."""
    from matplotlib.collections import PolyCollection

    return PolyCollection(outlines, **style)


def faded(colour: str, strength: float) -> tuple[float, float, float, float]:
    """A colour such as "#0072B2" with so much of its strength, from 0 to 1."""
    r, g, b = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return r, g, b, strength
