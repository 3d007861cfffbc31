"""Recognition: whose row is this, is it anybody of the gallery, is it a row of that kind at all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from lowdim.errors import BadInput, Words
from lowdim.matrices.preparation import Preparation
from lowdim.models.base import parameters
from lowdim.models.base.estimator import RecordedModel
from lowdim.models.base.input import load_rows
from lowdim.models.base.output import table_by_name
from lowdim.models.base.parameters import (
    CHECKED_BY_FIT,
    ColumnScale,
    Number,
    NumberFrom0,
    Saved,
    Seed,
    ShareInside,
    WholeFrom0,
)
from lowdim.models.base.scikit_learn import Takes, check_is_fitted
from lowdim.models.pca.model import PCA
from lowdim.models.recogniser.figures import RecogniserPlots
from lowdim.models.recogniser.fit import (
    OWNER,
    check_settings,
    coordinates,
    fit_gallery,
    mark_unknown,
    nearest_of_each,
    nearest_rows,
    preferences,
    read_labels,
)
from lowdim.models.recogniser.record import RecogniserFit
from lowdim.models.recogniser.tables import TABLES
from lowdim.runtime.progress import ROW
from lowdim.sources.source import Block, Source
from lowdim.types import Floats
from lowdim.words import printable


@dataclass(frozen=True, eq=False)
class Matches:
    """Rows of a gallery that are nearest to others, nearest first."""

    identities: NDArray[Any]
    """(m, k) labels."""
    distances: Floats
    """(m, k)"""
    rows: NDArray[np.int64]
    """(m, k) which rows of the gallery."""


class Recogniser(ClassifierMixin, RecordedModel[RecogniserFit]):  # type: ignore[misc]
    """Whose row is this? The nearest of a gallery, in the space of the gallery's components; or nobody's.

    Two questions can turn a row away. Is it a row of that kind at all (a face)? The log-likelihood of probabilistic PCA
    says so: far from the space of the components, or at an unlikely place in it. Is it one of somebody in the gallery?
    The distance to the nearest row in that space says so. Both limits come from the gallery alone: each row in turn is
    made a stranger's, with components of other people.

    Parameters
    ----------
    n_components : int, float, "mle" or None
        Components of the space, as for PCA: a number, a share of the variance, Minka's choice, or all.
    metric : {"cosine", "euclid", "whitened"}
        "cosine": 1 − the cosine of the angle between whitened scores; "euclid": distance between scores, as in the
        eigenfaces of Turk & Pentland; "whitened": distance between whitened scores (Mahalanobis).
    drop_first : int
        Components, from the first, that are left out when rows are compared: in faces they mostly show the light.
    n_neighbors : int
        Nearest rows that vote; of equals the nearest wins.
    reject : float or None
        Share of strangers that may be let in. Rows so far from all of the gallery that strangers are as near are nobody
        of it. None: every row is somebody of the gallery.
    max_distance : float or None
        The same limit as a distance of the metric, in place of `reject`.
    reject_outside : float or None
        Share of the gallery's own kind of rows that may be said not to belong to the space. None: all do.
    unknown : label or None
        What `predict` says of rows that are turned away; None: "unknown" where labels are texts, −1 where they are
        numbers.
    scale : bool or array of shape (p,)
        Divide the columns by their standard deviations (or by these numbers).
    random_state : int, Generator, RandomState or None
        Which rows are left out together when limits are found; None is a fixed seed.

    Notes
    -----
    `score_samples` is the density of Moghaddam & Pentland: Σ t²/λ within the space and |x − x̂|²/ρ from it, with ρ the
    mean variance left out, is exactly probabilistic PCA. The gallery is held in memory.

    References
    ----------
    Turk & Pentland 1991, "Eigenfaces for recognition"; Moghaddam & Pentland 1997, "Probabilistic visual learning for
    object representation"; Moon & Phillips 2001, "Computational and performance aspects of PCA-based face-recognition
    algorithms", for the angle.

    Examples
    --------
    >>> import lowdim
    >>> digits = lowdim.datasets.digits()
    >>> X, y = digits.values, digits.labels
    >>> model = lowdim.Recogniser(20, reject=0.05).fit(X[:1000], y[:1000])
    >>> found = model.nearest(X[1000:1001])
    >>> bool(found.identities[0, 0] == y[1000])
    True
    >>> bool(model.score(X[1000:], y[1000:]) > 0.6)
    True
    """

    _parts = ((ROW, 1.0), ("fold", 5.0), ("fold", 5.0))

    def __init__(
        self,
        n_components: Annotated[Number | Literal["mle"] | None, CHECKED_BY_FIT] = 0.9,
        *,
        metric: Literal["cosine", "euclid", "whitened"] = "cosine",
        drop_first: WholeFrom0 = 0,
        n_neighbors: Annotated[int, CHECKED_BY_FIT] = 1,
        reject: ShareInside | None = None,
        max_distance: NumberFrom0 | None = None,
        reject_outside: ShareInside | None = None,
        unknown: Annotated[Any, Saved(str | float | None)] = None,
        scale: ColumnScale = False,
        random_state: Seed = None,
    ):
        self.n_components = n_components
        self.metric = metric
        self.drop_first = drop_first
        self.n_neighbors = n_neighbors
        self.reject = reject
        self.max_distance = max_distance
        self.reject_outside = reject_outside
        self.unknown = unknown
        self.scale = scale
        self.random_state = random_state

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Recogniser:
        """Keep rows as a gallery of people.

        Parameters
        ----------
        X : array, frame, path, iterator of row blocks or Source
            Rows, (n, p), held in memory.
        y : array of shape (n,) or None
            Whose each row is. None: X is a folder of pictures with a folder inside for each person.

        Returns
        -------
        Recogniser
            The model itself.
        """
        check_settings(self)
        source = self._opened(X, reset=True).unweighted()
        parameters.scaling_of(OWNER, True, self.scale, None, 0, source.n_columns, 0.0)
        classes, places = np.unique(read_labels(OWNER, source, y), return_inverse=True)
        rows, _ = load_rows(source)
        if rows.shape[0] != len(places):  # rows of a stream are counted by reading them
            raise BadInput(
                Words(f"{OWNER}: "), f"{rows.shape[0]:,} rows came with {len(places):,} labels; each row needs one."
            )
        self._record = fit_gallery(self, source, rows, classes, places.astype(np.int64))
        self._remember(X, source)
        return self

    @property
    def plot(self) -> RecogniserPlots:
        """Figures of this fit: `model.plot.gallery()`, `model.plot.distances()`, …"""
        return RecogniserPlots(self)

    # -- attributes -----------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> NDArray[Any]:
        """(c,) labels of the gallery, sorted."""
        return self.fit_.classes

    @property
    def space_(self) -> PCA:
        """The PCA of the gallery, whose tables and read-outs are those of any other; variances divide by n."""
        fit = self.fit_
        space = PCA(fit.space.k, scale=not bool((fit.space.scale == 1).all()), ddof=0)
        space._record, space._moments = fit.space, None
        space._data_spacing, space._columns = float(np.finfo(float).eps), fit.columns
        space.n_features_in_ = fit.n_columns
        return space

    @property
    def unknown_(self) -> Any:
        """What `predict` says of rows that are turned away; None: no row is."""
        return self.fit_.unknown

    @property
    def max_distance_(self) -> float | None:
        """Rows further than this from all of the gallery are nobody of it; None: there is no limit."""
        return self.fit_.max_distance

    @property
    def least_log_likelihood_(self) -> float | None:
        """Rows less likely than this do not belong to the space; None: there is no limit."""
        return self.fit_.least_density

    # -- whose rows -----------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,) whose rows these are; `unknown_` where they are turned away.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n,) labels.
        """
        check_is_fitted(self)
        fit, source = self.fit_, self._rows(X)
        preferred, distances = self._identified(self._codes(source))
        labels = fit.classes[np.argmax(preferred, axis=1)]
        if fit.unknown is None:
            return np.asarray(labels)
        return mark_unknown(labels, self._accepted(distances.min(axis=1), source), fit.unknown)

    def accepts(self, X: Any) -> NDArray[np.bool_]:
        """(n,) whether rows are near enough to the gallery and likely enough in its space; all, without limits.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n,) of True and False.
        """
        check_is_fitted(self)
        source = self._rows(X)
        return self._accepted(self._of_each(self._codes(source)).min(axis=1), source)

    def nearest(self, X: Any, k: int = 1) -> Matches:
        """The k rows of the gallery that are nearest to each row of X, whether it is turned away or not.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        k : int
            How many.

        Returns
        -------
        Matches
            labels, distances and places in the gallery, each (n, k).
        """
        check_is_fitted(self)
        fit = self.fit_
        parameters.whole(f"{OWNER}.nearest", "k", k, 1, fit.n_rows)
        distances, rows = nearest_rows(self._codes(self._rows(X)), fit.codes, fit.metric, int(k))
        return Matches(fit.classes[fit.places[rows]], distances, rows)

    def distances(self, X: Any) -> Floats:
        """(n, c) distance of each row to the nearest of each identity, in the order of `classes_`.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n, c)
        """
        check_is_fitted(self)
        return self._of_each(self._codes(self._rows(X)))

    def decision_function(self, X: Any) -> Floats:
        """How much each identity is preferred, (n, c): minus `distances`; with several neighbours, votes before them.

        Of two identities how much more the second is preferred, (n,), as scikit-learn has it.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n, c), or (n,) of two identities.
        """
        check_is_fitted(self)
        preferred, _ = self._identified(self._codes(self._rows(X)))
        return preferred[:, 1] - preferred[:, 0] if preferred.shape[1] == 2 else preferred

    # -- the space ------------------------------------------------------------------------------------------------

    def distance_from_space(self, X: Any) -> Floats:
        """(n,) |x − x̂|: how far rows (scaled, if so) lie from what the components make of them.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n,)
        """
        check_is_fitted(self)
        source, space = self._rows(X), self.fit_.space
        work = partial(_residuals, V=space.components, preparation=self.space_._preparation)
        return np.asarray(source.map_rows(work, 1, np.float64))[:, 0]

    def score_samples(self, X: Any) -> Floats:
        """(n,) log-likelihood of rows under probabilistic PCA of the gallery, which sees both distances.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n,)
        """
        check_is_fitted(self)
        return np.asarray(self.space_.score_samples(self._rows(X)))

    def transform(self, X: Any) -> Any:
        """(n, k − drop_first) coordinates in which rows are compared; for "cosine" each row has length 1.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n, k − drop_first), of the library that X is an array of; a frame if `set_output` asked for one.
        """
        return super().transform(X)

    # -- looking --------------------------------------------------------------------------------------------------

    def table(self, name: str, X: Any = None) -> Any:
        """A table by name, as a frame of the kind the model was fitted on (a plain Table for arrays).

        Parameters
        ----------
        name : {"identities", "trial", "nearest", "scores"}
            "identities" of the gallery, with their rows; "trial": how often the limits are wrong about left-out rows of
            the gallery, with intervals; of rows X "nearest", whose they are, and "scores", where they lie.
        X : whatever `transform` takes, or None
            Rows, (n, p), for tables about them.

        Returns
        -------
        frame, or Table
            A frame of the kind that X is, or that the model was fitted on; a Table for arrays.
        """
        return table_by_name(self, TABLES, name, X)

    @printable
    def explain(self) -> str:  # type: ignore[override]  # a gallery is not planned
        """What the gallery is, how rows are compared, and which are turned away, with the reason.

        Returns
        -------
        str
            A few lines.
        """
        return self._explain_fit()

    # -- inside ---------------------------------------------------------------------------------------------------

    @property
    def _takes(self) -> Takes:
        return Takes(response="classes", dtypes=("float64",))

    def _rows(self, X: Any) -> Source:
        return self._opened(X, reset=False).unweighted()

    def _codes(self, source: Source) -> Floats:
        fit = self.fit_
        scores = np.asarray(self.space_.transform(source), dtype=np.float64)
        return coordinates(scores, fit.space.whitening, fit.metric, fit.drop_first)

    def _scores(self, X: Any) -> Any:
        return self._codes(self._rows(X))

    def _of_each(self, codes: Floats) -> Floats:
        fit = self.fit_
        return nearest_of_each(codes, fit.codes, fit.metric, fit.places, len(fit.classes))

    def _identified(self, codes: Floats) -> tuple[Floats, Floats]:
        """How much each identity is preferred for each row, and its distance from each, both (n, c)."""
        fit, distances = self.fit_, self._of_each(codes)
        _, rows = nearest_rows(codes, fit.codes, fit.metric, fit.n_neighbors)
        return preferences(fit.places[rows], distances), distances

    def _accepted(self, distances: Floats, source: Source) -> NDArray[np.bool_]:
        fit = self.fit_
        accepted = np.ones(len(distances), dtype=bool)
        if fit.max_distance is not None:
            accepted &= distances <= fit.max_distance
        if fit.least_density is not None:
            accepted &= np.asarray(self.space_.score_samples(source)) >= fit.least_density
        return accepted


def _residuals(block: Block, V: Floats, preparation: Preparation) -> Floats:
    """(n, 1) lengths of what the axes V leave of prepared rows, from the differences themselves."""
    pieces = preparation.pieces(block, np.float64, 1024)
    return np.concatenate([np.linalg.norm(rows - (rows @ V.T) @ V, axis=1) for rows in pieces])[:, None]
