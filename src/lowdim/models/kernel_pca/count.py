"""How many components, and how wide a kernel: by the reconstruction of held-out rows in the feature space.

The share of held-out rows' features that the components explain rises with every component, and is largest for the
widest kernel, whose features lie in a line: alone it can choose neither. So the same is done with rows whose columns
were shuffled, each by itself, which have no structure but that of single columns. What counts is the lead: how much
more is explained of real rows than of shuffled ones. It is zero without components and with all of them, for kernels
too narrow (nothing is explained) and too wide for what is curved; parallel analysis (Horn 1965) compares the same two,
eigenvalue by eigenvalue. As there, a weak component behind strong ones may not lead, and is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lowdim.errors import BadInput, Setting
from lowdim.models.kernel_pca.kernels import Kernel
from lowdim.models.kernel_pca.record import KernelFacts
from lowdim.models.kernel_pca.settings import kernel_of
from lowdim.models.kernel_pca.solvers.exact import exact_axes
from lowdim.solvers.keep import Keep, KeepCount
from lowdim.types import Floats

MOST_ROWS = 1500
"""Rows that take part: two thirds to learn from, one third held out."""

WIDTHS = 4.0 ** np.arange(-3, 4)
"""Multiples of the median rule's gamma that are tried."""


@dataclass(frozen=True)
class Trial:
    """A kernel, and what it explains of held-out rows with 1, 2, … components."""

    facts: KernelFacts
    explained: Floats
    """(most,) share of the features' variance, of real rows."""
    by_chance: Floats
    """(most,) the same of shuffled rows."""

    @property
    def lead(self) -> Floats:
        """(most,) how much more is explained of real rows."""
        return self.explained - self.by_chance

    @property
    def best(self) -> int:
        """The number of components that lead the most."""
        return int(np.argmax(self.lead)) + 1

    def number(self, keep: Keep) -> int:
        """The number of components that a rule asks for, as far as there are so many."""
        shares = np.diff(self.explained, prepend=0.0)
        return min(keep.count(shares, 1.0) or len(shares), len(shares))


def chosen(
    candidates: Sequence[KernelFacts], rows: Floats, centered: bool, keep: Keep | None
) -> tuple[list[Trial], list[int], int]:
    """Trials of all candidates, the number of components of each (by the rule, or its best), and which leads most."""
    rng = np.random.default_rng(0)
    rows = rows[rng.permutation(len(rows))]
    shuffled = np.column_stack([rng.permutation(column) for column in rows.T])
    trials = [_trial(facts, rows, shuffled, centered) for facts in candidates]
    numbers = [each.best if keep is None else each.number(keep) for each in trials]
    leads = [each.lead[number - 1] for each, number in zip(trials, numbers, strict=True)]
    return trials, numbers, int(np.argmax(leads))


def _trial(facts: KernelFacts, rows: Floats, shuffled: Floats, centered: bool) -> Trial:
    kernel = kernel_of(facts)
    if kernel is None or len(rows) < 5:
        raise BadInput(
            f"Choosing by held-out rows needs a kernel with a name and at least 5 rows, but there are {len(rows)} rows "
            f"and the kernel is {facts.name!r}: give ",
            Setting("n_components"),
            " and ",
            Setting("gamma"),
            " as numbers.",
        )
    real, null = _explained(kernel, rows, centered), _explained(kernel, shuffled, centered)
    most = max(len(real), len(null))
    return Trial(facts, _extended(real, most), _extended(null, most))


def _explained(kernel: Kernel, rows: Floats, centered: bool) -> Floats:
    """(components,) share of the last third's features that components of the others explain, one after the other."""
    learn, held = np.split(rows, [2 * len(rows) // 3])
    keep = KeepCount(len(learn))
    found = exact_axes(kernel, learn, keep, centered=centered, rng=np.random.default_rng(0), route="dense")
    f = kernel.between(held, found.basis)
    scores = f @ found.axes - found.offset
    whole = found.from_mean(kernel.diagonal(held), f)
    return np.asarray(np.cumsum(np.mean(scores**2, axis=0)) / max(float(np.mean(whole)), np.finfo(float).tiny))


def _extended(shares: Floats, most: int) -> Floats:
    """Shares for as many components; those beyond the rank explain nothing more."""
    return np.append(shares, np.full(most - len(shares), shares[-1] if len(shares) else 0.0))
