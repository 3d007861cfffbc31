"""Models are scikit-learn's estimators, yet a fit does not load scikit-learn: its bases are joined when it is loaded.

Loading scikit-learn takes longer than most fits: it brings scipy.stats, and pandas where that is installed. A model
needs nothing of it to fit, to transform or to be shown at the prompt. So `Transformer` stands for scikit-learn's bases
in the tree of classes, and has them from the moment that `sklearn.base` is loaded, whoever loads it:

* a program that imports it, before or after lowdim: no program can ask `isinstance(model, BaseEstimator)` earlier;
* a model, when it is asked for what only scikit-learn has: `get_params`, `set_output`, `clone`, ….

The warning of fits that did not converge is scikit-learn's too from then on.

Until then those names are here as `Theirs`, which load scikit-learn and ask again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from lowdim.errors import LowdimWarning, NotConverged, WrongColumns

BASE = "sklearn.base"


class Theirs:
    """An attribute that scikit-learn's bases define: found there, once they are loaded."""

    def __init__(self, name: str):
        self._name = name

    def __get__(self, model: Any, owner: type) -> Any:
        import sklearn.base  # noqa: F401  which joins its bases

        return getattr(owner if model is None else super(Transformer, model), self._name)


class Waiting:
    """In the place of scikit-learn's bases until they are loaded."""

    __repr__: Any = Theirs("__repr__")
    __dir__: Any = Theirs("__dir__")
    __sklearn_clone__ = Theirs("__sklearn_clone__")
    __sklearn_tags__ = Theirs("__sklearn_tags__")
    _repr_html_ = Theirs("_repr_html_")
    _repr_mimebundle_ = Theirs("_repr_mimebundle_")
    fit_transform = Theirs("fit_transform")
    get_feature_names_out = Theirs("get_feature_names_out")
    get_metadata_routing = Theirs("get_metadata_routing")
    get_params = Theirs("get_params")
    set_output = Theirs("set_output")
    set_params = Theirs("set_params")


if TYPE_CHECKING:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

    class Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
        """What every model that turns rows into scores has of scikit-learn."""

else:

    class Transformer(Waiting):
        """What every model that turns rows into scores has of scikit-learn."""

        def __init_subclass__(cls, **kwargs: Any) -> None:
            if kwargs:  # settings of scikit-learn's, such as auto_wrap_output_keys
                import sklearn.base  # noqa: F401
            super().__init_subclass__(**kwargs)  # of its bases, once they are there
            if Waiting not in Transformer.__bases__:
                let_print(cls)


def join(base: ModuleType) -> None:
    """Give `Transformer` scikit-learn's bases, and the classes that were made from it what these add to a class."""
    from sklearn.exceptions import ConvergenceWarning

    NotConverged.__bases__ = (LowdimWarning, ConvergenceWarning)
    Transformer.__bases__ = (base.ClassNamePrefixFeaturesOutMixin, base.TransformerMixin, base.BaseEstimator)
    for kind in sorted(made_from(Transformer), key=lambda kind: len(kind.__mro__)):  # parents before their children
        super(Transformer, kind).__init_subclass__()  # type: ignore[misc]  # a subclass of it, as all of them
        let_print(kind)


def made_from(kind: type) -> set[type]:
    """All classes under a class."""
    children: list[type] = kind.__subclasses__()
    return {one for child in children for one in (child, *made_from(child))}


def let_print(kind: type) -> None:
    """Let scikit-learn print a class of models as its own.

    It breaks long lines by what prints an estimator, which would else be its own method alone; inside pipelines it does
    not ask for our repr, so that models stay one line there.
    """
    from sklearn.utils._pprint import _EstimatorPrettyPrinter

    _EstimatorPrettyPrinter._dispatch[kind.__repr__] = _EstimatorPrettyPrinter._pprint_estimator


class Notice:
    """Takes note of the import of `sklearn.base` (a finder of `sys.meta_path`), and finds nothing by itself."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where the other finders have it, with a loader that joins; None for every other module."""
        if name != BASE:
            return None
        others = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec: ModuleSpec | None = next(filter(None, others), None)
        if spec is not None:
            spec.loader = Joining(spec)  # type: ignore[assignment]  # it has what the import asks of a loader
        return spec

    def forget(self) -> None:
        """Leave no trace, once it is loaded."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)


class Joining:
    """Loads `sklearn.base` as its own loader does, and joins the bases then."""

    def __init__(self, spec: ModuleSpec):
        self._spec = spec
        self._loader: Any = spec.loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The module, made as ever."""
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Load it as ever, and join."""
        self._spec.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        NOTICE.forget()
        join(module)


NOTICE = Notice()

if BASE in sys.modules:
    import sklearn.base

    join(sklearn.base)
else:
    sys.meta_path.insert(0, NOTICE)


# What a model says of the data that it takes, which scikit-learn's tags repeat.


@dataclass(frozen=True)
class Takes:
    """What a model can be fitted on."""

    sparse: bool = True
    missing: bool = False
    negative: bool = True
    pairwise: bool = False
    """Whether rows are kernels or distances between rows."""
    response: Literal["", "numbers", "classes"] = ""
    """What y is; empty where it is ignored."""
    dtypes: tuple[str, ...] = ("float64", "float32")
    """Types of data that scores have too."""


def tell_tags(tags: Any, takes: Takes) -> None:
    """Put it into scikit-learn's tags."""
    tags.input_tags.sparse, tags.input_tags.allow_nan = takes.sparse, takes.missing
    tags.input_tags.positive_only, tags.input_tags.pairwise = not takes.negative, takes.pairwise
    tags.transformer_tags.preserves_dtype = list(takes.dtypes)


# What a model asks itself, with scikit-learn's words where the answer is an error.


def check_is_fitted(model: Any) -> None:
    """Raise scikit-learn's error if a model is not fitted."""
    if not model.__sklearn_is_fitted__():
        from sklearn.utils.validation import check_is_fitted as refuse

        refuse(model)


def check_width(model: Any, n_columns: int, reset: bool) -> None:
    """Let a model know how many columns it was fitted on, or raise an error for rows with others."""
    if reset:
        model.n_features_in_ = n_columns
    elif getattr(model, "n_features_in_", n_columns) != n_columns:
        raise WrongColumns(  # in scikit-learn's words, which its checks read
            f"X has {n_columns:,} features, but {type(model).__name__} is expecting {model.n_features_in_} features as "
            "input: pass rows with the columns of the fit."
        )


def dispatches() -> bool:
    """Whether scikit-learn was told that arrays of other libraries stay what they are (`array_api_dispatch`)."""
    loaded = sys.modules.get("sklearn")
    return loaded is not None and bool(loaded.get_config()["array_api_dispatch"])
