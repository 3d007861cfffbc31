"""Figures of a regression: coefficients, predictions of held-out rows, and error by components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.models.base import parameters
from lowdim.models.base.plots import Plots, check_most, column_of, figure, scores
from lowdim.models.pc_regression.record import RegressionFit
from lowdim.models.pc_regression.tables import coefficient_columns
from lowdim.types import Floats
from lowdim.views.plots.canvas import inks, literal, new_axes, new_figure, note, plain
from lowdim.views.text.lines import shortened

# Coefficients of a regression, with what is known of each.

GIVEN_AXES = "as if the axes were known, which these rows do not tell"


@dataclass(frozen=True)
class Coefficients:
    """Of one response."""

    names: tuple[str, ...]
    """(q,) columns, as they are drawn …"""
    columns: NDArray[np.intp]
    """(q,) … and which of the data's they are, from 0."""
    values: Floats
    lower: Floats
    upper: Floats
    """(q,) ends of the intervals; NaN where no degrees of freedom are left."""
    places: Floats | None
    """(q,) numbers that the columns' names are, such as wavelengths, where they rise; None: names are no numbers."""
    response: str
    level: float
    left_out: int
    unit: str
    """Of a column: what the response changes by a coefficient for."""
    basis: str = ""
    """What the intervals rest on."""

    @property
    def clear(self) -> NDArray[np.bool_]:
        """(q,) whether an interval leaves zero out."""
        return np.asarray((self.lower > 0) | (self.upper < 0))


def coefficients_of(
    names: Sequence[str],
    values: Floats,
    lower: Floats,
    upper: Floats,
    response: str,
    level: float,
    most: int | None = None,
    spreads: Floats | None = None,
) -> Coefficients:
    """All coefficients in the columns' order, if the names are numbers that rise; else the `most` largest of them.

    With the columns' standard deviations (p,) as `spreads`, coefficients are for one of these. Columns differ in their
    units, so "largest" is by how many half-widths an interval is away from zero.
    """
    if spreads is not None:
        values, lower, upper = (np.asarray(part) * spreads for part in (values, lower, upper))
    unit = "unit" if spreads is None else "standard deviation"
    places = _numbers(names)
    order = np.arange(len(values))
    if places is None and most is not None and len(values) > most:
        half = np.maximum((upper - lower) / 2, np.finfo(float).tiny)
        sizes = np.where(np.isfinite(half), np.abs(values) / half, np.abs(values))
        order = np.sort(np.argsort(-sizes, kind="stable")[:most])
    middle, low, high = (np.asarray(part, dtype=np.float64)[order] for part in (values, lower, upper))
    shown = tuple(str(names[int(j)]) for j in order)
    return Coefficients(shown, order, middle, low, high, places, response, level, len(values) - len(order), unit)


def fit_coefficients(
    fit: RegressionFit,
    response: int,
    table: Mapping[str, Any],
    level: float,
    most: int | None = None,
    standardised: bool = False,
) -> Coefficients:
    """Those of a response, from 0, of a fit, from its table of coefficients, which begins with the intercept."""
    values, lower, upper, basis = shown_ends(fit, response, table, level)
    spreads = column_spreads(fit) if standardised else None
    names = list(table["column"])[1:]
    found = coefficients_of(names, values[1:], lower[1:], upper[1:], fit.names[response], level, most, spreads)
    return replace(found, basis=basis)


def shown_ends(
    fit: RegressionFit, response: int, table: Mapping[str, Any], level: float
) -> tuple[Floats, Floats, Floats, str]:
    """(p + 1,) coefficients of the table and the ends that are drawn, and what these rest on: where the table has no
    intervals, those that take the axes for known, which are called so."""
    head = "" if fit.m == 1 else f"{fit.names[response]} "
    values, lower, upper = (np.asarray(table[head + part]) for part in ("coefficient", "lower", "upper"))
    if np.isfinite(lower).any():
        return values, lower, upper, fit.basis
    reach = NormalDist().inv_cdf(0.5 + level / 2) * np.asarray(table[f"{head}std_err_given_axes"])
    return values, values - reach, values + reach, GIVEN_AXES


def column_spreads(fit: RegressionFit) -> Floats | None:
    """(p,) standard deviations of the columns in the data's units; None where the record does not know them."""
    known = fit.axes.column_variances
    return None if known is None else np.sqrt(known)


