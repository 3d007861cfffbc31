"""Figures of a regression on components."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.errors import BadParameter
from lowdim.models import settings
from lowdim.models.plots.base import checked_most, column_of
from lowdim.models.plots.scores import ScorePlots
from lowdim.models.regression_tables import regression_table
from lowdim.views.figures.coefficients import column_spreads, fit_coefficients
from lowdim.views.figures.predictions import predictions
from lowdim.views.plots.coefficients import draw_coefficients
from lowdim.views.plots.regression import draw_predictions, draw_validation


class RegressionPlots(ScorePlots):
    """What can be drawn of a regression."""

    def validation(self, ax: Any = None, *, most: int = 30) -> Any:
        """Error of held-out rows by the number of components, with a band of one standard error."""
        return draw_validation(self._model.fit_, self._axes(ax), checked_most(most))

    def predictions(self, X: Any, y: Any, ax: Any = None, *, response: int = 1, level: float = 0.95) -> Any:
        """Rows by what was measured of a response and what is predicted, with intervals of this level.

        Parameters
        ----------
        X : array (n, p), frame or file
        y : array of shape (n,) or (n, m), or the name of a column of X
            What was measured. Rows of the fit look better than new ones do: give those that the model has not seen.
        ax : matplotlib Axes, or None for a new figure
        response : int
            Which of several responses, counted from 1.
        level : float
            Of intervals for a new response.

        Returns
        -------
        matplotlib Axes
        """
        model, fit = self._model, self._model.fit_
        place = self._response("predictions", response)
        rows = self._rows(X)
        predicted = np.asarray(model.predict(rows))
        measured = np.asarray(column_of(X, y, "y") if isinstance(y, str) else y, dtype=np.float64)
        if measured.size != predicted.size:
            raise BadParameter(
                f"plot.predictions: y has {measured.size:,} numbers, but {predicted.size:,} are predicted for these "
                "rows: one for each is needed."
            )
        found = predictions(fit, measured, predicted, False, model.intervals(rows, level), level)
        return draw_predictions(found[place], self._axes(ax))

    def coefficients(
        self, ax: Any = None, *, response: int = 1, level: float = 0.95, most: int = 30, standardised: bool = False
    ) -> Any:
        """Coefficients of the columns with the intervals of `table("coefficients")`; clear ones stand out.

        Where that table has none, as the rows do not tell how the axes turn, intervals are drawn that take the axes for
        known, and the figure says so.

        Parameters
        ----------
        ax : matplotlib Axes, or None for a new figure
        response : int
            Which of several responses, counted from 1.
        level : float
            Of the intervals.
        most : int
            Columns, at most: those clearest of zero. Names that are rising numbers, as wavelengths are, make a curve of
            all columns.
        standardised : bool
            Of columns divided by their standard deviations, so that they can be compared whatever their units.

        Returns
        -------
        matplotlib Axes
        """
        fit = self._model.fit_
        place = self._response("coefficients", response)
        settings.real("plot.coefficients", "level", level, 0.0)
        table = regression_table(fit, "coefficients", level)
        if standardised and column_spreads(fit) is None:
            raise BadParameter(
                "plot.coefficients(standardised=True): this model's file does not tell the columns' variances: fit it "
                "again."
            )
        found = fit_coefficients(fit, place, table, level, checked_most(most), standardised)
        size = (6.0, 3.8) if found.places is not None else (5.2, 1.0 + 0.24 * len(found.names))
        return draw_coefficients(found, self._axes(ax, *size))

    def _response(self, figure: str, response: Any) -> int:
        settings.whole(f"plot.{figure}", "response", response, 1, self._model.fit_.m)
        return int(response) - 1
