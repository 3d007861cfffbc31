"""The record of a linear fit: everything that transform, tables, plots and files need, frozen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import SingularModel
from lowdim.results.certificate import Certificate, uncertified
from lowdim.results.held import Held, said_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Provenance:
    """Where a fit comes from."""

    data: str
    solver: str
    reason: str
    passes: int
    memory: int
    """Bytes that the plan foresaw beside the data and the result."""
    seed: str
    versions: tuple[tuple[str, str], ...] = ()


ATTRIBUTES = {
    "mean": "mean_",
    "scale": "scale_",
    "components": "components_",
    "variances": "explained_variance_",
    "singular_values": "singular_values_",
}
"""Arrays of a linear fit → what users call them."""


def _withdrawn(fit: LinearFit, given: Certificate, changed: tuple[str, ...]) -> Certificate:
    note = said_of(tuple(ATTRIBUTES[name] for name in changed), "changed")
    return uncertified(fit.components, fit.variances, fit.total_variance, given.solver, note)


def _of_none(certificate: Certificate) -> Certificate:
    """The same of no components."""
    bounds = dict.fromkeys(
        ("variances", "residuals", "rounding", "lower", "upper", "angles", "data_rounding"), np.zeros(0)
    )
    nowhere = {"null": (), "clusters": (), "untrusted": (), "cut": False}
    exact = {"subspace_angle": 0.0, "orthogonality": 0.0, "captured": (0.0, 0.0)}
    return replace(certificate, **bounds, **nowhere, **exact)  # type: ignore[arg-type]  # three kinds of fields


@dataclass(frozen=True)
class LinearFit:
    """Mean, scale, axes and variances of n rows × p columns.

    Rows become scores by ((x − mean) · gain) componentsᵀ, where gain is the square root of the column weight over the
    scale.
    """

    mean: Floats
    """(p,)"""
    scale: Floats
    """(p,) what the centred columns were divided by; ones if nothing was asked."""
    column_weight: Floats | None
    """(p,) or None for one each."""
    components: Floats
    """(k, p), orthonormal rows, largest variance first."""
    variances: Floats
    """(k,)"""
    singular_values: Floats
    """(k,)"""
    total_variance: float
    n_rows: int
    weight: float
    """Sum of row weights."""
    ddof: int
    provenance: Provenance
    certificate: Held[Certificate] = Held(*ATTRIBUTES, withdrawn=_withdrawn)  # noqa: RUF009  a descriptor
    """Of the arrays above, as long as they are what they were."""
    columns: tuple[str, ...] | None = None
    spectrum: Floats | None = field(default=None, repr=False)
    """All variances, where the solver found them anyway."""
    column_variances: Floats | None = field(default=None, repr=False)
    """(p,) of the columns about their centre, in the data's units; None in records that do not know them."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.mean)

    @property
    def k(self) -> int:
        """Number of components."""
        return len(self.variances)

    @property
    def gain(self) -> Floats:
        """(p,) factor of each centred column."""
        return 1 / self.scale if self.column_weight is None else np.sqrt(self.column_weight) / self.scale

    @property
    def undo_gain(self) -> Floats:
        """(p,) the inverse of the gain; columns of weight zero come back as their mean."""
        gain = self.gain
        return np.divide(1.0, gain, out=np.zeros_like(gain), where=gain > 0)

    @property
    def whitening(self) -> Floats:
        """(k,) one over the standard deviations; 0 for directions without variance, whose scores are rounding."""
        real = np.arange(self.k) < self.k - len(HELD.given(self).null)
        known = self.known_variances
        return np.divide(1.0, np.sqrt(known), out=np.zeros(self.k), where=real & (known > 0))

    def axes(self, whiten: bool) -> Floats:
        """(k, p) axes in the data's units, by which scores, whitened ones if so, become rows about the mean."""
        axes = self.components * self.undo_gain
        return axes * np.sqrt(self.known_variances)[:, None] if whiten else axes

    @property
    def known_variances(self) -> Floats:
        """(k,) the variances, or an error where components were assigned without them."""
        return _known("explained_variance_", self.variances)

    @property
    def known_singular_values(self) -> Floats:
        """(k,) the singular values, or an error."""
        return _known("singular_values_", self.singular_values)

    @property
    def strengths(self) -> Floats:
        """(k,) lengths of the loading vectors: the standard deviations along the axes."""
        return np.sqrt(self.variances)

    @property
    def changed(self) -> tuple[str, ...]:
        """Arrays that somebody changed since the fit, by the names that users have for them."""
        return tuple(ATTRIBUTES[name] for name in HELD.changed(self))

    @property
    def reached(self) -> bool:
        """Whether the fit is as accurate as was asked."""
        return self.certificate.reached

    @property
    def shares(self) -> Floats:
        """(k,) of the total variance; zeros for a constant matrix."""
        return self.variances / self.total_variance if self.total_variance > 0 else np.zeros_like(self.variances)

    @property
    def noise_variance(self) -> float:
        """Mean of the p − k variances left out (Tipping & Bishop 1999, eq. 8), also when n < p."""
        p, k = len(self.mean), self.k
        if k == p:
            return 0.0
        left = self.total_variance - float(self.variances.sum())
        # what rounding leaves of a difference of equal numbers is zero
        return max(left, 0.0) / (p - k) if left > 1e-14 * p * self.total_variance else 0.0


def _known(name: str, values: Floats) -> Floats:
    if np.isnan(values).any():
        raise SingularModel(
            f"{name} is not known of all components, as components_ was assigned without it, but whitening, densities "
            f"and files need it: assign it too{' (or n_samples_, which tells it)' * (name == 'singular_values_')}."
        )
    return values


def without_components(fit: LinearFit) -> LinearFit:
    """The same without its components: a mean, and noise that is the same in all directions."""
    return replace(
        fit,
        components=fit.components[:0],
        variances=np.zeros(0),
        singular_values=np.zeros(0),
        certificate=_of_none(fit.certificate),
    )


HELD: Held[Certificate] = vars(LinearFit)["certificate"]
