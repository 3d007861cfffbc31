"""Every model by its public name: the one file that lists them. Nothing is loaded before it is asked for."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lowdim.models.autoencoder.model import Autoencoder
    from lowdim.models.base.prompt import Prompt
    from lowdim.models.genotype_pca.model import GenotypePCA
    from lowdim.models.incremental_pca.model import IncrementalPCA
    from lowdim.models.kernel_pca.model import KernelPCA
    from lowdim.models.logistic_pca.model import LogisticPCA
    from lowdim.models.nmf.model import NMF
    from lowdim.models.pc_regression.model import PCRegression
    from lowdim.models.pca.model import PCA
    from lowdim.models.ppca_mixture.model import PPCAMixture
    from lowdim.models.probabilistic_pca.model import ProbabilisticPCA
    from lowdim.models.recogniser.model import Recogniser
    from lowdim.models.vector_quantizer.model import VectorQuantizer

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
]
"""Public classes; the imports above are for type checkers, to which a name in a table is no name."""

FOLDERS = {
    "PCA": "pca",
    "IncrementalPCA": "incremental_pca",
    "ProbabilisticPCA": "probabilistic_pca",
    "PPCAMixture": "ppca_mixture",
    "KernelPCA": "kernel_pca",
    "NMF": "nmf",
    "LogisticPCA": "logistic_pca",
    "Autoencoder": "autoencoder",
    "VectorQuantizer": "vector_quantizer",
    "PCRegression": "pc_regression",
    "GenotypePCA": "genotype_pca",
    "Recogniser": "recogniser",
}
"""Public class → its folder beside this file, in which `model.py` defines it."""

PROMPTS = {
    "pca": "PCA",
    "ppca": "ProbabilisticPCA",
    "kernel": "KernelPCA",
    "nmf": "NMF",
    "vq": "VectorQuantizer",
    "logistic": "LogisticPCA",
    "genotypes": "GenotypePCA",
    "autoencoder": "Autoencoder",
}
"""What the prompt calls a model → its public class, in whose folder `prompt.py` says which options it has."""

KINDS = {
    **PROMPTS,
    "incremental": "IncrementalPCA",
    "regression": "PCRegression",
    "recogniser": "Recogniser",
    "mixture": "PPCAMixture",
}
"""What JSON calls a model → its public class: those that `fit` at the prompt makes, and those that it does not."""

ROOM = "lowdim.models"


def model_class(name: str) -> Any:
    """The public class of this name, loaded when it is asked for."""
    return getattr(import_module(f"{ROOM}.{FOLDERS[name]}.model"), name)


def prompt_name(given: str) -> str | None:
    """What the prompt calls the model of this name, or of this public class in any spelling; None if there is none."""
    known = {_plain(public): name for name, public in PROMPTS.items()} | {name: name for name in PROMPTS}
    return known.get(_plain(given))


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def prompt_of(name: str) -> Prompt:
    """What the model that the prompt calls so says of its options; loads no model."""
    found: Prompt = import_module(f"{ROOM}.{FOLDERS[PROMPTS[name]]}.prompt").PROMPT
    return found


def part_of(model: Any, role: str) -> ModuleType | None:
    """The file of this role ("overview", "record", …) in the folder of a model, its class, or its public name.

    Where the folder has no such file, that of the class it is derived from stands in: of PCA the one of `linear`. None
    where there is none at all.
    """
    kind = model_class(model) if isinstance(model, str) else model if isinstance(model, type) else type(model)
    for ancestor in kind.__mro__:
        parts = ancestor.__module__.split(".")
        if ".".join(parts[:2]) == ROOM and len(parts) > 3:  # not a user's own class, nor one of another package
            name = f"{ROOM}.{parts[2]}.{role}"
            if find_spec(name) is not None:
                return import_module(name)
    return None


def class_of(folder: str) -> Any:
    """`__getattr__` of a model's folder: its public class, loaded when it is first asked for.

    So `lowdim.models.nmf.NMF` is found by pickles that name it, while importing the folder loads nothing.
    """

    def get(name: str) -> Any:
        if FOLDERS.get(name) != folder.rpartition(".")[2]:
            raise AttributeError(f"module {folder!r} has no attribute {name!r}")
        return model_class(name)

    return get