def _numbers(names: Sequence[str]) -> Floats | None:
    """The numbers that names are, or hold beside a unit ("900 nm"), if there are enough of them and they rise."""
    if len(names) < 12 or not all(str(name)[:1].isdigit() for name in names):
        return None
    try:
        found = np.array([float("".join(c for c in str(name) if c.isdigit() or c in ".-")) for name in names])
    except ValueError:
        return None
    units = {"".join(c for c in str(name) if not (c.isdigit() or c in ".- ")) for name in names}
    return found if len(units) == 1 and (np.diff(found) > 0).all() else None


# What a regression predicts of rows, beside what was measured.


@dataclass(frozen=True)
class Predictions:
    """What was measured of a response, and what was predicted."""

    response: str
    measured: Floats
    """(n,)"""
    predicted: Floats
    """(n,)"""
    held_out: bool
    """Whether each row was held out when it was predicted; else it may have taken part in the fit."""
    ends: tuple[Floats, Floats] | None = None
    """Two of (n,), lower and upper ends of intervals for a new response; None: there are none."""
    level: float | None = None
    """Of the intervals."""

    @property
    def known(self) -> NDArray[np.int64]:
        """Places of the rows of which both are known."""
        return np.flatnonzero(np.isfinite(self.measured) & np.isfinite(self.predicted))

    @property
    def error(self) -> float:
        """Root mean squared, over rows of which both are known; NaN without such."""
        left = (self.measured - self.predicted)[self.known]
        return float(np.sqrt(np.mean(left**2))) if len(left) else float("nan")


def predictions_of(
    fit: RegressionFit,
    measured: Any,
    predicted: Any,
    held_out: bool,
    ends: tuple[Any, Any] | None = None,
    level: float | None = None,
) -> tuple[Predictions, ...]:
    """One for each response of a fit, from numbers of shape (n,) or (n, m)."""
    known, said = _by_response(fit, measured), _by_response(fit, predicted)
    low, high = (None, None) if ends is None else (_by_response(fit, end) for end in ends)
    return tuple(
        Predictions(
            name,
            known[:, j],
            said[:, j],
            held_out,
            None if low is None or high is None else (low[:, j], high[:, j]),
            level,
        )
        for j, name in enumerate(fit.names)
    )


def _by_response(fit: RegressionFit, values: Any) -> Floats:
    """(n, m)"""
    return np.asarray(values, dtype=np.float64).reshape(-1, fit.m)


# Error of rows held out of a regression, by components.


@dataclass(frozen=True)
class ValidationCurve:
    """Error of rows held out, by the number of leading components."""

    components: NDArray[np.int64]
    """(K + 1,) 0, 1, …"""
    error: Floats
    """(K + 1,) root mean squared error of one response; of several, their mean error as a share of the variance."""
    lower: Floats
    """(K + 1,) the same one standard error lower …"""
    upper: Floats
    """… and higher."""
    best: int
    limit: float
    """One standard error above the smallest: the rule takes the fewest components below it."""
    used: int | None
    """Components of the model, if they are the leading ones."""


def validation_curve(fit: RegressionFit, most: int = 30) -> ValidationCurve:
    """What cross-validation says, for `most` components or all that matter."""
    found = fit.validation
    if found is None:
        raise BadParameter("The model was fitted with cv=None, so there are no errors of held-out rows to draw.")
    shown = slice(0, max(most, found.best + 3, fit.k + 3) + 1)
    error, spread = found.error[shown], found.std_error[shown]
    # one response has units, in which people think: the root of its error, and of the ends of the band
    unit = found.rmse[0, 0] ** 2 / found.error[0] if fit.m == 1 and found.error[0] > 0 else 1.0
    turn = np.sqrt if fit.m == 1 else np.asarray
    leading = list(fit.picked) == list(range(fit.k))
    return ValidationCurve(
        np.arange(len(error)),
        turn(error * unit),
        turn(np.maximum(error - spread, 0.0) * unit),
        turn((error + spread) * unit),
        found.best,
        float(turn((found.error[found.best] + found.std_error[found.best]) * unit)),
        fit.k if leading else None,
    )


# Coefficients of a regression, with their intervals.

LONGEST = 24
"""Letters of a column's name."""


