"""Kernel PCA at the prompt."""

from __future__ import annotations

from typing import Any

from lowdim.errors import BadParameter
from lowdim.models.base.prompt import Prompt, share_or_count

NEEDED = "a share such as 90%, a number such as 12, all, or auto is needed"


def _keep(keep: str) -> Any:
    """A share, a number, all, or auto, which held-out rows decide."""
    text = keep.strip().lower()
    if text == "mle":
        raise BadParameter(f"--keep {keep}: {NEEDED}.")
    return "auto" if text == "auto" else share_or_count(keep, NEEDED)


def _settings(kernel: str | None = None, gamma: str | None = None) -> dict[str, Any]:
    from lowdim.models.kernel_pca.settings import NAMES

    names = [name for name in NAMES if name != "precomputed"]
    named = (kernel or "rbf").lower()
    if named not in names:
        more = "; a matrix of kernel values is for Python" if named == "precomputed" else ""
        raise BadParameter(f"--kernel {named}: it must be one of {', '.join(names)}{more}.")
    return {"kernel": named, "gamma": kernel_width(named, None if gamma is None else gamma.strip().lower())}


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


PROMPT = Prompt(_keep, "90%", _settings, ("{fit} --gamma auto", "another width?"))
