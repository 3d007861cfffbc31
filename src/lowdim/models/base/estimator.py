"""What every estimator has in common: its record, showing itself, files, pages; rows to scores; plans."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import LowdimError
from lowdim.matrices.convert import spacing_of
from lowdim.models.base import parameters
from lowdim.models.base.fitting import set_callbacks, watch_fits, within_budget
from lowdim.models.base.input import open_for, picture_shape_of
from lowdim.models.base.output import answer_in_kind, frame_kind, kind_of_fit, overview_of, scores_table
from lowdim.models.base.scikit_learn import Takes, Transformer, check_is_fitted, tell_tags
from lowdim.runtime.progress import Parts
from lowdim.sources.open import open_rows
from lowdim.sources.source import Source
from lowdim.types import Floats
from lowdim.views.text.facts import PlanFacts, explain_fit, explain_plan
from lowdim.words import in_letters_of, printable, shown_lines

# Fitted attributes that can be assigned.
#
# Code that was written for scikit-learn restores a model from arrays, drops components or turns their signs by
# assigning attributes one after the other, in any order. So each is kept as it was given, and a record is made of all
# of them when one is needed; attributes that were not assigned stay what the fit made them.

Value = TypeVar("Value")

MADE_BY = "assigned"
"""In place of a solver, where nothing was fitted."""


class Assignable(Generic[Value]):
    """A read-out of a fit that can be assigned, as scikit-learn's fitted attributes can; used as a decorator."""

    def __init__(self, read: Callable[[Any], Value]):
        self._read = read
        self.__doc__ = read.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, model: None, owner: type) -> Self: ...

    @overload
    def __get__(self, model: object, owner: type) -> Value: ...

    def __get__(self, model: object | None, owner: type) -> Self | Value:
        if model is None:
            return self
        given: dict[str, Any] = getattr(model, "_assigned", {})
        found: Value = given[self._name] if self._name in given else self._read(model)
        return found

    def __set__(self, model: Any, value: Any) -> None:
        model._assign(self._name, value)


def as_given(name: str, value: Any) -> Any:
    """An assigned value as it is kept: arrays of float64 as they are, so that they can still be changed in place."""
    if value is None or name in ("n_components_", "n_samples_", "n_samples_seen_"):
        return value
    numbers = np.asarray(value, dtype=np.float64)
    return numbers if numbers.ndim else float(numbers)


# What every estimator has, whether it gives scores or densities.


