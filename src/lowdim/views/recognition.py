"""What a gallery makes of probes, on one screen and as plain facts."""

from __future__ import annotations

from typing import Any

from lowdim.results.rates import Rate
from lowdim.results.recogniser import RecogniserFit
from lowdim.results.recognition import Recognition
from lowdim.views.lines import Line, shortened, wrapped
from lowdim.views.recogniser import compared_in_words, inside_in_words, rate_facts, somebody_in_words

MOST_PROBES = 6
"""Probes that are shown one by one where nobody says whose they are."""


def recognition_lines(gallery: str, probes: str, fit: RecogniserFit, found: Recognition, width: int = 80) -> list[Line]:
    """Recognition on one screen."""
    people = f"{fit.n_rows:,} rows of {len(fit.classes):,} identities"
    title = f"{gallery}: {people}, {fit.space.k:,} components; {probes}: {found.n_probes:,} probes"
    return [
        Line(shortened(title, width), "title"),
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
    lines = [Line("probe   nearest to           distance   row", "faint")]
    for i in range(min(found.n_probes, MOST_PROBES)):
        name = shortened(str(found.identities[i]), 18)
        away = "" if found.accepted[i] else "   turned away"
        lines.append(Line(f"{i:<7} {name:<18} {found.distances[i]:>10.4g}   {found.rows[i]}{away}"[:width]))
    more = found.n_probes - MOST_PROBES
    if more > 0:
        lines.append(Line(f"… and {more:,} more, which -o has; {int(found.accepted.sum()):,} are accepted", "faint"))
    return lines
