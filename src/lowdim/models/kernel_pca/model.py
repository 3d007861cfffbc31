"""Kernel principal component analysis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from lowdim.matrices.missing import naming_all_missing
from lowdim.matrices.preparation import working_dtype
from lowdim.models.base.estimator import Assignable, RecordedModel, VarianceModel
from lowdim.models.base.fitting import fit_transform
from lowdim.models.base.output import frame_kind, scores_table, table_by_name
from lowdim.models.base.parameters import (
    CHECKED_BY_FIT,
    Bytes,
    Count,
    Jobs,
    Needed,
    Number,
    NumberFrom0,
    Option,
    Range,
    Seed,
    WholeFrom0,
    check,
)
from lowdim.models.base.prompt import Prompt
from lowdim.models.base.scikit_learn import Takes, check_is_fitted
from lowdim.models.kernel_pca import rows as kernel_rows
from lowdim.models.kernel_pca.figures import KernelPlots
from lowdim.models.kernel_pca.fit import (
    advise_on_kernel_matrix,
    check_scores,
    fit_kernel,
    load_rows,
    make_read_only,
)
from lowdim.models.kernel_pca.kernels import Kernel as KernelFunction
from lowdim.models.kernel_pca.kernels import kernel_of
from lowdim.models.kernel_pca.plan import check_preimage, describe_plan, make_plan, scale_rows, task_of
from lowdim.models.kernel_pca.record import KernelFit
from lowdim.models.kernel_pca.rows import PreimageModel, RowKernel
from lowdim.models.kernel_pca.settings import prompt_settings
from lowdim.models.kernel_pca.tables import TABLES
from lowdim.results.table import Table
from lowdim.runtime.threads import at_most_threads
from lowdim.sources.source import Source
from lowdim.types import Floats
from lowdim.views.text.facts import PlanFacts


class KernelPCA(VarianceModel, RecordedModel[KernelFit]):
    """Principal components in a space of features that a kernel stands for: PCA along curves.

    scikit-learn's parameters and attributes mean here what they mean there. The exact routes never form the n × n
    kernel matrix of a named kernel; beyond about 100,000 rows landmarks stand for them, and every eigenvalue gets an
    interval that holds the exact one.

    Parameters
    ----------
    n_components : int, float, "auto" or None
        A number of components; a share of the feature space's variance that they must reach; as many as explain the
        most of held-out rows beyond what they explain of rows with shuffled columns ("auto"); or all with a variance.
    kernel : {"linear", "poly", "rbf", "laplacian", "cosine", "sigmoid", "precomputed"} or a function
        A function takes two rows, or (m, p) and (n, p) arrays at once, which is faster and found out by a trial. With
        "precomputed", X is the kernel matrix (n, n), and for new rows theirs with the training rows (m, n).
    gamma : float, "median", "auto" or None
        exp(−gamma |x − y|²) and the like; None is 1/p, "median" one over the median squared distance of rows, "auto"
        the width that explains held-out rows best, by the same measure.
    c, sigma : float or None
        The same width as exp(−|x − y|²/c) and exp(−|x − y|²/(2 sigma²)).
    scale_factor : float
        b in b exp(−…): eigenvalues are b times, scores √b times as large.
    degree, coef0 : float
        Of the kernels "poly", (gamma x·y + coef0)^degree, and "sigmoid", tanh(gamma x·y + coef0).
    kernel_params : dict or None
        Further arguments of a function.
    scale : bool
        Take the mean off each column and divide it by its standard deviation first, as rows in different units need;
        constant columns are only shifted.
    centered : bool
        Take the mean off in the feature space. Without it the first axis is mostly the mean.
    scaling : {"unit_axis", "lecture1"}
        Axes of length one, or of length √eigenvalue, whose scores are the larger by that.
    preimage : {"auto", "fixed_point", "distances", "ridge"}
        How points of the feature space become rows again: Mika's iteration, Kwok and Tsang's distances, or regression.
        "auto": exactly for "linear", by regression with `fit_inverse_transform`, by iteration for "rbf", else by
        regression.
    fit_inverse_transform : bool
        Learn the regression at once, so that `dual_coef_` is there.
    alpha : float
        Its penalty.
    eigen_solver : {"auto", "dense", "lanczos", "arpack", "randomized", "landmarks", "nystroem", "random_features"}
        "arpack" and "randomized" both mean "lanczos": block Lanczos over tiles of the kernel, stopped by residuals.
        "landmarks" are pivots of a randomly pivoted Cholesky factor, "nystroem" uniformly drawn ones. `explain` says
        what "auto" chooses, and why.
    n_landmarks : int or None
        Landmarks (or random features); None: as many as leave at most `tol` of the centred kernel's trace, at most
        1,000.
    tol : float
        Exact routes: bound of the sine of the angle to the true axes; 0 means 1e-7. Landmarks: share of the trace that
        may be left over; 0 means 1e-3.
    max_iter : int or None
        Products of the iterative solver with the kernel at most, but as many as it takes to have so many vectors and
        to certify them; None: until `tol` is reached.
    iterated_power : int or "auto"
        The same for "randomized", as in scikit-learn: one product more than this.
    remove_zero_eig : bool
        Leave out components without variance, if there are any among those asked for.
    not_positive : {"error", "clip"}
        What to do about a kernel with negative eigenvalues: refuse it, or leave its negative part out.
    random_state : int, Generator, RandomState or None
        For landmarks and starts; None is a fixed seed.
    copy_X : bool
        Accepted for scikit-learn's sake: X is never changed, and the model keeps rows of its own.
    n_jobs : int or None
        Threads; None: as many as the BLAS may use.
    memory : int, str or None
        Most bytes that the process may hold while it fits; a fit that cannot be made within it is refused.

    References
    ----------
    Schölkopf, Smola & Müller 1998; Mika et al. 1999 and Kwok & Tsang 2004 for pre-images; Hoffmann 2007 for novelty;
    Chen, Epperly, Tropp & Webber 2024 for landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> import lowdim
    >>> angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = np.concatenate([0.3 * ring, ring])
    >>> model = lowdim.KernelPCA(3, kernel="rbf", gamma=2.0)
    >>> scores = model.fit_transform(X)
    >>> model.explained_variance_ratio_.round(3)
    array([0.222, 0.173, 0.173])
    """

    _record: KernelFit | None = None
    _custom: KernelFunction | None
    """The user's own function."""
    _preimages: PreimageModel | None
    _choice: Table | None

    _prompt: ClassVar = Prompt(
        "90%", ("{fit} --gamma auto", "another width?"), answered={"kernel": "gamma"}, settle=prompt_settings
    )

    def __init__(
        self,
        n_components: Annotated[Number | Literal["auto"] | None, CHECKED_BY_FIT, Option("keep", {"all": None})] = None,
        *,
        kernel: Annotated[
            Literal["linear", "poly", "rbf", "laplacian", "cosine", "sigmoid", "precomputed"] | Callable[..., Any],
            Option(without={"precomputed": "a matrix of kernel values is for Python"}),
        ] = "linear",
        gamma: Annotated[Number | Literal["median", "auto"] | None, CHECKED_BY_FIT, Option(read=str)] = None,
        degree: Annotated[float, Range(0), Needed("a number from 0, usually 2 or 3")] = 3,
        coef0: Annotated[float, Needed("a finite number")] = 1,
        kernel_params: Annotated[
            Mapping[str, Any] | None, Needed("a dictionary of arguments of the kernel, or None")
        ] = None,
        alpha: NumberFrom0 = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: Literal[
            "auto", "dense", "lanczos", "arpack", "randomized", "landmarks", "nystroem", "random_features"
        ] = "auto",
        tol: NumberFrom0 = 0,
        max_iter: Count | None = None,
        iterated_power: WholeFrom0 | Literal["auto"] = "auto",
        remove_zero_eig: bool = False,
        random_state: Seed = None,
        copy_X: bool = True,
        n_jobs: Jobs = None,
        c: Annotated[Number | None, CHECKED_BY_FIT] = None,
        sigma: Annotated[Number | None, CHECKED_BY_FIT] = None,
        scale_factor: Annotated[float, CHECKED_BY_FIT] = 1.0,
        scale: bool = False,
        centered: bool = True,
        scaling: Literal["unit_axis", "lecture1"] = "unit_axis",
        preimage: Literal["auto", "fixed_point", "distances", "ridge"] = "auto",
        n_landmarks: Count | None = None,
        not_positive: Literal["error", "clip"] = "error",
        memory: Bytes = None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.c = c
        self.sigma = sigma
        self.scale_factor = scale_factor
        self.scale = scale
        self.centered = centered
        self.scaling = scaling
        self.preimage = preimage
        self.n_landmarks = n_landmarks
        self.not_positive = not_positive
        self.memory = memory

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> KernelPCA:
        """Find the components of the rows of X, (n, p), or of a kernel matrix (n, n).

        Parameters
        ----------
        X : array, sparse matrix, frame, path or Source
            Rows, (n, p), or a kernel matrix, (n, n).
        y : ignored

        Returns
        -------
        KernelPCA
            The model itself.
        """
        source = self._opened(X, reset=True)
        with advise_on_kernel_matrix(self.kernel), at_most_threads("KernelPCA", self.n_jobs):
            rows = scale_rows(self, source)
            task = task_of(self, rows)
            record = fit_kernel(task, rows, make_plan(self, task, rows))
        self._remember(X, source)
        self._record, self._preimages, self._choice = record, None, task.choice
        self._custom = task.kernel if callable(self.kernel) else None
        if self.fit_inverse_transform:
            _ = self._back().regression  # learnt now, so that its inverse takes no time later
        return self

    fit_transform = fit_transform

    def _plan_facts(self, source: Source) -> PlanFacts:
        return describe_plan(self, source)

    @property
    def plot(self) -> KernelPlots:
        """Figures of this fit: `model.plot.scores(X)`, `model.plot.widths(X)`, …"""
        return KernelPlots(self)

    # -- attributes, with scikit-learn's names --------------------------------------------------------------------

    @Assignable
    def eigenvalues_(self) -> Floats:
        """(k,) eigenvalues of the centred kernel matrix, largest first; with landmarks, lower ends of intervals."""
        return make_read_only(self.fit_.values)

    @Assignable
    def eigenvectors_(self) -> Floats:
        """(n, k) its unit eigenvectors, where the fit was made over all rows; zeros for eigenvalues of zero."""
        if not self.fit_.over_rows:
            raise AttributeError(
                f"eigenvectors_ has a number for each of the {self.fit_.n_rows:,} rows, which this fit by "
                f"{self.fit_.provenance.solver} does not keep: transform(X) / sqrt(eigenvalues_) gives them."
            )
        return make_read_only(self.fit_.eigenvectors)

    @property
    def eigenvalue_intervals_(self) -> Floats:
        """(k, 2) between which the exact eigenvalues lie."""
        return self.fit_.value_intervals

    @property
    def explained_variance_ratio_intervals_(self) -> Floats:
        """(k, 2) between which the exact shares lie."""
        return self.fit_.share_intervals

    @property
    def effective_rank_(self) -> float:
        """(Σ λ)² / Σ λ²: a kernel is too narrow where it is near the number of rows, and too wide near 1."""
        return self.fit_.effective_rank

    @property
    def trace_residual_(self) -> float:
        """Trace of what the landmarks do not see, 0 for exact fits: no eigenvalue is larger by more than this."""
        return self.fit_.found.slack

    @Assignable
    def gamma_(self) -> float | None:
        """The width that was used, as gamma."""
        return self.fit_.kernel.gamma

    @Assignable
    def X_fit_(self) -> Floats:  # noqa: N802  scikit-learn's name
        """(m, p) rows that the kernel is taken with: all rows, landmarks, or the frequencies of random features."""
        fit = self.fit_
        return make_read_only(fit.found.basis if fit.found.waves else fit.undone(fit.found.basis))

    @Assignable
    def dual_coef_(self) -> Floats:
        """(m, p) coefficients of the regression from scores to rows about their mean, with fit_inverse_transform."""
        if not self.fit_inverse_transform:
            raise AttributeError("dual_coef_ is learnt with fit_inverse_transform=True only.")
        dual = self._back().regression.dual
        return dual if self.fit_.scale is None else dual * self.fit_.scale

    @Assignable
    def X_transformed_fit_(self) -> Floats:  # noqa: N802  scikit-learn's name
        """(m, k) scores of the rows that this regression was learnt from, with fit_inverse_transform."""
        if not self.fit_inverse_transform:
            raise AttributeError("X_transformed_fit_ is kept with fit_inverse_transform=True only.")
        scores = self._back().regression.scores
        return make_read_only(scores * self._lengths if self.scaling == "lecture1" else scores)

    @property
    def choice_(self) -> Table | None:
        """What "auto" compared: widths, numbers of components, what they explain of held-out rows; not in files."""
        return getattr(self, "_choice", None)

    # -- rows to scores and back ----------------------------------------------------------------------------------

    def _scores(self, X: Any) -> Any:
        scores = self._asked(X, kernel_rows.scores, RowKernel.for_scores, self.fit_.k)
        if self.scaling == "lecture1":
            scores *= self._lengths.astype(scores.dtype)
        return scores

    def inverse_transform(self, X: Any, return_distance: bool = False) -> Any:
        """Rows (m, p) whose features lie nearest to the points of the feature space with these scores (m, k).

        Points of the feature space are hardly ever the features of a row. `return_distance` gives, beside the rows,
        the squared distance (m,) in the feature space; a warning says how many points have no row near them.

        Parameters
        ----------
        X : array, frame, dask data, path or Source
            Scores, (n, k), as `transform` gives them.
        return_distance : bool
            Give the squared distances too.

        Returns
        -------
        array, or a pair of arrays
            (m, p) rows; with `return_distance` also (m,) distances.
        """
        check_is_fitted(self)
        return self._rows_back(check_scores(X, self.fit_.k), None, return_distance)

    def denoise(self, X: Any, return_distance: bool = False) -> Any:
        """Rows (m, p) moved to where the components let them be: the pre-images of their projections.

        The same as `inverse_transform(transform(X))`, but each search starts at the row itself.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        return_distance : bool
            Give the squared distances in the feature space too.

        Returns
        -------
        array or frame, or a pair
            (m, p) rows, a frame where X is one; with `return_distance` also (m,) distances.
        """
        check_is_fitted(self)
        scores = np.asarray(self._scores(X), dtype=np.float64)
        starts = load_rows(self._opened(X, reset=False).unweighted())
        rows = self._rows_back(scores, starts, return_distance)
        columns, kind = self.fit_.columns, frame_kind(X)
        if kind is None or columns is None:
            return rows
        if return_distance:
            return scores_table(kind, list(columns), rows[0], like=X), rows[1]
        return scores_table(kind, list(columns), rows, like=X)

    def _rows_back(self, scores: Floats, starts: Floats | None, return_distance: bool) -> Any:
        if self.scaling == "lecture1":
            scores = np.divide(scores, self._lengths, out=np.zeros_like(scores), where=self._lengths > 0)
        check(self)  # as scores are no rows, whose opening would
        way = check_preimage(self.preimage, self.fit_.kernel.name)
        way = "ridge" if way == "auto" and self.fit_inverse_transform and self.fit_.kernel.name != "linear" else way
        found = self._back().rows(scores, way, starts)
        return (found.rows, found.distance) if return_distance else found.rows

    # -- novelty --------------------------------------------------------------------------------------------------

    def novelty(self, X: Any) -> Any:
        """(n,) squared distance of each row's features from the plane of the components (Hoffmann 2007).

        Over the training rows these add up to the eigenvalues that were left out.

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
        return self._asked(X, kernel_rows.distances, RowKernel.for_distances, 1, np.float64)[:, 0]

    def score_samples(self, X: Any) -> Any:
        """(n,) how usual each row is: minus its novelty.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n,)
        """
        return -self.novelty(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean squared distance of the rows' features from the plane of the components.

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

    # -- looking --------------------------------------------------------------------------------------------------

    def table(self, name: str, X: Any = None) -> Any:
        """A table by name, as a frame of the kind the model was fitted on (a plain Table for arrays).

        Parameters
        ----------
        name : {"eigenvalues", "scores", "choice"}
            "eigenvalues" has the intervals of the exact ones and of their shares; "scores" needs X, and is a frame of
            X's own kind; "choice" is what "auto" compared.
        X : whatever `transform` takes, or None
            Rows, (n, p), for tables about them.

        Returns
        -------
        frame, or Table
            A frame of the kind that X is, or that the model was fitted on; a Table for arrays.
        """
        return table_by_name(self, TABLES, name, X)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _asked(self, X: Any, question: Any, prepared: Any, width: int, dtype: Any = None) -> Any:
        """What a function of blocks says about rows, given the model as it wants it prepared."""
        source = self._opened(X, reset=False).unweighted()
        work = partial(question, model=prepared(self.fit_, self._kernel))
        with (
            advise_on_kernel_matrix(self.kernel),
            naming_all_missing(source),
            at_most_threads("KernelPCA", self.n_jobs),
        ):
            return source.map_rows(work, width, dtype or working_dtype(source.dtype))

    @property
    def _kernel(self) -> KernelFunction | None:
        """The kernel of the fit; None where rows are those of a kernel matrix."""
        return getattr(self, "_custom", None) or kernel_of(self.fit_.kernel)

    @property
    def _lengths(self) -> Floats:
        """(k,) of the axes of lecture 1, where eigenvectors are not divided by the roots of the eigenvalues."""
        return np.sqrt(self.fit_.values)

    def _back(self) -> PreimageModel:
        """What turns scores into rows: no property, as `dir` would ask for it of models that cannot."""
        known: PreimageModel | None = getattr(self, "_preimages", None)
        if known is None or known.alpha != float(self.alpha):
            self._preimages = known = PreimageModel.of(self.fit_, self._kernel, float(self.alpha))
        return known

    @property
    def _takes(self) -> Takes:
        return Takes(pairwise=self.kernel == "precomputed")
