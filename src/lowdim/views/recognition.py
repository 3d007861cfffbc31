"""What a gallery makes of probes, on one screen and as plain facts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from lowdim.results.certificate import counted
from lowdim.results.rates import Rate
from lowdim.results.recogniser import RecogniserFit
from lowdim.results.recognition import Recognition
from lowdim.views.lines import Line, shortened, wrapped
from lowdim.views.recogniser import compared_in_words, inside_in_words, rate_facts, somebody_in_words
from lowdim.views.summary import left_out_line

MOST_PROBES = 6
"""Probes that are shown one by one where nobody says whose they are."""


def recognition_lines(
    gallery: str,
    probes: str,
    fit: RecogniserFit,
    found: Recognition,
    width: int = 80,
    left_out: Mapping[str, str] = MappingProxyType({}),
) -> list[Line]:
    """Recognition on one screen; columns of the gallery that hold no numbers are named."""
    people = f"{fit.n_rows:,} rows of {len(fit.classes):,} identities"
    title = f"{gallery}: {people}, {counted(fit.space.k, 'component')}; {probes}: {counted(found.n_probes, 'probe')}"
    return [
        Line(shortened(title, width), "title"),
        *left_out_line(left_out, width),
        Line(""),
        *(_measured(found, width) if found.labels is not None else _listed(found, width)),
        Line(""),
        *wrapped("compared  ", compared_in_words(fit), width),
        *wrapped("somebody? ", somebody_in_words(fit), width),
        *wrapped("one such? ", inside_in_words(fit), width),
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


def _measured(found: Recognition, width: int) -> list[Line]:
    measures = found.measures()
    wide = max(map(len, measures))
    lines = [Line(f"{'':<{wide}}   share   {found.level:.0%} interval".replace("%", " %"), "faint")]
    for name, rate in measures.items():
        interval = f"{rate.low:.3f} to {rate.high:.3f}"
        of = f"   of {rate.of:,} probes" if isinstance(rate, Rate) else ""
        lines.append(Line(shortened(f"{name:<{wide}}   {rate.value:.3f}   {interval}{of}", width)))
    return lines


def _listed(found: Recognition, width: int) -> list[Line]:
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
