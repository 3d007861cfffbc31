"""One model of the rows, chosen by name: fitted, judged by rows that it has not seen, and measured."""

from __future__ import annotations

import copy
import difflib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from time import perf_counter
from typing import Any

import numpy as np

from lowdim.errors import BadInput, BadParameter, LowdimError, Setting, Told
from lowdim.matrices.preparation import dense
from lowdim.models.base.output import make_table
from lowdim.models.registry import LECTURE, PROMPTS, compared_titles, model_class, prompt_of
from lowdim.recipes.compare.result import JudgedRows, Representation
from lowdim.results.sparseness import sparseness
from lowdim.types import Floats, Indices, is_whole

# Models that are to be compared: by name, or as estimators.

NEEDED = ("fit", "transform", "inverse_transform")


@dataclass(frozen=True)
class Contestant:
    """A model that is not fitted yet."""

    name: str
    title: str
    model: Any


def contestants(models: Sequence[Any] | Mapping[str, Any] | str, k: Any, seed: int) -> list[Contestant]:
    """What was asked for, each with a name of its own."""
    if isinstance(models, str) or hasattr(models, "fit"):
        models = [models]
    named = isinstance(models, Mapping)
    pairs = list(models.items()) if isinstance(models, Mapping) else [(None, model) for model in models]
    if not pairs:
        raise BadParameter(
            Setting("models", [], "compare"),
            ": nothing to compare; name models, as in ",
            Setting("models", list(LECTURE)),
            ".",
        )
    found: dict[str, Contestant] = {}
    for key, model in pairs:
        made = _by_name(model, k, seed) if isinstance(model, str) else _as_given(model)
        if named:
            made = Contestant(str(key), str(key), made.model)
            if made.name in found:
                raise BadParameter(f"compare(models=…): two keys read {made.name!r}; give each model its own name.")
        number = _free(made.name, found)
        found[made.name + number] = Contestant(made.name + number, made.title + number, made.model)
    return list(found.values())


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """What makes a name one of its own: nothing, or the first number from 2 that does."""
    if name not in taken:
        return ""
    return next(f" {number}" for number in count(2) if f"{name} {number}" not in taken)


def _as_given(model: Any) -> Contestant:
    lacking = [name for name in NEEDED if not hasattr(model, name)]
    if lacking or isinstance(model, type):
        what = "a class; make an estimator of it" if isinstance(model, type) else f"without {' and '.join(lacking)}"
        raise BadParameter(
            f"compare(models=…): {model!r:.60} is {what}: models are names, or estimators with {', '.join(NEEDED)}."
        )
    name = type(model).__name__
    return Contestant(name, name, copy.deepcopy(model))


def _by_name(name: str, k: Any, seed: int) -> Contestant:
    known, titles = name.strip().lower(), compared_titles()
    if known not in titles:
        close = difflib.get_close_matches(known, titles, n=1)
        guess = f"; did you mean {close[0]!r}?" if close else f", but {', '.join(titles)}."
        raise BadParameter(Setting("models", [name], "compare"), f": there is no such model{guess}")
    if not is_whole(k) or int(k) < 1:
        raise BadParameter.of("compare", "k", k, f"a whole number from 1, as the components of {name!r}")
    model, _, loss = known.partition("-")
    settings = prompt_of(model).settings(**({"loss": loss} if loss else {}))
    return Contestant(known, titles[known], model_class(PROMPTS[model])(int(k), random_state=seed, **settings))


# One model of the rows: fitted, judged by rows that it has not seen, and measured.

SMALL = 1e-3
"""Entries of codes below this share of the largest count as zeros: most iterations near zero and never reach it."""

LINEAR = 1e-6
"""Rows of a linear model are sums of its basis to this share of their size, also where it computes in float32."""

PIECE = 2**22
"""Numbers of reconstructed rows at a time."""


@dataclass(frozen=True)
class Rows:
    """All rows, and which of them are for what."""

    values: Any
    """(n, p) array or sparse matrix."""
    known: Indices
    """To learn from."""
    judged: Indices
    """To be judged by."""
    again: Indices
    """Of those to learn from, to be judged by too."""
    shown: int
    """So many, the first of those to be judged by, are kept."""
    itemsize: int
    """Bytes of a number of basis and codes …"""
    original_itemsize: int
    """… and of the data."""
    frame: str | None = None
    """The library of the frame that the data are; None: they are none …"""
    columns: tuple[str, ...] | None = None
    """… and the names of its columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, p = self.values.shape
        return int(n), int(p)

    def given(self, places: Indices) -> Any:
        """Some rows as models get them: with their names where the data have some, so that models know them too."""
        rows = self.values[places]
        if self.frame is None or not isinstance(rows, np.ndarray):
            return rows
        return make_table(self.frame, dict(zip(self.columns or (), rows.T, strict=True)))

    def some(self, places: Indices) -> Floats:
        """Some rows, as an array."""
        return np.asarray(dense(self.values[places]), dtype=np.float64)


@contextmanager
def naming_warnings(name: str) -> Iterator[None]:
    """Put the name of a model before what it warns of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")  # what the user wants to hear is asked below
        yield
    for one in said:
        message = one.message if isinstance(one.message, Warning) else one.category(one.message)
        message = message.said_of(name) if isinstance(message, Told) else type(message)(f"{name}: {message}")
        warnings.warn_explicit(message, one.category, one.filename, one.lineno)


