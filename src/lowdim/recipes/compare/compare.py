"""The same rows through several models: what each loses, how sparse it is, what it takes, and how it looks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
import scipy.special

from lowdim.errors import BadInput, BadParameter
from lowdim.models.base.input import checked_shape, is_picture, load_rows, picture_shape_of, refuse_other_size
from lowdim.models.base.output import frame_kind
from lowdim.models.registry import LECTURE
from lowdim.recipes.compare.represent import Rows, contestants, naming_warnings, represent
from lowdim.recipes.compare.result import Comparison
from lowdim.runtime.progress import track
from lowdim.sources.open import open_source
from lowdim.sources.source import Source
from lowdim.types import is_number, is_whole

LEVEL = 0.95
"""At which two models count as apart, by Student's t of their differences over the rows that they are judged by."""


@dataclass(frozen=True, eq=False)
class Compared(Comparison):
    """What `compare` gives back: `table()`, `explain()`, `plot()`, and the fitted models by name."""

    models: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write one HTML file with the table, and where rows are pictures what each model makes of them.

        Parameters
        ----------
        path : path
            Ends in .html. It is replaced whole, or not at all.
        title : str or None
            The heading; None: the name of the file.
        """
        from lowdim.models.base.report import report_title, write_result
        from lowdim.recipes.compare.overview import comparison_payload

        write_result(comparison_payload(self, report_title(path, title)), path)

    def plot(self, row: int = 0) -> Any:
        """Draw the comparison; needs the package matplotlib.

        Where rows are pictures: the basis of each model, the code of one row and what they make of it, beside the row
        itself. Else: the error against the bytes.

        Parameters
        ----------
        row : int
            Which of the pictures that are shown, counted from 0.

        Returns
        -------
        matplotlib Figure
        """
        from lowdim.recipes.compare.overview import draw_representations

        if self.shape is None and row != 0:
            raise BadParameter(
                f"plot(row={row!r}): these rows are no pictures; give picture_shape to compare to draw one."
            )
        if self.shape is None:
            return self.plot_rates().figure
        if not is_whole(row) or not 0 <= int(row) < len(self.originals):
            raise BadParameter.of("plot", "row", row, f"a whole number from 0 to {len(self.originals) - 1}")
        return draw_representations(self, int(row))

    def plot_rates(self, ax: Any = None) -> Any:
        """Draw what each model loses against what it keeps: error by bytes; needs the package matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, or None for a new figure

        Returns
        -------
        matplotlib Axes
        """
        from lowdim.views.plots.canvas import shown_figure
        from lowdim.views.plots.representations import Rates, draw_rates

        known = [one for one in self.representations if not np.isnan(one.of_original)]
        points = [Rates(one.name, *(np.array([x]) for x in (one.of_original, one.error, one.k))) for one in known]
        ax = shown_figure(5.0, 4.0).subplots() if ax is None else ax
        return draw_rates(points, f"error |X − X̂| / |X|, {self.judged}", ax)


def compare(
    X: Any,
    models: Sequence[Any] | Mapping[str, Any] | str = LECTURE,
    k: int | None = None,
    *,
    held_out: float = 0.2,
    picture_shape: tuple[int, ...] | None = None,
    n_shown: int = 8,
    random_state: int = 0,
) -> Compared:
    """Send the same rows through several models, and judge each by rows that it has not seen.

    Parameters
    ----------
    X : array (n, p), pictures (n, height, width) or (n, height, width, 3), or whatever `lowdim.open` takes
        Rows. All are held in memory.
    models : names, estimators, or a mapping of names to either
        Names as at the prompt, such as "pca", "vq" and "nmf-kl" (Kullback–Leibler divergence, as in the lecture);
        `lowdim compare --help` lists them. Or anything with fit, transform and inverse_transform, also scikit-learn's.
        Estimators are copied, not changed.
    k : int or None
        Components of the models that are named; not needed for estimators, which know theirs.
    held_out : float or int
        Share, or number, of the rows that are held out. 0: models are judged by the rows that they were fitted on.
    picture_shape : (height, width), (height, width, 3) or None
        Where each row is a picture. Known of folders of pictures, and of arrays of three or four dimensions, also in
        files.
    n_shown : int
        Rows whose codes and reconstructions are kept, to be looked at: the first that were drawn.
    random_state : int
        Which rows are held out, and where named models start.

    Returns
    -------
    Compared
        `table()` has a row for each model: the relative error |X − X̂| / |X| of held-out rows with its standard error,
        by how these rows differ, and of as many training rows, Hoyer's sparseness of basis and codes, numbers and
        bytes kept for all rows, seconds. `plot()` draws lecture 2's figure 6 where rows are pictures. `explain()` says
        it in words, and names one model as the best only where held-out rows tell it from the others (95 %, in pairs).

    References
    ----------
    Lee & Seung 1999, "Learning the parts of objects by non-negative matrix factorization", figure 1; Hoyer 2004,
    "Non-negative matrix factorization with sparseness constraints", for the sparseness.

    Examples
    --------
    >>> import lowdim
    >>> from lowdim import compare
    >>> digits = lowdim.datasets.digits().values
    >>> found = compare(digits, ["pca", "vq"], k=10, picture_shape=(8, 8))
    >>> found["pca"].error < found["vq"].error
    True
    >>> found["vq"].code_sparseness, found["pca"].code_sparseness < 0.6
    (1.0, True)
    """
    seed, n_shown = _seed(random_state), _whole("n_shown", n_shown)
    asked = contestants(models, k, seed)
    source, shape = _open(X, picture_shape)
    rows, _ = load_rows(source.unweighted())
    known, unknown = _split(rows.shape[0], held_out, seed)
    judged = unknown if len(unknown) else known
    # training rows beyond as many as are held out would only take time
    again = known[: len(unknown)] if len(unknown) else known
    shown = judged[:n_shown]
    itemsize = source.dtype.itemsize if source.dtype.kind == "f" else 4
    data = Rows(
        rows, known, judged, again, len(shown), itemsize, source.dtype.itemsize, _named_frame(X), source.columns
    )
    found = []
    for one in track(asked, "model"):
        with naming_warnings(one.name):
            found.append(represent(data, one))
    return Compared(
        representations=tuple(representation for representation, _ in found),
        data=source.describe(),
        n_rows=rows.shape[0],
        n_columns=rows.shape[1],
        n_held_out=len(unknown),
        seed=str(seed),
        itemsize=itemsize,
        bar=float(scipy.special.stdtrit(max(len(judged) - 1, 1), 0.5 + LEVEL / 2)),
        shape=shape,
        originals=data.some(shown),
        places=shown,
        models={representation.name: fitted for representation, fitted in found},
    )


def _open(X: Any, picture_shape: Any) -> tuple[Source, tuple[int, ...] | None]:
    """The rows, and the shape of the pictures that they are."""
    shape = None if picture_shape is None else checked_shape("compare", picture_shape)
    if isinstance(X, np.ndarray) and X.ndim in (3, 4) and X.size:
        shape = shape or _drawable(X.shape)
        X = X.reshape(len(X), -1)
    source = open_source(X)
    shape = shape or picture_shape_of(source)
    if shape is not None:
        refuse_other_size("compare", shape, source.n_columns)
    return source, shape


def _drawable(stack: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of each picture of a stack, (n, height, width) or (n, height, width, 3), or an error that helps."""
    if is_picture(stack[1:]):
        return stack[1:]
    if stack[3] == 4:
        advice = "RGBA, as it seems: leave its alpha out with X[..., :3]"
    elif stack[1] in (1, 3):
        advice = "colours first, as it seems: put them last with np.moveaxis(X, 1, -1)"
    else:
        advice = "pass X.reshape(len(X), -1) to compare rows that are no pictures"
    raise BadInput(
        f"compare: an array of shape {stack} is no stack of pictures, which are (n, height, width) or (n, height, "
        f"width, 3): {advice}."
    )


