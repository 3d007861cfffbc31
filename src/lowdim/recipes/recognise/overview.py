"""What a gallery makes of probes: on one screen, as plain facts, and drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.models.recogniser.overview import compared_in_words, rate_facts, rejection_in_words, space_limit_in_words
from lowdim.models.recogniser.record import Rate, RecogniserFit
from lowdim.recipes.recognise.result import Recognition
from lowdim.views.plots.canvas import BLUE, GREY, ORANGE, shown_figure
from lowdim.views.plots.representations import row_picture
from lowdim.views.text.lines import Line, shortened, wrapped
from lowdim.views.text.told import NOTHING_TOLD, Told, told_lines
from lowdim.words import plural

# Recognition drawn: the trade between letting in and turning away, and probes beside their matches.

SIDE = 4.2
"""Inches of a curve's panel."""

TILE = 1.15
"""Inches of a picture."""

LONGEST = 12
"""Letters of a label above a picture."""


def draw_recognition(found: Recognition) -> Any:
    """The figure: curves on the left, pictures, if rows are such, on the right."""
    pairs = len(found.shown) if found.pictures is not None else 0
    columns = min(4, pairs)
    lines = -(-pairs // columns) if pairs else 0
    width = SIDE + (2 * TILE + 0.25) * columns
    figure = shown_figure(width + 0.4, max(SIDE, lines * (TILE + 0.75)))
    ratios = [SIDE, width - SIDE] if pairs else [1.0]
    parts = figure.subfigures(1, len(ratios), width_ratios=ratios, squeeze=False)[0]
    ax = parts[0].subplots()
    if found.verification is None and found.open_set is None:
        _draw_distances(found, ax)
    else:
        _draw_curves(found, ax)
    ax.spines[["top", "right"]].set_visible(False)
    if pairs:
        _draw_pairs(found, parts[1], lines, columns)
    return figure


def _draw_curves(found: Recognition, ax: Any) -> None:
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.7, linestyle=":")
    curve = found.verification
    if curve is not None:
        auc = curve.auc
        name = f"verification: AUC {auc.value:.3f} ({auc.low:.3f} to {auc.high:.3f})"
        ax.step([0, *curve.false_accept], [0, *curve.true_accept], where="post", color=BLUE, label=name)
        error = curve.equal_error.value
        ax.plot([error], [1 - error], "o", color=BLUE, markersize=5, label=f"equal error rate {error:.1%}")
    if found.open_set is not None:
        shares = found.open_set
        name = f"identification, best {shares.identified[-1]:.1%}"
        ax.step([0, *shares.false_accept], [0, *shares.identified], where="post", color=ORANGE, label=name)
    counts = found.counts
    if counts is not None and counts.strangers and counts.known and not found.accepted.all():
        point = (counts.strangers_in / counts.strangers, counts.identified / counts.known)
        ax.plot(*point, "D", color=ORANGE, markersize=6, label="by the gallery's limits")
    ax.set(xlim=(-0.01, 1.01), ylim=(0, 1.02), xlabel="impostors, strangers let in", ylabel="accepted as themselves")
    ax.set_aspect("equal")
    ax.legend(frameon=False, loc="lower right", fontsize="small")