def _draw_dots(found: Coefficients, ax: Any, ink: Any) -> None:
    places = np.arange(len(found.names))
    for some, colour in ((~found.clear, ink.faint), (found.clear, ink.first)):
        ax.hlines(places[some], found.lower[some], found.upper[some], color=colour, linewidth=2)
        ax.scatter(found.values[some], places[some], color=colour, s=28, zorder=3)
    ax.axvline(0, color=ink.text, linewidth=0.8, zorder=0)
    ax.set_yticks(places, [literal(shortened(name, LONGEST)) for name in found.names])
    ax.set_ylim(len(places) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"{literal(found.response)} for one {found.unit} of the column more")


def _draw_spectrum(found: Coefficients, ax: Any, ink: Any) -> None:
    assert found.places is not None
    ax.axhline(0, color=ink.text, linewidth=0.8, zorder=0)
    ax.fill_between(found.places, found.lower, found.upper, color=ink.first, alpha=0.22, linewidth=0)
    ax.plot(found.places, found.values, color=ink.faint, linewidth=1.4, label="interval holds zero")
    clear = np.where(found.clear, found.values, np.nan)
    ax.plot(found.places, clear, color=ink.first, linewidth=2.0, label="interval leaves zero out")
    ax.margins(x=0.01)
    first, last = literal(shortened(found.names[0], LONGEST)), literal(shortened(found.names[-1], LONGEST))
    ax.set(xlabel=f"column, {first} to {last}", ylabel=f"{literal(found.response)} for one {found.unit} more")
    ax.legend(frameon=False, fontsize="small")


# What a regression says of rows held out.

ACROSS = 3
"""Panels beside each other, at most."""


