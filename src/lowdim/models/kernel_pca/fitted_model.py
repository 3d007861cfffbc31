"""What every kernel PCA offers once it is fitted: scores, rows again, novelty, tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lowdim.errors import MEND_KERNEL, BadInput, BadParameter, MissingValues, WrongShape
from lowdim.matrices.missing import naming_all_holes
from lowdim.matrices.preparation import working_dtype
from lowdim.models.base.assigned import Assignable
from lowdim.models.base.estimator import VarianceModel
from lowdim.models.base.output import frame_kind, make_table, scores_table
from lowdim.models.kernel_pca import rows as kernel_rows
from lowdim.models.kernel_pca.figures import KernelPlots
from lowdim.models.kernel_pca.fit import all_rows
from lowdim.models.kernel_pca.kernels import COMPILED_FROM, Kernel
from lowdim.models.kernel_pca.record import KernelFit
from lowdim.models.kernel_pca.rows import PreimageModel, RowKernel, checked_way
from lowdim.models.kernel_pca.settings import kernel_of
from lowdim.results.certificate import counted
from lowdim.results.table import Table
from lowdim.runtime.threads import at_most_threads
from lowdim.sources.open import open_source
from lowdim.types import Floats


class KernelModel(VarianceModel):
    """Axes in a space of features. Subclasses fit it, and keep its record."""

    kernel: Any
    alpha: float
    fit_inverse_transform: bool
    scaling: str
    preimage: str
    n_jobs: Any

    _record: KernelFit | None = None
    _custom: Kernel | None
    """The user's own function."""
    _preimages: PreimageModel | None
    _choice: Table | None

    @property
    def fit_(self) -> KernelFit:
        """The frozen record of the fit, which every read-out below reads."""
        found: KernelFit = super().fit_
        return found

    @property
    def plot(self) -> KernelPlots:
        """Figures of this fit: `model.plot.scores(X)`, `model.plot.widths(X)`, …"""
        return KernelPlots(self)

    # -- attributes, with scikit-learn's names --------------------------------------------------------------------

    @Assignable
    def eigenvalues_(self) -> Floats:
        """(k,) eigenvalues of the centred kernel matrix, largest first; with landmarks, lower ends of intervals."""
        return _read_only(self.fit_.values)

    @Assignable
    def eigenvectors_(self) -> Floats:
        """(n, k) its unit eigenvectors, where the fit was made over all rows; zeros for eigenvalues of zero."""
        if not self.fit_.over_rows:
            raise AttributeError(
                f"eigenvectors_ has a number for each of the {self.fit_.n_rows:,} rows, which this fit by "
                f"{self.fit_.provenance.solver} does not keep: transform(X) / sqrt(eigenvalues_) gives them."
            )
        return _read_only(self.fit_.eigenvectors)

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
        return _read_only(fit.found.basis if fit.found.waves else fit.undone(fit.found.basis))

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
        return _read_only(scores * self._lengths if self.scaling == "lecture1" else scores)

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
        scores = all_rows(open_source(X))
        if scores.shape[1] != self.fit_.k:
            raise WrongShape(
                f"The scores have {scores.shape[1]} columns, but this model has "
                f"{counted(self.fit_.k, 'component')}: pass what "
                "transform gave."
            )
        return self._rows_back(scores, None, return_distance)

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
        starts = all_rows(self._opened(X, reset=False).unweighted())
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
        way = checked_way(self.preimage, self.fit_.kernel.name)
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

        Returns
        -------
        frame, or Table
            A frame of the kind that X is, or that the model was fitted on; a Table for arrays.
        """
        check_is_fitted(self)
        fit, kind = self.fit_, getattr(self, "_frame_kind", None)
        if name == "scores" and X is None:
            raise BadParameter("KernelPCA.table('scores') needs the rows whose scores are wanted: table('scores', X).")
        if name == "scores":
            return scores_table(frame_kind(X) or kind, self._axes, self._scores(X), like=X)
        if name == "eigenvalues":
            values, shares = fit.value_intervals, fit.share_intervals
            columns = {"component": self._axes, "eigenvalue": fit.values, "low": values[:, 0], "high": values[:, 1]}
            columns |= {"share": fit.shares, "share low": shares[:, 0], "share high": shares[:, 1]}
            return make_table(kind, {**columns, "cumulative": np.cumsum(fit.shares)})
        if name == "choice" and self.choice_ is not None:
            return make_table(kind, dict(self.choice_))
        names = "'eigenvalues', 'scores', or, after a choice by 'auto', 'choice'"
        raise BadParameter.no_table("KernelPCA", name, names)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _asked(self, X: Any, question: Any, prepared: Any, width: int, dtype: Any = None) -> Any:
        """What a function of blocks says about rows, given the model as it wants it prepared."""
        source = self._opened(X, reset=False).unweighted()
        compiled = (source.n_rows or 0) * len(self.fit_.found.axes) >= COMPILED_FROM
        work = partial(question, model=prepared(self.fit_, self._kernel, compiled))
        with of_matrices(self.kernel), naming_all_holes(source), at_most_threads("KernelPCA", self.n_jobs):
            return source.map_rows(work, width, dtype or working_dtype(source.dtype))

    @property
    def _kernel(self) -> Kernel | None:
        """The kernel of the fit; None where rows are those of a kernel matrix."""
        return getattr(self, "_custom", None) or kernel_of(self.fit_.kernel)

    @property
    def _lengths(self) -> Floats:
        """(k,) of the axes of lecture 1, where eigenvectors are not divided by the roots of the eigenvalues."""
        return np.sqrt(self.fit_.values)

    def _back(self) -> PreimageModel:
        """What turns scores into rows: no property, as `dir` would ask for it of models that cannot."""
        kernel = self._kernel
        if kernel is None:
            raise BadInput(
                "A precomputed kernel matrix does not tell the rows that it was made from, so scores cannot become "
                "rows: pass the rows and a kernel by name or as a function."
            )
        known = getattr(self, "_preimages", None)
        if known is None or known.alpha != float(self.alpha):
            self._preimages = PreimageModel(self.fit_, kernel, float(self.alpha))
        assert self._preimages is not None
        return self._preimages


@contextmanager
def of_matrices(kernel: Any) -> Iterator[None]:
    """Where a kernel matrix was given, advice about holes is for such matrices."""
    try:
        yield
    except MissingValues as holes:
        raise (holes.advising(MEND_KERNEL) if isinstance(kernel, str) and kernel == "precomputed" else holes) from None


def _read_only(array: Floats) -> Floats:
    """A view that cannot be written to: axes follow from the kernel, and would not follow a change."""
    view = array.view()
    view.flags.writeable = False
    return view
