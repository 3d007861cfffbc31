"""What every probabilistic model offers once it is fitted: hidden values, missing values, and how sure they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from lowdim.errors import BadInput, BadParameter
from lowdim.matrices.missing import naming_all_holes
from lowdim.matrices.preparation import working_dtype
from lowdim.models.base import parameters
from lowdim.models.base.output import frame_kind, scores_table
from lowdim.models.base.parameters import seed_of
from lowdim.models.base.uncertainty import Unsure
from lowdim.models.linear.model import LinearModel
from lowdim.models.linear.row_figures import LatentPlots
from lowdim.models.probabilistic_pca import rows as latent_rows
from lowdim.models.probabilistic_pca.record import LatentFit
from lowdim.models.probabilistic_pca.rows import RowModel
from lowdim.sources.source import Block, Source
from lowdim.types import Floats


class LatentModel(Unsure, LinearModel):
    """mean + loadings z + noise. Subclasses fit it, and keep its record."""

    whiten = True
    """Hidden values have variance one."""
    center = True

    _record: LatentFit | None = None

    @property
    def fit_(self) -> LatentFit:
        """The frozen record of the fit, which every read-out below reads."""
        found: LatentFit = super().fit_  # type: ignore[assignment]  # that of a latent model is one
        return found

    @property
    def plot(self) -> LatentPlots:
        """Figures of this fit: `model.plot.holes(X)`, `model.plot.path()`, …"""
        return LatentPlots(self)

    # -- attributes -----------------------------------------------------------------------------------------------

    @property
    def loadings_(self) -> Floats:
        """(p, k) W: what a hidden value of one adds to a row, in the data's units."""
        return self.fit_.axes(whiten=True).T

    @property
    def loglik_(self) -> float:
        """Log-likelihood of all observed entries, in the data's units; with n_components="ard" a bound below it."""
        return self.fit_.loglik

    @property
    def loglik_path_(self) -> Floats:
        """(steps,) log-likelihood of every model that EM accepted, the last of which is the result, in the units of the
        scaled columns; one value without EM."""
        ascent = self.fit_.ascent
        return np.array([self.fit_.loglik] if ascent is None else ascent.loglik)

    @property
    def logpost_path_(self) -> Floats:
        """(steps,) the same with the log-prior of the loadings, which EM raises in every step."""
        ascent = self.fit_.ascent
        return np.array([self.fit_.loglik] if ascent is None else ascent.logpost)

    @property
    def bic_(self) -> float:
        """Bayesian information criterion, −2 log-likelihood + log n for each free number: smaller is better."""
        return self.fit_.bic

    @property
    def converged_(self) -> bool:
        """Whether EM stood still at the end; True without EM."""
        return self.fit_.reached

    @property
    def n_iter_(self) -> int:
        """Passes of EM over the rows, steps that were taken back included; 1 for the closed form."""
        ascent = self.fit_.ascent
        return 1 if ascent is None else len(ascent.loglik) + ascent.refused

    def _refuse_graph(self, inverse: bool) -> None:
        if self.fit_.spread is not None and not inverse:
            raise BadInput(
                "The hidden values of this fit reckon with uncertain loadings (n_components='ard'), which the graph of "
                f"a linear model does not: fit with n_components={self.fit_.k} first."
            )

    # -- hidden values --------------------------------------------------------------------------------------------

    def posterior(self, X: Any) -> tuple[Floats, Floats]:
        """Means (n, k) and covariances (n, k, k) of the hidden values, given what was observed of each row.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        pair of arrays
            (n, k) means and (n, k, k) covariances.
        """
        check_is_fitted(self)
        source, model = self._opened(X, reset=False).unweighted(), RowModel.of(self.fit_)
        k = self.fit_.k
        covariances = _mapped(source, partial(latent_rows.hidden_covariances, model=model), k * k, np.float64)
        return self._scores(X), covariances.reshape(-1, k, k)

    def _scores(self, X: Any) -> Any:
        """(n, k) expected hidden values."""
        source = self._opened(X, reset=False).unweighted()
        work = partial(latent_rows.hidden_values, model=RowModel.of(self.fit_))
        return _mapped(source, work, self.fit_.k, working_dtype(source.dtype))

    # -- missing values -------------------------------------------------------------------------------------------

    def impute(self, X: Any, return_std: bool = False) -> Any:
        """Rows (n, p) with what is missing filled by what the model expects of it; what was observed stays as it is.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        return_std : bool
            Give the standard deviation of a reading of each missing entry too, noise included; 0 where it was observed.
            Infinite in columns of which nothing was ever observed, whose entries stay NaN.

        Returns
        -------
        (n, p) array, or a frame of X's own kind; with `return_std` two of them.
        """
        values, deviations = self._filled(X, return_std)
        return (self._like(X, values), self._like(X, deviations)) if return_std else self._like(X, values)

    def intervals(self, X: Any, level: float = 0.95) -> tuple[Any, Any]:
        """Lower and upper ends (n, p) of intervals that hold missing entries with this probability, if the model is
        right; where an entry was observed, both are its value.

        Of a fixed number of components and few rows it is nearly this probability: .94 of entries for 40 rows at .95.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        level : float
            That probability.

        Returns
        -------
        pair of arrays or frames
            Lower and upper ends, each (n, p).
        """
        parameters.real(type(self).__name__, "level", level, 0.0)
        if not 0 < level < 1:
            raise BadParameter.of(type(self).__name__, "level", level, "a number between 0 and 1, such as 0.95")
        values, deviations = self._filled(X, True)
        reach = float(ndtri(0.5 + level / 2)) * deviations
        middle = np.where(np.isinf(deviations), 0.0, values)  # where nothing is expected, anything may be
        return self._like(X, middle - reach), self._like(X, middle + reach)

    def draw_missing(self, X: Any, random_state: Any = None) -> Any:
        """Rows (n, p) with what is missing drawn from its joint distribution given what was observed.

        Unlike expected values, draws vary as much as the entries do, as multiple imputation needs it. Loadings that are
        uncertain (n_components="ard") are drawn too, once for all rows.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        random_state : int, Generator, RandomState or None
            For the draws; None is a fixed seed.

        Returns
        -------
        array or frame
            (n, p), a frame where X is one.
        """
        check_is_fitted(self)
        parameters.check_seed(type(self).__name__, random_state)
        source, rng = self._opened(X, reset=False).unweighted(), np.random.default_rng(seed_of(random_state))
        model, dtype = RowModel.of(self.fit_).drawn(rng), working_dtype(source.dtype)
        with naming_all_holes(source, only_infinite=True):
            rows = [latent_rows.drawn_rows(block, model, rng, dtype) for block in source.blocks()]
        return self._like(X, np.concatenate(rows))

    def _filled(self, X: Any, with_deviations: bool) -> tuple[Any, Any]:
        check_is_fitted(self)
        source, model = self._opened(X, reset=False).unweighted(), RowModel.of(self.fit_)
        p, dtype = source.n_columns, working_dtype(source.dtype)
        if not with_deviations:
            return _mapped(source, partial(latent_rows.filled_rows, model=model, dtype=dtype), p, dtype), None
        work = partial(latent_rows.filled_rows_with_deviations, model=model, dtype=dtype)
        both = _mapped(source, work, 2 * p, dtype)
        return both[:, :p], both[:, p:]

    def _like(self, X: Any, rows: Any) -> Any:
        """Rows as a frame, if they came as one."""
        kind, columns = frame_kind(X), self.fit_.columns
        return rows if kind is None or columns is None else scores_table(kind, list(columns), rows, like=X)

    # -- densities ------------------------------------------------------------------------------------------------

    def score_samples(self, X: Any) -> Any:
        """(n,) log-likelihood of what was observed of each row, at the loadings found; lazy for dask's data.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n,)
        """
        check_is_fitted(self)
        source, model = self._opened(X, reset=False).unweighted(), RowModel.of(replace(self.fit_, spread=None))
        return _mapped(source, partial(latent_rows.log_densities, model=model), 1, np.float64)[:, 0]

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Floats:
        """(n_samples, p) rows drawn from the model at the loadings found, in the data's units.

        Parameters
        ----------
        n_samples : int
            How many rows.
        random_state : int, Generator, RandomState or None
            For the draws; None is a fixed seed.

        Returns
        -------
        array
            (n_samples, p)
        """
        check_is_fitted(self)
        name = type(self).__name__
        parameters.whole(name, "n_samples", n_samples, 1, None)
        parameters.check_seed(name, random_state)
        fit, rng = self.fit_, np.random.default_rng(seed_of(random_state))
        z = rng.standard_normal((n_samples, fit.k))
        noise = np.sqrt(fit.noise) * rng.standard_normal((n_samples, len(fit.mean)))
        return np.asarray(fit.mean + z @ fit.axes(whiten=True) + noise * fit.undo_gain)


def _mapped(source: Source, work: Callable[[Block], NDArray[Any]], width: int, dtype: Any) -> Any:
    """What a function of blocks makes of all rows; if some are infinite, an error that counts them all."""
    with naming_all_holes(source, only_infinite=True):
        return source.map_rows(work, width, dtype)
