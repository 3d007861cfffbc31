"""Do genes mirror geography? Scores turned onto a map, with a permutation test of how well they meet it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, Setting, Words, WrongShape
from lowdim.models.base.parameters import check_seed, seed_of, whole
from lowdim.runtime.progress import stage
from lowdim.types import Floats
from lowdim.views.plots.canvas import inks, note, plain
from lowdim.views.plots.points import put_labels
from lowdim.words import printable

# The record of a Procrustes fit: scores turned, mirrored and scaled onto a map.

PROJECTIONS = ("plain", "gall-peters")


@dataclass(frozen=True)
class Placement:
    """Where each row falls on the map: positions = map_center + scale · (scores − score_center) rotation."""

    positions: Floats
    """(n, d) the rows' scores, on the map."""
    coordinates: Floats
    """(n, d) their places on the map, as given or projected."""
    rotation: Floats
    """(d, d) orthogonal; of determinant −1 where the picture is mirrored."""
    scale: float
    score_center: Floats
    map_center: Floats
    correlation: float
    """√(1 − D): 1 where the scores are the map, 0 where they have nothing to do with it."""
    p_value: float
    """How often places given out at random are met as well; NaN if none were."""
    n_permutations: int
    permuted: str
    """What was given out at random: "individuals" or "groups"."""
    projection: str = "plain"
    groups: NDArray[Any] | None = field(default=None, repr=False)
    """(n,) labels, if they were given."""

    @property
    def disparity(self) -> float:
        """D: share of the map's sum of squares that the scores do not meet (Procrustes statistic m²)."""
        return 1.0 - self.correlation**2

    @property
    def mirrored(self) -> bool:
        """Whether the picture had to be mirrored."""
        return float(np.linalg.det(self.rotation)) < 0

    @property
    def angle(self) -> float:
        """Degrees by which scores in a plane are turned, anticlockwise, after a mirrored second axis; else NaN."""
        if self.rotation.shape != (2, 2):
            return math.nan
        turn = np.diag([1.0, -1.0]) @ self.rotation if self.mirrored else self.rotation
        return math.degrees(math.atan2(turn[0, 1], turn[0, 0]))

    def place(self, scores: Any) -> Floats:
        """Where other scores, of the same axes, fall on the map.

        Parameters
        ----------
        scores : array (m, k), k ≥ d
            Of which the first d axes are used.

        Returns
        -------
        array
            (m, d) places on the map.
        """
        given = np.asarray(scores, dtype=np.float64)[:, : len(self.score_center)]
        return np.asarray(self.map_center + self.scale * (given - self.score_center) @ self.rotation)


# Scores on a map, in words.


def explain_placement(found: Placement) -> str:
    """What was fitted, and how sure it is."""
    mirror = "mirrored and " if found.mirrored else ""
    turn = f"turned by {found.angle:.0f} degrees, " if np.isfinite(found.angle) else "turned, "
    drawn = "Gall–Peters, equal areas" if found.projection == "gall-peters" else "coordinates as given"
    lines = [
        f"map        {len(found.positions):,} individuals, {found.positions.shape[1]} axes; {drawn}",
        f"fit        {mirror}{turn}scaled by {found.scale:.4g}",
        f"met        correlation {found.correlation:.3f} (D = {found.disparity:.3f} of the map's squares are not met)",
        f"chance     {_chance(found)}",
    ]
    return "\n".join(lines)


def _chance(found: Placement) -> str:
    if not found.n_permutations:
        return "not asked (n_permutations=0)"
    least = "<=" if found.p_value <= 1 / (1 + found.n_permutations) else "="
    asks = {
        "individuals": "do individuals lie otherwise than at random? Those of one population are alike wherever it is",
        "groups": "do whole populations lie otherwise than at random?",
    }[found.permuted]
    maps = f"{found.n_permutations:,} maps with the places of {found.permuted} given out at random"
    return f"p {least} {found.p_value:.2g} from {maps}: {asks}"


# Scores on a map: individuals where the fit puts them, and each group beside the place where it lives.

MARKERS = ("o", "^", "s", "D", "v", "P", "X")
"""Shapes for those who cannot tell the colours apart, and beyond eight groups."""

MOST_LEGIBLE = 60
"""Groups at most that are named."""