class Estimator:
    """A fit that leaves one frozen record: shown, saved and reported.

    Before a fit a model is shown as scikit-learn shows it; afterwards with a summary of the fit.
    """

    _record: Any = None
    """What the fit left; None before it."""
    _assigned: Mapping[str, Any] = MappingProxyType({})
    """Fitted attributes that were assigned after the fit."""
    _made: Any = None
    """The record with these in place, made when it is first needed."""
    _parts: Parts = (("solution", 1.0),)
    """What a fit is made of, for a bar."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        watch_fits(cls)
        answer_in_kind(cls)
        super().__init_subclass__(**kwargs)

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

    @property
    def _takes(self) -> Takes:
        """What can be fitted."""
        return Takes()

    def __sklearn_is_fitted__(self) -> bool:
        return self._record is not None or bool(self._assigned)

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Have scikit-learn's callbacks, as `sklearn.callback.ProgressBar()`, hear of later fits. None: of no more.

        Loops of a fit are tasks, with a task for each of their turns. A callback that asks for no more turns ends steps
        of an iteration as `max_iter` would; starts, folds and readings of the rows go on.

        Parameters
        ----------
        callbacks : objects
            Of scikit-learn's protocol `FitCallback`, which came with its version 1.9.

        Returns
        -------
        model
            The model itself.
        """
        set_callbacks(self, callbacks)
        return self

    # -- files and pages ---------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a `.lowdim` file, atomically; `lowdim.load` gives it back. It holds no code.

        Parameters
        ----------
        path : path
            Of the file, which is replaced whole, or not at all.
        """
        from lowdim.models.base.saving import save

        check_is_fitted(self)
        save(self, path)

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        *,
        y: Any = None,
        color: Any = None,
        row_names: Any = None,
        picture_shape: tuple[int, ...] | None = None,
        title: str | None = None,
        rules: Any = None,
        uncertainty: Any = None,
        values: bool = True,
    ) -> None:
        """Write one HTML file with linked views of the fit: it needs no network, and can be sent by mail.

        Parameters
        ----------
        path : path
            Ends in .html. It is replaced whole, or not at all.
        X : whatever `transform` takes, or None
            Rows to show, with their values; a frame may have more columns, to colour by. Of more than 50,000 rows a
            sample is shown, and the page says so. None: what the model knows by itself, without any row.
        y : array of shape (n,) or (n, m), or None
            Of a regression: the responses of the rows, to draw beside what was predicted of them.
        color : name, list of names, array (n,), or mapping of names to arrays
            What points can be coloured by: columns of X by name, or values.
        row_names : name, array (n,) or None
            What rows are called; None: the index of a pandas frame, names of files, or their numbers.
        picture_shape : (height, width), (height, width, 3) or None
            Where each row is a picture. Folders of pictures know it themselves.
        title : str or None
            The heading; None: the name of the file.
        rules : what `choose_k` gave, or None
            Marks on the scree; None: what the fit alone says.
        uncertainty : what `uncertainty` gave, or None
            Intervals of shares and loadings.
        values : bool
            Whether the page holds the rows' own numbers. False: scores and names only, for rows that are not to be
            passed on.

        Examples
        --------
        >>> import tempfile, pathlib, lowdim
        >>> foods = lowdim.datasets.uk_foods().to_pandas()
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> lowdim.PCA(2).fit(foods).report(folder / "foods.html", foods)
        >>> (folder / "foods.html").read_text(encoding="utf-8")[:15]
        '<!doctype html>'
        """
        from lowdim.models.base.report import ReportOptions, write

        check_is_fitted(self)
        write(self, path, ReportOptions(X, y, color, row_names, picture_shape, title, rules, uncertainty, values))

    # -- in a terminal and in a notebook ------------------------------------------------------------------------------

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        said = self._in_one_line(N_CHAR_MAX)
        seen = self._overview()
        if seen is None:
            return said
        from lowdim.views.text.card import card_text

        return in_letters_of(sys.stdout, shown_lines(card_text(said, seen)))

    @property
    def _repr_html_(self) -> Any:
        plain = super()._repr_html_  # type: ignore[misc]  # an AttributeError where set_config(display="text") asks so
        return plain if self._overview() is None else self._as_html

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        if self._overview() is None:
            return super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        html = getattr(self, "_repr_html_", None)
        return {"text/plain": repr(self)} | ({} if html is None else {"text/html": html()})

    def _in_one_line(self, most: int = 700) -> str:
        """Name and settings that are not the default's."""
        return str(super().__repr__(N_CHAR_MAX=most))  # type: ignore[call-arg]

    def _as_code(self) -> str:
        """The same, whole and on one line, to be typed again."""
        return " ".join(self._in_one_line(1_000_000).split())

    def _as_html(self) -> str:
        from lowdim.views.text.card import card_html

        return shown_lines(card_html(self._in_one_line(), self._overview()))

    def _overview(self) -> Any:
        """What the record says at a glance; None where there is none: showing a model computes nothing."""
        record = self._record
        if self._assigned:
            try:
                record = self.fit_
            except (AttributeError, LowdimError):  # as long as too little was assigned, or what does not go together
                record = None
        if record is None:
            return None
        return overview_of(record)

    def _explain_fit(self) -> str:
        """How the fit was made, in a few lines."""
        return explain_fit(overview_of(self.fit_))


# What every estimator that turns rows into scores has, whatever it learnt.


