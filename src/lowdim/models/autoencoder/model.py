"""Autoencoders: a network that squeezes rows through a few codes, and back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from lowdim.errors import Interrupted, WrongShape
from lowdim.matrices.convert import read_weights
from lowdim.matrices.empty_rows import warning_of_empty_rows
from lowdim.matrices.missing import naming_all_missing
from lowdim.matrices.preparation import working_dtype
from lowdim.models.autoencoder.figures import NetworkPlots
from lowdim.models.autoencoder.fit import fit_network, make_record
from lowdim.models.autoencoder.plan import Fit, describe_plan
from lowdim.models.autoencoder.record import NetworkFit
from lowdim.models.autoencoder.settings import OWNER, read_hidden_units, task_of
from lowdim.models.autoencoder.solvers.network import decode_block, encode_block, sum_squared_errors
from lowdim.models.autoencoder.solvers.training import State, principal_axes
from lowdim.models.autoencoder.tables import TABLES
from lowdim.models.base import parameters
from lowdim.models.base.estimator import RecordedModel
from lowdim.models.base.fitting import fit_transform_weighted
from lowdim.models.base.output import Exported, table_by_name
from lowdim.models.base.parameters import (
    CHECKED_BY_FIT,
    Bytes,
    Checkpoint,
    Count,
    Needed,
    NumberAbove0,
    NumberFrom0,
    Option,
    Range,
    Saved,
    Seed,
    WholeFrom0,
)
from lowdim.models.base.prompt import Prompt
from lowdim.models.base.scikit_learn import Takes, check_is_fitted
from lowdim.runtime.memory import budget_of
from lowdim.runtime.progress import ROW
from lowdim.sources.open import open_source
from lowdim.sources.source import Source
from lowdim.types import Floats
from lowdim.views.text.facts import PlanFacts


class Autoencoder(Exported, RecordedModel[NetworkFit]):
    """Codes of rows by a network that is trained to give the rows back: non-linear, or linear, which is PCA.

    Rows pass hidden layers to k linear codes (`transform`), and mirrored layers bring them back (`inverse_transform`).
    Training needs PyTorch (pip install "lowdim[torch]") unless the network is linear with loss "mse", no value is
    missing and there are at most 4,000 columns; using a trained model does not.

    Parameters
    ----------
    n_components : int
        Codes, k.
    hidden : tuple of int
        Units of the encoder's hidden layers; the decoder's are the same backwards. (): a linear network.
    loss : {"auto", "bce", "mse"}
        "bce": outputs are chances, and the loss is the cross-entropy, for values from 0 to 1; "mse": squared error;
        "auto": the former if all observed values lie from 0 to 1. Name "mse" where a linear network shall be PCA.
    activation : {"silu", "gelu", "relu", "leaky_relu", "tanh", "logistic"}
        What hidden units do to their sums.
    scale : bool
        Divide each column by its standard deviation; otherwise, for "mse", all by one number.
    solver : {"auto", "adam", "lbfgs", "als"}
        "adam": epochs of shuffled batches; "lbfgs": the gradient of all rows, down to where it vanishes; "als": layers
        of a linear network by turns, each exactly, which is subspace iteration through the covariance and no training
        by gradients. "auto" is "als" for linear networks with loss "mse", or "lbfgs" if they have a penalty or missing
        values, as their optimum is within reach; otherwise "adam".
    learning_rate : float
        Of Adam, after the first steps; it falls to zero as a half cosine.
    batch_size : int
        Rows of a step of Adam, at most: fewer where an epoch would have fewer than 20 steps.
    max_iter : int
        Epochs, at most; for "lbfgs" and "als" hundreds of iterations.
    l2 : float
        λ of a penalty λ Σ ‖W‖² over the weights of all layers, beside the mean loss of a row, a sum over its columns.
    weight_decay : float
        Share of every weight that a step of Adam takes off beside its own doing, times the learning rate. It keeps a
        network from learning its rows by heart; for networks without hidden layers, "lbfgs" and "als" it is not used.
    validation : float
        Share of the rows set aside, at most 10,000 rows: the epoch that is best on them is kept. 0, or fewer than 10
        such rows: none, and the loss of the training rows decides. Means, scales and the first biases of the outputs
        are those of all rows.
    patience : int
        Epochs without a gain after which training ends.
    refine : int
        Gauss–Newton steps that `transform` makes from the encoder's codes towards those that the decoder would have
        liked best.
    device : str
        "auto": CUDA where there is one, otherwise "cpu"; or as PyTorch names it.
    checkpoint : path or None
        A file that keeps the state after every epoch. If it exists, the fit goes on from there, to the same weights,
        if the rows, their order and weights are the same.
    random_state : int, Generator, RandomState or None
        Where training begins, which rows are set aside, and the order of the others; None is a fixed seed.
    memory : int, str or None
        Most bytes that the process may hold while it fits ("512MB"); see PCA.

    Notes
    -----
    Missing entries (NaN) enter as their column's mean and are left out of the loss. The same seed, machine, versions
    and number of threads give the same weights. Rows that do not fit into memory are read again in every epoch, and
    shuffled within a buffer, which gives other weights than rows that are kept.

    A linear network's codes span the principal subspace but are no principal components: any invertible mixture of
    them is as good. `principal_axes_` gives the axes; a small `l2` makes decoder and encoder each other's transpose,
    with singular values √(1 − λ / variance), of the columns as they enter, scaled.

    References
    ----------
    Hinton & Salakhutdinov 2006, "Reducing the dimensionality of data with neural networks"; Baldi & Hornik 1989 and
    Kunin et al. 2019 for the linear case; Kingma & Ba 2015 for Adam, Loshchilov & Hutter 2019 for its weight decay.

    Examples
    --------
    >>> import lowdim
    >>> from lowdim.models.autoencoder.model import Autoencoder
    >>> X = lowdim.datasets.iris().values
    >>> model = Autoencoder(2, hidden=(), loss="mse").fit(X)
    >>> axes = lowdim.PCA(2).fit(X).components_
    >>> bool(abs(model.principal_axes_ - axes).max() < 1e-5)
    True
    """

    score_name = "code"

    _prompt: ClassVar = Prompt(
        "2",  # a plane, which can be looked at
        ("lowdim fit {same} --keep {k}", "what PCA keeps in as many"),
        resumes=True,
    )

    _parts = ((ROW, 1.0), ("epoch", 30.0))

    def __init__(
        self,
        n_components: Annotated[
            Count, CHECKED_BY_FIT, Option("keep", needed="an autoencoder needs a whole number of codes, from 1")
        ] = 2,
        *,
        hidden: Annotated[
            Sequence[int], CHECKED_BY_FIT, Saved(int | tuple[int, ...]), Option(read=read_hidden_units)
        ] = (1000, 500, 250),
        loss: Annotated[
            Literal["auto", "bce", "mse"], Option(needed="of an autoencoder it must be auto, bce or mse")
        ] = "auto",
        activation: Literal["silu", "gelu", "relu", "leaky_relu", "tanh", "logistic"] = "silu",
        scale: bool = False,
        solver: Literal["auto", "adam", "lbfgs", "als"] = "auto",
        learning_rate: NumberAbove0 = 2e-3,
        batch_size: Count = 256,
        max_iter: Annotated[Count, Option("epochs")] = 30,
        l2: NumberFrom0 = 0.0,
        weight_decay: NumberFrom0 = 0.3,
        validation: Annotated[float, Range(0, 0.9), Needed("a share of the rows from 0 to 0.9")] = 0.1,
        patience: Count = 10,
        refine: WholeFrom0 = 0,
        device: Annotated[str, Needed("'auto', 'cpu', 'cuda' or another device of PyTorch's")] = "auto",
        checkpoint: Checkpoint = None,
        random_state: Seed = None,
        memory: Bytes = None,
    ):
        self.n_components = n_components
        self.hidden = hidden
        self.loss = loss
        self.activation = activation
        self.scale = scale
        self.solver = solver
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.l2 = l2
        self.weight_decay = weight_decay
        self.validation = validation
        self.patience = patience
        self.refine = refine
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.memory = memory

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Autoencoder:
        """Train on the rows of X, (n, p). `sample_weight` (n,) weighs rows in the loss; 0 leaves a row out.

        Parameters
        ----------
        X : array, sparse matrix, frame, dask data, path, iterator of row blocks or Source
            Rows, (n, p); what `lowdim.open` takes.
        y : ignored
        sample_weight : array of shape (n,) or None
            How often each row counts: 2 means twice.

        Returns
        -------
        Autoencoder
            The model itself.
        """
        budget = budget_of(OWNER, self.memory)
        source = self._opened(X, reset=True)
        task = task_of(self, source.n_columns)
        weighted = source if sample_weight is None else source.with_weights(read_weights(source, sample_weight))
        path = None if self.checkpoint is None else os.fspath(self.checkpoint)
        last: tuple[Fit, State] | None = None

        def tell(fit: Fit, state: State) -> None:
            nonlocal last
            last = fit, state

        has_weights = sample_weight is not None or source.weighted
        try:
            self._record = fit_network(weighted, task, has_weights, budget, path, tell)
        except Interrupted as stop:
            stop.model = None if last is None or last[1].best_weights is None else self._part(X, source, *last)
            raise
        self._remember(X, source)
        return self

    fit_transform = fit_transform_weighted

    @property
    def plot(self) -> NetworkPlots:
        """Figures of this fit: `model.plot.learning()`, `model.plot.traversal()`, …"""
        return NetworkPlots(self)

    # -- attributes -----------------------------------------------------------------------------------------------

    @property
    def _decoder_size(self) -> float:
        return sum(layer.weights.size + layer.bias.size for layer in self.fit_.decoder)

    @property
    def learning_curve_(self) -> Floats:
        """(epochs, 2) loss per entry of the training rows, and of the rows set aside (NaN: none)."""
        return self.fit_.training.curve

    @property
    def best_epoch_(self) -> int:
        """Epoch, from 0, whose weights were kept."""
        return self.fit_.training.best

    @property
    def best_loss_(self) -> float:
        """Loss per entry of that epoch: of the rows set aside, or of the others; NaN: no epoch."""
        if not self.n_iter_:
            return float("nan")
        loss, aside = self.fit_.training.curve[self.best_epoch_]
        return float(loss if np.isnan(aside) else aside)

    @property
    def n_iter_(self) -> int:
        """Epochs that were made."""
        return len(self.fit_.training.curve)

    @property
    def loss_(self) -> str:
        """The loss that was used, "bce" or "mse"."""
        return self.fit_.loss

    @property
    def principal_axes_(self) -> Floats:
        """(k, p) PCA's axes, recovered from a linear network: its codes rotated, of centred and scaled columns."""
        fit = self.fit_
        if not fit.linear:
            raise AttributeError(
                "principal_axes_ are those of a linear network, but this one has "
                + (f"hidden layers {fit.hidden}" if fit.hidden else "logistic outputs")
                + ": fit Autoencoder(hidden=(), loss='mse')."
            )
        return principal_axes(fit.decoder[0].weights, fit.code_covariance)[0]

    # -- rows to codes and back -----------------------------------------------------------------------------------

    def transform(self, X: Any, refine: int | None = None) -> Any:
        """Codes of rows, (n, k); of dask's data a lazy dask array.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        refine : int or None
            Gauss–Newton steps on the decoder, which make codes better than the encoder's; None: as many as the settings
            say.

        Returns
        -------
        array
            (n, k), of the library that X is an array of; a frame if `set_output` asked for one.
        """
        check_is_fitted(self)
        return self._as_frame(X, self._codes(X, self._steps(refine)))

    def _scores(self, X: Any) -> Any:
        return self._codes(X, self._steps(None))

    def _codes(self, X: Any, steps: int) -> Any:
        source = self._opened(X, reset=False).unweighted()
        work = partial(encode_block, fit=self.fit_, steps=steps, columns=source.columns)
        with naming_all_missing(source, only_infinite=True), warning_of_empty_rows(source) as watched:
            return watched.map_rows(work, self.fit_.k, working_dtype(source.dtype))

    def inverse_transform(self, X: Any) -> Any:
        """Rows (n, p) from codes (n, k): for loss "bce" chances, from 0 to 1.

        Parameters
        ----------
        X : array, frame, dask data, path or Source
            Codes, (n, k), as `transform` gives them.

        Returns
        -------
        array
            (n, p)
        """
        check_is_fitted(self)
        fit, source = self.fit_, open_source(X)
        if source.n_columns != fit.k:
            raise WrongShape(
                f"The codes have {source.n_columns} columns, but this model has {fit.k} codes: pass what transform "
                "gave."
            )
        return source.map_rows(partial(decode_block, fit=fit), fit.n_columns, working_dtype(source.dtype))

    def reconstruction_error(self, X: Any, refine: int | None = None) -> float:
        """Mean over rows of the squared error, a sum over the observed entries of the row.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        refine : int or None
            Steps by which codes are improved; None: as the model says.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        source = self._opened(X, reset=False)
        work = partial(sum_squared_errors, fit=self.fit_, steps=self._steps(refine), columns=source.columns)
        with naming_all_missing(source, only_infinite=True):
            squares, weight = source.reduce(work, _added)
        return squares / weight

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the reconstruction error, so that larger is better.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        y : ignored

        Returns
        -------
        float
        """
        return -self.reconstruction_error(X)

    # -- files ----------------------------------------------------------------------------------------------------

    # -- looking --------------------------------------------------------------------------------------------------

    def table(self, name: str, X: Any = None) -> Any:
        """A table by name, as a frame of the kind the model was fitted on (a plain Table for arrays).

        Parameters
        ----------
        name : {"curve", "layers", "scores"}
            "scores" needs X, and is a frame of X's own kind.
        X : whatever `transform` takes, or None
            Rows, (n, p), for tables about them.

        Returns
        -------
        frame, or Table
            A frame of the kind that X is, or that the model was fitted on; a Table for arrays.
        """
        return table_by_name(self, TABLES, name, X)

    def _plan_facts(self, source: Source) -> PlanFacts:
        task = task_of(self, source.n_columns, seed=0)  # a plan asks no generator for numbers
        return describe_plan(source, task, budget_of(OWNER, self.memory))

    # -- inside ---------------------------------------------------------------------------------------------------

    def _graph(self, inverse: bool, dtype: str) -> Any:
        from lowdim.models.autoencoder.onnx import network_graph

        return network_graph(self.fit_, inverse, dtype)

    @property
    def _takes(self) -> Takes:
        return Takes(missing=True)

    def _steps(self, refine: int | None) -> int:
        steps = self.refine if refine is None else refine
        parameters.whole(f"{OWNER}.transform", "refine", steps, 0, None)
        return int(steps)

    def _part(self, X: Any, source: Source, fit: Fit, state: State) -> Autoencoder:
        """The model as far as an interrupted fit had come."""
        part: Autoencoder = self.__sklearn_clone__()
        part.__dict__.update({k: v for k, v in self.__dict__.items() if k not in part.__dict__})
        part._remember(X, source)
        part._record = make_record(fit, state)
        part.begun_ = fit.kept, state  # what a checkpoint keeps
        return part


def _added(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return one[0] + other[0], one[1] + other[1]
