"""What the screens of all models without a variance of their own have in common: after a fit, and of a model file."""

from __future__ import annotations

from collections.abc import Sequence

from lowdim.results.certificate import counted
from lowdim.results.names import column_names
from lowdim.views.lines import Line, listed, shortened, wrapped
from lowdim.views.summary import About, Fit, data_lines, on_one_screen, written_line


def fit_screen(fit: Fit, about: About, title: str, body: Sequence[Line], width: int) -> list[Line]:
    """After a fit, at most 24 lines of at most `width` characters: the data, a title, what is said, what comes next."""
    asked = f" ({about.asked})" if about.asked else ""
    lines = [*data_lines(fit, about, width), Line(""), Line(title + asked, "title"), Line(""), *body]
    return on_one_screen([*lines, *written_line(about)], about, width)


def model_screen(name: str, fit: Fit, kept: str, body: Sequence[Line], width: int, later: str = "") -> list[Line]:
    """What a model file holds: `kept` is said behind its name, `later` of what can be done with it."""
    made = fit.provenance
    versions = ", ".join(f"{package} {version}" for package, version in made.versions)
    return [
        Line(shortened(name, max(8, width - len(kept) - 2)) + f": {kept}", "title"),
        Line(f"fitted on {counted(fit.n_rows, 'row')} × {counted(fit.n_columns, 'column')}"),
        Line(f"columns   {listed(column_names(fit), width - 10)}"),
        Line(""),
        *body,
        *wrapped("data      ", made.data, width),
        *wrapped("solver    ", made.solver, width),
        Line(shortened(f"made by   {versions}", width)),
        *([Line(f"later     {later}")] if later else []),
    ]
