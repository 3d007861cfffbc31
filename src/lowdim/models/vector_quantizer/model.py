"""Vector quantisation: each row becomes the nearest of k codewords."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, WrongShape
from lowdim.matrices.convert import read_weights
from lowdim.matrices.missing import naming_all_missing
from lowdim.matrices.preparation import dense, working_dtype
from lowdim.matrices.products import reconstruct_rows
from lowdim.models.base import parameters
from lowdim.models.base.estimator import RecordedModel
from lowdim.models.base.fitting import fit_transform_weighted
from lowdim.models.base.output import table_by_name
from lowdim.models.base.parameters import CHECKED_BY_FIT, Count, NumberFrom0, Option, Seed, Shape
from lowdim.models.base.prompt import Prompt
from lowdim.models.base.scikit_learn import check_is_fitted
from lowdim.models.vector_quantizer.figures import CodebookPlots
from lowdim.models.vector_quantizer.fit import (
    Codebook,
    CodebookTask,
    assign,
    fit_codebook,
    nearest_codes,
    plan_codebook,
    unary_codes,
)
from lowdim.models.vector_quantizer.record import CodebookFit
from lowdim.models.vector_quantizer.tables import TABLES
from lowdim.results.table import Table
from lowdim.runtime.progress import ROW
from lowdim.sources.open import open_source
from lowdim.sources.source import Source
from lowdim.types import Floats
from lowdim.views.text.facts import PlanFacts


class VectorQuantizer(RecordedModel[CodebookFit]):
    """A codebook of k rows, by scikit-learn's k-means: each row is told by the number of its nearest codeword.

    `transform` gives codes as the lectures write them, unary: (n, k) with a single 1 in each row. So X ≈ Z @
    components_ holds as for NMF and, about the mean, for PCA. `codes` gives the places of the ones, which is all that
    has to be kept: ⌈log₂ k⌉ bits a row.

    Parameters
    ----------
    n_components : int
        Codewords: scikit-learn's n_clusters.
    init : {"k-means++", "random"} or array (k, p)
        Where k-means starts.
    n_init : int or "auto"
        Starts, of which the best end is kept; "auto" is 1 for "k-means++" and arrays, 10 for "random".
    max_iter : int
        Steps of Lloyd's algorithm, at most.
    tol : float
        It stops when the codewords move, in all, by no more than this share of a column's mean variance, squared.
    sample_rows : int or None
        k-means starts from so many rows drawn at random, and goes on by Lloyd's steps over all rows, a pass each. None:
        all rows where they take at most 1 GiB as float64, else as many as 256 MiB hold.
    random_state : int, Generator, RandomState or None
        For starts and samples; None is a fixed seed.

    Notes
    -----
    k-means ends in a local optimum: another start may lose less, which `n_init` tries. Missing values are refused;
    PPCAMixture clusters rows that have some.

    References
    ----------
    Lloyd 1982, "Least squares quantization in PCM"; Arthur & Vassilvitskii 2007 for "k-means++"; Lee & Seung 1999 for
    the comparison with NMF and PCA.

    Examples
    --------
    >>> from lowdim import VectorQuantizer
    >>> X = [[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0], [9.0, 7.0]]
    >>> model = VectorQuantizer(n_components=2, random_state=0).fit(X)
    >>> model.components_[model.codes(X)]
    array([[0. , 0.5],
           [0. , 0.5],
           [9. , 8. ],
           [9. , 8. ],
           [9. , 8. ]])
    >>> model.distortion_  # (2 × 0.25 + 2 × 1) / 5
    0.5
    """

    score_name = "word"

    _prompt: ClassVar = Prompt(
        "8",
        ("lowdim compare {data} --keep {k} --models vq,pca", "against PCA"),
        no_scale="a codebook is of the columns as they are; leave --scale out, or scale the table",
        no_memory="k-means keeps at most 1 GiB of rows by itself; leave --memory out",
    )

    _parts = ((ROW, 1.0), (ROW, 1.0), ("step", 5.0), (ROW, 1.0))

    def __init__(
        self,
        n_components: Annotated[
            Count, Option("keep", needed="a codebook needs a whole number of codewords, from 1")
        ] = 8,
        *,
        init: Annotated[
            Literal["k-means++", "random"] | Annotated[NDArray[Any] | Sequence[Sequence[float]], Shape("k p")],
            CHECKED_BY_FIT,
        ] = "k-means++",
        n_init: Count | Literal["auto"] = "auto",
        max_iter: Count = 300,
        tol: NumberFrom0 = 1e-4,
        sample_rows: Annotated[int | None, CHECKED_BY_FIT] = None,
        random_state: Seed = None,
    ):
        self.n_components = n_components
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.sample_rows = sample_rows
        self.random_state = random_state

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> VectorQuantizer:
        """Find codewords near the rows of X, (n, p). `sample_weight` (n,) counts rows: 2 means twice.

        Parameters
        ----------
        X : array, sparse matrix, frame, dask data, path, iterator of row blocks or Source
            Rows, (n, p); what `lowdim.open` takes.
        y : ignored
        sample_weight : array of shape (n,) or None
            How often each row counts: 2 means twice.

        Returns
        -------
        VectorQuantizer
            The model itself.
        """
        source = self._opened(X, reset=True)
        task = self._task(source.n_columns)
        weighted = source if sample_weight is None else source.with_weights(read_weights(source, sample_weight))
        self._record = fit_codebook(weighted, task)
        self._remember(X, source)
        return self

    fit_transform = fit_transform_weighted

    @property
    def plot(self) -> CodebookPlots:
        """Figures of this fit: `model.plot.gallery()`, `model.plot.usage()`, …"""
        return CodebookPlots(self)

    # -- attributes -----------------------------------------------------------------------------------------------

    @property
    def components_(self) -> Floats:
        """(k, p) codewords; scikit-learn's cluster_centers_."""
        return self.fit_.codebook

    @property
    def distortion_(self) -> float:
        """Mean squared distance from a row of the fit to its codeword."""
        return self.fit_.distortion

    @property
    def decibels_(self) -> float:
        """Variance of the rows over the distortion, in dB."""
        return self.fit_.decibels

    @property
    def inertia_(self) -> float:
        """Sum of the squared distances, as in scikit-learn."""
        return self.fit_.squared

    @property
    def usage_(self) -> Floats:
        """(k,) shares of the rows of the fit that each codeword stands for."""
        return self.fit_.usage

    @property
    def perplexity_(self) -> float:
        """How many codewords used equally often would tell as much, from 1 to k."""
        return self.fit_.perplexity

    @property
    def n_iter_(self) -> int:
        """Steps of Lloyd's algorithm."""
        return self.fit_.steps

    # -- rows to codes and back -----------------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Unary codes of rows, (n, k): 1 for the nearest codeword, else 0. Of dask's data a lazy dask array.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n, k), of the library that X is an array of; a frame if `set_output` asked for one.
        """
        return super().transform(X)

    def _scores(self, X: Any) -> Any:
        source = self._opened(X, reset=False).unweighted()
        work = partial(unary_codes, codebook=self._codebook, columns=source.columns)
        with naming_all_missing(source):
            return source.map_rows(work, self.fit_.k, working_dtype(source.dtype))

    def codes(self, X: Any) -> Any:
        """(n,) number of the codeword nearest to each row, from 0; the lower where two are equally near.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n,) of whole numbers.
        """
        check_is_fitted(self)
        source = self._opened(X, reset=False).unweighted()
        work = partial(nearest_codes, codebook=self._codebook, columns=source.columns)
        with naming_all_missing(source):
            return source.map_rows(work, 1, np.int64)[:, 0]

    def inverse_transform(self, X: Any) -> Any:
        """Rows (n, p) from unary codes (n, k), or from the codes (n,) that `codes` gives: their codewords.

        Codes may be an array, a list or a Series, or a table with the single column "code", as `table("codes", X)` is.

        Parameters
        ----------
        X : codes
            Of either kind.

        Returns
        -------
        array
            (n, p)
        """
        check_is_fitted(self)
        k = self.fit_.k
        codes = _listed_codes(X)
        if codes is not None:
            return self.fit_.codebook[_checked_codes(codes, k)]
        source = open_source(X)
        if source.columns == ("code",):
            return self.fit_.codebook[_checked_codes(_whole_column(source), k)]
        if k == 1 and source.n_columns == 1 and source.dtype.kind in "iu" and not _whole_column(source).all():
            raise BadInput(
                "Zeros in a column of whole numbers are no unary codes of a single codeword, which are ones: pass "
                "codes as an array (n,), or name the column 'code'."
            )
        if source.n_columns != k:
            raise WrongShape(
                f"The codes have {source.n_columns} columns, but this model has {k} codewords: pass what transform "
                "gave, or the whole numbers that codes gave as an array (n,) or as a column named 'code'."
            )
        dtype = working_dtype(source.dtype)
        words = self.fit_.codebook
        work = partial(reconstruct_rows, axes=words.astype(dtype), mean=np.zeros(words.shape[1]))
        return source.map_rows(work, words.shape[1], dtype)

    def distortion(self, X: Any) -> float:
        """Mean squared distance from rows, also new ones, to their codewords.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        float
        """
        check_is_fitted(self)
        source = self._opened(X, reset=False)
        with naming_all_missing(source):
            told = assign(source, self._codebook)
        return float(told.squared / told.weights.sum())

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the distortion of rows, so that larger is better.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        y : ignored

        Returns
        -------
        float
        """
        return -self.distortion(X)

    # -- looking --------------------------------------------------------------------------------------------------

    def compression(self, itemsize: int | None = None) -> Table:
        """What codebook and codes take and lose: numbers and bytes kept, of the original, and the error.

        Codes take ⌈log₂ k⌉ bits each.

        Parameters
        ----------
        itemsize : int or None
            Bytes of a number, in the original and in the codebook; None: those of the data, but 4 in the codebook of
            whole numbers, as `compare` counts.

        Returns
        -------
        Table
            One row.
        """
        if itemsize is not None:
            parameters.whole("VectorQuantizer.compression", "itemsize", itemsize, 1, None, or_else=" or None")
            return Table(self.fit_.compression(int(itemsize)))
        size: int = getattr(self, "_itemsize", 8)
        return Table(self.fit_.compression(4 if self.fit_.whole_numbers else size, size))

    def table(self, name: str, X: Any = None) -> Any:
        """A table by name, as a frame of the kind the model was fitted on (a plain Table for arrays).

        Parameters
        ----------
        name : {"codebook", "usage", "compression", "codes"}
            "codebook" has a row for each column of the data; "codes" needs X, and is a frame of X's own kind.
        X : whatever `transform` takes, or None
            Rows, (n, p), for tables about them.

        Returns
        -------
        frame, or Table
            A frame of the kind that X is, or that the model was fitted on; a Table for arrays.
        """
        return table_by_name(self, TABLES, name, X)

    # -- inside ---------------------------------------------------------------------------------------------------

    @property
    def _codebook(self) -> Codebook:
        return Codebook(self.fit_.codebook)

    def _task(self, p: int) -> CodebookTask:
        """The settings, checked."""
        name = "VectorQuantizer"
        if self.sample_rows is not None:
            parameters.whole(name, "sample_rows", self.sample_rows, int(self.n_components), None, or_else=" or None")
        return CodebookTask(
            k=int(self.n_components),
            init=_checked_start(self.init, int(self.n_components), p),
            n_init=self.n_init,
            tol=float(self.tol),
            steps=int(self.max_iter),
            sample_rows=None if self.sample_rows is None else int(self.sample_rows),
            seed=self.random_state,
        )

    def _plan_facts(self, source: Source) -> PlanFacts:
        task = self._task(source.n_columns)
        route = plan_codebook(source, task)
        return PlanFacts(
            data=source.describe(),
            bytes=None if source.n_rows is None else source.n_rows * source.n_columns * source.dtype.itemsize,
            keep=f"{task.k} codewords",
            solver=route.solver,
            reason=route.reason,
            read=route.read,
            memory=route.memory,
            limit=None,
            accuracy="a local optimum, with codewords that stand still",
        )


