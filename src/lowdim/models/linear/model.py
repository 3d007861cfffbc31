"""What every linear model offers once it is fitted: scores and back, tables, reconstructions, densities."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter, WrongShape
from lowdim.matrices.missing import naming_all_missing
from lowdim.matrices.preparation import Preparation, working_dtype
from lowdim.matrices.products import project, project_at_once, reconstruct_rows
from lowdim.models.base.estimator import Assignable, VarianceModel
from lowdim.models.base.output import Exported, Tables, table_by_name
from lowdim.models.base.scikit_learn import check_is_fitted
from lowdim.models.linear import gaussian
from lowdim.models.linear.assigned import linear_record
from lowdim.models.linear.gaussian import log_density_of_block
from lowdim.models.linear.tables import TABLES, rotated, rows
from lowdim.models.linear.tables.columns import compute_compression
from lowdim.models.linear.tables.rotated import Rotation
from lowdim.results.certificate import Certificate
from lowdim.results.record import LinearFit
from lowdim.results.table import Table
from lowdim.sources.open import open_rows
from lowdim.sources.source import Source
from lowdim.types import Floats
from lowdim.views.plots.rows import Biplot
from lowdim.words import plural

if TYPE_CHECKING:
    from lowdim.models.linear.row_figures import LinearPlots


class LinearModel(Exported, VarianceModel):
    """A mean and orthonormal axes. Subclasses say how `fit_` comes about."""

    whiten: bool
    center: bool
    scale: Any

    _tables: ClassVar[Tables] = TABLES
    """Name → function that makes the table; a subclass may have more."""

    @property
    def fit_(self) -> LinearFit:
        """The frozen record of the fit, which every read-out below reads."""
        found: LinearFit = super().fit_
        return found

    @property
    def _as_fitted(self) -> LinearFit:
        found: LinearFit = super()._as_fitted
        return found

    @property
    def plot(self) -> LinearPlots:
        """Figures of this fit: `model.plot.scree()`, `model.plot.scores(X)`, …"""
        from lowdim.models.linear.row_figures import LinearPlots

        return LinearPlots(self)

    # -- attributes, with scikit-learn's names --------------------------------------------------------------------

    @Assignable
    def components_(self) -> Floats:
        """(k, p) orthonormal axes, largest variance first."""
        return self._as_fitted.components

    @Assignable
    def singular_values_(self) -> Floats:
        """(k,) singular values of the centred (and scaled, weighted) matrix."""
        return self._as_fitted.singular_values

    @Assignable
    def mean_(self) -> Floats:
        """(p,) mean of each column."""
        return self._as_fitted.mean

    @Assignable
    def scale_(self) -> Floats:
        """(p,) what each column was divided by; ones without scaling and for constant columns."""
        return self._as_fitted.scale

    @Assignable
    def n_samples_(self) -> int:
        """Number of rows seen."""
        return self.fit_.n_rows

    @Assignable
    def noise_variance_(self) -> float:
        """Mean variance of the p − k directions left out (Tipping & Bishop 1999, eq. 8)."""
        return self.fit_.noise_variance

    @Assignable
    def total_variance_(self) -> float:
        """Sum of the variances of all columns, after scaling and weighting."""
        return self.fit_.total_variance

    @property
    def certificate_(self) -> Certificate:
        """Bounds on the numerical error of every component."""
        return self.fit_.certificate

    # -- rows to scores and back ----------------------------------------------------------------------------------

    def _scores(self, X: Any) -> Any:
        source = self._opened(X, reset=False).unweighted()
        fit, dtype = self.fit_, working_dtype(source.dtype)
        axes = fit.components if fit.k else np.ones((1, fit.n_columns))  # holes are found by projecting
        scores = project_at_once(source, self._preparation, axes, dtype)
        if scores is None:
            with naming_all_missing(source):
                scores = project(source, self._preparation, axes, dtype, fit.total_variance)
        if fit.k < len(axes):
            scores = scores[:, : fit.k]
        if self.whiten:
            scores *= self.fit_.whitening.astype(scores.dtype)
        return scores

    def inverse_transform(self, X: Any) -> Any:
        """Rows from scores, (n, p): the nearest points of the plane to the rows that the scores came from.

        Rows from a dask array or frame of scores are a lazy dask array.

        Parameters
        ----------
        X : array, frame, dask data, path or Source
            Scores, (n, k), as `transform` gives them.

        Returns
        -------
        array
            (n, p), of the library that X is an array of.
        """
        check_is_fitted(self)
        source, axes = open_rows(X), self.fit_.axes(self.whiten)
        if source.n_columns != self.fit_.k:
            raise WrongShape(
                f"The scores have {source.n_columns} columns, but this model has "
                f"{plural(self.fit_.k, 'component')}: pass what "
                "transform gave."
            )
        dtype = working_dtype(source.dtype)
        work = partial(reconstruct_rows, axes=axes.astype(dtype), mean=self.fit_.mean)
        return source.map_rows(work, axes.shape[1], dtype)

    def reconstructions(self, X: Any) -> Iterator[NDArray[Any]]:
        """Rank 1, 2, …, k reconstructions of rows, each (n, p), one after the other.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        iterator of arrays
            k of them, each (n, p).
        """
        scores = np.asarray(self._scores(X))
        axes = self.fit_.axes(self.whiten)
        current = np.broadcast_to(self.fit_.mean, (len(scores), axes.shape[1])).copy()
        for j in range(self.fit_.k):
            current += np.multiply.outer(scores[:, j], axes[j])
            yield current.copy()

    def low_rank(self, X: Any, k: int | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Factors Y (n, r) and Z (p, r) with X ≈ Y Zᵀ: r = k without centring, else k + 1 (ones and the mean).

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        k : int or None
            How many components; None: all.

        Returns
        -------
        pair of arrays
            Y and Z.
        """
        k = self._checked_k(k)
        Y, Z = np.asarray(self._scores(X))[:, :k], self.fit_.axes(self.whiten)[:k].T
        if self.center:
            Y = np.concatenate([Y, np.ones((len(Y), 1), dtype=Y.dtype)], axis=1)
            Z = np.concatenate([Z, self.fit_.mean[:, None]], axis=1)
        return Y, Z

    def _rows(self, X: Any) -> Source:
        """The rows behind X as tables measure them: by now without holes, if the model fills these by itself."""
        return self._opened(X, reset=False)

    # -- tables ---------------------------------------------------------------------------------------------------

    def table(self, name: str, X: Any = None, **settings: Any) -> Any:
        """A table by name, as a frame of the kind the model was fitted on (a plain Table for arrays).

        Tables about rows need them as X, are frames of X's own kind, and keep the index of a pandas frame. Shares add
        up to one, not to 100. Of a fit with row weights, tables about its rows need these again as `sample_weight`.

        Parameters
        ----------
        name : str
            Of the components: "eigenvalues", "compression". Of the columns: "components" (unit vectors), "loadings"
            (times the standard deviation along them), "correlations", "column_contributions", "column_cos2", "drivers"
            (the columns that contribute most to each component; `top=5`).

            Of rows: "scores" and "row_cos2" of any rows, "row_contributions" of those of the fit; "outliers" (T², Q,
            their limits and p-values), "limits" (which laws they come from), "outlier_columns" (what each column adds
            to T² and Q of the rows at the places `row`). For the limits rows are taken for normal; `level=0.95`;
            `training` says whether the rows are those of the fit, None finds out; limits of new rows come from
            `reference`, the rows of the fit, with `reference_weight` if they were weighted; `q_law` "box", "jackson" or
            "rows" (Box's law, from Q of the rows of the fit; of new rows it is as "auto") takes the axes for known,
            which "auto" does not.

            Of both: "biplot" (`k=2`, `alpha=0.5`: rows U Sᵃ, columns V S¹⁻ᵃ; `convention="prcomp"` or "prcomp_pc" as
            R's biplot of a prcomp with scale = 1 − alpha). Of other columns: "supplementary" with `extra=frame`.

            Rotated: "rotated" (loadings), "rotated_shares", "rotated_scores", with the settings of `rotated`.
        X : whatever `transform` takes, or None
            Rows, (n, p), for tables about them.
        **settings
            Of the table, as named above.

        Returns
        -------
        frame, or Table
            A frame of the kind that X is, or that the model was fitted on; a Table for arrays.

        References
        ----------
        Lebart, Morineau & Piron 1995; Husson, Lê & Pagès 2011 (contributions, cos², supplementary columns); Jackson
        1991, "A user's guide to principal components" (T² and Q).

        Examples
        --------
        >>> import lowdim
        >>> foods = lowdim.datasets.uk_foods().to_pandas()
        >>> model = lowdim.PCA(2).fit(foods)
        >>> model.table("row_contributions", foods)["PC1"].round(3).to_dict()
        {'England': 0.067, 'N Ireland': 0.723, 'Scotland': 0.027, 'Wales': 0.184}
        >>> model.table("drivers", top=2)["column"].to_list()
        ['Fresh fruit', 'Alcoholic drinks', 'Fresh potatoes', 'Soft drinks']
        """
        return table_by_name(self, self._tables, name, X, **settings)

    def rotated(
        self, k: int | None = None, method: str = "varimax", *, normalize: bool = True, power: float = 4.0
    ) -> Rotation:
        """The first k components turned within their space, so that each column belongs to few of them.

        Parameters
        ----------
        k : int or None
            How many; None: all. Rotation mixes what it is given, so keep those that matter.
        method : {"varimax", "promax"}
            Factors that are uncorrelated, or may correlate.
        normalize : bool
            Let every column count alike (Kaiser's normalisation, as R's varimax does).
        power : float
            Of promax: what loadings are raised to as its target.

        Returns
        -------
        Rotation
            loadings (p, k), matrix (k, k), correlations of the factors (k, k), communalities (p,), shares (k,).

        References
        ----------
        Kaiser 1958; Hendrickson & White 1964.

        Examples
        --------
        >>> import lowdim
        >>> model = lowdim.PCA(scale=True).fit(lowdim.datasets.us_arrests().values)
        >>> turned = model.rotated(2)
        >>> turned.shares.round(3)
        array([0.565, 0.302])
        """
        return rotated.rotate(self, k, method, normalize, power)

    def biplot(self, X: Any, k: int = 2, *, alpha: float = 0.5, convention: str = "singular") -> Biplot:
        """Points of rows (n, k) and columns (p, k) for one picture, and in words how they are scaled; see `table`.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        k : int
            How many components.
        alpha : float
            Rows are U Sᵃ, columns V S¹⁻ᵃ; 0.5 shares the singular values.
        convention : {"singular", "prcomp", "prcomp_pc"}
            Singular values, or as R's biplot of a prcomp.

        Returns
        -------
        Biplot
            rows (n, k), columns (p, k), and in words how they are scaled.
        """
        return rows.biplot_record(self, X, k, alpha, convention)

    def compression(self, itemsize: int | None = None) -> Table:
        """What k = 1 … K components cost and lose: numbers and bytes kept, of the original, and the error.

        Parameters
        ----------
        itemsize : int or None
            Bytes of a number, in the original and in the factors; None: those of the data.

        Returns
        -------
        Table
            A row for each k.
        """
        size: int = getattr(self, "_itemsize", 8) if itemsize is None else itemsize
        return Table(compute_compression(self.fit_, size, bool(self.center), self.scale is not False))

    # -- the Gaussian model ---------------------------------------------------------------------------------------

    def get_covariance(self) -> Floats:
        """(p, p) covariance of the Gaussian model, in the data's units."""
        return gaussian.covariance(self.fit_)

    def get_precision(self) -> Floats:
        """(p, p) inverse covariance of the Gaussian model."""
        return gaussian.precision(self.fit_)

    def score_samples(self, X: Any) -> Any:
        """(n,) log-likelihood of each row under the Gaussian model; lazy for dask's data.

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
        fit = self.fit_
        gaussian.require_density(fit)
        source = self._opened(X, reset=False).unweighted()
        work = partial(log_density_of_block, fit=fit, preparation=self._preparation, columns=source.columns)
        with naming_all_missing(source):
            return source.map_rows(work, 1, np.float64)[:, 0]

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows under the Gaussian model.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        y : ignored

        Returns
        -------
        float
        """
        return float(self.score_samples(X).mean())

    # -- inside ---------------------------------------------------------------------------------------------------

    def _graph(self, inverse: bool, dtype: str) -> Any:
        from lowdim.views.files.onnx_graphs import linear_graph

        return linear_graph(self.fit_, bool(self.whiten), inverse, dtype)

    def _checked_k(self, k: int | None) -> int:
        if k is None:
            return self.fit_.k
        if not self.fit_.k:
            raise BadParameter.of(type(self).__name__, "k", k, "left out, as this model has no components")
        if not 1 <= k <= self.fit_.k:
            raise BadParameter.of(type(self).__name__, "k", k, f"from 1 to {self.fit_.k}")
        return k

    def _assign(self, name: str, value: Any) -> None:
        """Keep it; the record is made of all that was assigned when it is needed."""
        self._keep_assigned(name, value)
        if name == "components_" and not hasattr(self, "n_features_in_") and np.ndim(value) == 2:
            self.n_features_in_: int = int(np.shape(value)[1])

    def _with_assigned(self, record: Any) -> LinearFit:
        return linear_record(record, self._assigned, type(self).__name__)

    @property
    def _preparation(self) -> Preparation:
        fit = self.fit_
        plain = self.scale is False and fit.column_weight is None
        return Preparation(fit.mean, None if plain else fit.gain)
