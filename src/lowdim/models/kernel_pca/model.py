"""Kernel principal component analysis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from lowdim.models.base.parameters import (
    Bytes,
    EigenSolver,
    Kernel,
    NotPositive,
    Number,
    Preimage,
    Scaling,
    Seed,
    Whole,
)
from lowdim.models.kernel_pca.fit import fit_kernel
from lowdim.models.kernel_pca.fitted_model import KernelModel, of_matrices
from lowdim.models.kernel_pca.plan import foreseen, plan_of, prepared, task_of
from lowdim.runtime.threads import at_most_threads
from lowdim.words import printable


class KernelPCA(KernelModel):
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

    def __init__(
        self,
        n_components: Number | Literal["auto"] | None = None,
        *,
        kernel: Kernel = "linear",
        gamma: Number | Literal["median", "auto"] | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: EigenSolver = "auto",
        tol: float = 0,
        max_iter: Whole | None = None,
        iterated_power: Whole | Literal["auto"] = "auto",
        remove_zero_eig: bool = False,
        random_state: Seed = None,
        copy_X: bool = True,
        n_jobs: Whole | None = None,
        c: Number | None = None,
        sigma: Number | None = None,
        scale_factor: float = 1.0,
        scale: bool = False,
        centered: bool = True,
        scaling: Scaling = "unit_axis",
        preimage: Preimage = "auto",
        n_landmarks: Whole | None = None,
        not_positive: NotPositive = "error",
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
        with of_matrices(self.kernel), at_most_threads("KernelPCA", self.n_jobs):
            rows = prepared(self, source)
            task = task_of(self, rows)
            record = fit_kernel(task, rows, plan_of(self, task, rows))
        self._remember(X, source)
        self._record, self._preimages, self._choice = record, None, task.choice
        self._custom = task.kernel if callable(self.kernel) else None
        if self.fit_inverse_transform:
            _ = self._back.regression  # learnt now, so that its inverse takes no time later
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and give the scores of the same rows.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        y : ignored

        Returns
        -------
        array
            (n, k) scores, as `transform` gives them.
        """
        return self.fit(X, y).transform(X)

    @printable
    def explain(self, X: Any = None) -> str:
        """What the fit did, or with X what a fit of X would do: route, reason, memory, accuracy, width.

        Parameters
        ----------
        X : whatever `fit` takes, or None
            Rows that a fit would be made of; None: say what the fit did.

        Returns
        -------
        str
            A few lines.
        """
        from lowdim.views.text.explain import explain_plan

        if X is None:
            return self._story()
        return explain_plan(foreseen(self, self._to_be_fitted(X)))

    # -- inside ---------------------------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