def _checked_start(init: Any, k: int, p: int) -> Any:
    if isinstance(init, str) and init in ("k-means++", "random"):
        return init
    needed = f"'k-means++', 'random' or an array of finite numbers (k, p) = ({k}, {p})"
    try:
        words = np.asarray(init, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise BadParameter.of("VectorQuantizer", "init", init, needed) from None
    if words.shape != (k, p) or not np.isfinite(words).all():
        raise BadParameter.of("VectorQuantizer", "init", init, needed)
    return words


def _listed_codes(X: Any) -> NDArray[Any] | None:
    """(n,) codes that were given one after the other, in an array, a list or a Series; None: it is something else."""
    if isinstance(X, (list, tuple)):
        if not all(isinstance(code, Real) for code in X):
            return None
        return np.asarray(X) if len(X) else np.zeros(0, dtype=np.int64)
    return np.asarray(X) if len(getattr(X, "shape", ())) == 1 else None


def _whole_column(source: Source) -> NDArray[Any]:
    """(n,) the only column, as whole numbers where it holds no others: a text file tells 3 and 3.0 alike."""
    values = np.concatenate([np.ravel(dense(block.rows)) for block in source.unweighted().blocks()])
    with np.errstate(invalid="ignore"):  # what is missing is no code, which is said later
        whole = values.astype(np.int64)
    return whole if np.array_equal(whole, values) else values


def _checked_codes(codes: NDArray[Any], k: int) -> NDArray[Any]:
    if codes.dtype.kind not in "iu" or (len(codes) and not 0 <= codes.min() <= codes.max() < k):
        raise BadInput(f"Codes must be whole numbers from 0 to {k - 1}, as `codes` gives them, or rows of {k} columns.")
    return codes