def _named_frame(X: Any) -> str | None:
    """The library of a frame whose columns have names, which scikit-learn's models remember too; None of other data."""
    kind = None if isinstance(X, Source) else frame_kind(X)
    if kind == "pandas":  # names may be numbers there, which are no names to scikit-learn
        return kind if all(isinstance(name, str) for name in X.columns) else None
    return kind if kind == "polars" else None


def _split(n: int, held_out: Any, seed: int) -> tuple[Any, Any]:
    """Numbers of the rows to learn from and of those held out, both in the order in which they were drawn."""
    fine = is_number(held_out) and float(held_out) >= 0
    if not fine or (float(held_out) >= 1 and not isinstance(held_out, Integral)):
        needed = "a share of the rows from 0 to below 1, or a whole number of them"
        raise BadParameter.of("compare", "held_out", held_out, needed)
    many = int(held_out) if isinstance(held_out, Integral) else round(float(held_out) * n)
    if held_out and not 1 <= many <= n - 2:
        raise BadInput(
            f"held_out={held_out} of {n:,} rows holds {many:,} out and leaves {max(0, n - many):,}: at least 1 must be "
            "held out and 2 left to learn from."
        )
    order = np.random.default_rng(seed).permutation(n)
    return order[many:], order[:many]


def _seed(random_state: Any) -> int:
    """A seed that every model takes: scikit-learn's end at 2³² − 1."""
    fine = is_whole(random_state)
    if not fine or not 0 <= int(random_state) < 2**32:
        raise BadParameter.of("compare", "random_state", random_state, f"a whole number from 0 to {2**32 - 1}")
    return int(random_state)


def _whole(name: str, given: Any) -> int:
    if not is_whole(given) or int(given) < 1:
        raise BadParameter.of("compare", name, given, "a whole number from 1")
    return int(given)