def _draw_distances(found: Recognition, ax: Any) -> None:
    """Without labels: how far probes are from the gallery."""
    edges = np.histogram_bin_edges(found.distances, bins=min(40, 5 + found.n_probes // 5))
    groups = [found.distances[found.accepted], found.distances[~found.accepted]]
    names = [f"{len(groups[0]):,} accepted", f"{len(groups[1]):,} turned away"]
    ax.hist(groups, bins=edges, stacked=True, color=[BLUE, ORANGE], label=names)
    ax.set(xlabel="distance to the nearest of the gallery", ylabel="probes")
    ax.legend(frameon=False)


def _draw_pairs(found: Recognition, part: Any, lines: int, columns: int) -> None:
    """Each probe, and beside it the nearest row of the gallery; the colour says whether the answer is right."""
    assert found.pictures is not None
    assert found.shape is not None
    panels = part.subplots(lines, columns, squeeze=False).ravel()
    for panel in panels:
        panel.axis("off")
    for panel, i, (probe, match) in zip(panels, found.shown, found.pictures, strict=False):
        gap = np.ones((found.shape[0], max(1, found.shape[1] // 16), 3))
        sides = [row_picture(row, row, found.shape) for row in (probe, match)]
        panel.imshow(np.concatenate([sides[0], gap, sides[1]], axis=1), interpolation="nearest")
        text, right = _sentence(found, int(i))
        panel.set_title(text, fontsize=8, color="#222222" if right else ORANGE)
    part.suptitle("probe | nearest of the gallery", fontsize=10)


def _sentence(found: Recognition, i: int) -> tuple[str, bool]:
    """What stands above a pair, and whether the answer is right (or none can say)."""
    name = shortened(str(found.identities[i]), LONGEST)
    said = f"{name}, {found.distances[i]:.2g}" if found.accepted[i] else f"turned away\n(nearest {name})"
    if found.labels is None:
        return said, bool(found.accepted[i])
    label = found.labels[i]
    stranger = label not in found.classes.tolist()
    right = bool(not found.accepted[i]) if stranger else bool(found.accepted[i] and found.identities[i] == label)
    return f"{shortened(str(label), LONGEST)}{' (stranger)' if stranger else ''} → {said}", right


# What a gallery makes of probes, on one screen and as plain facts.

MOST_PROBES = 6
"""Probes that are shown one by one where nobody says whose they are."""


def recognition_lines(
    gallery: str,
    probes: str,
    fit: RecogniserFit,
    found: Recognition,
    width: int = 80,
    told: Told = NOTHING_TOLD,
) -> list[Line]:
    """Recognition on one screen; columns of the gallery that hold no numbers are named."""
    people = f"{fit.n_rows:,} rows of {len(fit.classes):,} identities"
    title = f"{gallery}: {people}, {plural(fit.space.k, 'component')}; {probes}: {plural(found.n_probes, 'probe')}"
    return [
        Line(shortened(title, width), "title"),
        *told_lines(told, width),
        Line(""),
        *(_measure_lines(found, width) if found.labels is not None else _list(found, width)),
        Line(""),
        *wrapped("compared  ", compared_in_words(fit), width),
        *wrapped("somebody? ", rejection_in_words(fit), width),
        *wrapped("one such? ", space_limit_in_words(fit), width),
        *(line for text in found.caveats() for line in wrapped("note      ", text, width, "faint")),
    ]


def recognition_facts(fit: RecogniserFit, found: Recognition) -> dict[str, Any]:
    """The same as plain facts, for JSON."""
    counts = found.counts
    return {
        "probes": found.n_probes,
        "identities": len(fit.classes),
        "components": fit.space.k,
        "metric": fit.metric,
        "max_distance": fit.max_distance,
        "least_log_likelihood": fit.least_density,
        "measures": {name: rate_facts(rate) for name, rate in found.measures().items()},
        "counts": None
        if counts is None
        else {
            "identified": counts.identified,
            "mistaken": counts.mistaken,
            "turned_away": counts.turned_away,
            "strangers_in": counts.strangers_in,
            "strangers_out": counts.strangers_out,
        },
        "caveats": found.caveats(),
    }


def _measure_lines(found: Recognition, width: int) -> list[Line]:
    measures = found.measures()
    wide = max(map(len, measures))
    lines = [Line(f"{'':<{wide}}   share   {found.level:.0%} interval".replace("%", " %"), "faint")]
    for name, rate in measures.items():
        interval = f"{rate.low:.3f} to {rate.high:.3f}"
        of = f"   of {rate.of:,} probes" if isinstance(rate, Rate) else ""
        lines.append(Line(shortened(f"{name:<{wide}}   {rate.value:.3f}   {interval}{of}", width)))
    return lines


def _list(found: Recognition, width: int) -> list[Line]:
    shown = min(found.n_probes, MOST_PROBES)
    probes = [shortened(str(i if found.names is None else found.names[i]), 18) for i in range(shown)]
    matches = [shortened(str((found.rows if found.matches is None else found.matches)[i]), 18) for i in range(shown)]
    wide, last = max(5, *map(len, probes)), "row" if found.matches is None else "match"
    lines = [Line(f"{'probe':<{wide}}   nearest to           distance   {last}", "faint")]
    for i in range(shown):
        name = shortened(str(found.identities[i]), 18)
        away = "" if found.accepted[i] else "   turned away"
        head = f"{probes[i]:<{wide}}   {name:<18} {found.distances[i]:>10.4g}"
        lines.append(Line(f"{head}   {matches[i]}{away}"[:width]))
    more = found.n_probes - MOST_PROBES
    if more > 0:
        lines.append(Line(f"… and {more:,} more, which -o has; {int(found.accepted.sum()):,} are accepted", "faint"))
    return lines
