"""What every non-negative factorisation offers once it is fitted: codes and back, sparseness, tables."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.errors import BadParameter, WrongShape
from lowdim.matrices.preparation import dense, working_dtype
from lowdim.models.assigned import Assignable
from lowdim.models.frames import frame_kind, make_table, scores_table
from lowdim.models.model import RecordedModel
from lowdim.models.nmf_problems import checked_shape, rows_of
from lowdim.models.plots.nmf import NonNegativePlots
from lowdim.models.uncertainty import Unsure
from lowdim.results.names import column_names
from lowdim.results.nmf import NonNegativeFit
from lowdim.results.table import Table
from lowdim.solvers.nmf_codes import codes
from lowdim.solvers.nmf_loss import Penalty
from lowdim.sources.open import open_source
from lowdim.sources.source import Block
from lowdim.sources.workers import at_most_threads

Floats = NDArray[np.float64]

CLOSER = 0.01
"""KKT residual of each row's codes, as a share of `tol`: sweeps over a row are cheap, and codes then hardly depend on
where they began."""


class NonNegativeModel(Unsure, RecordedModel[NonNegativeFit]):
    """Parts, none of them negative. Subclasses fit them, and keep their record."""

    score_name = "part"

    n_jobs: Any
    unstored: str

    _choice: Table | None

    @property
    def plot(self) -> NonNegativePlots:
        """Figures of this fit: `model.plot.parts()`, `model.plot.gallery()`, …"""
        return NonNegativePlots(self)

    # -- attributes, with scikit-learn's names --------------------------------------------------------------------

    @Assignable
    def components_(self) -> Floats:
        """(k, p) the parts H, largest first; their entries add up to one unless a penalty fixes their size."""
        return self.fit_.components

    @Assignable
    def reconstruction_err_(self) -> float:
        """√(2 loss), as scikit-learn measures: for the Frobenius loss the norm of X − W H."""
        return self.fit_.error

    @Assignable
    def n_iter_(self) -> int:
        """Steps that were made."""
        return self.fit_.descent.steps

    def _assign(self, name: str, value: Any) -> None:
        """Keep it; the record is made of it when it is needed."""
        self._keep_assigned(name, value)
        if name == "components_" and not hasattr(self, "n_features_in_") and np.ndim(value) == 2:
            self.n_features_in_: int = int(np.shape(value)[1])

    # -- read-outs ------------------------------------------------------------------------------------------------

    @property
    def kkt_residual_(self) -> float:
        """How far from a solution the factors are: 0 where all conditions of one hold, at most 1."""
        return self.fit_.descent.residual

    @property
    def loss_path_(self) -> Floats:
        """What was minimised, wherever the solver looked."""
        return self.fit_.descent.path

    @property
    def explained_deviance_(self) -> float:
        """Share of the divergence from the columns' means that the parts explain."""
        return self.fit_.explained

    @property
    def sparseness_(self) -> Floats:
        """(k,) Hoyer's sparseness of each part."""
        return self.fit_.sparseness

    @property
    def code_sparseness_(self) -> Floats:
        """(k,) Hoyer's sparseness of each part's codes, over the training rows."""
        return self.fit_.codes.sparseness

    @property
    def stability_(self) -> Floats | None:
        """(k,) mean cosine of each part with its counterpart from other starts; None after a single start."""
        return self.fit_.stability

    @property
    def consensus_(self) -> float | None:
        """How far all starts put the same rows together (cophenetic correlation, Brunet et al. 2004): 1 is clear."""
        return self.fit_.consensus

    @property
    def choice_(self) -> Table | None:
        """What n_components="held_out" compared: numbers of parts, and the loss of hidden entries; not in files."""
        return getattr(self, "_choice", None)

    # -- rows to codes and back -----------------------------------------------------------------------------------

    def transform(self, X: Any, entry_weight: Any = None) -> Any:
        """Codes of rows, (n, k): how much of each part is in a row.

        `entry_weight` (n, p) says how much each entry counts, as in `fit`; NaN is missing. Of a dask array or frame
        codes are a lazy dask array, in the same row chunks.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        entry_weight : array or sparse matrix of shape (n, p), or None
            How much each entry counts.

        Returns
        -------
        array
            (n, k), of the library that X is an array of; a frame if `set_output` asked for one.
        """
        check_is_fitted(self)
        return self._as_asked(X, self._scores(X, entry_weight))

    def _scores(self, X: Any, entry_weight: Any = None) -> Any:
        source = self._opened(X, reset=False).unweighted()
        weights = checked_shape(entry_weight, source)
        work = partial(codes_of_block, fit=self.fit_, unstored=self.unstored, entry_weight=weights)
        with at_most_threads("NMF", self.n_jobs):
            return source.map_rows(work, self.fit_.k, working_dtype(source.dtype))

    def inverse_transform(self, X: Any) -> Any:
        """Rows (n, p) made of the parts by codes (n, k); lazy for dask's codes.

        Parameters
        ----------
        X : array, frame, dask data, path or Source
            Codes, (n, k), as `transform` gives them.

        Returns
        -------
        array
            (n, p)
        """
        check_is_fitted(self)
        source = open_source(X)
        if source.n_columns != self.fit_.k:
            raise WrongShape(
                f"The codes have {source.n_columns} columns, but this model has {self.fit_.k} parts: pass what "
                "transform gave."
            )
        work = partial(rows_of_codes, parts=self.fit_.components)
        return source.map_rows(work, self.fit_.n_columns, working_dtype(source.dtype))

    # -- looking --------------------------------------------------------------------------------------------------

    def table(self, name: str, X: Any = None) -> Any:
        """A table by name, as a frame of the kind the model was fitted on (a plain Table for arrays).

        Parameters
        ----------
        name : {"parts", "components", "loss", "scores", "choice"}
            "parts" has for each its share of all that is fitted, its sparseness and that of its codes; "components"
            are the parts themselves, by column; "loss" is the path of the search; "scores" are the codes of X;
            "choice" is what "held_out" compared.

        Returns
        -------
        frame, or Table
            A frame of the kind that X is, or that the model was fitted on; a Table for arrays.
        """
        check_is_fitted(self)
        fit, kind = self.fit_, getattr(self, "_frame_kind", None)
        if name == "scores":
            if X is None:
                raise BadParameter("NMF.table('scores') needs the rows whose codes are wanted: table('scores', X).")
            return scores_table(frame_kind(X) or kind, self._axes, self._scores(X), like=X)
        if name == "parts":
            columns: dict[str, Any] = {"part": self._axes, "share": fit.masses, "sparseness": fit.sparseness}
            columns["code sparseness"] = fit.codes.sparseness
            return make_table(kind, columns | ({} if fit.stability is None else {"stability": fit.stability}))
        if name == "components":
            names = column_names(fit)
            return make_table(kind, {"column": list(names), **dict(zip(self._axes, fit.components, strict=True))})
        if name == "loss":
            return make_table(kind, {"look": np.arange(len(fit.descent.path)), "loss": fit.descent.path})
        if name == "choice" and self.choice_ is not None:
            return make_table(kind, dict(self.choice_))
        known = "'parts', 'components', 'loss', 'scores', or, after a choice by held-out entries, 'choice'"
        raise BadParameter.of("NMF", "table", name, known)


def codes_of_block(block: Block, fit: NonNegativeFit, unstored: str, entry_weight: Any = None) -> Floats:
    """(n, k) codes of a block's rows."""
    end = block.start + block.rows.shape[0]
    weights = None if entry_weight is None else entry_weight[block.start : end]
    given = fit.penalties
    penalty = Penalty.of((1, fit.n_columns), given.alpha_W, given.alpha_H, given.l1_ratio)
    rows = rows_of(block.rows, None, fit.beta, unstored, weights)
    return codes(rows.problem(fit.beta, penalty), fit.components, CLOSER * fit.descent.tol).W


def rows_of_codes(block: Block, parts: Floats) -> Floats:
    """(n, p) rows of a block's codes."""
    return np.asarray(dense(block.rows) @ parts)
