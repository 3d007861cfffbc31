"""What every estimator that turns rows into scores has in common, whatever it learnt."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lowdim.errors import NeedsAnotherPass
from lowdim.matrices.convert import relative_spacing
from lowdim.models import settings
from lowdim.models.assigned import Assignable, as_given
from lowdim.models.frames import frame_kind, scores_table
from lowdim.models.opening import opened
from lowdim.models.own_kind import OwnKind
from lowdim.models.picture_shapes import picture_shape_of
from lowdim.models.reported import Reported
from lowdim.models.shown import Shown
from lowdim.sources.open import open_source
from lowdim.sources.source import Source

Floats = NDArray[np.float64]


class Model(OwnKind, Shown, Reported, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows in, scores out. Subclasses fit it, keep its record, and say how scores are made."""

    score_name = "PC"
    """What an axis, and the score along it, is called before its number, which begins at 1: in tables, figures, pages
    and at the prompt. `get_feature_names_out` and `set_output` have scikit-learn's names, `pca0`."""

    _record: Any = None
    """What the fit left; None before it."""
    _assigned: Mapping[str, Any] = MappingProxyType({})
    """Fitted attributes that somebody assigned since."""
    _made: Any = None
    """The record with these in place, once it was asked for."""
    _frame_kind: str | None = None
    _itemsize: int = 8
    _columns: tuple[str, ...] | None = None
    _data_spacing: float = float(np.finfo(float).eps)
    _picture_shape: tuple[int, ...] | None = None
    n_features_in_: int
    """Number of columns of the data that the model was fitted on."""

    feature_names_in_: NDArray[np.object_]
    """(p,) names of those columns; there only if the data had names that were all texts."""

    @property
    def fit_(self) -> Any:
        """The frozen record of the fit, which every read-out reads; with what was assigned since in its place."""
        record = self._learnt
        if self._assigned:
            if self._made is None:
                self._made = self._with_assigned(record)
            return self._made
        if record is None:
            raise AttributeError(f"This {type(self).__name__} is not fitted yet: call fit with data first.")
        return record

    @property
    def _owner(self) -> str:
        """What the model is called in messages."""
        return type(self).__name__

    @property
    def _learnt(self) -> Any:
        """The record that the fit left, if there is one."""
        return self._record

    @property
    def _as_fitted(self) -> Any:
        """The same, or where there is none, that of what was assigned: attributes are read one by one from here."""
        record = self._learnt
        return self.fit_ if record is None else record

    def _with_assigned(self, record: Any) -> Any:
        """The record, or None, with attributes that were assigned in the place of those learnt."""
        raise NotImplementedError

    def _assign(self, name: str, value: Any) -> None:
        """Keep what was assigned to a fitted attribute, if this kind of model can work with it."""
        raise AttributeError(
            f"{type(self).__name__}.{name} cannot be assigned, as it follows from a record of the fit: fit again."
        )

    def _keep_assigned(self, name: str, value: Any) -> None:
        self._assigned, self._made = {**self._assigned, name: as_given(name, value)}, None

    def __sklearn_is_fitted__(self) -> bool:
        return self._record is not None or bool(self._assigned)

    @Assignable
    def n_components_(self) -> int:
        """Number of components kept."""
        return int(self.fit_.k)

    @property
    def _n_features_out(self) -> int:
        return int(self.fit_.k)

    # -- rows to scores -------------------------------------------------------------------------------------------

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` gives: "default" (arrays), "pandas", "polars", or "same": X's own kind of frame.

        Parameters
        ----------
        transform : {"default", "pandas", "polars", "same"} or None
            None leaves it as it is.

        Returns
        -------
        model
            The model itself.
        """
        self._same_kind = transform == "same"
        return self if self._same_kind else super().set_output(transform=transform)

    def transform(self, X: Any) -> Any:
        """Scores of rows, (n, k): their coordinates along the components, about the training mean.

        Of a dask array or frame they are a lazy dask array, in the same row chunks; of a torch tensor a tensor.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n, k), of the library that X is an array of; a frame if `set_output` asked for one.
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
        """Write the fitted model to a `.lowdim` file, atomically; `lowdim.load` gives it back. It holds no code.

        Parameters
        ----------
        path : path
            Of the file, which is replaced whole, or not at all.
        """
        from lowdim.models.saving import save

        check_is_fitted(self)
        save(self, path)

    # -- inside ---------------------------------------------------------------------------------------------------

    def __sklearn_clone__(self) -> Model:
        twin: Model = super().__sklearn_clone__()
        twin._same_kind = getattr(self, "_same_kind", False)
        return twin

    def _opened(self, X: Any, reset: bool) -> Source:
        """The source behind X, with the settings, names and widths checked."""
        return opened(self, X, reset)

    def _to_be_fitted(self, X: Any) -> Source:
        """The source behind X, of which it is only asked what a fit would do."""
        settings.check_flags(self)
        return open_source(X)

    def _remember(self, X: Any, source: Source) -> None:
        """What the data looked like; whatever was assigned before goes with the fit that it was assigned to."""
        self._assigned, self._made = {}, None
        self._remember_kind(X)
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
        found: Record = super().fit_
        return found


def refuse_one_pass(X: Any) -> None:
    """Raise an error if fit_transform, which reads rows again, would meet rows that can be read only once."""
    if not open_source(X).repeatable:
        raise NeedsAnotherPass(
            "fit_transform reads the rows again for their scores, so twice at least, but these can be read only once: "
            "pass an array, or the path of a file, or call fit, and transform with the rows again."
        )


class VarianceModel(Model):
    """A model whose components each have a share of a variance."""

    @Assignable
    def explained_variance_(self) -> Floats:
        """(k,) variances along the axes; of a kernel's, in the space of its features: eigenvalues over n − 1."""
        return np.asarray(self._as_fitted.variances)

    @Assignable
    def explained_variance_ratio_(self) -> Floats:
        """(k,) shares of the total variance; zeros for a constant matrix."""
        return np.asarray(self._as_fitted.shares)
