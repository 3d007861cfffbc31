"""Mixtures of probabilistic PCAs."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin

from lowdim.errors import BadInput
from lowdim.matrices.convert import read_weights
from lowdim.models.base import parameters
from lowdim.models.base.estimator import Estimator
from lowdim.models.base.input import open_for, picture_shape_of
from lowdim.models.base.output import frame_kind, kind_of_fit, scores_table
from lowdim.models.base.parameters import CHECKED_BY_FIT, ColumnScale, Count, NumberAbove0, NumberFrom0, Seed, seed_of
from lowdim.models.base.scikit_learn import Takes, check_is_fitted
from lowdim.models.ppca_mixture.figures import MixturePlots
from lowdim.models.ppca_mixture.fit import MixtureTask, fit_clusters, load_rows
from lowdim.models.ppca_mixture.record import MixtureFit
from lowdim.models.ppca_mixture.solvers import Mixture, predict_entries, responsibilities
from lowdim.sources.source import Source
from lowdim.sources.wrapped import scale_to_counts
from lowdim.types import Floats
from lowdim.words import printable


class PPCAMixture(Estimator, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """Several probabilistic PCAs, each for some of the rows: clusters that each have their own few dimensions.

    Row i comes from cluster c with probability weights_[c], and is then means_[c] + W z + noise. Missing values (NaN)
    are left out of the likelihood, not filled. Rows are held in memory, and p × p matrices for each cluster.

    Parameters
    ----------
    n_clusters : int
        Number of probabilistic PCAs.
    n_components : int
        Hidden values of each.
    scale : bool or array of shape (p,)
        Divide the columns by the standard deviations of their observed entries, or by these numbers.
    noise_variance : float or None
        Variance of the noise of every cluster where it is known, in the units of the scaled columns.
    tol : float
        EM stops when a step raises the log-likelihood by no more than this per row.
    max_iter : int
        Steps of EM, at most.
    n_init : int
        Starts, from k-means of rows filled by one probabilistic PCA; the likeliest end is kept.
    random_state : int, Generator, RandomState or None
        For k-means; None is a fixed seed.

    References
    ----------
    Tipping & Bishop 1999, "Mixtures of probabilistic principal component analysers".

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.iris().values.copy()
    >>> X[0, 2] = float("nan")
    >>> model = lowdim.PPCAMixture(n_clusters=3, n_components=2).fit(X)
    >>> model.predict_proba(X).shape
    (150, 3)
    >>> bool(abs(model.impute(X)[0, 2] - 1.4) < 0.5)
    True
    """

    n_features_in_: int
    """Number of columns of the data that the model was fitted on."""

    feature_names_in_: NDArray[np.object_]
    """(p,) names of those columns; there only if the data had names that were all texts."""

    _parts = (("step", 1.0), ("start", 5.0))

    def __init__(
        self,
        n_clusters: Count = 2,
        n_components: Annotated[int, CHECKED_BY_FIT] = 1,
        *,
        scale: ColumnScale = False,
        noise_variance: NumberAbove0 | None = None,
        tol: NumberFrom0 = 1e-5,
        max_iter: Count = 500,
        n_init: Count = 3,
        random_state: Seed = None,
    ):
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.scale = scale
        self.noise_variance = noise_variance
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PPCAMixture:
        """Find the mixture under which the observed entries of X, (n, p), are most likely.

        `sample_weight` (n,) counts rows: 2 means twice. Weights that add up to less than the rows are scaled up to
        them.

        Parameters
        ----------
        X : array, sparse matrix, frame, dask data, path, iterator of row blocks or Source
            Rows, (n, p); what `lowdim.open` takes.
        y : ignored
        sample_weight : array of shape (n,) or None
            How often each row counts: 2 means twice.

        Returns
        -------
        PPCAMixture
            The model itself.
        """
        source = self._opened(X, reset=True)
        task = self._task(source.n_columns)
        weighted = source
        if sample_weight is not None:
            weighted = source.with_weights(scale_to_counts(read_weights(source, sample_weight)))
        self._record = fit_clusters(weighted, task)
        self._kind_of_fit = kind_of_fit(X)
        self._frame_kind, self._columns = frame_kind(X), source.columns
        self._itemsize, self._data_spacing = source.dtype.itemsize, float(np.finfo(float).eps)
        self._picture_shape = picture_shape_of(source)
        return self

    # -- attributes -----------------------------------------------------------------------------------------------

    @property
    def fit_(self) -> MixtureFit:
        """The frozen record of the fit."""
        found: MixtureFit = super().fit_
        return found

    @property
    def plot(self) -> MixturePlots:
        """Figures of this fit: `model.plot.path()`, `model.plot.holes(X)`, …"""
        return MixturePlots(self)

    @property
    def weights_(self) -> Floats:
        """(c,) how common each cluster is. One that has lost its rows to others is gone, so there may be fewer."""
        return self.fit_.weights

    @property
    def means_(self) -> Floats:
        """(c, p) in the data's units."""
        return self.fit_.center + self.fit_.means * self.fit_.scale

    @property
    def loadings_(self) -> Floats:
        """(c, p, k) W of each cluster, in the data's units."""
        return self.fit_.loadings * self.fit_.scale[:, None]

    @property
    def noise_variances_(self) -> Floats:
        """(c,) in the units of the scaled columns."""
        return self.fit_.noise

    @property
    def loglik_(self) -> float:
        """Log-likelihood of all observed entries, in the data's units."""
        return self.fit_.loglik

    @property
    def loglik_path_(self) -> Floats:
        """(steps,) log-likelihood after every step of EM, in the units of the scaled columns."""
        return self.fit_.path

    @property
    def bic_(self) -> float:
        """Bayesian information criterion: smaller is better."""
        return self.fit_.bic

    @property
    def converged_(self) -> bool:
        """Whether EM stood still at the end."""
        return self.fit_.converged

    @property
    def n_iter_(self) -> int:
        """Steps of EM from the best start."""
        return len(self.fit_.path)

    # -- rows -----------------------------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> Floats:
        """(n, c) probability of each cluster, given what was observed of a row.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n, c)
        """
        rows = self._prepared(X)
        return responsibilities(self._mixture, rows)[0]

    def predict(self, X: Any) -> NDArray[np.int64]:
        """(n,) the likeliest cluster of each row.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n,) clusters, from 0.
        """
        labels: NDArray[np.int64] = self.predict_proba(X).argmax(axis=1)
        return labels

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int64]:
        """Fit, and give the likeliest cluster of the same rows.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        y : ignored
        sample_weight : array of shape (n,) or None
            How often each row counts: 2 means twice.

        Returns
        -------
        array
            (n,) clusters, from 0.
        """
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def score_samples(self, X: Any) -> Floats:
        """(n,) log-likelihood of what was observed of each row, in the data's units.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n,)
        """
        rows = self._prepared(X)
        units = np.isfinite(rows) @ np.log(self.fit_.scale)
        return np.asarray(responsibilities(self._mixture, rows)[1] - units)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows.

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

    def impute(self, X: Any, return_std: bool = False) -> Any:
        """Rows (n, p) with what is missing filled by what the mixture expects of it; what was observed stays.

        With `return_std` also the standard deviation of a reading of each missing entry, noise included; else 0. Where
        several clusters are possible, it includes how far they lie apart.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        return_std : bool
            Give the standard deviations too.

        Returns
        -------
        array or frame, or a pair
            (n, p), a frame where X is one; with `return_std` two of them.
        """
        check_is_fitted(self)
        fit, rows = self.fit_, self._rows(X)
        holes = np.isnan(rows)
        values, variances = predict_entries(self._mixture, (rows - fit.center) / fit.scale)
        filled = np.where(holes, fit.center + values * fit.scale, rows)
        if not return_std:
            return self._like(X, filled)
        return self._like(X, filled), self._like(X, np.where(holes, np.sqrt(variances) * fit.scale, 0.0))

    def _deviations(self, source: Source) -> Floats:
        """(n, p) standard deviations of what fills the holes of rows."""
        return np.asarray(self.impute(source, return_std=True)[1])

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Floats, NDArray[np.int64]]:
        """Rows (n_samples, p) drawn from the mixture, in the data's units, and the clusters that they are from.

        Parameters
        ----------
        n_samples : int
            How many rows.
        random_state : int, Generator, RandomState or None
            For the draws; None is a fixed seed.

        Returns
        -------
        pair of arrays
            (n_samples, p) rows and (n_samples,) clusters.
        """
        parameters.whole("PPCAMixture", "n_samples", n_samples, 1, None)
        parameters.check_seed("PPCAMixture", random_state)
        fit, rng = self.fit_, np.random.default_rng(seed_of(random_state))
        of = rng.choice(len(fit.weights), n_samples, p=fit.weights / fit.weights.sum())
        z = rng.standard_normal((n_samples, fit.loadings.shape[2]))
        noise = np.sqrt(fit.noise[of])[:, None] * rng.standard_normal((n_samples, len(fit.center)))
        rows = fit.means[of] + np.einsum("npk,nk->np", fit.loadings[of], z) + noise
        return fit.center + rows * fit.scale, of

    @printable
    def explain(self) -> str:
        """What the fit did, in a few lines.

        Returns
        -------
        str
            A few lines.
        """
        return self._explain_fit()

    # -- inside ---------------------------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._takes.missing
        return tags

    @property
    def _takes(self) -> Takes:
        return Takes(sparse=False, missing=True)

    @property
    def _mixture(self) -> Mixture:
        fit = self.fit_
        return Mixture(fit.weights, fit.means, fit.loadings, fit.noise)

    def _prepared(self, X: Any) -> Floats:
        check_is_fitted(self)
        return (self._rows(X) - self.fit_.center) / self.fit_.scale

    def _rows(self, X: Any) -> Floats:
        return load_rows(self._opened(X, reset=False).unweighted())[0]

    def _opened(self, X: Any, reset: bool) -> Source:
        source = open_for(self, X, reset)
        if source.sparse:
            raise BadInput("Sparse data were given, but a mixture needs whole rows: pass X.toarray(), if it fits.")
        return source

    def _like(self, X: Any, rows: Any) -> Any:
        kind, columns = frame_kind(X), self.fit_.columns
        return rows if kind is None or columns is None else scores_table(kind, list(columns), rows, like=X)

    def _task(self, p: int) -> MixtureTask:
        """The settings, checked."""
        name = "PPCAMixture"
        parameters.whole(name, "n_components", self.n_components, 1, max(1, p - 1))
        return MixtureTask(
            n_clusters=int(self.n_clusters),
            n_components=int(self.n_components),
            noise=None if self.noise_variance is None else float(self.noise_variance),
            tol=float(self.tol),
            steps=int(self.max_iter),
            starts=int(self.n_init),
            scale=parameters.scaling_of(name, True, self.scale, None, 0, p, 0.0).scale,
            seed=self.random_state,
        )
