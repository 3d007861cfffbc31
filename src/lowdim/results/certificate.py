"""How far a spectrum can be trusted: numerical error, component by component (not sampling error)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from lowdim.errors import FormatError
from lowdim.results.fields import OUTSIDE, AddedLater, NonNegative, Share
from lowdim.results.meaning import LEAST, ROUNDED, Angle, Rising, Shares, is_run, orthogonality, refuse, refuse_skew
from lowdim.types import EPS, Floats
from lowdim.words import Text, plural, ranges

TOLERANCE = 1e-10
"""Relative accuracy that is aimed at when the user names none."""

TOLERANCE_OF_TOTAL = 1e-11
"""Share of all variance that an error may reach then, where that is more: what one pass of products gives for certain,
up to millions of rows."""


@dataclass(frozen=True)
class Accuracy:
    """How exact variances are to be."""

    relative: float = TOLERANCE
    """Of each variance …"""
    of_total: float = TOLERANCE_OF_TOTAL
    """… or of the variance in all, where that is more. 0 where the user named an accuracy: then of each."""

    def allowed(self, variances: Floats, total: float) -> Floats:
        """(k,) what variances may be off by."""
        found: Floats = np.maximum(self.relative * variances, self.of_total * total)
        return found


def _zeros(sizes: Mapping[str, int]) -> Floats:
    return np.zeros(sizes["k"])


@dataclass(frozen=True)
class Certificate:
    """Bounds on the numerical error of each component. Variances are in the units of `explained_variance_`."""

    variances: Annotated[Floats, "k", OUTSIDE]
    """(k,) as returned."""
    residuals: Annotated[Floats, "k", NonNegative]
    """(k,) ‖C v − variance v‖ for the covariance C."""
    rounding: Annotated[Floats, "k", NonNegative]
    """(k,) error of rounding in products with the data, which no residual can show."""
    lower: Annotated[Floats, "k", NonNegative]
    """(k,) the true eigenvalue is not below this …"""
    upper: Annotated[Floats, "k"]
    """(k,) … nor above this."""
    angles: Annotated[Floats, "k", Angle]
    """(k,) bound on the angle to the true axis, in radians; π/2 where the axis is not determined."""
    null: Annotated[tuple[int, ...], Rising]
    """Components (from 0) whose variance is zero to rounding: any direction that is left over."""
    clusters: tuple[tuple[int, ...], ...]
    """Components (from 0) with nearly equal variances: only the plane they span together is defined."""
    cut: bool
    """Whether the last component belongs to such a cluster with one that was left out."""
    subspace_angle: Annotated[float, Angle]
    """Bound on the angle between the span of all components and the true one, in radians."""
    orthogonality: Annotated[float, NonNegative]
    """Largest deviation of V Vᵀ from the identity."""
    captured: Annotated[tuple[float, float], Shares]
    """Interval for the share of the variance that the true leading k components have."""
    tol: Annotated[float, Share]
    """Relative accuracy that was asked for, of every variance …"""
    untrusted: Annotated[tuple[int, ...], Rising]
    """Components (from 0) whose variance is not as accurate as was asked."""
    measured: bool
    """True: residuals were computed; False: they follow from the backward error of a full decomposition."""
    solver: str
    passes: int
    bytes_read: int | None
    notes: tuple[str, ...] = ()
    floor: Annotated[float, Share, AddedLater(0.0)] = 0.0
    """… or of the variance in all, where that is more."""
    data_rounding: Annotated[Floats, "k", NonNegative, AddedLater(_zeros)] = field(default_factory=lambda: np.zeros(0))
    """(k,) what the variances may have changed by when the values were rounded to the type that they came in. It is no
    error of the fit, which takes the values for exact. Empty where nothing is known of it."""

    def check(self) -> None:
        """Refuse what no file can say."""
        k, runs = len(self.variances), [i for run in self.clusters for i in run]
        if any(i >= k for i in (*self.null, *self.untrusted, *runs)):
            raise FormatError(f"The certificate of the model file names a component beyond its {k}.")
        refuse(
            self.null and self.null != tuple(range(self.null[0], k)), "that components before the last have no variance"
        )
        together = all(len(run) > 1 and is_run(run) for run in self.clusters) and Rising.holds(runs)
        refuse(not together, "of its clusters that they are no neighbours")
        slack = ROUNDED * self.variances
        inside = (self.lower <= self.variances + slack).all() and (self.variances <= self.upper + slack).all()
        refuse(not inside and not self.blank, "that variances lie outside of their own bounds")
        refuse(self.captured[0] > self.captured[1] + ROUNDED, "that it captures more at least than at most")

    def check_against(self, components: Floats, total: float) -> None:
        """Refuse what is not true of these axes (k, p), and of all the variance that there is."""
        if self.blank:
            return
        refuse_skew(components)
        k, p = components.shape
        # the same sums in another order: a few roundings of numbers up to one, or as measured by signs, k at once
        allowed = max(self.orthogonality, 64 * EPS * np.sqrt(p)) * max(1, k)
        refuse(orthogonality(components) > allowed, f"that its axes are orthonormal to {self.orthogonality:.0e}")
        real = np.setdiff1d(np.arange(k), self.null)
        values, half = self.variances[real], ((self.upper - self.lower) / 2)[real]
        # as the fit decided: what the best method errs by is no fault (`solvers/solver.find_untrusted`)
        possible = 48 * np.sqrt(p) * EPS * np.sqrt(values) * np.sqrt(values[:1]) + 64 * p * EPS**2 * values[:1]
        clear = (
            half
            <= (1 + ROUNDED) * np.maximum(self.tol * values, self.floor * total)
            + possible
            + np.spacing(self.upper[real]) * 4
        )
        refuse(
            not set(real[~clear]) <= set(self.untrusted),
            f"that variances are right to {self.asked}, and bounds that are wider",
        )
        share = float(self.variances.sum()) / total if total > 0 else 0.0
        wide = self.captured[0] - ROUNDED <= share <= self.captured[1] + ROUNDED
        refuse(
            total > LEAST and not wide and k and not self.untrusted,
            f"that it captures {self.captured[0]:.6g} to {self.captured[1]:.6g}, and it captures {share:.6g}",
        )

    @property
    def blank(self) -> bool:
        """Whether nothing was bounded, because something else found the components; the notes say what is known."""
        return self.tol == 0

    @property
    def reached(self) -> bool:
        """Whether every component is as accurate as was asked."""
        return not self.untrusted

    @property
    def word(self) -> str:
        """The certificate in one word; "reached": nothing was bounded, but the search came to its end."""
        if not self.reached:
            return "untrusted"
        if self.blank:
            return "reached"
        return "planes" if self.clusters or self.cut else "certified"

    @property
    def relative_error(self) -> float:
        """Largest relative error of a variance that is not zero."""
        real = slice(0, len(self.variances) - len(self.null))
        width, size = (self.upper - self.lower)[real] / 2, self.variances[real]
        with np.errstate(over="ignore"):  # of a variance near the end of the range, nothing is known
            worst = np.divide(width, size, out=np.ones_like(width), where=size > 0).max(initial=0.0)
        return float(min(worst, np.finfo(float).max))

    @property
    def relative_data_rounding(self) -> float:
        """Largest share of a variance that the rounding of the values themselves may have changed."""
        real = slice(0, len(self.variances) - len(self.null))
        changed, size = self.data_rounding[real], self.variances[real][: len(self.data_rounding)]
        return float(np.divide(changed, size, out=np.zeros_like(changed), where=size > 0).max(initial=0.0))

    @property
    def asked(self) -> str:
        """The accuracy that was asked for, in words."""
        return f"{self.tol:.0e}" + (f" of each, or {self.floor:.0e} of all variance" if self.floor else "")

    @property
    def allowed_by_data(self) -> str | None:
        """A sentence where the rounding of the values themselves weighs more than was asked for, and None elsewhere."""
        changed = self.relative_data_rounding
        if self.blank or changed <= self.tol:
            return None
        return f"if the values were rounded to their type, they fix variances to {changed:.0e} of each"

    @property
    def axis_angle(self) -> float:
        """Largest bound on the angle of a single axis that has variance, in radians."""
        return float(self.angles[: len(self.angles) - len(self.null)].max(initial=0.0))

    def __str__(self) -> str:
        if self.blank:
            return "\n".join(
                [f"{self.word}: {plural(len(self.variances), 'component')} by {self.solver}", *self._noted]
            )
        lines = [
            f"{self.word}: {plural(len(self.variances), 'component')} by {self.solver}, "
            f"{plural(self.passes, 'pass', 'es')}",
            f"  asked for                           {self.asked}",
            f"  worst relative error of a variance  {self.relative_error:.1e}",
            f"  worst angle of a single axis        {self.axis_angle:.1e} rad",
            f"  angle of their span                 {self.subspace_angle:.1e} rad",
            f"  orthogonality                       {self.orthogonality:.1e}",
            f"  share of the variance               {self.captured[0]:.10g} … {self.captured[1]:.10g}",
        ]
        lines += [f"  components {run[0] + 1}–{run[-1] + 1} are only defined as a plane" for run in self.clusters]
        if self.null:
            lines.append(f"  no variance is left for component {ranges(self.null)}: any direction left over")
        if self.cut:
            lines.append("  the last component and the next, left out, are nearly equal: take more or fewer")
        if self.untrusted:
            lines.append(f"  not accurate to {self.asked}: components {ranges(self.untrusted)}")
        if self.allowed_by_data:
            lines.append(f"  {self.allowed_by_data}")
        return str(Text("\n".join([*lines, *self._noted])))

    @property
    def _noted(self) -> list[str]:
        return [f"  {note}" for note in self.notes]


def blank_certificate(components: Floats, variances: Floats, total: float, solver: str, note: str) -> Certificate:
    """The certificate of components (k, p) of which nothing is known."""
    k = len(variances)
    return Certificate(
        variances=variances,
        residuals=np.full(k, total),
        rounding=np.zeros(k),
        lower=np.zeros(k),
        upper=np.full(k, total),
        angles=np.full(k, np.pi / 2),
        null=(),
        clusters=(),
        cut=False,
        subspace_angle=float(np.pi / 2),
        orthogonality=float(np.abs(components @ components.T - np.eye(k)).max(initial=0.0)),
        captured=(0.0, 1.0),
        tol=0.0,
        untrusted=tuple(range(k)),
        measured=False,
        solver=solver,
        passes=0,
        bytes_read=None,
        notes=(note,),
        data_rounding=np.zeros(k),
    )
