"""Gradients of a network by PyTorch: epochs of Adam, and the whole gradient of all rows. The only file that loads it.

Nothing of PyTorch's own state is used or changed: weights begin and rows are shuffled by generators of NumPy.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter, NeedsExtra
from lowdim.models.autoencoder.record import LEAK
from lowdim.models.autoencoder.solvers.network import Shape
from lowdim.models.autoencoder.solvers.rows import Batch, Rows
from lowdim.models.autoencoder.solvers.training import Objective, Schedule, State
from lowdim.runtime.progress import ROW, Tell, stage
from lowdim.types import Floats

try:
    import torch
    from torch.nn import functional
except ImportError as error:
    raise NeedsExtra.package("PyTorch", "Training a network by gradients", "torch") from error


ACTIVATION: dict[str, Callable[[Any], Any]] = {
    "silu": functional.silu,
    "gelu": functional.gelu,
    "relu": functional.relu,
    "leaky_relu": lambda sums: functional.leaky_relu(sums, LEAK),
    "tanh": torch.tanh,
    "logistic": torch.sigmoid,
}
"""By the names of `results.network.ACTIVATIONS`."""

VERSION = str(torch.__version__)

MOST_FLOPS_ON_ONE_THREAD = 200_000_000
"""Flops of a step below which threads wait for each other longer than they work, above all on a busy machine."""


def device_of(owner: str, name: str) -> str:
    """The device that training will use: "auto" is CUDA where there is one, otherwise the processor."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        _try_device(name)
    except (RuntimeError, AssertionError, TypeError) as error:
        known = ["'auto'", "'cpu'", *(f"'cuda:{i}'" for i in range(torch.cuda.device_count()))]
        reason = str(error).strip().splitlines()[0]
        needed = f"a device that PyTorch can use here, such as {' or '.join(known)} ({reason})"
        raise BadParameter.of(owner, "device", name, needed) from None
    return name


@cache
def _try_device(device: str) -> None:
    """One step of a network of one weight, there and back: whether the device works, and what PyTorch loads for it.

    That takes about 90 MB, which a plan of memory then finds taken.
    """
    weight = torch.ones(1, device=device, requires_grad=True)
    optimizer = torch.optim.AdamW([weight], lr=1.0, weight_decay=0.0, fused=True)
    functional.mse_loss(weight, torch.zeros(1, device=device)).backward()
    optimizer.step()
    total = torch.zeros((), dtype=torch.float64, device=device) + weight.detach().sum()  # losses are summed so
    if not abs(float(total.cpu())) < 1e-3:  # Adam's first step is as long as its rate
        raise RuntimeError("numbers do not come back from it")


class _OneThread:
    """PyTorch on one thread while anybody is inside; the user's number is given back by the last who leaves."""

    def __init__(self) -> None:
        self._lock, self._inside, self._before = threading.Lock(), 0, 1

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = torch.get_num_threads()
                torch.set_num_threads(1)
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                torch.set_num_threads(self._before)


_one_thread = _OneThread()


def limit_threads(shape: Shape, batch: int) -> AbstractContextManager[None]:
    """One thread for small steps, as many as the user has for others."""
    return _one_thread if 6 * shape.n_weights * batch < MOST_FLOPS_ON_ONE_THREAD else nullcontext()


