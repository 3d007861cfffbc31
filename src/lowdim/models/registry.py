"""Every model by its public name: the one file that lists them. Nothing is loaded before it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

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
    from lowdim.models.truncated_svd.model import TruncatedSVD
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
    "TruncatedSVD",
    "VectorQuantizer",
]
"""Public classes; the imports above are for type checkers, to which a name in a table is no name."""

FOLDERS = {
    "PCA": "pca",
    "IncrementalPCA": "incremental_pca",
    "TruncatedSVD": "truncated_svd",
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


class Offer(NamedTuple):  # no dataclass: importing lowdim imports this file, and dataclasses load the parser
    """A model at the prompt, as help texts tell it. They load no model, so what they tell stands here."""

    model: str
    """Its public class, of which `_prompt` and the constructor say which options it has."""
    title: str
    suits: str = ""
    """What for, after its name."""
    keep: str = ""
    """What --keep takes in place of 90% of the variance, 12 and all; beside them if it ends with "too"."""
    losses: Mapping[str, str] = MappingProxyType({})
    """--loss with which `compare` takes it too → what that is called."""
    compared: bool = True
    """Whether `compare` takes it."""


OFFERS = {
    "pca": Offer("PCA", "PCA", keep="mle too"),
    "svd": Offer("TruncatedSVD", "Truncated SVD", "for sparse counts (no means are taken off)"),
    "ppca": Offer("ProbabilisticPCA", "Probabilistic PCA", "where values are missing", "12, auto, bic, ard"),
    "kernel": Offer("KernelPCA", "Kernel PCA (Gaussian)", "for curved shapes", "auto too"),
    "nmf": Offer("NMF", "NMF", "for parts that add up", "12, auto", {"kl": "Kullback–Leibler"}),
    "vq": Offer("VectorQuantizer", "Vector quantisation", "for a codebook", "12"),
    "logistic": Offer("LogisticPCA", "Logistic PCA", "for yes and no or counts", "12"),
    "genotypes": Offer("GenotypePCA", "Genotype PCA", "for copies of an allele", compared=False),
    "autoencoder": Offer("Autoencoder", "Autoencoder", "for a network", "12"),
}
"""What the prompt calls a model, the first if nothing is said → what it is."""


class OwnOption(NamedTuple):
    """An option that only some models have, as help texts and errors tell it, which load no model."""

    metavar: str
    """What stands for a value."""
    owners: tuple[str, ...]
    """What the prompt calls these models. Their constructors declare the option."""
    help: str


OWN_OPTIONS = {
    "kernel": OwnOption(
        "NAME", ("kernel",), "Of --model kernel: rbf (unless said), laplacian, poly, linear, cosine, sigmoid."
    ),
    "gamma": OwnOption(
        "HOW", ("kernel",), "Its width: median (unless said; of the distances between rows), auto, or a number."
    ),
    "loss": OwnOption(
        "NAME",
        ("nmf", "autoencoder"),
        "Of --model nmf: frobenius (unless said), kl for counts, itakura-saito, or a number β; of autoencoder: bce for "
        "numbers from 0 to 1, mse.",
    ),
    "hidden": OwnOption(
        "A,B",
        ("autoencoder",),
        "Of --model autoencoder: units of its hidden layers, the first next to the columns, or none.",
    ),
    "epochs": OwnOption("N", ("autoencoder",), "Its epochs, at most: times that it sees all rows."),
    "family": OwnOption(
        "NAME",
        ("logistic",),
        "Of --model logistic: bernoulli (unless said) for values from 0 to 1, poisson for counts, gaussian.",
    ),
    "autosomes": OwnOption(
        "N",
        ("genotypes",),
        "Of genotypes: leave out SNPs on chromosomes beyond this, and X, Y, MT: 22 (unless said), all.",
    ),
}
"""Options that only some models have."""

PROMPTS = {name: offer.model for name, offer in OFFERS.items()}
"""What the prompt calls a model → its public class."""

USUAL = next(iter(PROMPTS))
"""--model, if nothing is said."""

LECTURE = ("nmf-kl", "vq", "pca")
"""The three of lecture 2's figure 6, which is figure 1 of Lee & Seung 1999: `compare`, if nothing is said."""

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


def compared_titles() -> dict[str, str]:
    """What `compare` calls models, by name or name-loss → their titles."""
    found = {}
    for name, offer in OFFERS.items():
        if offer.compared:
            found[name] = offer.title
            found |= {f"{name}-{loss}": f"{offer.title} ({called})" for loss, called in offer.losses.items()}
    return found


def prompt_name(given: str) -> str | None:
    """What the prompt calls the model of this name, or of this public class in any spelling; None if there is none."""
    known = {_plain(public): name for name, public in PROMPTS.items()} | {name: name for name in PROMPTS}
    return known.get(_plain(given))


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def prompt_of(name: str) -> Prompt:
    """What the model that the prompt calls so says of its options."""
    kind = model_class(PROMPTS[name])
    found: Prompt = kind._prompt.of(kind)
    return found


def part_of(model: Any, role: str) -> ModuleType | None:
    """The file of this role ("overview", "record", …) in the folder of a model, its class, or its public name.

    Where the folder has no such file, that of the class it is derived from stands in: of PCA the one of `linear`. None
    where there is none at all.
    """
    from importlib.util import find_spec  # not before it is needed, as importing lowdim imports this file

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
