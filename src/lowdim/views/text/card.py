"""What a fitted model shows of itself at a glance, in a terminal, a notebook, and of a model file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from lowdim.views.overview import Fact, Glance, Overview, Trust
from lowdim.views.text.lines import Line, percent, shortened, wrapped
from lowdim.words import BLOCKS, plural

# The card of a model in a terminal: a few lines behind its repr, and the same in `lowdim info`.

REMEDY = "scale=True gives all columns the same weight"

MOST_TEXT_BARS = 24

WIDTH = 88
"""Characters of a line; that of scikit-learn's own representations is about the same."""


def card_text(shown: str, seen: Overview, width: int = WIDTH) -> str:
    """What a model is, as scikit-learn writes it, and below it what it learnt."""
    room = width - 2
    lines = [
        *wrapped("", f"{data_in_words(seen)} → {seen.kept}", room),
        *glance_lines(seen.glance, room),
        *wrapped("accuracy  ", trust_in_words(seen.trust), room),
        *fact_lines(seen.facts, notes_of(seen), room),
    ]
    return "\n".join([shown, *(f"  {line.text}" for line in lines)])


def data_in_words(seen: Overview) -> str:
    """Rows, columns, and values missing, if any."""
    return seen.size + (f", {plural(seen.missing, 'value')} missing" if seen.missing else "")


def notes_of(seen: Overview, remedy: str = REMEDY) -> list[str]:
    """What the user should know before using it, and what can be done about columns that swamp the others."""
    swamped = [f"{swamped_in_words(*seen.swamped)}: {remedy}"] if seen.swamped.found else []
    return [*swamped, *seen.notes]


