"""Kernel PCAs in text: what is said of fits whose answers are known, on one screen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lowdim import KernelPCA
from lowdim.models.base.output import overview_of
from lowdim.models.kernel_pca.overview import (
    accuracy_in_words,
    captured_in_words,
    kernel_swamping,
    width_in_words,
)
from lowdim.models.kernel_pca.record import KernelFit
from lowdim.views.text.facts import fit_facts
from lowdim.views.text.screen import About, card_lines, file_screen, fit_screen
from lowdim.views.text.told import Told

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((80, 4))


def fitted(rows: np.ndarray = ROWS, **settings) -> KernelFit:
    return KernelPCA(**{"n_components": 2, "kernel": "rbf", "gamma": 0.1, **settings}).fit(rows).fit_


def text(fit: KernelFit, **about) -> str:
    return "\n".join(line.text for line in fit_screen(overview_of(fit), About("t.csv", **about)))


def test_it_answers_the_questions_of_a_newcomer():
    # the linear kernel of rows with variances 6, 3 and 1 has their shares
    rows = np.linalg.qr(ROWS - ROWS.mean(axis=0))[0][:, :3] * np.sqrt([6.0, 3.0, 1.0])
    said = text(
        fitted(rows, kernel="linear", gamma=None),
        asked="--keep 2",
        told=Told({"name": "text"}),
        next=(("lowdim info m.lowdim", "what is it?"),),
        written=("m.lowdim",),
    )
    assert "t.csv: 80 rows × 3 columns of numbers, no value missing" in said
    assert "left out  name (text)" in said
    assert "2 dimensions keep 90.0 % of the variance in the feature space (--keep 2)" in said
    assert "PC1    60.0 %    60.0 %  ██████████████" in said
    assert "PC2    30.0 %    90.0 %  ███████" in said
    assert "rest   10.0 %                            all other dimensions, not kept" in said
    assert "kernel    x·y; effective rank 2.17 of 80 rows" in said  # 10² / (36 + 9 + 1)
    assert "written   m.lowdim" in said
    assert "lowdim info m.lowdim  # what is it?" in said


def test_landmarks_give_intervals():
    fit = fitted(eigen_solver="landmarks", n_landmarks=15)
    low, high = fit.captured
    exact = fitted().shares
    assert low <= exact.sum() <= high
    assert captured_in_words(fit) == f"{low:.1%} to {high:.1%}".replace("%", " %")
    said = text(fit)
    assert "exactly between" in said
    first = fit.share_intervals[0]
    assert f"{first[0]:.1%} and".replace("%", " %") in said
    assert "exactly between" not in text(fitted())


def test_random_features_promise_nothing():
    fit = fitted(eigen_solver="random_features", n_landmarks=30)
    assert captured_in_words(fit).startswith("about ")
    assert "no certificate" in text(fit)
    assert fit_facts(overview_of(fit))["certificate"]["reached"] is False


def test_widths_in_words():
    assert "too narrow" in width_in_words(fitted(gamma=100.0))
    assert "too wide" in width_in_words(fitted(ROWS[:, :1] * [1, 1e-9], gamma=1e-6))
    assert width_in_words(fitted()).endswith("of 80 rows")
    assert "(--gamma median); effective" in text(fitted(), settings={"kernel": "--gamma median"}).replace(
        "\n          ", " "
    )


def test_one_large_column_is_said_to_make_up_the_distances():
    large = ROWS * [100.0, 1, 1, 1]
    (found,) = kernel_swamping(fitted(large))
    variances = large.var(axis=0)
    assert found == ("x0", pytest.approx(variances[0] / variances.sum()))
    assert "--drop x0 leaves it out" in text(fitted(large)).replace("\n          ", " ")
    assert kernel_swamping(fitted(ROWS)) == []
    assert kernel_swamping(fitted(large, scale=True)) == []
    assert kernel_swamping(fitted(large, eigen_solver="landmarks", n_landmarks=15, gamma=1e-4))[0][0] == "x0"
    for settings in ({"kernel": "linear"}, {"kernel": "cosine"}, {"eigen_solver": "random_features", "n_landmarks": 9}):
        assert kernel_swamping(fitted(large, **settings)) == []  # the basis is none of the rows, or has no distances


def test_nothing_left_out_is_no_tie():
    everything = fitted(ROWS[:, :2], n_components=None)
    assert everything.sine > everything.tol  # the smallest eigenvalues are rounding
    assert accuracy_in_words(everything).endswith("nothing is left out")
    tie = replace(everything.found, next_value=everything.values[-1], values=everything.values, total=1e6)
    assert "keep one more or one fewer" in accuracy_in_words(replace(everything, found=tie))


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize(
    "settings", [{"n_components": 1}, {"n_components": 40}, {"eigen_solver": "landmarks", "n_landmarks": 15}]
)
def test_one_screen(width, settings):
    fit = fitted(ROWS * [1000.0, 1, 1, 1], gamma=1e-5, **settings)
    long = replace(fit, columns=tuple(f"a name that is rather long, {j}" for j in range(4)))
    steps = tuple((f"lowdim fit {'folder/' * 5}table.csv --keep {i} --save model.lowdim", "again") for i in range(5))
    about = About(
        "x" * 200,
        "--keep",
        Told({f"text {i}": "text" for i in range(90)}),
        next=steps,
        settings={"kernel": "--gamma median"},
    )
    seen = overview_of(long)
    file = file_screen(seen, "x" * 200, "KernelPCA", {"scale": False}, False, width)
    assert len(file) - len(card_lines(seen, width)) <= 24
    assert len(fit_screen(seen, about, width)) <= 24
    for lines in fit_screen(seen, about, width), file:
        assert max(len(line.text) for line in lines) <= width