def draw_regression(fit: RegressionFit, measured: Any, predicted: Any) -> Any:
    """A figure of it all: error of held-out rows by components, and rows measured and predicted, for each response."""
    panels = fit.m + 1
    across = panels if panels <= ACROSS else 2 if panels == 4 else ACROSS
    down = -(-panels // across)
    figure = new_figure(10.0 if across == 2 else 13.5, 4.2 * down)
    axes = figure.subplots(down, across, squeeze=False).ravel()
    draw_validation(fit, axes[0])
    for j, found in enumerate(predictions_of(fit, measured, predicted, held_out=True)):
        draw_predictions(found, axes[1 + j], None if fit.validation is None else float(fit.validation.q2[j]))
    for empty in axes[panels:]:
        empty.remove()
    return figure


def draw_validation(fit: RegressionFit, ax: Any = None, most: int = 30) -> Any:
    """Error of held-out rows by components, with a band of one standard error; dots: the smallest, and what is used."""
    ax = new_axes() if ax is None else ax
    ink, curve = inks(ax), validation_curve(fit, most)
    ax.fill_between(curve.components, curve.lower, curve.upper, color=ink.first, alpha=0.18, linewidth=0)
    ax.plot(
        curve.components, curve.error, color=ink.first, marker="o", markersize=3, label="held-out rows ± 1 std. error"
    )
    ax.axhline(curve.limit, color=ink.faint, linewidth=1, linestyle="--", label="smallest + 1 std. error")
    ax.scatter(
        [curve.best], [curve.error[curve.best]], color=ink.first, s=50, zorder=3, label=f"smallest: {curve.best}"
    )
    if curve.used is not None and curve.used < len(curve.error):
        at = [curve.error[curve.used]]
        ax.scatter([curve.used], at, color=ink.second, s=50, zorder=4, label=f"used: {curve.used}")
    one = fit.m == 1
    ax.set(
        xlabel="leading components",
        ylabel=f"RMSE of {literal(fit.names[0])}" if one else "error, share of the variance",
    )
    ax.set_ylim(bottom=0)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(frameon=False, fontsize="small")
    return plain(ax)


def draw_predictions(found: Predictions, ax: Any = None, q2: float | None = None) -> Any:
    """Rows by what was measured and what was predicted of them, the nearer to the line, the better.

    The title says whether rows were held out, with their Q² where it is given, and the error.
    """
    ax = new_axes() if ax is None else ax
    ink, there = inks(ax), found.known
    if len(there):
        both = np.concatenate([found.measured[there], found.predicted[there]])
        ax.plot([both.min(), both.max()], [both.min(), both.max()], color=ink.faint, linewidth=1, zorder=1)
    if found.ends is not None:
        ax.vlines(found.measured, *found.ends, color=ink.first, alpha=0.3, linewidth=1.2, zorder=2)
    ax.scatter(found.measured, found.predicted, color=ink.first, s=16, zorder=3)
    name = literal(found.response)
    ax.set(xlabel=f"{name}, measured", ylabel=f"{name}, predicted")
    said = ["rows held out" if found.held_out else f"{len(found.predicted):,} rows"]
    said += [] if q2 is None else [f"Q² {q2:.3f}"]
    said += [f"RMSE {found.error:.3g}"]
    said += [] if found.level is None else [f"{100 * found.level:g} % intervals"]
    note(ax, ", ".join(said))
    return plain(ax)


# Figures of a regression on components.


@figure
def validation(self: Plots, ax: Any = None, *, most: int = 30) -> Any:
    """Error of held-out rows by the number of components, with a band of one standard error.

    Parameters
    ----------
    most : int
        Components up to which it is drawn; more where the best, or those used, are beyond.
    """
    return draw_validation(self._model.fit_, self._axes(ax), check_most(most))


@figure
def predictions(self: Plots, X: Any, y: Any, ax: Any = None, *, response: int = 1, level: float = 0.95) -> Any:
    """Rows by what was measured of a response and what is predicted, with intervals of this level.

    Parameters
    ----------
    y : array of shape (n,) or (n, m), or the name of a column of X
        What was measured. Rows of the fit look better than new ones do: give those that the model has not seen.
    response : int
        Which of several responses, counted from 1.
    level : float
        Of intervals for a new response.
    """
    model, fit = self._model, self._model.fit_
    place = _response("predictions", response, fit.m)
    rows = self._rows(X)
    predicted = np.asarray(model.predict(rows))
    measured = np.asarray(column_of(X, y, "y") if isinstance(y, str) else y, dtype=np.float64)
    if measured.size != predicted.size:
        raise BadParameter(
            f"plot.predictions: y has {measured.size:,} numbers, but {predicted.size:,} are predicted for these "
            "rows: one for each is needed."
        )
    found = predictions_of(fit, measured, predicted, False, model.intervals(rows, level), level)
    return draw_predictions(found[place], self._axes(ax))


@figure
def coefficients(
    self: Plots, ax: Any = None, *, response: int = 1, level: float = 0.95, most: int = 30, standardised: bool = False
) -> Any:
    """Coefficients of the columns with the intervals of `table("coefficients")`; clear ones stand out.

    Where that table has none, as the rows do not tell how the axes turn, intervals are drawn that take the axes for
    known, and the figure says so.

    Parameters
    ----------
    response : int
        Which of several responses, counted from 1.
    level : float
        Of the intervals.
    most : int
        Columns, at most: those clearest of zero. Names that are rising numbers, as wavelengths are, make a curve of
        all columns.
    standardised : bool
        Of columns divided by their standard deviations, so that they can be compared whatever their units.
    """
    fit = self._model.fit_
    place = _response("coefficients", response, fit.m)
    parameters.real("plot.coefficients", "level", level, 0.0)
    if not 0 < level < 1:
        raise BadParameter.of("plot.coefficients", "level", level, "a number between 0 and 1, such as 0.95")
    table = coefficient_columns(fit, level)
    if standardised and column_spreads(fit) is None:
        raise BadParameter(
            "plot.coefficients(standardised=True): this model's file does not tell the columns' variances: fit it "
            "again."
        )
    found = fit_coefficients(fit, place, table, level, check_most(most), standardised)
    size = (6.0, 3.8) if found.places is not None else (5.2, 1.0 + 0.24 * len(found.names))
    ax = self._axes(ax, *size)
    (_draw_dots if found.places is None else _draw_spectrum)(found, ax, inks(ax))
    more = f"; {found.left_out:,} columns nearer to zero not shown" if found.left_out else ""
    note(ax, f"{100 * level:g} % intervals, {found.basis or 'given the components'}{more}")
    return plain(ax)


def _response(figure: str, response: Any, responses: int) -> int:
    parameters.whole(f"plot.{figure}", "response", response, 1, responses)
    return int(response) - 1


class RegressionPlots(Plots):
    """What can be drawn of a regression."""

    scores = scores
    validation = validation
    predictions = predictions
    coefficients = coefficients
