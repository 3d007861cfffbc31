"""Principal component analysis."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np

from lowdim.errors import MEND_CALLS, CannotMerge, Interrupted, MissingValues
from lowdim.matrices.convert import spacing_of
from lowdim.matrices.empty_rows import warning_of_empty_rows
from lowdim.matrices.matrix import KnownMoments
from lowdim.matrices.missing import naming_all_missing
from lowdim.matrices.moments import Moments
from lowdim.matrices.preparation import working_dtype
from lowdim.matrices.scaling import Scaling
from lowdim.models.base import parameters
from lowdim.models.base.estimator import Assignable
from lowdim.models.base.fitting import fit_transform_weighted
from lowdim.models.base.parameters import (
    CHECKED_BY_FIT,
    Bytes,
    ColumnScale,
    Components,
    Count,
    Missing,
    Needed,
    Normalizer,
    Range,
    Seed,
    Shape,
    SvdSolver,
    WholeFrom0,
)
from lowdim.models.base.prompt import Prompt
from lowdim.models.base.scikit_learn import Takes, check_is_fitted
from lowdim.models.base.uncertainty import Unsure
from lowdim.models.linear.fit import Learnt, Plan, batch_matrix, fit_linear, load_to_count, plan_fit
from lowdim.models.linear.fit_small import fit_small, is_small
from lowdim.models.linear.model import LinearModel
from lowdim.models.pca.fit import fit_missing_values, read_batch, require_moments
from lowdim.results.record import LinearFit, drop_components
from lowdim.runtime.memory import budget_of
from lowdim.solvers.choose import Choice
from lowdim.solvers.covariance import Covariance
from lowdim.sources.source import ColumnwiseSource, Source
from lowdim.types import Floats
from lowdim.views.text.facts import PlanFacts

if TYPE_CHECKING:
    from lowdim.models.linear.row_figures import HoledPlots, PCAPlots


class PCA(Unsure, LinearModel):
    """Principal component analysis: the orthogonal directions of largest variance, with a certificate.

    Parameters and attributes have scikit-learn's names and meaning; where its answers are wrong in the last digits or
    in all of them, ours are right (docs/differences.md lists every case).

    Parameters
    ----------
    n_components : int, float, "mle" or None
        A number of components; a share of the variance that they must reach (0.9); Minka's choice; or all. 0 leaves
        the mean and a variance that is the same in all directions, as a model to compare others with.
    copy : bool
        Accepted for scikit-learn's sake. The data are never changed, so nothing needs to be copied.
    whiten : bool
        Divide the scores by their standard deviations; directions without variance get scores of 0.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized", "lanczos", "gram", "tsqr"}
        How the components are found. "arpack", "randomized" and "lanczos" all mean block Lanczos, stopped by
        residuals. `explain` says what "auto" chooses, and why.
    tol : float
        Relative accuracy of every variance; 0 means 1e-10.
    iterated_power, n_oversamples, power_iteration_normalizer
        For "randomized" only, as in scikit-learn: a number of power iterations on a block of k + n_oversamples
        vectors. "auto" iterates until `tol` is reached. The basis is always kept orthonormal, whatever the normaliser.
    random_state : int, Generator, RandomState or None
        Start of the iterative solvers; None is a fixed seed. The answer does not depend on it beyond `tol`.
    center : bool
        Subtract the mean of each column. Without it, directions are those of largest second moment.
    scale : bool or array of shape (p,)
        Divide the columns by their standard deviations (or by these numbers). Constant columns are not scaled.
    ddof : int
        Variances divide by n − ddof.
    column_weight : array of shape (p,) or None
        Importance of the columns: distances between rows are Σ weight (x − y)².
    missing : {"error", "ppca"}
        What to do about missing values: refuse them, or find the components by probabilistic PCA of what was observed
        (`ProbabilisticPCA`), where n_components is a number or None: as many as its rule "auto" finds. `transform`
        then fills the holes of a row with what the model expects there, and `score_samples` leaves them out.
    memory : int, str or None
        Most bytes that the process may hold while it fits ("512MB"): blocks of rows are cut accordingly, and a fit that
        cannot be made within it is refused before it starts. It is no part of the model, so files do not keep it.

    References
    ----------
    Pearson 1901; Hotelling 1933; Tipping & Bishop 1999 for the noise variance and the density.

    Examples
    --------
    >>> import lowdim
    >>> foods = lowdim.datasets.uk_foods()
    >>> model = lowdim.PCA(n_components=0.9).fit(foods.values)
    >>> model.n_components_
    2
    >>> model.explained_variance_ratio_.round(4)
    array([0.6744, 0.2905])
    >>> model.certificate_.word
    'certified'
    """

    _has_linear_rules = True
    _prompt: ClassVar = Prompt("90%", ("lowdim choose {same}", "how many dimensions?"), resumes=True)

    def __init__(
        self,
        n_components: Components = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: SvdSolver = "auto",
        tol: Annotated[float, CHECKED_BY_FIT] = 0.0,
        iterated_power: WholeFrom0 | Literal["auto"] = "auto",
        n_oversamples: Count = 10,
        power_iteration_normalizer: Normalizer = "auto",
        random_state: Seed = None,
        center: bool = True,
        scale: ColumnScale = False,
        ddof: Annotated[int, Range(0), Needed("a whole number from 0, usually 1 or 0")] = 1,
        column_weight: Annotated[Annotated[Any, Shape("p")] | None, CHECKED_BY_FIT] = None,
        missing: Missing = "error",
        memory: Bytes = None,
    ):
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.center = center
        self.scale = scale
        self.ddof = ddof
        self.column_weight = column_weight
        self.missing = missing
        self.memory = memory

    _record: LinearFit | None = None

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PCA:
        """Find the components of the rows of X, (n, p); `sample_weight` (n,) counts rows: 2 means twice.

        Parameters
        ----------
        X : array, sparse matrix, frame, dask data, path, iterator of row blocks or Source
            Rows, (n, p); what `lowdim.open` takes.
        y : ignored
        sample_weight : array of shape (n,) or None
            How often each row counts: 2 means twice.

        Returns
        -------
        PCA
            The model itself.
        """
        source = self._opened(X, reset=True)
        learnt = None if sample_weight is not None else self._fit_small(source)
        if learnt is None:
            source, learnt = self._fit_any(X, source, sample_weight)
        self._remember(X, source)
        self._record = learnt.fit
        self._moments = learnt.moments
        return self

    def _fit_small(self, source: Source) -> Learnt | None:
        """The fit of a small array in a straight line, where nothing unusual is asked for or met."""
        plain = self.svd_solver == "auto" and self.center is True and self.scale is False and self.memory is None
        if not plain or self.column_weight is not None or not is_small(source) or parameters.is_zero(self.n_components):
            return None
        asked = parameters.accuracy(self._owner, self.tol)
        return fit_small(source, self._owner, self.n_components, self.ddof, asked, self.random_state)

    def _fit_any(self, X: Any, source: Source, sample_weight: Any) -> tuple[Source, Learnt]:
        """The fit of any data, and the source that was read."""
        source = load_to_count(source, budget_of(self._owner, self.memory))
        plan = self._plan(source, sample_weight)
        scaling, asked = self._scaling(source), parameters.accuracy(self._owner, self.tol)
        try:
            found = fit_linear(plan.matrix(scaling), plan.keep, plan.choice, asked, self.random_state)
            return source, self._kept(found)
        except Interrupted as stop:
            stop.model = self._part(X, source, stop.statistic)
            raise
        except MissingValues as holes:
            if self.missing == "error":
                raise (holes.advising(MEND_CALLS) if isinstance(source, ColumnwiseSource) else holes) from None
            return source, Learnt(fit_missing_values(self, source, sample_weight, scaling), None)

    fit_transform = fit_transform_weighted

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PCA:
        """Add rows. The result is that of all rows at once, whatever the batches; components follow when asked for.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        y : ignored
        sample_weight : array of shape (n,) or None
            How often each row counts: 2 means twice.

        Returns
        -------
        PCA
            The model itself.
        """
        first = not hasattr(self, "_moments")
        source = self._opened(X, reset=first)
        scaling = self._scaling(source)
        parameters.keep_rule(self._owner, self._wanted, None, source.n_columns)
        try:
            matrix = batch_matrix(source, sample_weight, scaling, budget_of(self._owner, self.memory))
            moments = read_batch(matrix, source.describe(), self.missing == "ppca")
        except Interrupted as stop:
            part = self._part(X, source, stop.statistic)
            stop.model = part if first else self if part is None else self.merge(part)
            raise
        if first:
            self._remember(X, source)
        else:
            moments = self._kept_moments().merge(moments)
        self._moments = moments
        self._record, self._assigned, self._made = None, {}, None
        return self

    def merge(self, other: PCA) -> PCA:
        """A new model: the one that the rows of both would have given, with this one's settings.

        Parameters
        ----------
        other : PCA
            Fitted on other rows of the same columns.

        Returns
        -------
        PCA
            Fitted on all of them.
        """
        mine, theirs = self._kept_moments(), other._kept_moments()
        if self.n_features_in_ != other.n_features_in_:
            raise CannotMerge(
                f"One model has {self.n_features_in_} columns, the other {other.n_features_in_}: only fits of the same "
                "columns can be merged."
            )
        merged: PCA = self.__sklearn_clone__()
        merged.__dict__.update({k: v for k, v in self.__dict__.items() if k not in merged.__dict__})
        merged._moments = mine.merge(theirs)
        merged._record, merged._assigned, merged._made = None, {}, None
        return merged

    @property
    def _learnt(self) -> LinearFit | None:
        """The record of the fit; after `partial_fit` it is computed when first asked for."""
        if self._record is None and getattr(self, "_moments", None) is not None:
            self._record = self._from_moments()
        return self._record

    @property
    def plot(self) -> PCAPlots | HoledPlots:
        """Figures of this fit: `model.plot.scree()`, `model.plot.scores(X)`, …; with missing="ppca" also of holes."""
        from lowdim.models.linear.row_figures import HoledPlots, PCAPlots

        return HoledPlots(self) if self.missing == "ppca" else PCAPlots(self)

    def _deviations(self, source: Source) -> Floats:
        """(n, p) standard deviations of what fills the holes of rows, where the fit was one with holes."""
        from lowdim.models.probabilistic_pca.rows import missing_deviations

        return missing_deviations(source, self.fit_)

    def __sklearn_is_fitted__(self) -> bool:
        return super().__sklearn_is_fitted__() or getattr(self, "_moments", None) is not None

    @property
    def _takes(self) -> Takes:
        return Takes(missing=self.missing == "ppca")

    def _scores(self, X: Any) -> Any:
        if self.missing != "ppca":
            return super()._scores(X)
        from lowdim.models.probabilistic_pca.rows import score_filled_rows

        source = self._opened(X, reset=False).unweighted()
        work = partial(score_filled_rows, fit=self.fit_, whiten=self.whiten)
        with naming_all_missing(source, only_infinite=True), warning_of_empty_rows(source) as watched:
            return watched.map_rows(work, self.fit_.k, working_dtype(source.dtype))

    def score_samples(self, X: Any) -> Any:
        """(n,) log-likelihood of each row under the Gaussian model; with missing="ppca", of what was observed of it.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n,)
        """
        if self.missing != "ppca":
            return super().score_samples(X)
        from lowdim.models.probabilistic_pca.rows import observed_log_densities

        check_is_fitted(self)
        source = self._opened(X, reset=False).unweighted()
        with naming_all_missing(source, only_infinite=True):
            return source.map_rows(partial(observed_log_densities, fit=self.fit_), 1, np.float64)[:, 0]

    # -- what was added up, by scikit-learn's names for IncrementalPCA ----------------------------------------------

    @Assignable
    def n_samples_seen_(self) -> int:
        """Rows seen, in all batches."""
        moments: Moments | None = getattr(self, "_moments", None)
        return self.fit_.n_rows if moments is None else moments.n_rows

    @Assignable
    def var_(self) -> Floats:
        """(p,) variance of each column, divided by n."""
        fit = self.fit_
        if fit.column_variances is None:
            raise AttributeError(
                "var_ is not known of this model, which was converted, assigned or too large to square."
            )
        return fit.column_variances * ((fit.weight - fit.ddof) / fit.weight)

    # -- explaining -----------------------------------------------------------------------------------------------

    def _plan_facts(self, source: Source) -> PlanFacts:
        return self._plan(source, None).facts(parameters.tolerance(self._owner, self.tol))

    # -- inside ---------------------------------------------------------------------------------------------------

    def _plan(self, source: Source, sample_weight: Any) -> Plan:
        return plan_fit(
            self._owner,
            source,
            sample_weight,
            self._wanted,
            self.svd_solver,
            parameters.sketch(self._wanted, self.n_oversamples, self.iterated_power),
            budget_of(self._owner, self.memory),
        )

    def _scaling(self, source: Source) -> Scaling:
        return parameters.scaling_of(
            self._owner,
            self.center,
            self.scale,
            self.column_weight,
            self.ddof,
            source.n_columns,
            spacing_of(source.dtype),
        )

    def _part(self, X: Any, source: Source, statistic: Any) -> PCA | None:
        """A model of the rows that an interrupted fit had read, if it was forming their scatter."""
        if not isinstance(statistic, Moments) or statistic.scatter.ndim == 1 or statistic.holes is not None:
            return None
        part: PCA = self.__sklearn_clone__()
        part.__dict__.update({k: v for k, v in self.__dict__.items() if k not in part.__dict__})
        part._remember(X, source)
        part._moments, part._record = statistic, None
        return part

    def _from_moments(self) -> LinearFit:
        moments = self._moments
        assert moments is not None
        p = len(moments.mean)
        scaling = parameters.scaling_of(
            self._owner, self.center, self.scale, self.column_weight, self.ddof, p, self._data_spacing
        )
        keep = parameters.keep_rule(self._owner, self._wanted, moments.n_rows, p)
        choice = Choice(Covariance(), "moments were accumulated batch by batch", Covariance().memory(0, p, 0))
        matrix = KnownMoments(moments, scaling, self._columns)
        asked = parameters.accuracy(self._owner, self.tol)
        return self._kept(fit_linear(matrix, keep, choice, asked, self.random_state)).fit

    @property
    def _wanted(self) -> Any:
        """n_components as solvers take it: where none are wanted, one is found and left out."""
        return 1 if parameters.is_zero(self.n_components) else self.n_components

    def _kept(self, learnt: Learnt) -> Learnt:
        """The same with as many components as are wanted."""
        return replace(learnt, fit=drop_components(learnt.fit)) if parameters.is_zero(self.n_components) else learnt

    def _kept_moments(self) -> Moments:
        return require_moments(getattr(self, "_moments", None), self._record)
