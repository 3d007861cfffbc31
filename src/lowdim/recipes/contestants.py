"""Models that are to be compared: by name, or as estimators."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from numbers import Integral
from typing import Any

from lowdim.errors import BadParameter

NEEDED = ("fit", "transform", "inverse_transform")


@dataclass(frozen=True)
class Contestant:
    """A model that is not fitted yet."""

    name: str
    title: str
    model: Any


def contestants(models: Sequence[Any] | Mapping[str, Any] | str, k: Any, seed: int) -> list[Contestant]:
    """What was asked for, each with a name of its own."""
    if isinstance(models, str) or hasattr(models, "fit"):
        models = [models]
    named = isinstance(models, Mapping)
    pairs = list(models.items()) if isinstance(models, Mapping) else [(None, model) for model in models]
    if not pairs:
        raise BadParameter("compare(models=[]): nothing to compare; name models, as in models=['pca', 'nmf', 'vq'].")
    found: dict[str, Contestant] = {}
    for key, model in pairs:
        made = _by_name(model, k, seed) if isinstance(model, str) else _as_given(model)
        if named:
            made = Contestant(str(key), str(key), made.model)
            if made.name in found:
                raise BadParameter(f"compare(models=…): two keys read {made.name!r}; give each model its own name.")
        number = _free(made.name, found)
        found[made.name + number] = Contestant(made.name + number, made.title + number, made.model)
    return list(found.values())


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """What makes a name one of its own: nothing, or the first number from 2 that does."""
    if name not in taken:
        return ""
    return next(f" {number}" for number in count(2) if f"{name} {number}" not in taken)


def _as_given(model: Any) -> Contestant:
    lacking = [name for name in NEEDED if not hasattr(model, name)]
    if lacking or isinstance(model, type):
        what = "a class; make an estimator of it" if isinstance(model, type) else f"without {' and '.join(lacking)}"
        raise BadParameter(
            f"compare(models=…): {model!r:.60} is {what}: models are names, or estimators with {', '.join(NEEDED)}."
        )
    name = type(model).__name__
    return Contestant(name, name, copy.deepcopy(model))


def _by_name(name: str, k: Any, seed: int) -> Contestant:
    known = name.strip().lower()
    if known not in NAMED:
        close = difflib.get_close_matches(known, NAMED, n=1)
        guess = f"; did you mean {close[0]!r}?" if close else f", but {', '.join(NAMED)}."
        raise BadParameter(f"compare(models=[{name!r}]): there is no such model{guess}")
    if not isinstance(k, Integral) or isinstance(k, bool) or int(k) < 1:
        raise BadParameter.of("compare", "k", k, f"a whole number from 1, as the components of {name!r}")
    title, make = NAMED[known]
    return Contestant(known, title, make(int(k), seed))


def _pca(k: int, seed: int) -> Any:
    from lowdim.models.pca import PCA

    return PCA(k, random_state=seed)


def _ppca(k: int, seed: int) -> Any:
    from lowdim.models.ppca import ProbabilisticPCA

    return ProbabilisticPCA(k, random_state=seed)


def _kernel(k: int, seed: int) -> Any:
    from lowdim.models.kernel_pca import KernelPCA

    return KernelPCA(k, kernel="rbf", gamma="median", random_state=seed)


def _nmf(k: int, seed: int) -> Any:
    from lowdim.models.nmf import NMF

    return NMF(k, random_state=seed)


def _nmf_kl(k: int, seed: int) -> Any:
    from lowdim.models.nmf import NMF

    return NMF(k, beta_loss="kullback-leibler", random_state=seed)


def _vq(k: int, seed: int) -> Any:
    from lowdim.models.vector_quantizer import VectorQuantizer

    return VectorQuantizer(k, random_state=seed)


def _logistic(k: int, seed: int) -> Any:
    from lowdim.models.logistic_pca import LogisticPCA

    return LogisticPCA(k, random_state=seed)


def _autoencoder(k: int, seed: int) -> Any:
    from lowdim.models.autoencoder import Autoencoder

    return Autoencoder(k, random_state=seed)


NAMED: dict[str, tuple[str, Callable[[int, int], Any]]] = {
    "pca": ("PCA", _pca),
    "nmf": ("NMF", _nmf),
    "nmf-kl": ("NMF (Kullback–Leibler)", _nmf_kl),
    "vq": ("Vector quantisation", _vq),
    "ppca": ("Probabilistic PCA", _ppca),
    "kernel": ("Kernel PCA (Gaussian)", _kernel),
    "logistic": ("Logistic PCA", _logistic),
    "autoencoder": ("Autoencoder", _autoencoder),
}
"""Name → title, and how the model is made with k components and a seed."""
