"""Settings of a model as the command line says them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from lowdim.cli import options
from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.models.base.estimator import Model

MODELS = {
    "pca": "PCA",
    "ppca": "ProbabilisticPCA",
    "kernel": "KernelPCA",
    "nmf": "NMF",
    "vq": "VectorQuantizer",
    "logistic": "LogisticPCA",
    "genotypes": "GenotypePCA",
    "autoencoder": "Autoencoder",
}
"""What --model says → the name of the estimator."""

OWNERS = {
    "--kernel": ("kernel",),
    "--gamma": ("kernel",),
    "--loss": ("nmf", "autoencoder"),
    "--hidden": ("autoencoder",),
    "--epochs": ("autoencoder",),
    "--family": ("logistic",),
    "--autosomes": ("genotypes",),
}
"""Options that only some models have."""


def n_components(keep: str) -> int | float | Literal["mle"] | None:
    """What --keep means for a model: 90% and 0.9 are shares, 12 a number, all is None, mle Minka's choice."""
    text = keep.strip().lower()
    if text == "all":
        return None
    if text == "mle":
        return "mle"
    try:
        if text.endswith("%"):
            share = float(text[:-1]) / 100
        elif text.lstrip("+").isdigit():
            if int(text) >= 1:
                return int(text)
            raise ValueError
        else:
            share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise BadParameter(f"--keep {keep}: a share such as 90%, a number such as 12, all, or mle is needed.")
    return share


def probabilistic_components(keep: str) -> Any:
    """What --keep means for a probabilistic model: a number, or the name of a rule."""
    text = keep.strip().lower()
    if text in ("auto", "bic", "ard"):
        return text
    if not text.isdigit() or int(text) < 1:
        raise BadParameter(f"--keep {keep}: a whole number from 1, auto, bic or ard is needed.")
    return int(text)


def kernel_components(keep: str) -> int | float | Literal["mle", "auto"] | None:
    """What --keep means for a kernel PCA: a share, a number, all, or auto, which held-out rows decide."""
    text = keep.strip().lower()
    if text == "auto":
        return "auto"
    if text != "mle":
        try:
            return n_components(keep)
        except BadParameter:
            pass
    raise BadParameter(f"--keep {keep}: a share such as 90%, a number such as 12, all, or auto is needed.")


def part_count(keep: str) -> int | Literal["held_out"]:
    """What --keep means for an NMF: a number of parts, or auto, which hidden entries decide."""
    text = keep.strip().lower()
    if text == "auto":
        return "held_out"
    if not text.isdigit() or int(text) < 1:
        raise BadParameter(f"--keep {keep}: a whole number from 1, or auto, is needed.")
    return int(text)


def kernel_width(kernel: str, gamma: str | None) -> float | str | None:
    """What --gamma means for a kernel: a number, or the name of a rule, which only kernels of distances have."""
    if kernel in ("linear", "cosine"):
        if gamma is not None:
            raise BadParameter(f"--gamma {gamma}: the {kernel} kernel has no width; leave --gamma out.")
        return None
    of_distances = kernel in ("rbf", "laplacian")
    if gamma is None:
        return "median" if of_distances else None
    if of_distances and gamma in ("median", "auto"):
        return gamma
    try:
        number = float(gamma)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        if of_distances:
            raise BadParameter(f"--gamma {gamma}: a number above 0, median or auto is needed.")
        raise BadParameter(
            f"--gamma {gamma}: the {kernel} kernel needs a number above 0; without --gamma it is one over the number "
            "of columns."
        )
    return number


def build(
    model: str,
    keep: str,
    scale: bool,
    memory: str | None,
    kernel: str | None = None,
    gamma: str | None = None,
    loss: str | None = None,
    hidden: str | None = None,
    epochs: str | None = None,
    family: str | None = None,
    autosomes: str | None = None,
) -> Model:
    """The model with these settings."""
    name = model.lower()
    given = {"--kernel": kernel, "--gamma": gamma, "--loss": loss, "--hidden": hidden, "--epochs": epochs}
    given |= {"--family": family, "--autosomes": autosomes}
    for option, value in given.items():
        if value is not None and name not in OWNERS[option]:
            owners = " or ".join(OWNERS[option])
            raise BadParameter(f"{option} {value}: only --model {owners} has that; add it, or leave {option} out.")
    if name not in MODELS:
        raise BadParameter(f"--model {model}: there is no such model yet; there is {', '.join(MODELS)}.")
    if name == "nmf":
        return _nmf(keep, scale, memory, loss)
    if name == "kernel":
        return _kernel_pca(kernel_components(keep), scale, memory, (kernel or "rbf").lower(), gamma)
    if name == "autoencoder":
        return _autoencoder(keep, scale, memory, loss, hidden, epochs)
    if name == "logistic":
        return _logistic(keep, scale, memory, family)
    if name == "genotypes":
        return _genotypes(keep, scale, memory, autosomes)
    if name == "vq":
        return _vector_quantizer(keep, scale, memory)
    if name == "ppca":
        from lowdim.models.probabilistic_pca.model import ProbabilisticPCA

        rule: Any = "auto" if keep == options.KEEP else probabilistic_components(keep)
        return ProbabilisticPCA(rule, scale=scale, memory=memory)
    wish = n_components(keep)
    from lowdim.models.pca.model import PCA

    settings: dict[str, Any] = {} if memory is None else {"memory": memory}
    return PCA(wish, scale=scale, **settings)


