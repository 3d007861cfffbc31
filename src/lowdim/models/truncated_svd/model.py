"""Truncated singular value decomposition, with scikit-learn's parameters and attributes."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from lowdim.matrices.matrix import RowBlocks
from lowdim.matrices.moments import Moments, block_moments
from lowdim.matrices.preparation import Preparation
from lowdim.matrices.products import block_scores
from lowdim.matrices.scaling import Scaling
from lowdim.models.base import parameters
from lowdim.models.base.estimator import Assignable
from lowdim.models.base.fitting import fit_transform_weighted
from lowdim.models.base.parameters import (
    CHECKED_BY_FIT,
    Bytes,
    Count,
    Needed,
    Normalizer,
    Option,
    Seed,
    Share,
    WholeFrom0,
)
from lowdim.models.base.prompt import Prompt
from lowdim.models.linear.fit import Plan, fit_linear, load_to_count, plan_fit
from lowdim.models.linear.model import LinearModel
from lowdim.models.truncated_svd.record import TruncatedSVDFit
from lowdim.results.certificate import Accuracy
from lowdim.results.record import LinearFit
from lowdim.runtime.memory import budget_of
from lowdim.sources.source import Block, Source
from lowdim.types import Floats
from lowdim.views.text.facts import PlanFacts


class TruncatedSVD(LinearModel):
    """Truncated singular value decomposition: the k directions that keep most of the squares of the values.

    PCA without means: rows are not centred, so a sparse matrix stays what it is, and of counts or tf–idf weights it is
    latent semantic analysis. No other k dimensions are nearer to the values (Eckart & Young 1936).

    Parameters
    ----------
    n_components : int, float or None
        A number of components; a share of the sum of squares that they must reach (0.9); or all.
    algorithm : {"auto", "arpack", "randomized", "lanczos", "covariance_eigh", "gram", "tsqr", "full"}
        How the components are found, as `svd_solver` of `PCA`: "arpack", "randomized" and "lanczos" all mean block
        Lanczos, stopped by residuals. `explain` says what "auto" chooses, and why.
    n_iter : int or "auto"
        For "randomized" only: a number of power iterations. "auto" iterates until `tol` is reached.
    n_oversamples, power_iteration_normalizer
        For "randomized" with a number of iterations, as in scikit-learn: the block has k + n_oversamples vectors; the
        basis is always kept orthonormal, whatever the normaliser.
    random_state : int, Generator, RandomState or None
        Start of the iterative solvers; None is a fixed seed. The answer does not depend on it beyond `tol`.
    tol : float
        Relative accuracy of every squared singular value; 0 means 1e-10.
    memory : int, str or None
        Most bytes that the process may hold while it fits ("512MB"). It is no part of the model, so files do not keep
        it.

    Notes
    -----
    As in scikit-learn `explained_variance_` and `explained_variance_ratio_` are about means: how much the scores vary,
    of how much the columns vary. Components are ordered by what they keep of the squares, which the first shares with
    the mean of the rows, so these numbers need not fall. Cards, screens, tables and the scree plot are about squares.

    References
    ----------
    Eckart & Young 1936, "The approximation of one matrix by another of lower rank"; Deerwester et al. 1990, "Indexing
    by latent semantic analysis".

    Examples
    --------
    >>> import lowdim
    >>> foods = lowdim.datasets.uk_foods()
    >>> model = lowdim.TruncatedSVD(2).fit(foods.values)
    >>> model.singular_values_.round(1)
    array([5319.6,  549.2])
    >>> model.explained_variance_ratio_.round(4)
    array([0.0435, 0.645 ])
    >>> model.certificate_.word
    'certified'
    """

    center = False
    scale: Any = False
    whiten = False

    _prompt: ClassVar = Prompt(
        "90%",
        ("lowdim fit {data} --keep {k}", "what PCA keeps in as many"),
        no_scale="takes means off, and a truncated SVD is of the values as they are; leave it out",
    )

    def __init__(
        self,
        n_components: Annotated[
            Count | Share | None,
            Needed("a whole number from 1, a share of the sum of squares such as 0.9, or None"),
            Option("keep", {"all": None}, needed="a share such as 90%, a number such as 12, or all is needed"),
        ] = 2,
        *,
        algorithm: Literal[
            "auto", "arpack", "randomized", "lanczos", "covariance_eigh", "gram", "tsqr", "full"
        ] = "auto",
        n_iter: WholeFrom0 | Literal["auto"] = "auto",
        n_oversamples: Count = 10,
        power_iteration_normalizer: Normalizer = "auto",
        random_state: Seed = None,
        tol: Annotated[float, CHECKED_BY_FIT] = 0.0,
        memory: Bytes = None,
    ):
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol
        self.memory = memory

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TruncatedSVD:
        """Find the components of the rows of X, (n, p), as they are.

        Parameters
        ----------
        X : array, sparse matrix, frame, dask data, path, iterator of row blocks or Source
            Rows, (n, p); what `lowdim.open` takes.
        y : ignored
        sample_weight : array of shape (n,) or None
            How often each row counts: 2 means twice.

        Returns
        -------
        TruncatedSVD
            The model itself.
        """
        source = load_to_count(self._opened(X, reset=True), budget_of(self._owner, self.memory))
        plan = self._plan(source, sample_weight)
        self._record = fit_truncated_svd(plan, parameters.accuracy(self._owner, self.tol), self.random_state)
        self._remember(X, source)
        return self

    fit_transform = fit_transform_weighted

    @Assignable
    def explained_variance_(self) -> Floats:
        """(k,) variances of the scores about their means, divided by n."""
        return self._found.score_variances

    @Assignable
    def explained_variance_ratio_(self) -> Floats:
        """(k,) of the variances of all columns about their means; zeros where no column varies."""
        total = self._found.columns_variance
        return self._found.score_variances / total if total > 0 else np.zeros(self._found.k)

    @property
    def _found(self) -> TruncatedSVDFit:
        found = self._as_fitted
        assert isinstance(found, TruncatedSVDFit)
        return found

    def _plan_facts(self, source: Source) -> PlanFacts:
        return self._plan(source, None).facts(parameters.tolerance(self._owner, self.tol))

    def _plan(self, source: Source, sample_weight: Any) -> Plan:
        return plan_fit(
            self._owner,
            source,
            sample_weight,
            self.n_components,
            self.algorithm,
            parameters.sketch(self.n_components, self.n_oversamples, self.n_iter),
            budget_of(self._owner, self.memory),
            centered=False,
        )


# How it is found: as every linear model, but about zero; and how much the scores vary.


def fit_truncated_svd(plan: Plan, asked: Accuracy, seed: object) -> TruncatedSVDFit:
    """The decomposition of the rows of a plan, as they are."""
    matrix = plan.matrix(Scaling(center=False, ddof=0))
    found = fit_linear(matrix, plan.keep, plan.choice, asked, seed).fit
    known = {one.name: getattr(found, one.name) for one in fields(LinearFit)}
    raw = matrix.raw_moments
    assert raw is not None
    total = float(raw.variances.sum()) / raw.weight / matrix.unit / matrix.unit  # the square of a unit may overflow
    return TruncatedSVDFit(
        **known, score_variances=_score_variances(matrix, raw, found.components), columns_variance=total
    )


def _score_variances(matrix: RowBlocks, raw: Moments, V: Floats) -> Floats:
    """(k,) variances of the scores about their means, which σ²/n − mean² would give with fewer digits.

    Where the scatter about the means was not formed, the rows are read once more.
    """
    if raw.scatter.ndim == 2:
        found: Floats = ((V @ raw.scatter) * V).sum(axis=1) / raw.weight
    else:
        work = partial(_score_moments, preparation=matrix.preparation, V=V)
        scores: Moments = matrix.source.reduce(work, Moments.absorb)
        found = scores.variances / scores.weight
    return np.asarray(np.maximum(found, 0.0) / matrix.unit / matrix.unit)


def _score_moments(block: Block, preparation: Preparation, V: Floats) -> Moments:
    bare = replace(block, weight=None)  # or products would have the roots of the weights in them
    return block_moments(replace(block, rows=block_scores(bare, preparation, V, center_after=True)), full=False)
