"""Models to files and back: an estimator's settings and record as one document, and the table of kinds."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, FormatError
from lowdim.matrices.moments import Moments
from lowdim.models.kernel_pca import KernelPCA
from lowdim.models.logistic_pca import LogisticPCA
from lowdim.models.nmf import NMF
from lowdim.models.pca import PCA
from lowdim.models.ppca import ProbabilisticPCA
from lowdim.models.ppca_mixture import PPCAMixture
from lowdim.models.vector_quantizer import VectorQuantizer
from lowdim.results.codebook import pack_codebook, unpack_codebook
from lowdim.results.container import Document, read_document, write_document
from lowdim.results.kernel_file import pack_kernel, unpack_kernel
from lowdim.results.latent_file import pack_latent, unpack_latent
from lowdim.results.linear_file import Arrays, pack_linear, pack_names, unpack_linear, unpack_names
from lowdim.results.logistic_file import pack_logistic, unpack_logistic
from lowdim.results.mixture import pack_mixture, unpack_mixture
from lowdim.results.network_file import pack_network, refuse_other_network, unpack_network
from lowdim.results.nmf_file import pack_nmf, unpack_nmf
from lowdim.results.strict import Check, array, each, facts, flag, mapping, number, one_of, optional, text, whole

MODEL = {"params": mapping, "fit": mapping, "moments": optional(mapping), "seen": mapping}
SEEN = {"frame": optional(text), "itemsize": whole, "spacing": number, "named": flag}
MOMENTS = {"n_rows": whole, "weight": number, "rounding": number}

PCA_PARAMS: dict[str, Check] = {
    "n_components": lambda value: value is None or text(value) or number(value),
    "copy": flag,
    "whiten": flag,
    "svd_solver": text,
    "tol": number,
    "iterated_power": lambda value: value == "auto" or whole(value),
    "n_oversamples": whole,
    "power_iteration_normalizer": text,
    "random_state": optional(whole),
    "center": flag,
    "scale": lambda value: flag(value) or value == "array",
    "ddof": whole,
    "column_weight": one_of(None, "array"),
    "missing": one_of("error", "ppca"),
}
"""Settings of PCA as JSON says them; arrays are kept under "param_<name>"."""

LATER = {"missing": "error"}
"""Settings that files of earlier versions do not name, and what they meant."""

LATENT_PARAMS: dict[str, Check] = {
    "n_components": lambda value: text(value) or whole(value),
    "scale": lambda value: flag(value) or value == "array",
    "solver": text,
    "w_precision": number,
    "noise_variance": optional(number),
    "tol": number,
    "max_iter": whole,
    "unstored": one_of("zero", "missing"),
    "random_state": optional(whole),
}
"""The same of ProbabilisticPCA."""


MIXTURE_PARAMS: dict[str, Check] = {
    "n_clusters": whole,
    "n_components": whole,
    "scale": lambda value: flag(value) or value == "array",
    "noise_variance": optional(number),
    "tol": number,
    "max_iter": whole,
    "n_init": whole,
    "random_state": optional(whole),
}
"""The same of PPCAMixture."""

KERNEL_PARAMS: dict[str, Check] = {
    "n_components": lambda value: value is None or text(value) or number(value),
    "kernel": text,
    "gamma": lambda value: value is None or text(value) or number(value),
    "degree": number,
    "coef0": number,
    "kernel_params": one_of(None),
    "alpha": number,
    "fit_inverse_transform": flag,
    "eigen_solver": text,
    "tol": number,
    "max_iter": optional(whole),
    "iterated_power": lambda value: value == "auto" or whole(value),
    "remove_zero_eig": flag,
    "random_state": optional(whole),
    "copy_X": flag,
    "n_jobs": lambda value: value is None or value == -1 or whole(value),
    "c": optional(number),
    "sigma": optional(number),
    "scale_factor": number,
    "scale": flag,
    "centered": flag,
    "scaling": one_of("unit_axis", "lecture1"),
    "preimage": text,
    "n_landmarks": optional(whole),
    "not_positive": one_of("error", "clip"),
}
"""The same of KernelPCA."""

CODEBOOK_PARAMS: dict[str, Check] = {
    "n_components": whole,
    "init": one_of("k-means++", "random", "array"),
    "n_init": lambda value: value == "auto" or whole(value),
    "max_iter": whole,
    "tol": number,
    "sample_rows": optional(whole),
    "random_state": optional(whole),
}
"""The same of VectorQuantizer; a codebook to start from is kept as "param_init"."""

NMF_PARAMS: dict[str, Check] = {
    "n_components": lambda value: text(value) or whole(value),
    "init": optional(text),
    "solver": text,
    "beta_loss": lambda value: text(value) or number(value),
    "tol": number,
    "max_iter": whole,
    "random_state": optional(whole),
    "alpha_W": number,
    "alpha_H": lambda value: text(value) or number(value),
    "l1_ratio": number,
    "verbose": lambda value: flag(value) or whole(value),
    "shuffle": flag,
    "n_init": whole,
    "unstored": one_of("zero", "missing"),
    "n_jobs": lambda value: value is None or value == -1 or whole(value),
}
"""The same of NMF."""

LOGISTIC_PARAMS: dict[str, Check] = {
    "n_components": whole,
    "family": text,
    "encoder": text,
    "ridge": lambda value: text(value) or number(value),
    "m": lambda value: text(value) or number(value),
    "tol": number,
    "max_iter": whole,
    "unstored": one_of("zero", "missing"),
    "random_state": optional(whole),
}
"""The same of LogisticPCA."""

NETWORK_PARAMS: dict[str, Check] = {
    "n_components": whole,
    "hidden": lambda value: whole(value) or each(whole)(value),
    "loss": text,
    "activation": text,
    "scale": flag,
    "solver": text,
    "learning_rate": number,
    "batch_size": whole,
    "max_iter": whole,
    "l2": number,
    "weight_decay": number,
    "validation": number,
    "patience": whole,
    "refine": whole,
    "device": text,
    "random_state": optional(whole),
}
"""The same of Autoencoder."""

Model = PCA | ProbabilisticPCA | PPCAMixture | KernelPCA | NMF | VectorQuantizer | LogisticPCA


@dataclass(frozen=True)
class Kind:
    """A kind of model that files hold."""

    estimator: Any
    params: dict[str, Check]
    pack: Callable[[Any], tuple[dict[str, Any], Arrays]]
    unpack: Callable[[Any, Mapping[str, NDArray[Any]]], Any]


def _autoencoder(**params: Any) -> Any:
    from lowdim.models.autoencoder import Autoencoder

    return Autoencoder(**params)


KINDS = {
    "PCA": Kind(PCA, PCA_PARAMS, pack_linear, unpack_linear),
    "ProbabilisticPCA": Kind(ProbabilisticPCA, LATENT_PARAMS, pack_latent, unpack_latent),
    "PPCAMixture": Kind(PPCAMixture, MIXTURE_PARAMS, pack_mixture, unpack_mixture),
    "KernelPCA": Kind(KernelPCA, KERNEL_PARAMS, pack_kernel, unpack_kernel),
    "VectorQuantizer": Kind(VectorQuantizer, CODEBOOK_PARAMS, pack_codebook, unpack_codebook),
    "NMF": Kind(NMF, NMF_PARAMS, pack_nmf, unpack_nmf),
    "LogisticPCA": Kind(LogisticPCA, LOGISTIC_PARAMS, pack_logistic, unpack_logistic),
    "Autoencoder": Kind(_autoencoder, NETWORK_PARAMS, pack_network, unpack_network),
}

SHAPES = {"scale": "p", "column_weight": "p", "init": "kp"}
"""Settings that may be arrays, and of which shape."""

FRAMES = (None, "pandas", "polars", "pyarrow", "modin", "cudf")


def save(model: Model, path: str | os.PathLike[str]) -> None:
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


def load(path: str | os.PathLike[str]) -> Model:
    """Open a model file that `save` wrote; it gives back the estimator, ready to transform, merge and go on.

    Every byte is checked before it is used, and nothing in the file is ever executed. A file that is damaged, not by
    lowdim, or of a later format raises `lowdim.errors.FormatError`.
    """
    return unpack(read_document(path))


def pack(model: Model) -> Document:
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
        low = np.broadcast_to(np.asarray(kept.low, dtype=np.float64), kept.mean.shape)
        arrays |= {"moments_mean": kept.mean, "moments_scatter": kept.scatter, "moments_low": low}
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
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


def unpack(document: Document) -> Model:
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
    if seen["frame"] not in FRAMES or seen["itemsize"] not in (1, 2, 4, 8, 16) or not 0 < seen["spacing"] < 1:
        raise FormatError("The model file describes data that no model was fitted on.")
    fit = kind.unpack(known["fit"], document.arrays)
    p = fit.n_columns
    sizes = {"p": p, "k": int(getattr(fit, "k", 0))}
    params = _params(known["params"], kind.params, document.arrays, sizes)
    if document.kind == "Autoencoder":
        refuse_other_network(params, fit)
    model: Model = kind.estimator(**params)
    model.__dict__.update(_record=fit, _moments=_moments(known["moments"], document.arrays, p))
    model._frame_kind, model._itemsize, model._data_spacing = seen["frame"], seen["itemsize"], float(seen["spacing"])
    model._columns = fit.columns
    model.n_features_in_ = p
    if seen["named"]:
        names = unpack_names({"columns": document.arrays.get("feature_names", np.zeros(0))}, p)
        model.feature_names_in_ = np.array(names, dtype=object)
    if set(pack(model).arrays) != set(document.arrays):
        raise FormatError("The model file holds arrays that such a model does not have.")
    return model


def _params(
    given: Any, checks: dict[str, Check], arrays: Mapping[str, NDArray[Any]], sizes: dict[str, int]
) -> dict[str, Any]:
    given = LATER | given if isinstance(given, dict) and "missing" in checks else given
    params = dict(facts(given, "settings", checks))
    for name, letters in SHAPES.items():
        if params.get(name) == "array":
            params[name] = array(arrays, f"param_{name}", tuple(sizes[letter] for letter in letters))
    return {name: tuple(value) if isinstance(value, list) else value for name, value in params.items()}


def _moments(given: Any, arrays: Mapping[str, NDArray[Any]], p: int) -> Moments | None:
    if given is None:
        return None
    known = facts(given, "moments", MOMENTS)
    if known["n_rows"] < 1 or known["weight"] <= 0 or known["rounding"] < 0:
        raise FormatError("The model file holds moments that no rows can have.")
    return Moments(
        n_rows=known["n_rows"],
        weight=float(known["weight"]),
        mean=array(arrays, "moments_mean", (p,)),
        scatter=array(arrays, "moments_scatter", (p, p)),
        low=array(arrays, "moments_low", (p,)),
        rounding=float(known["rounding"]),
    )


def _plain(name: str, value: Any, check: Check) -> Any:
    """A setting as JSON says it; generators are not kept, as their state is gone with the fit."""
    if isinstance(value, (tuple, list)):
        value = [item.item() if isinstance(item, np.generic) else item for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if name == "random_state" and not isinstance(value, (int, type(None))):
        return None
    if not check(value):
        raise BadInput(f"{name}={value!r} cannot be kept in a model file.")
    return value
