"""Bars of the columns, or words, that parts and topics are made of: small charts side by side in one axes."""

from __future__ import annotations

from typing import Any

from lowdim.views.figures.parts import Parts
from lowdim.views.lines import shortened
from lowdim.views.plots.canvas import inks, literal

LONGEST = 16
"""Letters of a name."""

NAMES, BARS, GAP = 0.46, 0.46, 0.08
"""Of a chart's width: for names, for bars, and between charts."""

HEAD = 2.3
"""Lines above the bars of a chart."""


def parts_lines(found: Parts, columns: int | None = None) -> tuple[int, int]:
    """Lines and columns of charts."""
    count = max(1, len(found.parts))
    wide = columns or {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 3, 7: 4, 8: 4, 9: 3, 10: 5}.get(count, 4)
    wide = min(wide, count)
    return -(-count // wide), wide


def parts_size(found: Parts, columns: int | None = None) -> tuple[float, float]:
    """Inches, (width, height), of axes for all charts."""
    lines, wide = parts_lines(found, columns)
    deep = max((len(part.names) for part in found.parts), default=0)
    return 2.0 * wide + 0.3, lines * (0.19 * deep + 0.6) + 0.3


def draw_parts(found: Parts, ax: Any, columns: int | None = None) -> Any:
    """Of each part the leading columns, the longest bar being the largest share of that part."""
    ink = inks(ax)
    lines, wide = parts_lines(found, columns)
    deep = max((len(part.names) for part in found.parts), default=0) + HEAD + 1
    for t, part in enumerate(found.parts):
        x, y = float(t % wide), (t // wide) * deep
        start, top = x + NAMES, y + HEAD
        ax.text(start, y + 0.3, literal(part.title), fontsize=10, weight="bold", va="center", ha="left")
        ax.text(start, y + 1.25, literal(part.note), fontsize=7.5, va="center", ha="left", color=ink.faint)
        if not part.names:
            ax.text(start, top, "nothing", fontsize=8.5, va="center", ha="left", color=ink.faint)
            continue
        places = [top + i for i in range(len(part.names))]
        ax.barh(
            places,
            BARS * part.values / part.values.max(),
            left=start,
            height=0.72,
            color=ink.first,
        )
        for place, name in zip(places, part.names, strict=True):
            ax.text(start - 0.015, place, literal(shortened(name, LONGEST)), fontsize=8.5, va="center", ha="right")
    ax.set_xlim(0.0, wide - GAP + 0.02)
    ax.set_ylim(lines * deep - 1.0, -0.4)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    more = f"; {found.left_out:,} more not shown" if found.left_out else ""
    ax.set_xlabel(f"bars, each chart on its own scale: {found.measure}{more}", fontsize="small")
    return ax
