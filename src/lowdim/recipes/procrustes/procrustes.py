"""Do genes mirror geography? Scores turned onto a map, with a permutation test of how well they meet it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, WrongShape
from lowdim.models.base.parameters import check_seed, seed_of, whole
from lowdim.recipes.procrustes.result import PROJECTIONS, Placement
from lowdim.types import Floats
from lowdim.words import printable

OWNER = "procrustes"

BATCH_NUMBERS = 2**21
"""Numbers of the permuted maps that are held at a time."""


@final
class Procrustes(Placement):
    """Where each row falls on the map, and how sure that is."""

    @printable
    def explain(self) -> str:
        """What was fitted, and how sure it is."""
        from lowdim.recipes.procrustes.result import explain_placement

        return explain_placement(self)

    def plot(self, labels: Any = None, ax: Any = None) -> Any:
        """Draw the rows on the map, a colour and a name for each label; needs matplotlib. Gives the Axes."""
        from lowdim.recipes.procrustes.result import draw_placement
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
    places = _projected(_numbers("coordinates", coordinates), projection)
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
    as_good = sum(int((_nuclear(A, maps) >= observed - 1e-12).sum()) for maps in shuffled)
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


def _projected(places: Floats, projection: str) -> Floats:
    """Places on a flat map."""
    if projection not in PROJECTIONS:
        raise BadParameter.of(OWNER, "projection", projection, " or ".join(map(repr, PROJECTIONS)))
    if projection == "plain":
        return places
    if places.shape[1] != 2 or (np.abs(places[:, 0]) > 180).any() or (np.abs(places[:, 1]) > 90).any():
        raise BadInput(
            "projection='gall-peters' needs longitudes from −180 to 180 and latitudes from −90 to 90, in degrees "
            f"and in this order, and {places.shape[1]} columns with values up to {np.abs(places).max():g} came."
        )
    longitude, latitude = np.radians(places).T
    # in degrees along the standard parallels of 45°, so that plain and projected maps have like numbers
    flat: Floats = np.degrees(np.column_stack([longitude / np.sqrt(2), np.sqrt(2) * np.sin(latitude)]))
    return flat


def _numbers(name: str, given: Any) -> Floats:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput(f"procrustes: the {name} must be numbers, one row for each individual.") from None
    if values.ndim != 2 or values.shape[1] < 1:
        raise WrongShape(f"procrustes: the {name} have shape {values.shape}, but individuals × axes are needed.")
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(wrong):
        raise BadInput(
            f"procrustes: {len(wrong):,} of {len(values):,} rows of the {name} are not finite numbers (the first is "
            f"row {wrong[0] + 1:,}): leave those individuals out."
        )
    return values


def _labels(groups: Any, n: int, permute: str) -> NDArray[np.intp] | None:
    if groups is None:
        if permute == "groups":
            raise BadParameter("procrustes(permute='groups') needs groups: a label for each individual.")
        return None
    given = np.asarray(groups)
    if given.shape != (n,):
        raise WrongShape(f"procrustes: groups have shape {given.shape}, but a label for each of {n:,} rows is needed.")
    labels = np.unique(given.astype(str), return_inverse=True)[1]
    if permute == "groups" and labels.max() < 3:
        raise BadParameter(f"procrustes(permute='groups') needs at least four groups, and {labels.max() + 1} came.")
    return np.asarray(labels, dtype=np.intp)
