"""What every estimator that turns rows into scores has in common, whatever it learnt."""

from __future__ import annotations

import os
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from lowdim.errors import NeedsAnotherPass, WrongColumns
from lowdim.matrices.convert import relative_spacing
from lowdim.models.frames import frame_kind, scores_table
from lowdim.models.picture_shapes import picture_shape_of
from lowdim.models.reported import Reported
from lowdim.models.shown import Shown
from lowdim.sources.open import open_source
from lowdim.sources.source import Source

Floats = NDArray[np.float64]


class Model(Shown, Reported, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows in, scores out. Subclasses fit it, keep its record, and say how scores are made."""

    score_name = "PC"
    """What an axis, and the score along it, is called before its number, which begins at 1: in tables, figures, pages
    and at the prompt. `get_feature_names_out` and `set_output` have scikit-learn's names, `pca0`."""

    @property
    def fit_(self) -> Any:
        """The frozen record of the fit, which every read-out reads."""
        raise NotImplementedError

    @property
    def n_components_(self) -> int:
        """Number of components kept."""
        return int(self.fit_.k)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    # -- rows to scores -------------------------------------------------------------------------------------------

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` gives: "default" (arrays), "pandas", "polars", or "same": X's own kind of frame."""
        self._same_kind = transform == "same"
        return self if self._same_kind else super().set_output(transform=transform)

    def transform(self, X: Any) -> Any:
        """Scores of rows, (n, k): their coordinates along the components, about the training mean.

        Of a dask array or frame they are a lazy dask array, in the same row chunks.
        """
        check_is_fitted(self)
        return self._as_asked(X, self._scores(X))

    def _as_asked(self, X: Any, scores: Any) -> Any:
        """Scores as an array, or as the kind of frame that X is."""
        kind = frame_kind(X) if getattr(self, "_same_kind", False) else None
        return scores if kind is None else scores_table(kind, list(self.get_feature_names_out()), scores, like=X)

    def _scores(self, X: Any) -> Any:
        """(n, k)"""
        raise NotImplementedError

    # -- files ----------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a `.lowdim` file, atomically; `lowdim.load` gives it back. It holds no code."""
        from lowdim.models.saving import save

        check_is_fitted(self)
        save(self, path)

    # -- inside ---------------------------------------------------------------------------------------------------

    def __sklearn_clone__(self) -> Model:
        twin: Model = super().__sklearn_clone__()
        twin._same_kind = getattr(self, "_same_kind", False)
        return twin

    def _opened(self, X: Any, reset: bool) -> Source:
        """The source behind X, with scikit-learn's checks of names and widths; of a file, the columns of the fit."""
        path = isinstance(X, (str, os.PathLike))
        source = open_source(X, columns=getattr(self, "_columns", None)) if path and not reset else open_source(X)
        like = X if source.header is None else source.header
        named = not path and like is not source and hasattr(like, "shape")
        if named or reset:
            _check_feature_names(self, like if named else np.empty((0, source.n_columns)), reset=reset)
        _check_n_features(self, np.empty((1, source.n_columns)), reset=reset)
        if not reset and X is source:
            _refuse_other_columns(source, getattr(self, "_columns", None))
        return source

    def _remember(self, X: Any, source: Source) -> None:
        """What the data looked like."""
        self._frame_kind = frame_kind(X)
        self._itemsize = source.dtype.itemsize
        self._columns = source.columns
        self._data_spacing = relative_spacing(source.dtype)
        self._picture_shape = picture_shape_of(source)

    @property
    def _axes(self) -> list[str]:
        """Names of the axes, PC1, PC2, …, wherever they are shown."""
        return [f"{self.score_name}{i + 1}" for i in range(self.n_components_)]


Record = TypeVar("Record")


class RecordedModel(Model, Generic[Record]):
    """A model whose `fit` leaves one frozen record."""

    _record: Record | None

    @property
    def fit_(self) -> Record:
        """The frozen record of the fit, which every read-out reads."""
        found: Record | None = getattr(self, "_record", None)
        if found is None:
            raise AttributeError(f"This {type(self).__name__} is not fitted yet: call fit with data first.")
        return found

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_record", None) is not None


def refuse_one_pass(X: Any) -> None:
    """Raise an error if fit_transform, which reads rows again, would meet rows that can be read only once."""
    if not open_source(X).repeatable:
        raise NeedsAnotherPass(
            "fit_transform reads the rows again for their scores, so twice at least, but these can be read only once: "
            "pass an array, or the path of a file, or call fit, and transform with the rows again."
        )


class VarianceModel(Model):
    """A model whose components each have a share of a variance."""

    @property
    def explained_variance_(self) -> Floats:
        """(k,) variances along the axes; of a kernel's, in the space of its features: eigenvalues over n − 1."""
        return np.asarray(self.fit_.variances)

    @property
    def explained_variance_ratio_(self) -> Floats:
        """(k,) shares of the total variance; zeros for a constant matrix."""
        return np.asarray(self.fit_.shares)


def _refuse_other_columns(source: Source, fitted: tuple[str, ...] | None) -> None:
    """Raise an error if a source has other columns, or in another order, than the model was fitted on."""
    if fitted is None or source.columns is None or source.columns == fitted:
        return
    first = next(j for j, (one, other) in enumerate(zip(source.columns, fitted, strict=True)) if one != other)
    raise WrongColumns(
        f"{source.describe()} has {source.columns[first]!r} as column {first + 1}, but this model was fitted with "
        f"{fitted[first]!r} there: open it with columns=model.fit_.columns, or pass its path."
    )