def swamped_in_words(found: Sequence[tuple[str, float]], of: str) -> str:
    """Which columns hold nearly all of something."""
    names = " and ".join(shortened(name, 40 // len(found)) for name, _ in found)
    alone = "alone holds" if len(found) == 1 else "together hold"
    share = percent(sum(share for _, share in found))
    return f"{names} {alone} {share} of {of}, as columns on larger scales do"


def glance_lines(glance: Glance | None, width: int) -> list[Line]:
    """The small picture, if there is one."""
    if glance is None:
        return []
    name = "curve" if glance.falls else "scree"
    return [Line(shortened(f"{name:<10}{sparkline(glance)}  {glance.of}", width), "bar")]


def trust_in_words(trust: Trust) -> str:
    """The word, and what it stands on."""
    said = trust.sentence.removeprefix("NOT reached: ")
    return said if said.startswith(trust.word) else f"{trust.word}: {said}"


def fact_lines(facts: Iterable[Fact], notes: Iterable[str], width: int) -> list[Line]:
    """Noise, steps, and what else the model knows of itself; notes last."""
    lines = [line for one in facts for line in wrapped(f"{one.name:<10}", one.text, width)]
    return [*lines, *(line for note in notes for line in wrapped(f"{'note':<10}", note, width, "note"))]


def sparkline(glance: Glance, most: int = MOST_TEXT_BARS) -> str:
    """The heights as block characters; a bar separates the retained components from the others."""
    heights = pick_heights(glance, most)
    blocks = [BLOCKS[min(7, int(height * 8))] for height in heights]
    if glance.falls or glance.kept >= len(heights):
        return "".join(blocks) + "…" * (not glance.falls and len(heights) < len(glance.heights))
    return "".join([*blocks[: glance.kept], "│", *blocks[glance.kept :]])


def pick_heights(glance: Glance, most: int) -> list[float]:
    """At most so many heights: the first ones, or of a curve some along its whole length."""
    heights = glance.heights
    if len(heights) > most and glance.falls:
        heights = heights[np.linspace(0, len(heights) - 1, most).round().astype(int)]
    return [float(height) for height in heights[:most]]


# The card of a model in a notebook: HTML without script and without a network, for light and dark pages.

MOST_HTML_BARS = 32

WIDE, HIGH = 200, 44
"""Of the small picture, in pixels."""

STYLE = """
.lowdim-card{--ink:var(--jp-content-font-color1,var(--vscode-editor-foreground,#1f2328));
--soft:var(--jp-content-font-color2,var(--vscode-descriptionForeground,#656d76));
--line:var(--jp-border-color2,var(--vscode-widget-border,#d7dce2));
--paper:var(--jp-layout-color1,var(--vscode-editor-background,#fff));--bar:#0072b2;--good:#0b7a5b;--bad:#b3470a;
font:13px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;color:var(--ink);background:var(--paper);
border:1px solid var(--line);border-radius:10px;padding:14px 18px;max-width:660px;box-sizing:border-box;margin:4px 0}
@media(prefers-color-scheme:dark){.lowdim-card{--ink:var(--jp-content-font-color1,var(--vscode-editor-foreground,#e6e8eb));
--soft:var(--jp-content-font-color2,var(--vscode-descriptionForeground,#9aa3ad));
--line:var(--jp-border-color2,var(--vscode-widget-border,#3a4048));
--paper:var(--jp-layout-color1,var(--vscode-editor-background,#16181d));--bar:#56b4e9;--good:#2bc49a;--bad:#ff8a3d}}
body[data-jp-theme-light="true"] .lowdim-card,.vscode-light .lowdim-card{--bar:#0072b2;--good:#0b7a5b;--bad:#b3470a}
body[data-jp-theme-light="false"] .lowdim-card,.vscode-dark .lowdim-card{--bar:#56b4e9;--good:#2bc49a;--bad:#ff8a3d}
.lowdim-card>header{display:flex;gap:16px;align-items:baseline;justify-content:space-between}
.lowdim-card>header>code{font:600 13px/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--ink);
background:none;padding:0;white-space:pre-wrap;overflow-wrap:anywhere}
.lowdim-card b{font-weight:600;color:var(--good);border:1px solid;border-radius:99px;padding:0 9px;font-size:12px;
cursor:help;white-space:nowrap}
.lowdim-card b.bad{color:var(--bad)}
.lowdim-card>section{display:flex;gap:20px;align-items:center;justify-content:space-between;margin-top:8px;flex-wrap:wrap}
.lowdim-card strong{display:block;font-size:16px;font-weight:600;line-height:1.35}
.lowdim-card small,.lowdim-card dt{color:var(--soft);font-size:12px;font-weight:400}
.lowdim-card section>div{flex:1 1 300px;min-width:0}
.lowdim-card figure{margin:0;flex:0 0 200px;line-height:1.2}
.lowdim-card svg{display:block;overflow:visible;margin-bottom:4px}
.lowdim-card dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:2px 14px;margin:10px 0 0;
padding-top:10px;border-top:1px solid var(--line)}
.lowdim-card dd{margin:0;overflow-wrap:anywhere}
.lowdim-card p{margin:10px 0 0;padding-left:10px;border-left:3px solid var(--bad);overflow-wrap:anywhere}
"""
"""Colours of the page where JupyterLab and VS Code tell them; else as the browser prefers."""


def card_html(shown: str, seen: Overview) -> str:
    """The card of a model that scikit-learn writes as `shown`."""
    one_line = " ".join(shown.split())
    trust = seen.trust
    trusted = "" if trust.reached else ' class="bad"'
    listed = (*seen.facts, Fact("accuracy", trust.sentence))  # once more, as titles cannot be read everywhere
    facts = "".join(f"<dt>{escape(one.name)}</dt><dd>{escape(one.text)}</dd>" for one in listed)
    notes = "".join(f"<p>{escape(note)}</p>" for note in notes_of(seen))
    return (
        f'<div class="lowdim-card"><style>{STYLE.replace(chr(10), "")}</style>'
        f"<header><code>{escape(one_line)}</code>"
        f'<b{trusted} title="{escape(trust.sentence, quote=True)}">{escape(trust.word)}</b></header>'
        f"<section><div><strong>{escape(seen.kept)}</strong><small>{escape(data_in_words(seen))}</small></div>"
        f"{'' if seen.glance is None else _figure(seen.glance)}</section>"
        f"<dl>{facts}</dl>{notes}</div>"
    )


def _figure(glance: Glance) -> str:
    drawn = _curve(glance) if glance.falls else _bars(glance)
    label = escape(glance.of, quote=True)
    return (
        f'<figure><svg width="{WIDE}" height="{HIGH}" viewBox="0 0 {WIDE} {HIGH}" role="img" aria-label="{label}">'
        f"{drawn}</svg><small>{label}</small></figure>"
    )


def _bars(glance: Glance) -> str:
    """What is kept in colour, the rest faint."""
    heights = pick_heights(glance, MOST_HTML_BARS)
    step = min(16.0, WIDE / len(heights))
    wide = max(1.5, step - 2.0)
    shapes = []
    for i, height in enumerate(heights):
        high = max(1.0, height * (HIGH - 2))
        faint = "" if i < glance.kept else ' opacity=".3"'
        shapes.append(
            f'<rect x="{i * step:.1f}" y="{HIGH - high:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="1"{faint}/>'
        )
    return f'<g fill="var(--bar)">{"".join(shapes)}</g>'


def _curve(glance: Glance) -> str:
    """Falling, with a dot where it was kept."""
    heights = pick_heights(glance, MOST_HTML_BARS)
    step = (WIDE - 6) / max(1, len(heights) - 1)
    points = [(3 + i * step, HIGH - 3 - height * (HIGH - 6)) for i, height in enumerate(heights)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    at = round((glance.kept - 1) / max(1, len(glance.heights) - 1) * (len(heights) - 1))
    return (
        f'<polyline points="{line}" fill="none" stroke="var(--bar)" stroke-width="1.8" stroke-linejoin="round"/>'
        f'<circle cx="{points[at][0]:.1f}" cy="{points[at][1]:.1f}" r="3" fill="var(--bar)"/>'
    )
