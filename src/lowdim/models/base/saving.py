"""Models to files and back: an estimator's settings and record as one document, and the table of kinds."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, FormatError, Words
from lowdim.matrices.moments import Moments
from lowdim.models.autoencoder.record import pack_network, refuse_other_network, unpack_network
from lowdim.models.base.saved_settings import (
    CODEBOOK_PARAMS,
    GENOTYPE_PARAMS,
    INCREMENTAL_PARAMS,
    KERNEL_PARAMS,
    LATENT_PARAMS,
    LATER,
    LOGISTIC_PARAMS,
    MIXTURE_PARAMS,
    NETWORK_PARAMS,
    NMF_PARAMS,
    PCA_PARAMS,
    RECOGNISER_PARAMS,
    REGRESSION_PARAMS,
)
from lowdim.models.genotype_pca.model import GenotypePCA
from lowdim.models.genotype_pca.record import pack_genotypes, unpack_genotypes
from lowdim.models.incremental_pca.model import IncrementalPCA
from lowdim.models.kernel_pca.model import KernelPCA
from lowdim.models.kernel_pca.record import pack_kernel, unpack_kernel
from lowdim.models.logistic_pca.model import LogisticPCA
from lowdim.models.logistic_pca.record import pack_logistic, unpack_logistic
from lowdim.models.nmf.model import NMF
from lowdim.models.nmf.record import pack_nmf, unpack_nmf
from lowdim.models.pc_regression.model import PCRegression
from lowdim.models.pc_regression.record import pack_regression, unpack_regression
from lowdim.models.pca.model import PCA
from lowdim.models.ppca_mixture.model import PPCAMixture
from lowdim.models.ppca_mixture.record import pack_mixture, unpack_mixture
from lowdim.models.probabilistic_pca.model import ProbabilisticPCA
from lowdim.models.probabilistic_pca.record import pack_latent, unpack_latent
from lowdim.models.recogniser.model import Recogniser
from lowdim.models.recogniser.record import pack_recogniser, unpack_recogniser
from lowdim.models.vector_quantizer.model import VectorQuantizer
from lowdim.models.vector_quantizer.record import pack_codebook, unpack_codebook
from lowdim.results.container import (
    Check,
    Document,
    array,
    begins_as_model,
    facts,
    flag,
    mapping,
    number,
    optional,
    read_document,
    text,
    whole,
    write_document,
)
from lowdim.results.record import Arrays, pack_linear, pack_names, unpack_linear, unpack_names
from lowdim.sources.kinds import ENDINGS, ending_of

MODEL = {"params": mapping, "fit": mapping, "moments": optional(mapping), "seen": mapping}
SEEN = {"frame": optional(text), "itemsize": whole, "spacing": number, "named": flag}
MOMENTS = {"n_rows": whole, "weight": number}

LATER_ARRAYS = {"moments_error", "certificate_data_rounding", "filler_certificate_data_rounding"}
"""Arrays that files of earlier versions do not have."""

EARLIER = 1e-5
"""Relative error of moments in such files: they may be sums of 4,096 rows in float32."""

Estimator = TypeVar("Estimator")
"""A class of models."""


@dataclass(frozen=True)
class Kind:
    """A kind of model that files hold."""

    estimator: Any
    params: dict[str, Check]
    pack: Callable[[Any], tuple[dict[str, Any], Arrays]]
    unpack: Callable[[Any, Mapping[str, NDArray[Any]]], Any]


def _autoencoder(**params: Any) -> Any:
    from lowdim.models.autoencoder.model import Autoencoder

    return Autoencoder(**params)


KINDS = {
    "PCA": Kind(PCA, PCA_PARAMS, pack_linear, unpack_linear),
    "IncrementalPCA": Kind(IncrementalPCA, INCREMENTAL_PARAMS, pack_linear, unpack_linear),
    "ProbabilisticPCA": Kind(ProbabilisticPCA, LATENT_PARAMS, pack_latent, unpack_latent),
    "PPCAMixture": Kind(PPCAMixture, MIXTURE_PARAMS, pack_mixture, unpack_mixture),
    "KernelPCA": Kind(KernelPCA, KERNEL_PARAMS, pack_kernel, unpack_kernel),
    "VectorQuantizer": Kind(VectorQuantizer, CODEBOOK_PARAMS, pack_codebook, unpack_codebook),
    "NMF": Kind(NMF, NMF_PARAMS, pack_nmf, unpack_nmf),
    "LogisticPCA": Kind(LogisticPCA, LOGISTIC_PARAMS, pack_logistic, unpack_logistic),
    "PCRegression": Kind(PCRegression, REGRESSION_PARAMS, pack_regression, unpack_regression),
    "GenotypePCA": Kind(GenotypePCA, GENOTYPE_PARAMS, pack_genotypes, unpack_genotypes),
    "Recogniser": Kind(Recogniser, RECOGNISER_PARAMS, pack_recogniser, unpack_recogniser),
    "Autoencoder": Kind(_autoencoder, NETWORK_PARAMS, pack_network, unpack_network),
}

SHAPES = {"scale": "p", "column_weight": "p", "init": "kp"}
"""Settings that may be arrays, and of which shape."""

FRAMES = (None, "pandas", "polars", "pyarrow", "modin", "cudf")


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a `.lowdim` file, atomically. Nothing of it is code, so anyone can open it safely.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import lowdim
    >>> model = lowdim.PCA(2).fit(lowdim.datasets.uk_foods().values)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "foods.lowdim"
    >>> model.save(path)
    >>> bool((lowdim.load(path).components_ == model.components_).all())
    True
    """
    write_document(path, pack(model))


