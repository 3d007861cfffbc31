"""The record of a linear fit, frozen: what transform, tables, plots and files need."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Generic, Protocol, Self, TypeVar, overload

import numpy as np

from lowdim.errors import SingularModel
from lowdim.results.certificate import Certificate, blank_certificate
from lowdim.results.fields import AddedLater, NonNegative, Prefix, has, size
from lowdim.results.meaning import LEAST, MOST, ROUNDED, Distinct, Falling, Invertible, Squarable, Weight, agree, refuse
from lowdim.types import Array, Floats

# What holds of arrays only as long as they are what they were: a certificate of changed components is none.
#
# Arrays of a record are handed out without a copy, so that flipping a sign in place changes what `transform` uses,
# as with scikit-learn. The record notices by checksums, which are compared when what depends on the arrays is asked
# for.

Value = TypeVar("Value")


class HeldWhileUnchanged(Generic[Value]):
    """A field of a frozen dataclass that holds while some of its arrays, which come before it, are unchanged.

    `withdrawn(record, value, changed)` says what stands in its place once arrays of these names have changed.
    """

    def __init__(self, *arrays: str, withdrawn: Callable[[Any, Value, tuple[str, ...]], Value]):
        self.arrays = arrays
        self._withdrawn = withdrawn

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, record: None, owner: type) -> HeldWhileUnchanged[Value]: ...

    @overload
    def __get__(self, record: object, owner: type) -> Value: ...

    def __get__(self, record: object | None, owner: type) -> HeldWhileUnchanged[Value] | Value:
        if record is None:
            raise AttributeError(self._name)  # the dataclass asks for a default, and there is none
        changed = self.changed(record)
        value = self.given(record)
        return self._withdrawn(record, value, changed) if changed else value

    def __set__(self, record: object, value: Value) -> None:
        vars(record)[self._name] = value, {name: checksum(getattr(record, name)) for name in self.arrays}

    def given(self, record: object) -> Value:
        """What was given, whether it still holds or not."""
        value: Value = vars(record)[self._name][0]
        return value

    def changed(self, record: object) -> tuple[str, ...]:
        """Names of the arrays that are not what they were."""
        sums = vars(record)[self._name][1]
        return tuple(name for name in self.arrays if checksum(getattr(record, name)) != sums[name])


def checksum(array: Array) -> int:
    """A number that hardly any change leaves as it is: 3 GB of numbers a second."""
    if array.flags.c_contiguous:
        return zlib.crc32(array.data)
    return zlib.crc32(np.ascontiguousarray(array.T).data)


def describe_change(attributes: tuple[str, ...], done: str) -> str:
    """A sentence about attributes that were changed or assigned after the fit."""
    names = " and ".join(attributes)
    were = "was" if len(attributes) == 1 else "were"
    return f"since the fit {names} {were} {done}, so nothing is certified: fit again for that"


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
    levels: Annotated[tuple[tuple[str, tuple[str, ...]], ...], AddedLater(())] = ()
    """Text column that was coded as numbers, and its values; all of its columns are 0 where it is the first."""


Columns = Annotated[tuple[str, ...] | None, "p", Distinct]
"""Names of p columns; None: they have none."""

ATTRIBUTES = {
    "mean": "mean_",
    "scale": "scale_",
    "components": "components_",
    "variances": "explained_variance_",
    "singular_values": "singular_values_",
}
"""Arrays of a linear fit → what users call them."""


def _withdraw_certificate(fit: LinearFit, given: Certificate, changed: tuple[str, ...]) -> Certificate:
    note = describe_change(tuple(ATTRIBUTES[name] for name in changed), "changed")
    return blank_certificate(fit.components, fit.variances, fit.total_variance, given.solver, note)


def _certificate_of_none(certificate: Certificate) -> Certificate:
    """The same of no components."""
    bounds = dict.fromkeys(
        ("variances", "residuals", "rounding", "lower", "upper", "angles", "data_rounding"), np.zeros(0)
    )
    nowhere = {"null": (), "clusters": (), "untrusted": (), "cut": False}
    exact = {"subspace_angle": 0.0, "orthogonality": 0.0, "captured": (0.0, 0.0)}
    return replace(certificate, **bounds, **nowhere, **exact)  # type: ignore[arg-type]  # three kinds of fields


class RowMoments(Protocol):
    """What is read here of `matrices.moments.Moments`."""

    @property
    def n_rows(self) -> int: ...  # noqa: D102
    @property
    def weight(self) -> float: ...  # noqa: D102
    @property
    def mean(self) -> Floats: ...  # noqa: D102
    @property
    def scatter(self) -> Floats: ...  # noqa: D102
    @property
    def error(self) -> Floats | float: ...  # noqa: D102


@dataclass(frozen=True)
class LinearFit:
    """Mean, scale, axes and variances of n rows × p columns.

    Rows become scores by ((x − mean) · gain) componentsᵀ, where gain is the square root of the column weight over the
    scale.
    """

    PROBABILISTIC: ClassVar[bool] = False
    """Whether the variance beyond the components is a noise of the model, the same in all directions."""
    DERIVED: ClassVar[Mapping[str, Any]] = {
        "n_columns": size("mean"),
        "n_components": size("variances"),
        "column_weighted": has("column_weight"),
        "named": has("columns"),
        "spectrum": size("spectrum"),
    }

    mean: Annotated[Floats, "p"]
    """(p,)"""
    scale: Annotated[Floats, "p", Invertible]
    """(p,) what the centred columns were divided by; ones if nothing was asked."""
    column_weight: Annotated[Floats | None, "p", NonNegative]
    """(p,) or None for one each."""
    components: Annotated[Floats, "k p", Squarable]
    """(k, p), orthonormal rows, largest variance first."""
    variances: Annotated[Floats, "k", NonNegative]
    """(k,)"""
    singular_values: Annotated[Floats, "k", NonNegative]
    """(k,)"""
    total_variance: Annotated[float, NonNegative]
    n_rows: Annotated[int, "n"]
    weight: Annotated[float, Weight]
    """Sum of row weights."""
    ddof: int
    provenance: Provenance
    certificate: Annotated[HeldWhileUnchanged[Certificate], Prefix("certificate_")] = HeldWhileUnchanged(
        *ATTRIBUTES, withdrawn=_withdraw_certificate
    )
    """Of the arrays above, as long as they are what they were."""
    columns: Columns = None
    spectrum: Annotated[Floats | None, "all", NonNegative, Falling] = field(default=None, repr=False)
    """All variances, where the solver found them anyway."""
    column_variances: Annotated[Floats | None, "p", NonNegative] = field(default=None, repr=False)
    """(p,) of the columns about their centre, in the data's units; None in records that do not know them."""

    def to_file(self) -> dict[str, Any]:
        """What a file holds in place of fields; an error where there is nothing to hold."""
        return {"variances": self.known_variances, "singular_values": self.known_singular_values}

    def check(self) -> None:
        """Refuse what no file can say, and no fit can be."""
        impossible = self.k > self.n_columns or (self.n_rows == 0) != (self.weight == 0)
        refuse(impossible, f"{self.n_rows} rows, {self.n_columns} columns and {self.k} components")
        refuse(not np.isfinite(self.undo_gain).all(), "that columns are multiplied by numbers beyond all others")
        # a column that does not vary may lie anywhere, as it takes part in no component
        far = np.abs(self.mean) * self.gain > MOST
        refuse(self.components[:, far].any(), "means whose squares are beyond all numbers, of columns that vary")
        total, held = self.total_variance, float(self.variances.sum())
        refuse(
            not np.isfinite(held) or held > total * (1 + ROUNDED),
            f"a variance of {total:.6g} in all, of which its components hold {held:.6g}",
        )
        certificate = CERTIFICATE_FIELD.given(self)
        certificate.check_against(self.components, total)
        if certificate.blank:  # assigned, or by other means, in whatever order
            return
        refuse(not Falling.holds(self.variances), "that variances are ordered, and they are not")
        refuse(
            self.ddof >= self.weight or not agree(self.singular_values**2, self.variances * (self.weight - self.ddof)),
            f"{self.weight:g} rows, and singular values that do not go with the variances",
        )
        self._check_spectrum()

    def check_moments(self, moments: RowMoments) -> None:
        """Refuse a certificate that is not true of the moments of the same rows, which a file keeps to go on with."""
        certificate, scatter = CERTIFICATE_FIELD.given(self), moments.scatter
        root = np.sqrt(np.maximum(scatter.diagonal(), 0.0))
        step = max(1, 2**20 // max(1, len(root)))
        for rows in (slice(start, start + step) for start in range(0, len(root), step)):  # to hold no copy of it
            part, square = scatter[rows], np.outer(root[rows], root)
            odd = (
                not agree(part, scatter[:, rows].T, ROUNDED * square)
                or (np.abs(part) > (1 + ROUNDED) * square + LEAST).any()
            )
            refuse(odd, "products of columns that no columns have")
        if certificate.blank or self.PROBABILISTIC:
            return
        refuse(moments.n_rows != self.n_rows or not agree(moments.weight, self.weight), "moments of other rows")
        divisor, V, offset = self.weight - self.ddof, self.components, moments.mean - self.mean
        turned = (scatter @ (V * self.gain).T + np.outer(self.weight * offset, (V * self.gain) @ offset)).T
        apart = np.linalg.norm(turned * self.gain / divisor - self.variances[:, None] * V, axis=1)
        error = float((self.gain**2 * moments.error).sum()) / divisor
        lengths = float((self.gain**2 * (scatter.diagonal() + self.weight * offset**2)).sum()) / divisor
        allowed = certificate.residuals + certificate.rounding + 2 * error + ROUNDED * self.total_variance + LEAST
        refuse((apart > allowed).any(), "that its axes are those of its moments, and they are not")
        refuse(not agree(lengths, self.total_variance, 2 * error + LEAST), "moments of another variance in all")

    def _check_spectrum(self) -> None:
        """Refuse variances of all directions, or of the columns, that are not those of the components."""
        slack = ROUNDED * self.total_variance
        if self.spectrum is not None:
            same = len(self.spectrum) >= self.k and agree(self.spectrum[: self.k], self.variances, slack)
            refuse(
                not same or not agree(float(self.spectrum.sum()), self.total_variance, LEAST),
                "a spectrum that is not that of its components",
            )
        if self.column_variances is not None and not self.about_zero:
            each = (np.sqrt(self.column_variances) * self.gain) ** 2
            held = np.einsum(
                "k,kp,kp->p", self.variances, self.components, self.components
            )  # of each column: no more than there is
            slack += LEAST + float(((np.sqrt(LEAST) * self.gain) ** 2).sum())
            wrong = not agree(float(each.sum()), self.total_variance, slack) or (held > each + slack).any()
            refuse(wrong, "variances of columns that are not those of its components")

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
        real = np.arange(self.k) < self.k - len(CERTIFICATE_FIELD.given(self).null)
        known = self.known_variances
        return np.divide(1.0, np.sqrt(known), out=np.zeros(self.k), where=real & (known > 0))

    def axes(self, whiten: bool) -> Floats:
        """(k, p) axes in the data's units, by which scores, whitened ones if so, become rows about the mean."""
        axes = self.components * self.undo_gain
        return axes * np.sqrt(self.known_variances)[:, None] if whiten else axes

    @property
    def known_variances(self) -> Floats:
        """(k,) the variances, or an error where components were assigned without them."""
        return _require_known("explained_variance_", self.variances)

    @property
    def known_singular_values(self) -> Floats:
        """(k,) the singular values, or an error."""
        return _require_known("singular_values_", self.singular_values)

    @property
    def about_zero(self) -> bool:
        """Whether the fit is of squares, about zero, and not of variances about the mean."""
        return False

    @property
    def measure(self) -> str:
        """What the components keep a share of, in words."""
        return "sum of squares" if self.about_zero else "variance"

    @property
    def axis_measure(self) -> str:
        """What `variances` are along each axis, in words."""
        return "mean square" if self.about_zero else "variance"

    @property
    def most_components(self) -> int:
        """How many components rows like these can have: those about their mean have one direction fewer."""
        return min(self.n_rows if self.about_zero else self.n_rows - 1, self.n_columns)

    @property
    def strengths(self) -> Floats:
        """(k,) lengths of the loading vectors: the standard deviations along the axes."""
        return np.sqrt(self.variances)

    @property
    def found_by_em(self) -> bool:
        """Whether the model was found by EM, so that other rows would not give it in closed form."""
        return False

    def values_of(self, components: Floats, values: Floats) -> Floats:
        """(k,) the numbers, one for each component of the fit, that go with these; NaN for others than the fit's."""
        if len(values) != self.k or components.shape[1] != self.n_columns:
            return np.full(len(components), np.nan)
        places = [np.flatnonzero((np.abs(self.components) == np.abs(row)).all(axis=1)) for row in components]
        return np.array([values[place[0]] if len(place) else np.nan for place in places])

    def with_assigned(self, known: Mapping[str, Any], given: Mapping[str, Any]) -> Self:
        """The record with these fields in place of its own, after attributes were assigned as `given`."""
        return replace(self, **known)

    @property
    def changed(self) -> tuple[str, ...]:
        """Arrays that were changed since the fit, by their public names."""
        return tuple(ATTRIBUTES[name] for name in CERTIFICATE_FIELD.changed(self))

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


def _require_known(name: str, values: Floats) -> Floats:
    if np.isnan(values).any():
        raise SingularModel(
            f"{name} is not known of all components, as components_ was assigned without it, but whitening, densities "
            f"and files need it: assign it too{' (or n_samples_, which tells it)' * (name == 'singular_values_')}."
        )
    return values


def drop_components(fit: LinearFit) -> LinearFit:
    """The same without its components: a mean, and noise that is the same in all directions."""
    return replace(
        fit,
        components=fit.components[:0],
        variances=np.zeros(0),
        singular_values=np.zeros(0),
        certificate=_certificate_of_none(fit.certificate),
    )


CERTIFICATE_FIELD: HeldWhileUnchanged[Certificate] = vars(LinearFit)["certificate"]
