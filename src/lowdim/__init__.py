"""lowdim: the few dimensions that matter in a matrix, with a certificate of how right they are.

The rooms, each standing on those before it::

    errors ← sources ← matrices ← solvers ← models      ← recipes        results ← views
             where     what a     how       promises      jobs made      what was  looking
             rows      solver     factors   to the user   of models      learnt    at it
             come from sees       are found
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lowdim import datasets, errors
    from lowdim.models.adopt import convert
    from lowdim.models.autoencoder import Autoencoder
    from lowdim.models.genotype_pca import GenotypePCA
    from lowdim.models.incremental_pca import IncrementalPCA
    from lowdim.models.kernel_pca import KernelPCA
    from lowdim.models.logistic_pca import LogisticPCA
    from lowdim.models.nmf import NMF
    from lowdim.models.pc_regression import PCRegression
    from lowdim.models.pca import PCA
    from lowdim.models.ppca import ProbabilisticPCA
    from lowdim.models.ppca_mixture import PPCAMixture
    from lowdim.models.recogniser import Recogniser
    from lowdim.models.saving import load
    from lowdim.models.vector_quantizer import VectorQuantizer
    from lowdim.recipes.basis_pursuit import basis_pursuit
    from lowdim.recipes.choose_k import choose_k
    from lowdim.recipes.compare import compare
    from lowdim.recipes.denoise import denoise
    from lowdim.recipes.inpaint import inpaint
    from lowdim.recipes.procrustes import procrustes
    from lowdim.recipes.recognise import recognise
    from lowdim.recipes.redundant import redundant
    from lowdim.recipes.topics import topics
    from lowdim.sources.open import open_source as open

__version__ = "0.1.0"

_PUBLIC = {
    "Autoencoder": ("lowdim.models.autoencoder", "Autoencoder"),
    "GenotypePCA": ("lowdim.models.genotype_pca", "GenotypePCA"),
    "IncrementalPCA": ("lowdim.models.incremental_pca", "IncrementalPCA"),
    "KernelPCA": ("lowdim.models.kernel_pca", "KernelPCA"),
    "LogisticPCA": ("lowdim.models.logistic_pca", "LogisticPCA"),
    "NMF": ("lowdim.models.nmf", "NMF"),
    "PCA": ("lowdim.models.pca", "PCA"),
    "PCRegression": ("lowdim.models.pc_regression", "PCRegression"),
    "PPCAMixture": ("lowdim.models.ppca_mixture", "PPCAMixture"),
    "ProbabilisticPCA": ("lowdim.models.ppca", "ProbabilisticPCA"),
    "Recogniser": ("lowdim.models.recogniser", "Recogniser"),
    "VectorQuantizer": ("lowdim.models.vector_quantizer", "VectorQuantizer"),
    "basis_pursuit": ("lowdim.recipes.basis_pursuit", "basis_pursuit"),
    "choose_k": ("lowdim.recipes.choose_k", "choose_k"),
    "compare": ("lowdim.recipes.compare", "compare"),
    "convert": ("lowdim.models.adopt", "convert"),
    "datasets": ("lowdim.datasets", None),
    "denoise": ("lowdim.recipes.denoise", "denoise"),
    "errors": ("lowdim.errors", None),
    "inpaint": ("lowdim.recipes.inpaint", "inpaint"),
    "load": ("lowdim.models.saving", "load"),
    "open": ("lowdim.sources.open", "open_source"),
    "redundant": ("lowdim.recipes.redundant", "redundant"),
    "procrustes": ("lowdim.recipes.procrustes", "procrustes"),
    "recognise": ("lowdim.recipes.recognise", "recognise"),
    "topics": ("lowdim.recipes.topics", "topics"),
}

__all__ = [
    "NMF",
    "PCA",
    "Autoencoder",
    "GenotypePCA",
    "IncrementalPCA",
    "KernelPCA",
    "LogisticPCA",
    "PCRegression",
    "PPCAMixture",
    "ProbabilisticPCA",
    "Recogniser",
    "VectorQuantizer",
    "basis_pursuit",
    "choose_k",
    "compare",
    "convert",
    "datasets",
    "denoise",
    "errors",
    "inpaint",
    "load",
    "open",
    "procrustes",
    "recognise",
    "redundant",
    "topics",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `import lowdim` stays fast."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'lowdim' has no attribute {name!r}; it has {', '.join(sorted(_PUBLIC))}")
    module, attribute = _PUBLIC[name]
    loaded = import_module(module)
    value = loaded if attribute is None else getattr(loaded, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