def codewords(keep: str) -> int:
    """What --keep means for a codebook: a whole number of codewords."""
    if keep == options.KEEP:
        return options.CODEWORDS
    if not keep.strip().isdigit() or int(keep) < 1:
        raise BadParameter(f"--keep {keep}: a codebook needs a whole number of codewords, from 1.")
    return int(keep)


def code_count(keep: str) -> int:
    """What --keep means for an autoencoder: a whole number of codes."""
    if keep == options.KEEP:
        return options.CODES
    if not _is_count(keep):
        raise BadParameter(f"--keep {keep}: an autoencoder needs a whole number of codes, from 1.")
    return int(keep)


def hidden_units(text: str) -> tuple[int, ...]:
    """What --hidden means: units of each layer between columns and codes, or none."""
    if text.strip().lower() == "none":
        return ()
    units = text.split(",")
    if not all(map(_is_count, units)):
        raise BadParameter(f"--hidden {text}: whole numbers from 1 are needed, as in 100,50, or none.")
    return tuple(map(int, units))


def _is_count(text: str) -> bool:
    return text.strip().isdecimal() and int(text) >= 1


def _autoencoder(
    keep: str, scale: bool, memory: str | None, loss: str | None, hidden: str | None, epochs: str | None
) -> Model:
    settings: dict[str, Any] = {"scale": True} if scale else {}
    if hidden is not None:
        settings["hidden"] = hidden_units(hidden)
    if epochs is not None:
        if not _is_count(epochs):
            raise BadParameter(f"--epochs {epochs}: a whole number from 1 is needed.")
        settings["max_iter"] = int(epochs)
    if loss is not None:
        if loss.lower() not in ("auto", "bce", "mse"):
            raise BadParameter(f"--loss {loss}: of an autoencoder it must be auto, bce or mse.")
        settings["loss"] = loss.lower()
    k = code_count(keep)
    from lowdim.models.autoencoder.model import Autoencoder

    made: Model = Autoencoder(k, memory=memory, **settings)
    return made


def _logistic(keep: str, scale: bool, memory: str | None, family: str | None) -> Model:
    from lowdim.models.logistic_pca.model import LogisticPCA
    from lowdim.models.logistic_pca.record import FAMILIES

    if scale:
        raise BadParameter("--scale: takes means off, and logistic PCA needs values as they are; leave it out.")
    named: Any = (family or "bernoulli").lower()
    if named not in FAMILIES:
        raise BadParameter(f"--family {family}: it must be one of {', '.join(FAMILIES)}.")
    if keep != options.KEEP and not _is_count(keep):
        raise BadParameter(f"--keep {keep}: a logistic PCA needs a whole number of components, from 1.")
    return LogisticPCA(options.CODES if keep == options.KEEP else int(keep), family=named, memory=memory)


def _genotypes(keep: str, scale: bool, memory: str | None, autosomes: str | None) -> Model:
    from lowdim.models.genotype_pca.model import GenotypePCA

    if scale:
        raise BadParameter("--scale: genotypes are normalised by their allele frequencies; leave it out.")
    wish = options.AXES if keep == options.KEEP else n_components(keep)
    if wish == "mle":
        raise BadParameter(f"--keep {keep}: genotypes need a number of axes such as 10, a share such as 90%, or all.")
    settings: dict[str, Any] = {}
    if autosomes is not None:
        if autosomes != "all" and not _is_count(autosomes):
            raise BadParameter(f"--autosomes {autosomes}: a whole number from 1, or all, is needed.")
        settings["autosomes"] = None if autosomes == "all" else int(autosomes)
    made: Model = GenotypePCA(wish, memory=memory, **settings)
    return made


def _vector_quantizer(keep: str, scale: bool, memory: str | None) -> Model:
    from lowdim.models.vector_quantizer.model import VectorQuantizer

    if scale:
        raise BadParameter("--scale: a codebook is of the columns as they are; leave --scale out, or scale the table.")
    if memory is not None:
        raise BadParameter(f"--memory {memory}: k-means keeps at most 1 GiB of rows by itself; leave --memory out.")
    return VectorQuantizer(codewords(keep))


def _nmf(keep: str, scale: bool, memory: str | None, loss: str | None) -> Model:
    from lowdim.models.nmf.model import NMF
    from lowdim.models.nmf.settings import LOSSES

    if scale:
        raise BadParameter("--scale: takes means off, and an NMF needs numbers from 0 as they are; leave it out.")
    wish: int | Literal["held_out"] = "held_out" if keep == options.KEEP else part_count(keep)
    named = {"kl": "kullback-leibler", None: "frobenius"}.get(loss, loss)
    beta: Any = named
    if named not in LOSSES:
        try:
            beta = float(str(named))
        except ValueError:
            raise BadParameter(f"--loss {loss}: it must be kl, {', '.join(LOSSES)}, or a number β.") from None
    return NMF(wish, beta_loss=beta, memory=memory)


def _kernel_pca(keep: Any, scale: bool, memory: str | None, kernel: Any, gamma: str | None) -> Model:
    from lowdim.models.kernel_pca.model import KernelPCA
    from lowdim.models.kernel_pca.settings import NAMES

    names = [name for name in NAMES if name != "precomputed"]
    if kernel not in names:
        more = "; a matrix of kernel values is for Python" if kernel == "precomputed" else ""
        raise BadParameter(f"--kernel {kernel}: it must be one of {', '.join(names)}{more}.")
    width: Any = kernel_width(kernel, None if gamma is None else gamma.strip().lower())
    return KernelPCA(keep, kernel=kernel, gamma=width, scale=scale, memory=memory)
