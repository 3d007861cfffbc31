"""lowdim: the few dimensions that matter in a matrix, with a certificate of how right they are.

The rooms, each standing on those before it::

    errors ← runtime ← sources ← matrices ← solvers ← models     ← recipes        results ← views
             how       where     what a     methods   a folder     jobs made      what was  looking
             work      rows      solver     models    a model      of models      learnt    at it
             is run    come from sees       share
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lowdim import datasets, errors
    from lowdim.models.autoencoder.model import Autoencoder
    from lowdim.models.base.saving import load
    from lowdim.models.genotype_pca.model import GenotypePCA
    from lowdim.models.incremental_pca.model import IncrementalPCA
    from lowdim.models.kernel_pca.model import KernelPCA
    from lowdim.models.logistic_pca.model import LogisticPCA
    from lowdim.models.nmf.model import NMF
    from lowdim.models.pc_regression.model import PCRegression
    from lowdim.models.pca.convert import convert
    from lowdim.models.pca.model import PCA
    from lowdim.models.ppca_mixture.model import PPCAMixture
    from lowdim.models.probabilistic_pca.model import ProbabilisticPCA
    from lowdim.models.recogniser.model import Recogniser
    from lowdim.models.vector_quantizer.model import VectorQuantizer
    from lowdim.recipes.basis_pursuit.basis_pursuit import basis_pursuit
    from lowdim.recipes.choose_k.choose_k import choose_k
    from lowdim.recipes.compare.compare import compare
    from lowdim.recipes.pictures.denoise import denoise
    from lowdim.recipes.pictures.inpaint import inpaint
    from lowdim.recipes.procrustes.procrustes import procrustes
    from lowdim.recipes.recognise.recognise import recognise
    from lowdim.recipes.redundant.redundant import redundant
    from lowdim.recipes.topics.topics import topics
    from lowdim.sources.open import open_source as open

__version__ = "0.1.0"

_PUBLIC = {
    "Autoencoder": ("lowdim.models.autoencoder.model", "Autoencoder"),
    "GenotypePCA": ("lowdim.models.genotype_pca.model", "GenotypePCA"),
    "IncrementalPCA": ("lowdim.models.incremental_pca.model", "IncrementalPCA"),
    "KernelPCA": ("lowdim.models.kernel_pca.model", "KernelPCA"),
    "LogisticPCA": ("lowdim.models.logistic_pca.model", "LogisticPCA"),
    "NMF": ("lowdim.models.nmf.model", "NMF"),
    "PCA": ("lowdim.models.pca.model", "PCA"),
    "PCRegression": ("lowdim.models.pc_regression.model", "PCRegression"),
    "PPCAMixture": ("lowdim.models.ppca_mixture.model", "PPCAMixture"),
    "ProbabilisticPCA": ("lowdim.models.probabilistic_pca.model", "ProbabilisticPCA"),
    "Recogniser": ("lowdim.models.recogniser.model", "Recogniser"),
    "VectorQuantizer": ("lowdim.models.vector_quantizer.model", "VectorQuantizer"),
    "basis_pursuit": ("lowdim.recipes.basis_pursuit.basis_pursuit", "basis_pursuit"),
    "choose_k": ("lowdim.recipes.choose_k.choose_k", "choose_k"),
    "compare": ("lowdim.recipes.compare.compare", "compare"),
    "convert": ("lowdim.models.pca.convert", "convert"),
    "datasets": ("lowdim.datasets", None),
    "denoise": ("lowdim.recipes.pictures.denoise", "denoise"),
    "errors": ("lowdim.errors", None),
    "inpaint": ("lowdim.recipes.pictures.inpaint", "inpaint"),
    "load": ("lowdim.models.base.saving", "load"),
    "open": ("lowdim.sources.open", "open_source"),
    "redundant": ("lowdim.recipes.redundant.redundant", "redundant"),
    "procrustes": ("lowdim.recipes.procrustes.procrustes", "procrustes"),
    "recognise": ("lowdim.recipes.recognise.recognise", "recognise"),
    "topics": ("lowdim.recipes.topics.topics", "topics"),
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