class Trainer:
    """A network, its rows, and what is minimised: mean loss of a row + l2 Σ ‖weights of a layer‖²."""

    def __init__(self, shape: Shape, rows: Rows, center: Floats, l2: float, device: str, weight_decay: float = 0.0):
        self.shape, self.rows, self.l2, self.device, self.weight_decay = shape, rows, l2, device, weight_decay
        self._center = torch.from_numpy(center)
        self._penalised = np.zeros(shape.n_weights)
        """1 for weights, 0 for biases, which no penalty draws to zero."""
        for weights, _ in shape.parts(self._penalised):
            weights[:] = 1.0

    def epoch(self, state: State, schedule: Schedule) -> State:
        """One more epoch of Adam (Kingma & Ba 2015), with its weight decay apart (Loshchilov & Hutter 2019)."""
        with limit_threads(self.shape, self.rows.size), stage(ROW, self.rows.n_train) as tell:
            return self._epoch(state, schedule, tell)

    def _epoch(self, state: State, schedule: Schedule, tell: Tell) -> State:
        flat, first, second = (self._there(array) for array in (state.weights, state.first, state.second))
        layers = [(W.requires_grad_(), b.requires_grad_()) for W, b in self.shape.parts(flat)]
        optimizer = self._adam(layers, first, second, state.steps)
        total, entries, done, steps = torch.zeros((), dtype=torch.float64, device=self.device), 0.0, 0, state.steps
        for batch in self.rows.epoch(state.epochs):
            loss = self._loss(batch, layers)
            (loss / len(batch) + self._penalty(layers)).backward()
            for group in optimizer.param_groups:
                group["lr"] = schedule.at(steps)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            total += loss.detach()
            entries += _entries(batch)
            done, steps = done + len(batch), steps + 1
            tell(done)
        aside = self._aside(layers)
        changed: dict[str, Any] = {"first": _to_numpy(first), "second": _to_numpy(second), "steps": steps}
        changed["looks"] = state.looks + 1
        return state.after(_to_numpy(flat), float(total) / entries if entries else 0.0, aside, **changed)

    def objective(self) -> Objective:
        """The whole loss of all rows and its gradient, in float64."""

        def look(weights: Floats) -> tuple[float, Floats]:
            with limit_threads(self.shape, self.rows.size):
                return summed(weights)

        def summed(weights: Floats) -> tuple[float, Floats]:
            flat = self._there(weights).requires_grad_()
            layers = list(self.shape.parts(flat))
            total, rows = 0.0, 0
            with stage(ROW, self.rows.n_train) as tell:
                for batch in self.rows.in_order():
                    loss = self._loss(batch, layers)
                    loss.backward(retain_graph=False)
                    layers = list(self.shape.parts(flat))
                    total, rows = total + float(loss.detach()), rows + len(batch)
                    tell(rows)
            gradient = _to_numpy(flat.grad) / rows
            penalised = weights * self._penalised
            gradient += 2 * self.l2 * penalised
            return total / rows + self.l2 * float(penalised @ weights), gradient

        return look

    def _loss(self, batch: Batch, layers: list[tuple[Any, Any]]) -> Any:
        """Sum over the batch's rows, by their weights, of the loss of each row's observed entries."""
        rows = torch.from_numpy(batch.rows).to(self.device)
        sums = self._sums(rows, layers)
        factor = None if batch.known is None else torch.from_numpy(batch.known).to(self.device)
        if batch.weight is not None:
            weight = torch.from_numpy(batch.weight).to(self.device)[:, None]
            factor = weight if factor is None else factor * weight
        if self.shape.loss == "bce":
            targets = rows + self._center.to(rows)  # of its type, on its device
            return functional.binary_cross_entropy_with_logits(sums, targets, weight=factor, reduction="sum")
        if factor is None:
            return functional.mse_loss(sums, rows, reduction="sum")
        return ((sums - rows) ** 2 * factor).sum()

    def _penalty(self, layers: list[tuple[Any, Any]]) -> Any:
        """l2 Σ ‖W‖²"""
        return self.l2 * sum((W**2).sum() for W, _ in layers) if self.l2 else 0.0

    def _sums(self, rows: Any, layers: list[tuple[Any, Any]]) -> Any:
        """Forwards, to the sums of the outputs."""
        between, last = ACTIVATION[self.shape.activation], len(layers) - 1
        for number, (W, b) in enumerate(layers):
            rows = functional.linear(rows, W, b)
            if number not in (self.shape.code, last):
                rows = between(rows)
        return rows

    def _aside(self, layers: list[tuple[Any, Any]]) -> float:
        """Loss per entry of the rows set aside; NaN: there are none."""
        total, entries = torch.zeros((), dtype=torch.float64, device=self.device), 0.0
        with torch.no_grad():
            for batch in self.rows.aside():
                total += self._loss(batch, layers)
                entries += _entries(batch)
        return float(total) / entries if entries else math.nan

    def _adam(self, layers: list[tuple[Any, Any]], first: Any, second: Any, steps: int) -> Any:
        """Adam with its moments, which lie in one vector each as the weights do."""
        groups = [
            {"params": [W for W, _ in layers], "weight_decay": self.weight_decay},
            {"params": [b for _, b in layers], "weight_decay": 0.0},
        ]
        optimizer = torch.optim.AdamW(groups, fused=True)
        for layer, means, squares in zip(layers, self.shape.parts(first), self.shape.parts(second), strict=True):
            for weights, mean, square in zip(layer, means, squares, strict=True):
                made = torch.tensor(float(steps), dtype=torch.float32, device=self.device)
                optimizer.state[weights] = {"step": made, "exp_avg": mean, "exp_avg_sq": square}
        return optimizer

    def _there(self, array: NDArray[Any]) -> Any:
        return torch.from_numpy(array.copy()).to(self.device)


def _entries(batch: Batch) -> float:
    """Observed entries, by the weights of their rows."""
    if batch.known is None:
        rows = len(batch) if batch.weight is None else float(batch.weight.sum(dtype=np.float64))
        return float(rows * batch.rows.shape[1])
    seen = batch.known.sum(axis=1, dtype=np.float64)
    return float(seen.sum() if batch.weight is None else seen @ batch.weight)


def _to_numpy(tensor: Any) -> NDArray[Any]:
    found: NDArray[Any] = tensor.detach().cpu().numpy()
    return found