class Model(Estimator, Transformer):
    """Rows in, scores out. Subclasses fit it, keep its record, and say how scores are made."""

    score_name = "PC"
    """What an axis, and the score along it, is called before its number, which begins at 1: in tables, figures, pages
    and at the prompt. `get_feature_names_out` and `set_output` have scikit-learn's names, `pca0`."""

    _takes_genotypes: bool = False
    """Whether it reads a source of genotypes by itself, SNP by SNP."""
    _has_linear_rules: bool = False
    """Whether the rules of `choose_k` that go by variances are for it."""
    _frame_kind: str | None = None
    _itemsize: int = 8
    _columns: tuple[str, ...] | None = None
    _data_spacing: float = float(np.finfo(float).eps)
    _picture_shape: tuple[int, ...] | None = None
    n_features_in_: int
    """Number of columns of the data that the model was fitted on."""

    feature_names_in_: NDArray[np.object_]
    """(p,) names of those columns; there only if the data had names that were all texts."""

    @Assignable
    def n_components_(self) -> int:
        """Number of components kept."""
        return int(self.fit_.k)

    @property
    def _n_features_out(self) -> int:
        return int(self.fit_.k)

    @property
    def _decoder_size(self) -> float:
        """Numbers that make rows of scores; NaN where that is not known, but a linear model shows it."""
        return float("nan")

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
        return self._as_frame(X, self._scores(X))

    def _as_frame(self, X: Any, scores: Any) -> Any:
        """Scores as an array, or as the kind of frame that X is."""
        kind = frame_kind(X) if getattr(self, "_same_kind", False) else None
        return scores if kind is None else scores_table(kind, list(self.get_feature_names_out()), scores, like=X)

    def _scores(self, X: Any) -> Any:
        """(n, k)"""
        raise NotImplementedError

    # -- plans ----------------------------------------------------------------------------------------------------

    @printable
    def explain(self, X: Any = None) -> str:
        """What the fit did, or with X what a fit of X would do: solver and reason, passes, memory, accuracy.

        Parameters
        ----------
        X : whatever `fit` takes, or None
            Rows that a fit would be made of (a regression makes no plan); None: say what the fit did.

        Returns
        -------
        str
            A few lines.
        """
        if X is None:
            return self._explain_fit()
        with within_budget(self):
            return explain_plan(self._plan_facts(self._open_to_plan(X)))

    def _plan_facts(self, source: Source) -> PlanFacts:
        """What a fit of these rows would do."""
        raise NotImplementedError

    # -- inside ---------------------------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tell_tags(tags, self._takes)
        return tags

    def __sklearn_clone__(self) -> Self:
        twin: Self = super().__sklearn_clone__()
        twin._same_kind = getattr(self, "_same_kind", False)
        return twin

    def _opened(self, X: Any, reset: bool) -> Source:
        """The source behind X, with the settings, names and widths checked."""
        return open_for(self, X, reset)

    def _open_to_plan(self, X: Any) -> Source:
        """The source behind X, whose fit is only planned."""
        parameters.check(self)
        return open_rows(X)

    def _remember(self, X: Any, source: Source) -> None:
        """What the data looked like; whatever was assigned before goes with the fit that it was assigned to."""
        self._assigned, self._made = {}, None
        self._kind_of_fit = kind_of_fit(X)
        self._frame_kind = frame_kind(X)
        self._itemsize = source.dtype.itemsize
        self._columns = source.columns
        self._data_spacing = spacing_of(source.dtype)
        self._picture_shape = picture_shape_of(source)

    @property
    def _axes(self) -> list[str]:
        """Names of the axes, PC1, PC2, …, wherever they are shown."""
        return [f"{self.score_name}{i + 1}" for i in range(self.n_components_)]


Record = TypeVar("Record")


class RecordedModel(Model, Generic[Record]):
    """A model whose fit leaves a record of this type."""

    _record: Record | None

    @property
    def fit_(self) -> Record:
        """The frozen record of the fit, which every read-out reads."""
        found: Record = super().fit_
        return found


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