def represent(rows: Rows, asked: Contestant) -> tuple[Representation, Any]:
    """What the model makes of the rows, and the model, fitted."""
    model = asked.model
    try:
        begun = perf_counter()
        model.fit(rows.given(rows.known))
        fit_done = perf_counter()
        codes = _codes(model, rows.given(rows.judged))
        coding_done = perf_counter()
        judged = _judge(model, rows, rows.judged, codes)
        training = _judge(model, rows, rows.again, _codes(model, rows.given(rows.again)))
        shown = codes[: rows.shown]
        back = _back(model, shown)
        basis, mean = _basis(model, shown, back)
    except (ValueError, TypeError) as error_of_model:
        if isinstance(error_of_model, LowdimError):
            error_of_model.said_of(asked.name)
            raise
        raise BadInput(f"{asked.name}: {error_of_model}") from error_of_model
    numbers, stored = _count_numbers(model, basis, mean, codes, rows)
    found = Representation(
        name=asked.name,
        title=asked.title,
        k=codes.shape[1],
        error=judged.error,
        error_se=judged.error_se,
        training_error=training.error,
        basis_sparseness=float("nan") if basis is None else _mean(_sparseness(basis)),
        code_sparseness=_mean(judged.sparseness),
        zeros=float(np.mean(np.abs(codes) <= SMALL * np.abs(codes).max(initial=0.0))),
        numbers=numbers,
        bytes=stored,
        of_original=stored / (rows.shape[0] * rows.shape[1] * rows.original_itemsize),
        fit_seconds=fit_done - begun,
        code_seconds=coding_done - fit_done,
        basis=basis,
        mean=mean,
        codes=shown,
        rows=back,
        judged=judged,
    )
    return found, model


def _codes(model: Any, rows: Any) -> Floats:
    """(n, k), whatever kind of array or frame the model gives."""
    codes = model.transform(rows)
    return np.asarray(codes.toarray() if hasattr(codes, "toarray") else codes, dtype=np.float64)


def _back(model: Any, codes: Floats) -> Floats:
    rows = model.inverse_transform(codes)
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)


def _judge(model: Any, rows: Rows, places: Indices, codes: Floats) -> JudgedRows:
    """What is lost of each of these rows, a piece at a time."""
    lost, total = np.zeros(len(places)), np.zeros(len(places))
    for piece in _pieces(len(places), rows.shape[1]):
        given = rows.some(places[piece])
        lost[piece] = np.sum((given - _back(model, codes[piece])) ** 2, axis=1)
        total[piece] = np.sum(given**2, axis=1)
    return JudgedRows(lost, total, _sparseness(codes))


def _pieces(n: int, p: int) -> Iterator[slice]:
    step = max(1, PIECE // p)
    return (slice(start, start + step) for start in range(0, n, step))


def _sparseness(vectors: Floats) -> Floats:
    """(m,) Hoyer's sparseness of rows; NaN of those that are zero, and of all if they have one entry."""
    return np.full(len(vectors), np.nan) if vectors.shape[1] < 2 else sparseness(vectors)


def _mean(values: Floats) -> float:
    """Over what is known; NaN if nothing is."""
    return float(np.nanmean(values)) if not np.isnan(values).all() else float("nan")


def _basis(model: Any, codes: Floats, rows: Floats) -> tuple[Floats | None, Floats | None]:
    """(k, p) rows whose sums the model makes rows of, and what is added to them; None where it is no such model.

    The model is asked, not its attributes: whitened, scaled and probabilistic axes are stored in other units than those
    in which codes count. A linear model makes its mean of a code of zeros, and a row of the basis beside it of a code
    with a single number; it is linear if it then makes of these codes (m, k) what basis and mean make of them.
    """
    # codes as large as real ones, so that no digits of a small axis are lost beside a large mean
    size = np.abs(codes).max(axis=0, initial=0.0)
    size[size == 0] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # far from the data, as a kernel PCA says: these codes are of no row
        try:
            mean = _back(model, np.zeros((1, len(size))))[0]
            basis = (_back(model, np.diag(size)) - mean) / size[:, None]
        except (ValueError, TypeError):
            return None, None
    off, scale = np.abs(codes @ basis + mean - rows).max(initial=0.0), np.abs(rows).max(initial=0.0)
    if not off <= LINEAR * max(scale, float(np.abs(mean).max())):
        return None, None
    return basis, mean if mean.any() else None


def _count_numbers(
    model: Any, basis: Floats | None, mean: Floats | None, codes: Floats, rows: Rows
) -> tuple[float, float]:
    """Numbers and bytes that tell all rows: those of the model, and the codes. Codes of a single 1 are an index."""
    n, k = rows.shape[0], codes.shape[1]
    own: float
    if basis is not None:
        own = basis.size + (0 if mean is None else mean.size)
    elif hasattr(model, "X_fit_"):  # a kernel PCA, also scikit-learn's, keeps rows, and coefficients of each
        own = np.size(model.X_fit_) + len(model.X_fit_) * k
    else:
        own = getattr(model, "_decoder_size", float("nan"))
        if np.isnan(own):
            return own, own
    if _unary(codes):
        bits = (k - 1).bit_length()
        return float(own + n), float(own * rows.itemsize + -(-n * bits // 8))
    return float(own + n * k), float((own + n * k) * rows.itemsize)


def _unary(codes: Floats) -> bool:
    return bool(((codes == 0) | (codes == 1)).all() and (codes.sum(axis=1) == 1).all())
