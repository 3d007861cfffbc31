"""Lecture 5's comparison on MNIST at 30 dimensions: real, deep autoencoder, logistic PCA, PCA.

`make lecture5` writes the table into docs/benchmarks.md and the figure docs/images/lecture5.png. The digits are those
of LOWDIM_DATA. Most of the time is that of three deep networks. `python benchmarks/lecture5.py optimal` measures anew
only those of the first lines that have this text in their name, and puts them in the place of the old ones; the figure
stays as it is.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lowdim
from lowdim.recipes.compare.overview import Reconstructions, draw_reconstructions

NAME = "lecture 5: MNIST at 30 dimensions"

HEAD = """
Average squared error per test image: the sum over 784 pixels from 0 to 1, of 10,000 images that no fit saw; fits are
of all 60,000 others, of which autoencoders set a tenth aside to know when to stop. Beside it what Hinton &
Salakhutdinov 2006 report (their deep network is trained layer by layer first). Units, learning rate and weight decay
were compared on 5,000 of the training images.
"refined": codes of test images after three Gauss–Newton steps on the decoder, which fits each code to its image, as
logistic PCA with optimal codes does; compare like with like. Seconds are those of the whole fit, on two cores, one fit
after the other.
"""

K = 30
SEEDS = (1, 2, 3)
LONG: dict[str, Any] = {"max_iter": 60}
"""What the long training has that the default has not."""
REFINED = 3
FIGURE = Path(__file__).parents[1] / "docs" / "images" / "lecture5.png"

LINEAR = (
    ("PCA", "13.87", lowdim.PCA(K)),
    ("logistic PCA, projection", "—", lowdim.LogisticPCA(K, encoder="projection")),
    ("logistic PCA, linear codes", "8.01", lowdim.LogisticPCA(K, encoder="linear")),
    ("logistic PCA, optimal codes", "—", lowdim.LogisticPCA(K)),
)
"""Names, what the paper reports, and models."""

Floats = NDArray[np.float64]


@dataclass
class Line:
    """A line of the table."""

    name: str
    paper: str
    errors: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    rows: Floats | None = None
    """(10, 784) what it makes of the digits in the figure."""

    def __str__(self) -> str:
        error = f"{np.mean(self.errors):.2f}"
        if len(self.errors) > 1:
            error += f" ± {np.std(self.errors, ddof=1):.2f}"
        seconds = f"{np.mean(self.seconds):,.0f}" if self.seconds else "—"
        return f"| {self.name} | {error} | {self.paper} | {seconds} |"


def table() -> list[str]:
    train, test = digits()
    shown = one_of_each()
    lines = [
        *(measured(name, paper, model, train, test, shown) for name, paper, model in LINEAR),
        *networks("autoencoder as it comes, 30 epochs", "—", {}, SEEDS[:1], train, test, shown),
        *networks(f"autoencoder, {LONG['max_iter']} epochs, 3 seeds", "3.00", LONG, SEEDS, train, test, shown),
    ]
    draw(lines, shown, test)
    head = ["", f"## {NAME}", *HEAD.rstrip().splitlines(), "", versions()]
    return [*head, "", "| model | squared error | paper | seconds |", "|---|---|---|---|", *map(str, lines)]


def again(text: str, page: Path) -> None:
    """Measure some lines anew, and put them into the page."""
    train, test = digits()
    shown = one_of_each()
    for name, paper, model in LINEAR:
        if text in name:
            line = measured(name, paper, model, train, test, shown)
            old = next(one for one in page.read_text().splitlines() if one.startswith(f"| {name} |"))
            page.write_text(page.read_text().replace(old, str(line)))


def digits() -> tuple[Floats, Floats]:
    """(60000, 784) and (10000, 784), from 0 to 1."""
    with np.load(Path(os.environ["LOWDIM_DATA"]) / "mnist.npz") as file:
        return tuple(file[name].reshape(-1, 784) / 255.0 for name in ("x_train", "x_test"))


def one_of_each() -> NDArray[np.intp]:
    """Places of the first test image of every digit."""
    with np.load(Path(os.environ["LOWDIM_DATA"]) / "mnist.npz") as file:
        return np.array([np.flatnonzero(file["y_test"] == digit)[0] for digit in range(10)])


def measured(name: str, paper: str, model: Any, train: Floats, test: Floats, shown: NDArray[np.intp]) -> Line:
    line = Line(name, paper)
    learn(line, model, train, test, shown)
    print(line, file=sys.stderr, flush=True)
    return line


def networks(
    name: str,
    paper: str,
    settings: dict[str, Any],
    seeds: tuple[int, ...],
    train: Floats,
    test: Floats,
    shown: NDArray[np.intp],
) -> tuple[Line, Line]:
    """A deep network from several seeds, and the same with codes refined."""
    plain, refined = Line(name, paper), Line(f"… its codes refined by {REFINED} steps", "—")
    for seed in seeds:
        model = lowdim.Autoencoder(K, random_state=seed, **settings)
        learn(plain, model, train, test, shown)
        rows = model.inverse_transform(model.transform(test, refine=REFINED))
        refined.errors.append(squared_error(rows, test))
        print(plain, refined, model.best_epoch_, file=sys.stderr, flush=True)
    return plain, refined


def learn(line: Line, model: Any, train: Floats, test: Floats, shown: NDArray[np.intp]) -> None:
    start = time.perf_counter()
    model.fit(train)
    line.seconds.append(time.perf_counter() - start)
    rows = model.inverse_transform(model.transform(test))
    line.errors.append(squared_error(rows, test))
    line.rows = rows[shown]


def squared_error(rows: Any, test: Floats) -> float:
    return float(((np.asarray(rows) - test) ** 2).sum(axis=1).mean())


def draw(lines: list[Line], shown: NDArray[np.intp], test: Floats) -> None:
    """Real, deep, logistic twice, PCA, as in the lecture."""
    pca, _, linear, optimal, *_, deep, _ = lines
    drawn = [("deep autoencoder", deep), ("logistic PCA,\noptimal codes", optimal)]
    drawn += [("logistic PCA,\nlinear codes", linear), ("PCA", pca)]
    made = [Reconstructions(title, line.rows, float(np.mean(line.errors))) for title, line in drawn]
    figure = draw_reconstructions(test[shown], made, (28, 28), heading="MNIST at 30 dimensions")
    figure.savefig(FIGURE, dpi=110)


def versions() -> str:
    import torch

    return f"torch {torch.__version__}, {torch.get_num_threads()} threads."


if __name__ == "__main__":
    import run

    if len(sys.argv) > 1:
        again(sys.argv[1], run.DOCS)
    else:
        made = table()
        print("\n".join(made))
        run.write(made)