@overload
def load(path: str | os.PathLike[str]) -> Any: ...


@overload
def load(path: str | os.PathLike[str], kind: type[Estimator]) -> Estimator: ...


def load(path: str | os.PathLike[str], kind: type[Any] | None = None) -> Any:
    """Open a model file that `save` wrote.

    Every byte is checked before it is used, and nothing in the file is ever executed. A file that is damaged, not by
    lowdim, or of a later format raises `lowdim.errors.FormatError`.

    Parameters
    ----------
    path : path
        Of a `.lowdim` file.
    kind : class of models, or None
        What the file must hold, such as `PCA`: another model is refused, and type checkers know what came. None: any.

    Returns
    -------
    PCA, KernelPCA, NMF or whichever model was saved
        Ready to transform, merge and go on.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import lowdim
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "foods.lowdim"
    >>> lowdim.PCA(2).fit(lowdim.datasets.uk_foods().values).save(path)
    >>> lowdim.load(path, lowdim.PCA).components_.shape
    (2, 17)
    """
    _refuse_table(Path(path))
    found = unpack(read_document(path))
    if kind is not None and not isinstance(found, kind):
        raise FormatError(
            f"{path}: holds a {type(found).__name__}, not a {kind.__name__}: load it as what it is, or without a kind."
        )
    return found


def _refuse_table(path: Path) -> None:
    """An error that helps if a file is named as data are, and does not begin as a model does."""
    if ending_of(path) in ENDINGS and path.is_file() and not begins_as_model(path):
        raise FormatError(
            f"{path}: a table, not a .lowdim model file: ",
            Words(
                "lowdim.open reads it, and the fit of a model, such as PCA().fit, takes it.",
                "lowdim fit makes a model of it, and --save keeps that.",
            ),
        )


def pack(model: Any) -> Document:
    """A fitted model as a document."""
    name = type(model).__name__
    kind = KINDS[name]
    fit, arrays = kind.pack(model.fit_)
    params: dict[str, Any] = {}
    for param, check in kind.params.items():
        value = getattr(model, param)
        if param in SHAPES and not isinstance(value, (bool, np.bool_, str, type(None))):
            arrays[f"param_{param}"] = np.asarray(value, dtype=np.float64)
            value = "array"
        params[param] = _plain(param, value, check)
    kept = getattr(model, "_moments", None)
    if kept is not None:
        low, error = (
            np.broadcast_to(np.asarray(part, dtype=np.float64), kept.mean.shape) for part in (kept.low, kept.error)
        )
        arrays |= {
            "moments_mean": kept.mean,
            "moments_scatter": kept.scatter,
            "moments_low": low,
            "moments_error": error,
        }
    names = getattr(model, "feature_names_in_", None)
    if names is not None and tuple(names) != model.fit_.columns:  # else they are in the record
        arrays["feature_names"] = pack_names(tuple(map(str, names)))
    known = {
        "params": params,
        "fit": fit,
        "moments": None if kept is None else {name: getattr(kept, name) for name in MOMENTS},
        "seen": {
            "frame": model._frame_kind if model._frame_kind in FRAMES else None,
            "itemsize": model._itemsize,
            "spacing": model._data_spacing,
            "named": names is not None,
        },
    }
    return Document(name, known, arrays)


