"""Principal component regression."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
import scipy
from numpy.typing import NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin

from lowdim.errors import BadParameter
from lowdim.matrices.missing import naming_all_missing
from lowdim.models.base import parameters
from lowdim.models.base.estimator import RecordedModel
from lowdim.models.base.fitting import refuse_one_pass
from lowdim.models.base.output import table_by_name
from lowdim.models.base.parameters import (
    CHECKED_BY_FIT,
    ColumnScale,
    Count,
    Missing,
    Needed,
    Number,
    Range,
    Saved,
    Seed,
)
from lowdim.models.base.scikit_learn import Takes, check_is_fitted
from lowdim.models.pc_regression.figures import RegressionPlots
from lowdim.models.pc_regression.fit import (
    check_same_rows,
    fit_regression,
    predictions_of_block,
    read_sample,
    read_target_names,
    scores_of_block,
)
from lowdim.models.pc_regression.record import RegressionFit
from lowdim.models.pc_regression.settings import OWNER, task_of
from lowdim.models.pc_regression.tables import TABLES
from lowdim.models.pc_regression.uncertainty import BootstrapCoefficients, bootstrap_coefficients
from lowdim.results.certificate import Certificate
from lowdim.runtime.progress import expect
from lowdim.sources.source import Source
from lowdim.types import Floats


class PCRegression(RegressorMixin, MultiOutputMixin, RecordedModel[RegressionFit]):  # type: ignore[misc]
    """Principal component regression: least squares on a few principal components, as coefficients of the columns.

    Where columns are many or nearly collinear, least squares divides by variances that are nearly 0. Here y is
    regressed on the scores of a few components, and the answer is turned back: ŷ = intercept + x · coef, with
    coefficients restricted to the span of the components kept. With all of them it is least squares.

    Parameters
    ----------
    n_components : "cv", int, float, "t-test" or None
        How many components, the largest first: as many as cross-validation chooses; a number; a share of the variance
        that they must reach (0.9); all, which is least squares. Or "t-test": those, of any variance, whose scores say
        something of y, by t-tests at the level `alpha` with Holm's correction.
    scale : bool or array of shape (p,)
        Divide the columns by their standard deviations (or by these numbers), within each fold. It changes the answer.
    cv : int, splitter of scikit-learn, splits or None
        Folds; rows are shuffled into them. Everything is done anew in each: means, scales, components, filling. None:
        no cross-validation, so no Q². A splitter, or (train, test) places or masks, is used once, as it is.
    repeats : int
        How often rows are shuffled into `cv` folds anew.
    rule : {"one_se", "best"}
        Of "cv": the fewest components whose error is within one standard error of the smallest, or the smallest.
    alpha : float
        Level of "t-test": the chance that even one component is taken where none says anything of y.
    missing : {"error", "ppca"}
        What to do about NaN in X: refuse it, or fill it with what probabilistic PCA expects, fitted within each fold.
    compare : bool
        Judge least squares, ridge and PLS beside it, on the same folds, each choosing within them (`rivals_`).
    random_state : int, Generator, RandomState or None
        For folds and resamples; None is a fixed seed.

    Notes
    -----
    The standard errors take the components, and their number, for given, as if they had not come from the same rows:
    they are too small for questions about the population, and `bootstrap` gives honest ones. Weights count rows.

    References
    ----------
    Hotelling 1957; Kendall 1957; Massy 1965; Jolliffe 1982, "A note on the use of principal components in regression";
    Frank & Friedman 1993, "A statistical view of some chemometrics regression tools".

    Examples
    --------
    >>> import numpy as np
    >>> import lowdim
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=(60, 2))
    >>> X = hidden @ rng.normal(size=(2, 100)) + 0.1 * rng.normal(size=(60, 100))
    >>> y = hidden @ [1.0, 2.0] + 0.1 * rng.normal(size=60)
    >>> model = lowdim.PCRegression().fit(X, y)
    >>> model.n_components_
    2
    >>> bool(model.q2_ > 0.98)
    True
    >>> lower, upper = model.intervals(X[:3], level=0.9)
    >>> bool((lower < model.predict(X[:3])).all() and (model.predict(X[:3]) < upper).all())
    True
    """

    def __init__(
        self,
        n_components: Annotated[Number | Literal["cv", "t-test"] | None, CHECKED_BY_FIT] = "cv",
        *,
        scale: ColumnScale = False,
        cv: Annotated[Any, CHECKED_BY_FIT, Saved(int | None, or_none=True)] = 10,
        repeats: Count = 5,
        rule: Literal["one_se", "best"] = "one_se",
        alpha: Annotated[float, Range(0, 1, inside=True), Needed("a number between 0 and 1, such as 0.05")] = 0.05,
        missing: Missing = "error",
        compare: bool = False,
        random_state: Seed = 0,
    ):
        self.n_components = n_components
        self.scale = scale
        self.cv = cv
        self.repeats = repeats
        self.rule = rule
        self.alpha = alpha
        self.missing = missing
        self.compare = compare
        self.random_state = random_state

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> PCRegression:
        """Regress y on the components of the rows of X.

        Parameters
        ----------
        X : array, sparse matrix, frame, dask data, path, iterator of row blocks or Source
            Rows, (n, p); what `lowdim.open` takes.
        y : array of shape (n,) or (n, m)
            Responses.
        sample_weight : array of shape (n,) or None
            How often each row counts: 2 means twice; weights that add up to less than the rows are shares, and are
            scaled up to them.
        groups : array of shape (n,) or None
            Rows of one group are held out together.

        Returns
        -------
        PCRegression
            The model itself.
        """
        source = self._opened(X, reset=True)
        task = task_of(self, source.n_columns)
        sample, flat = read_sample(source, y, sample_weight, groups, task.fills)
        targets = read_target_names(y)
        if task.compare:
            from lowdim.models.pc_regression.rivals import compare_rivals, refuse_few

            refuse_few(sample, task)
        expect([("fold", 1.0), ("fold", 4.0)] if task.compare else [("fold", 1.0)])
        learnt = fit_regression(source, sample, task)
        fit = replace(learnt.fit, flat=flat, targets=targets)
        if task.compare:
            found, words = compare_rivals(sample, task)
            fit = replace(fit, rivals=found, rivals_words=words)
        self._record = fit
        self._remember(X, source)
        self._held_out = learnt.held_out
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Any:
        """Fit, and give the scores (n, k) of the same rows.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        y : array of shape (n,) or (n, m)
            Responses.
        sample_weight : array of shape (n,) or None
            How often each row counts: 2 means twice.
        groups : array of shape (n,) or None
            Rows that stay together in cross-validation.

        Returns
        -------
        array
            (n, k) scores, as `transform` gives them.
        """
        refuse_one_pass(X)
        return self.fit(X, y, sample_weight=sample_weight, groups=groups).transform(X)

    def bootstrap(
        self,
        X: Any,
        y: Any,
        n_resamples: int = 1000,
        *,
        level: float = 0.95,
        choose: bool = False,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> BootstrapCoefficients:
        """Intervals of the coefficients that do not take the components for given: rows and responses are drawn anew.

        Parameters
        ----------
        X, y
            The rows and responses of the fit; others are refused.
        n_resamples : int
            How often.
        level : float
            What share of such intervals is to hold the true coefficient.
        choose : bool
            Choose the components of each resample by the model's rule as well; else each has as many as the model.
        sample_weight : array of shape (n,) or None
            Those of the fit. They count rows, and as many are drawn as there are: whole numbers, unless `groups` are
            given.
        groups : array of shape (n,) or None
            Draw whole groups, as many as there are. A fit with groups needs them.

        Returns
        -------
        BootstrapCoefficients
            Intervals of every coefficient, and what they were made of.
        """
        check_is_fitted(self)
        parameters.whole(OWNER, "n_resamples", n_resamples, 2, None)
        _check_level(level)
        task = task_of(self, self.n_features_in_)
        sample, _ = read_sample(self._opened(X, reset=False), y, sample_weight, groups, task.fills)
        check_same_rows(sample, self.fit_)
        return bootstrap_coefficients(sample, self.fit_, task, choose, n_resamples, level)

    @property
    def plot(self) -> RegressionPlots:
        """Figures of this fit: `model.plot.validation()`, `model.plot.coefficients()`, …"""
        return RegressionPlots(self)

    # -- attributes -----------------------------------------------------------------------------------------------

    @property
    def coef_(self) -> Floats:
        """(p,) or (m, p) coefficients of the columns, in the data's units."""
        return self._shaped(self.fit_.coefficients)

    @property
    def intercept_(self) -> Any:
        """What is predicted where all columns are 0; (m,) for several responses."""
        return self._one(self.fit_.intercept)

    @property
    def coef_std_err_(self) -> Floats:
        """(p,) or (m, p) standard errors of the coefficients, conditional on the components and their number."""
        return self._shaped(self.fit_.coefficient_errors)

    @property
    def intercept_std_err_(self) -> Any:
        """Standard error of the intercept, likewise."""
        return self._one(self.fit_.intercept_errors)

    @property
    def components_(self) -> Floats:
        """(k, p) orthonormal axes that are used."""
        return self.fit_.axes.components[self.fit_.picked]

    @property
    def picked_(self) -> NDArray[np.int64]:
        """(k,) which principal components are used, from 0."""
        return self.fit_.picked

    @property
    def score_coef_(self) -> Floats:
        """(k,) or (k, m) coefficients of the scores."""
        return self.fit_.loads[:, 0] if self.fit_.flat else self.fit_.loads

    @property
    def mean_(self) -> Floats:
        """(p,) mean of each column."""
        return self.fit_.axes.mean

    @property
    def scale_(self) -> Floats:
        """(p,) what each column was divided by."""
        return self.fit_.axes.scale

    @property
    def r2_(self) -> Any:
        """Share of the sum of squares of y explained in the rows that were fitted: it only grows with components."""
        return self._one(self.fit_.r2)

    @property
    def q2_(self) -> Any:
        """The same of rows held out, 1 − PRESS / Σ (y − ȳ)². With n_components="cv" the same folds chose the number of
        components, so that it is a little too good; `rivals_` has that of folds that did not. NaN without `cv`."""
        found = self.fit_.validation
        return self._one(np.full(self.fit_.m, np.nan) if found is None else found.q2)

    @property
    def press_(self) -> Any:
        """Sum of squared errors of rows held out; the mean over repetitions. NaN without `cv`."""
        found = self.fit_.validation
        return self._one(np.full(self.fit_.m, np.nan) if found is None else found.press)

    @property
    def residual_std_(self) -> Any:
        """σ̂, standard deviation of y about the model, over n − k − 1."""
        return self._one(np.sqrt(self.fit_.residual_variance))

    @property
    def cv_table_(self) -> Any:
        """What cross-validation says of 0, 1, 2, … leading components; None without `cv`."""
        return None if self.fit_.validation is None else self.table("cv")

    @property
    def held_out_(self) -> Any:
        """(n,) or (n, m) what was predicted of each row where it was held out, the mean over repetitions; NaN where it
        never was. None without `cv`, and of a model that comes from a file."""
        found = getattr(self, "_held_out", None)
        return None if found is None else found[:, 0] if self.fit_.flat else found

    @property
    def rivals_(self) -> Any:
        """Least squares, ridge and PLS beside it; None unless `compare`."""
        return self.table("rivals") if self.fit_.rivals else None

    @property
    def certificate_(self) -> Certificate:
        """Bounds on the numerical error of the components."""
        return self.fit_.axes.certificate

    # -- rows to predictions --------------------------------------------------------------------------------------

    def _scores(self, X: Any) -> Any:
        return self._scores_by(self.fit_, X)

    def _scores_by(self, fit: RegressionFit, X: Any) -> Any:
        """(n, k) of rows, along the components that a fit has picked."""
        source = self._opened(X, reset=False).unweighted()
        with naming_all_missing(source, only_infinite=fit.filler is not None):
            return source.map_rows(partial(scores_of_block, fit=fit), fit.k, np.float64)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """(n,) or (n, m) what is expected of the responses of rows; lazy for dask's data.

        With `return_std` also the standard deviation of a new response about it, noise included, conditional on the
        components and their number.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        return_std : bool
            Give the standard deviations too.

        Returns
        -------
        array, or a pair of arrays
            (n,), or (n, m) for m responses.
        """
        check_is_fitted(self)
        fit, m = self.fit_, self.fit_.m
        source = self._opened(X, reset=False).unweighted()
        with naming_all_missing(source, only_infinite=fit.filler is not None):
            work = partial(predictions_of_block, fit=fit, deviations=return_std)
            found = source.map_rows(work, 2 * m if return_std else m, np.float64)
        parts = [found[:, :m], found[:, m:]] if return_std else [found]
        parts = [part[:, 0] for part in parts] if fit.flat else parts
        return tuple(parts) if return_std else parts[0]

    def intervals(self, X: Any, level: float = 0.95) -> tuple[Any, Any]:
        """Lower and upper ends of intervals that hold a new response of each row with this probability.

        They are those of a linear model with normal noise, conditional on the components and their number.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        level : float
            That probability.

        Returns
        -------
        pair of arrays
            Lower and upper ends, each (n,), or (n, m) for m responses.
        """
        _check_level(level)
        predicted, deviation = self.predict(X, return_std=True)
        reach = scipy.stats.t.ppf(0.5 + level / 2, self.fit_.freedom) if self.fit_.freedom > 0 else np.nan
        return predicted - reach * deviation, predicted + reach * deviation

    def table(self, name: str, X: Any = None, level: float = 0.95) -> Any:
        """A table by name, as a frame of the kind the model was fitted on (a plain Table for arrays).

        Parameters
        ----------
        name : {"coefficients", "components", "cv", "rivals", "predictions"}
            "coefficients" has the columns, with standard errors and intervals of this level; "components" the scores,
            with their variances, t-tests and what each explains; "cv" the path of cross-validation; "rivals" least
            squares, ridge and PLS beside it; "predictions" those of the rows X, with intervals.
        X : whatever `transform` takes, or None
            Rows, (n, p), for tables about them.
        level : float between 0 and 1
            Of the intervals.

        Returns
        -------
        frame, or Table
            A frame of the kind that X is, or that the model was fitted on; a Table for arrays.
        """
        check_is_fitted(self)
        _check_level(level)
        return table_by_name(self, TABLES, name, X, level=level)

    def _open_to_plan(self, X: Any) -> Source:
        raise BadParameter(f"{OWNER}.explain(X): a plan is not made for regressions; call fit, then explain().")

    # -- inside ---------------------------------------------------------------------------------------------------

    @property
    def _takes(self) -> Takes:
        return Takes(sparse=False, missing=self.missing == "ppca", response="numbers", dtypes=("float64",))

    def _shaped(self, values: Floats) -> Floats:
        return values[0] if self.fit_.flat else values

    def _one(self, values: Floats) -> Any:
        return float(values[0]) if self.fit_.flat else values


def _check_level(level: Any) -> None:
    parameters.real(OWNER, "level", level, 0.0)
    if not 0 < level < 1:
        raise BadParameter.of(OWNER, "level", level, "a number between 0 and 1, such as 0.95")
