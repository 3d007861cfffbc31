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

from lowdim.models import registry as _registry

if TYPE_CHECKING:
    from lowdim import datasets, errors
    from lowdim.models.base.saving import load
    from lowdim.models.pca.convert import convert
    from lowdim.models.registry import *  # noqa: F403
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

_OTHERS = {
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
"""Public name → module and name there; None: the module itself. Models are in their registry."""

__all__ = [
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
__all__ += _registry.__all__


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `import lowdim` stays fast."""
    if name in _registry.FOLDERS or name in _OTHERS:
        import_module("lowdim.runtime.machine").refuse_tight()
    if name in _registry.FOLDERS:
        value = _registry.model_class(name)
    elif name in _OTHERS:
        module, attribute = _OTHERS[name]
        loaded = import_module(module)
        value = loaded if attribute is None else getattr(loaded, attribute)
    else:
        raise AttributeError(f"module 'lowdim' has no attribute {name!r}; it has {', '.join(sorted(__all__))}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