def unpack(document: Document) -> Any:
    """The model that `pack` took apart, if the document is exactly what `pack` makes."""
    kind = KINDS.get(document.kind)
    if kind is None and document.kind.endswith(" checkpoint"):
        owner = document.kind.removesuffix(" checkpoint")[:40]
        raise FormatError(
            f"The file holds the checkpoint of a fit that was not completed, and no model: go on with {owner}("
            "checkpoint=path).fit(X), and the settings and rows that it was begun with."
        )
    if kind is None:
        raise FormatError(f"The model file holds a {document.kind[:40]!r}, which this version of lowdim does not know.")
    known = facts(document.facts, "model", MODEL)
    seen = facts(known["seen"], "data description", SEEN)
    if seen["frame"] not in FRAMES or seen["itemsize"] not in (1, 2, 4, 8, 16) or not 0 <= seen["spacing"] < 1:
        raise FormatError("The model file describes data that no model was fitted on.")
    fit = kind.unpack(known["fit"], document.arrays)
    p = fit.n_columns
    sizes = {"p": p, "k": int(getattr(fit, "k", 0))}
    params = _params(known["params"], kind.params, document.arrays, sizes)
    if document.kind == "Autoencoder":
        refuse_other_network(params, fit)
    model = kind.estimator(**params)
    model.__dict__.update(_record=fit, _moments=_moments(known["moments"], document.arrays, p))
    model._frame_kind, model._itemsize, model._data_spacing = seen["frame"], seen["itemsize"], float(seen["spacing"])
    model._columns = fit.columns
    model.n_features_in_ = p
    if seen["named"]:
        model.feature_names_in_ = np.array(_feature_names(fit.columns, document.arrays, p), dtype=object)
    needed, there = set(pack(model).arrays), set(document.arrays)
    both = {"feature_names"} if seen["named"] else set()  # earlier versions wrote them twice
    if not needed - LATER_ARRAYS <= there <= needed | both:
        raise FormatError("The model file holds arrays that such a model does not have.")
    return model


def _feature_names(columns: tuple[str, ...] | None, arrays: Mapping[str, NDArray[Any]], p: int) -> tuple[str, ...]:
    """The names that scikit-learn knows: of their own, or those of the record."""
    if columns is not None and "feature_names" not in arrays:
        return columns
    return unpack_names({"columns": arrays.get("feature_names", np.zeros(0))}, p)


def _params(
    given: Any, checks: dict[str, Check], arrays: Mapping[str, NDArray[Any]], sizes: dict[str, int]
) -> dict[str, Any]:
    if isinstance(given, dict):
        given = {name: value for name, value in LATER.items() if name in checks} | given
    params = dict(facts(given, "settings", checks))
    for name, letters in SHAPES.items():
        if params.get(name) == "array":
            params[name] = array(arrays, f"param_{name}", tuple(sizes[letter] for letter in letters))
    return {name: tuple(value) if isinstance(value, list) else value for name, value in params.items()}


def _moments(given: Any, arrays: Mapping[str, NDArray[Any]], p: int) -> Moments | None:
    if given is None:
        return None
    if isinstance(given, dict):  # of earlier versions
        given = {name: value for name, value in given.items() if name != "rounding"}
    known = facts(given, "moments", MOMENTS)
    if known["n_rows"] < 1 or known["weight"] <= 0:
        raise FormatError("The model file holds moments that no rows can have.")
    scatter = array(arrays, "moments_scatter", (p, p))
    # files of earlier versions do not say how exact it is: to as many digits as sums of 4,096 rows in float32 are
    error = (
        np.abs(scatter.diagonal()) * EARLIER if "moments_error" not in arrays else array(arrays, "moments_error", (p,))
    )
    if (error < 0).any():
        raise FormatError("The model file holds moments that no rows can have.")
    return Moments(
        n_rows=known["n_rows"],
        weight=float(known["weight"]),
        mean=array(arrays, "moments_mean", (p,)),
        scatter=scatter,
        low=array(arrays, "moments_low", (p,)),
        error=error,
    )


def _plain(name: str, value: Any, check: Check) -> Any:
    """A setting as JSON says it; generators are not kept, as their state is gone with the fit."""
    if isinstance(value, (tuple, list)):
        value = [item.item() if isinstance(item, np.generic) else item for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if name == "random_state" and not isinstance(value, (int, type(None))):
        return None
    if name == "cv" and not isinstance(value, int):  # a splitter is code, and pairs of rows are data
        return None
    if not check(value):
        raise BadInput(f"{name}={value!r} cannot be kept in a model file.")
    return value