def draw_placement(found: Placement, labels: Any, ax: Any) -> Any:
    """Individuals at their positions, and each group's name at the median of its own."""
    points = found.positions[:, :2]
    if points.shape[1] == 1:
        points = np.column_stack([points, np.zeros(len(points))])
    ax = draw_groups(points, labels, ax)
    if labels is not None and found.coordinates.shape[1] == 2:
        _draw_places(ax, points, found.coordinates, np.asarray(labels).astype(str))
    _name_axes(ax, found.projection)
    sure = found.p_value > 1 / (1 + found.n_permutations)
    p = f", p = {found.p_value:.2g}" if sure else f", p ≤ {found.p_value:.1g}"
    said = f"Procrustes correlation {found.correlation:.2f}{p if found.n_permutations else ''}"
    note(ax, said)
    return ax


def draw_groups(points: NDArray[Any], labels: Any, ax: Any) -> Any:
    """Points (n, 2), a colour and a shape for each label, with its name beside the median of its points."""
    ink = inks(ax)
    names = np.full(len(points), "") if labels is None else np.asarray(labels).astype(str)
    groups = list(dict.fromkeys(names.tolist()))
    colours = [ink.groups[i % len(ink.groups)] for i in range(len(groups))]
    size, strength = (26, 0.65) if len(points) <= 500 else (11, 0.45)
    for i, group in enumerate(groups):
        marker = MARKERS[(i // len(ink.groups) + i) % len(MARKERS)]
        style = {"s": size, "color": colours[i], "marker": marker, "alpha": strength, "linewidths": 0, "zorder": 2}
        ax.scatter(*points[names == group].T, **style)
    if labels is not None and len(groups) <= MOST_LEGIBLE:
        middles = np.array([np.median(points[names == group], axis=0) for group in groups])
        many = np.argsort([-int((names == group).sum()) for group in groups], kind="stable")  # the largest first
        frame = {"boxstyle": "round,pad=0.1", "facecolor": ink.paper, "edgecolor": "none", "alpha": 0.7}
        shown, hues = [groups[i] for i in many], [colours[i] for i in many]
        put_labels(ax, middles[many], shown, colors=hues, weight="bold", bbox=frame)
    ax.set_aspect("equal", adjustable="datalim")
    ax.grid(color=ink.faint, alpha=0.2, linewidth=0.5)
    return plain(ax)


def _draw_places(ax: Any, points: NDArray[Any], places: NDArray[Any], names: NDArray[Any]) -> None:
    """A cross where each group lives, and a line from there to where its members fall."""
    ink = inks(ax)
    for group in dict.fromkeys(names.tolist()):
        home, middle = places[names == group].mean(axis=0), np.median(points[names == group], axis=0)
        ax.plot(*np.stack([home, middle]).T, color=ink.faint, linewidth=0.6, alpha=0.6, zorder=1)
        ax.plot(*home, marker="+", color=ink.text, markersize=6, markeredgewidth=1.0, zorder=3)


def _name_axes(ax: Any, projection: str) -> None:
    """Degrees where the map is of longitudes and latitudes, whatever its projection."""
    if projection != "gall-peters":
        ax.set(xlabel="first coordinate (+ where a group lives)", ylabel="second coordinate")
        return
    ax.set(xlabel="longitude (+ where a group lives)", ylabel="latitude")
    ax.xaxis.set_major_formatter(lambda x, _: f"{np.sqrt(2) * x:.0f}°".replace("-", "−"))
    ax.yaxis.set_major_formatter(
        lambda y, _: f"{np.degrees(np.arcsin(np.clip(np.radians(y) / np.sqrt(2), -1, 1))):.0f}°"
    )


OWNER = "procrustes"

BATCH_NUMBERS = 2**21
"""Numbers of the permuted maps that are held at a time."""


@final
class Procrustes(Placement):
    """Where each row falls on the map, and how sure that is."""

    @printable
    def explain(self) -> str:
        """What was fitted, and how sure it is."""
        return explain_placement(self)

    def plot(self, labels: Any = None, ax: Any = None) -> Any:
        """Draw the rows on the map, a colour and a name for each label; needs the package matplotlib.

        Parameters
        ----------
        labels : array (n,) or None
            The group of each row; None: the groups that `procrustes` was given, if any.
        ax : matplotlib Axes, or None for a new figure

        Returns
        -------
        matplotlib Axes
        """
        from lowdim.views.plots.canvas import shown_figure

        shown = shown_figure(7.0, 6.0).subplots() if ax is None else ax
        return draw_placement(self, self.groups if labels is None else labels, shown)


def procrustes(
    scores: Any,
    coordinates: Any,
    *,
    groups: Any = None,
    permute: str = "individuals",
    projection: str = "plain",
    n_permutations: int = 10_000,
    random_state: Any = 0,
) -> Procrustes:
    """Turn, mirror, shift and scale scores until they lie as near as can be to places on a map.

    The correlation √(1 − D) is 1 for a perfect map; its p-value is the share of maps with places given out at random
    that are met as well.

    Parameters
    ----------
    scores : array of shape (n, at least d)
        Such as `transform` gives; the first d columns are used.
    coordinates : array of shape (n, d)
        Places of the same individuals, usually d = 2: x and y, or longitude and latitude.
    groups : array of shape (n,) or None
        A label for each individual, such as its population: for colours, and for `permute="groups"`.
    permute : {"individuals", "groups"}
        What the places are given out to at random. Individuals of one population are alike wherever it lies, so with
        few places, "individuals" asks whether populations differ at all; "groups" gives whole populations the places of
        others and asks whether they lie as on the map. A population's place is then the mean of its individuals'.
    projection : {"plain", "gall-peters"}
        Coordinates as they are; or longitudes and latitudes in degrees, drawn with equal areas (Wang et al. 2010).
    n_permutations : int
        Maps that are drawn; 0 for none.
    random_state : int, Generator, RandomState or None
        Where the permutations come from.

    Returns
    -------
    Procrustes
        `positions` (n, d), `rotation` (d, d), `scale`, `angle`, `mirrored`, `correlation`, `p_value`, `disparity`;
        `place(other_scores)`, `explain()`, `plot()`.

    References
    ----------
    Gower 1975, "Generalized procrustes analysis"; Peres-Neto & Jackson 2001, "How well do multivariate data sets
    match?", for the test; Wang et al. 2010, "Comparing spatial maps of human population-genetic variation using
    Procrustes analysis".

    Examples
    --------
    >>> import lowdim
    >>> people = lowdim.datasets.stepping_stone(n_side=6, n_per_deme=4, n_snps=3000)
    >>> scores = lowdim.GenotypePCA(2).fit_transform(people.values)
    >>> found = lowdim.procrustes(scores, people.truth["positions"], n_permutations=999)
    >>> found.correlation > 0.85
    True
    >>> found.p_value
    0.001
    """
    check_seed(OWNER, random_state)
    whole(OWNER, "n_permutations", n_permutations, 0, None)
    if permute not in ("individuals", "groups"):
        raise BadParameter.of(OWNER, "permute", permute, "'individuals' or 'groups'")
    places = _project(_numbers("coordinates", coordinates), projection)
    given = _numbers("scores", scores)
    if len(given) != len(places) or given.shape[1] < places.shape[1]:
        raise WrongShape(
            f"There are scores of shape {given.shape} and coordinates of shape {places.shape}: the same rows are "
            "needed, and at least as many scores as coordinates."
        )
    labels = _labels(groups, len(places), permute)
    A, a_center, a_size = _standard(given[:, : places.shape[1]], "scores")
    B, b_center, b_size = _standard(places, "coordinates")
    left, sizes, right = np.linalg.svd(A.T @ B)
    rotation, correlation = left @ right, float(sizes.sum())
    scale = correlation * b_size / a_size
    rng = np.random.default_rng(seed_of(random_state))
    shuffled = _individuals(B, n_permutations, rng)
    if permute == "groups":
        assert labels is not None
        shuffled = _groups(B, labels, n_permutations, rng)
        correlation_of_groups = float(_nuclear(A, _by_group(B, labels)[0][labels][None])[0])
    observed = correlation if permute == "individuals" else correlation_of_groups
    # a random map that is the true one up to rounding counts as equally good
    as_good = tried = 0
    with stage("permutation", n_permutations) as tell:
        for maps in shuffled:
            as_good, tried = as_good + int((_nuclear(A, maps) >= observed - 1e-12).sum()), tried + len(maps)
            tell(tried)
    return Procrustes(
        positions=b_center + scale * (A * a_size) @ rotation,
        coordinates=places,
        rotation=rotation,
        scale=scale,
        score_center=a_center,
        map_center=b_center,
        correlation=min(correlation, 1.0),
        # the map itself is one of those that chance could have given (Davison & Hinkley 1997, §4.3)
        p_value=(1 + as_good) / (1 + n_permutations) if n_permutations else float("nan"),
        n_permutations=n_permutations,
        permuted=permute,
        projection=projection,
        groups=None if groups is None else np.asarray(groups),
    )


def _nuclear(A: Floats, maps: Floats) -> Floats:
    """(b,) correlations of A (n, d), of unit size, with maps (b, n, d): sums of singular values of Aᵀ B."""
    products = np.einsum("ni,bnj->bij", A, maps, optimize=True)
    sizes = np.sqrt(np.einsum("bnj,bnj->b", maps, maps))
    return np.asarray(np.linalg.svd(products, compute_uv=False).sum(axis=1) / sizes)


def _individuals(B: Floats, count: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Batches (b, n, d) of the map with its places given out at random."""
    step = max(1, BATCH_NUMBERS // B.size)
    for start in range(0, count, step):
        order = rng.permuted(np.tile(np.arange(len(B)), (min(step, count - start), 1)), axis=1)
        yield B[order]


def _groups(B: Floats, labels: NDArray[np.intp], count: int, rng: np.random.Generator) -> Iterator[Floats]:
    """The same, but the places of whole groups are: centred anew, as groups differ in size."""
    places, _ = _by_group(B, labels)
    for order in _individuals(np.arange(len(places), dtype=np.float64)[:, None], count, rng):
        maps = places[order[:, :, 0].astype(np.intp)]
        step = max(1, BATCH_NUMBERS // B.size)
        for start in range(0, len(maps), step):
            some = maps[start : start + step][:, labels]
            yield some - some.mean(axis=1, keepdims=True)


def _by_group(B: Floats, labels: NDArray[np.intp]) -> tuple[Floats, NDArray[np.intp]]:
    """(groups, d) mean places, and how many individuals each has."""
    size = np.bincount(labels)
    means = np.stack([np.bincount(labels, column) / size for column in B.T], axis=1)
    return means, size


def _standard(points: Floats, name: str) -> tuple[Floats, Floats, float]:
    """Points about their mean with sum of squares 1, that mean, and their size before."""
    center = points.mean(axis=0)
    apart = points - center
    size = float(np.linalg.norm(apart))
    if size <= 1e-12 * float(np.abs(points).max(initial=0.0)) or len(points) < 3:
        raise BadInput(
            f"The {name} are {len(points)} points, or all at one place: at least three that are not "
            "are needed for a map."
        )
    return apart / size, center, size


def _project(places: Floats, projection: str) -> Floats:
    """Places on a flat map."""
    if projection not in PROJECTIONS:
        raise BadParameter.of(OWNER, "projection", projection, " or ".join(map(repr, PROJECTIONS)))
    if projection == "plain":
        return places
    if places.shape[1] != 2 or (np.abs(places[:, 0]) > 180).any() or (np.abs(places[:, 1]) > 90).any():
        raise BadInput(
            Words("projection='gall-peters'", "a map"),
            " needs longitudes from −180 to 180 and latitudes from −90 to 90, in degrees "
            f"and in this order, and {places.shape[1]} columns with values up to {np.abs(places).max():g} came.",
        )
    longitude, latitude = np.radians(places).T
    # in degrees along the standard parallels of 45°, so that plain and projected maps have like numbers
    flat: Floats = np.degrees(np.column_stack([longitude / np.sqrt(2), np.sqrt(2) * np.sin(latitude)]))
    return flat


def _numbers(name: str, given: Any) -> Floats:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput(Words("procrustes: "), f"the {name} must be numbers, one row for each individual.") from None
    if values.ndim != 2 or values.shape[1] < 1:
        raise WrongShape(
            Words("procrustes: "), f"the {name} have shape {values.shape}, but individuals × axes are needed."
        )
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(wrong):
        raise BadInput(
            Words("procrustes: "),
            f"{len(wrong):,} of {len(values):,} rows of the {name} are not finite numbers (the first is "
            f"row {wrong[0] + 1:,}): leave those individuals out.",
        )
    return values


def _labels(groups: Any, n: int, permute: str) -> NDArray[np.intp] | None:
    if groups is None:
        if permute == "groups":
            raise BadParameter(
                Setting("permute", "groups", OWNER),
                " needs ",
                Words("groups: a label for each individual.", "--label, the population of each."),
            )
        return None
    given = np.asarray(groups)
    if given.shape != (n,):
        raise WrongShape(
            Words("procrustes: "), f"groups have shape {given.shape}, but a label for each of {n:,} rows is needed."
        )
    labels = np.unique(given.astype(str), return_inverse=True)[1]
    if permute == "groups" and labels.max() < 3:
        raise BadParameter(
            Setting("permute", "groups", OWNER), f" needs at least four groups, and {labels.max() + 1} came."
        )
    return np.asarray(labels, dtype=np.intp)
