"""Loadings: the cost never rises, its gradient vanishes at the end, and factors are balanced."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowdim.models.logistic_pca.solvers.families import FAMILIES
from lowdim.models.logistic_pca.solvers.search import (
    Loadings,
    Search,
    Settings,
    Sums,
    SumsOfBlock,
    balance,
    make_canonical,
    search,
    sum_source,
)
from lowdim.sources.arrays import ArraySource
from lowdim.sources.source import Block
from models.logistic_pca.logistic_data import planted, sine

NAMES = tuple(FAMILIES)


def settings_of(name: str, x: np.ndarray, ridge: float = 0.5, tol: float = 1e-9) -> Settings:
    saturated = float(np.nansum(FAMILIES[name].saturated(np.nan_to_num(x))[~np.isnan(x)]))
    return Settings(name, ridge, tol, np.zeros(x.shape[1], dtype=bool), saturated)


def look_at(x: np.ndarray, settings: Settings, model: Loadings, keep: bool = True) -> Sums:
    work = SumsOfBlock(settings.decoder(model.V, model.bias), model.codes, 1e-12, 50, 50, keep)
    return sum_source(ArraySource(x), work)


def found(name: str, x: np.ndarray, k: int, settings: Settings, most: int = 300, keep: bool = True) -> Search:
    rng = np.random.default_rng(0)
    start = Loadings(rng.normal(size=(k, x.shape[1])) / 5, np.zeros(x.shape[1]))
    return search(lambda model: look_at(x, settings, model, keep), Search(settings, start), most)


@pytest.mark.parametrize("name", NAMES)
def test_slopes_are_derivatives_of_the_best_cost(name: str) -> None:
    x, axes, bias = planted(name, 30, 6, 2)
    x[0, 0] = np.nan
    settings = settings_of(name, x)
    at = look_at(x, settings, Loadings(axes, bias))
    for column, part in ((1, 0), (4, 1), (5, 2)):
        costs = []
        for step in (1e-5, -1e-5):
            V, b = axes.copy(), bias.copy()
            if part < 2:
                V[part, column] += step
            else:
                b[column] += step
            costs.append(look_at(x, settings, Loadings(V, b)).cost)
        # codes are the best ones at each point, so the slope at fixed codes is that of the best cost
        assert_allclose((costs[0] - costs[1]) / 2e-5, at.slope[column, part], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_the_cost_never_rises_and_ends_where_it_is_flat(name: str) -> None:
    x, _, _ = planted(name, 60, 8, 2)
    settings = settings_of(name, x, tol=1e-13)
    end = found(name, x, 2, settings)
    assert (np.diff(end.path) <= 0).all()
    assert end.finished
    assert end.best is not None
    last = look_at(x, settings, end.best)
    slope = last.slope + settings.ridge * np.append(end.best.V.T, np.zeros((8, 1)), axis=1)
    assert np.abs(slope).max() < 1e-4 * np.abs(last.slope).max() + 1e-4  # a flat end, to the root of the tolerance


@pytest.mark.parametrize("name", NAMES)
def test_keeping_codes_changes_nothing(name: str) -> None:
    x, _, _ = planted(name, 60, 8, 2)
    settings = settings_of(name, x)
    one, other = (found(name, x, 2, settings, keep=keep) for keep in (True, False))
    assert_allclose(one.path[-1], other.path[-1], rtol=1e-7)


def test_balanced_factors_have_the_same_parameters_and_a_smaller_penalty() -> None:
    x, axes, bias = planted("bernoulli", 50, 7, 3)
    settings = settings_of("bernoulli", x)
    model = Loadings(3 * axes, bias)
    seen = look_at(x, settings, model)
    model = Loadings(model.V, model.bias, seen.codes)
    better = balance(model, seen, model)
    z, better_z = (np.concatenate([one.codes[at] for at in sorted(one.codes)]) for one in (model, better))
    assert_allclose(better_z @ better.V + better.bias, z @ model.V + model.bias, atol=1e-10)
    assert_allclose(better_z.mean(axis=0), 0, atol=1e-12)
    assert (better_z**2).sum() + (better.V**2).sum() < (z**2).sum() + (model.V**2).sum()
    assert_allclose(better_z.T @ better_z, better.V @ better.V.T, atol=1e-9)
    strengths = make_canonical(model, seen).strengths
    assert_allclose((better_z**2).sum() + (better.V**2).sum(), 2 * strengths.sum(), rtol=1e-10)


def test_a_ridge_is_a_penalty_of_singular_values() -> None:
    x, _, _ = planted("gaussian", 40, 6, 2)
    settings = settings_of("gaussian", x, ridge=3.0, tol=1e-14)
    end = found("gaussian", x, 6, settings, most=2000)
    assert end.best is not None
    form = make_canonical(end.best, look_at(x, settings, end.best))
    values = np.linalg.svd(x - x.mean(axis=0), compute_uv=False)
    # soft thresholding solves it for numbers (Cai, Candès & Shen 2010); the tolerance of 1e-14 leaves errors of 1e-6
    assert_allclose(form.strengths, np.maximum(values - 3.0, 0), atol=1e-5 * values[0])


def test_weights_count_rows_and_blocks_do_not_matter() -> None:
    x, axes, bias = planted("poisson", 30, 5, 2, size=0.5)
    decoder = settings_of("poisson", x).decoder(axes, bias)
    work = SumsOfBlock(decoder, {}, 1e-13, 50, 50, False)
    whole = work(Block(0, x))
    parts = work(Block(0, x[:7])).add(work(Block(7, x[7:])))
    twice = work(Block(0, x[:5], np.full(5, 2.0)))
    doubled = work(Block(0, np.repeat(x[:5], 2, axis=0)))
    for one, other in ((whole, parts), (twice, doubled)):
        assert_allclose(one.cost, other.cost, rtol=1e-12)
        assert_allclose(one.slope, other.slope, atol=1e-8)
        assert_allclose(one.system, other.system, rtol=1e-5, atol=1e-5)  # in single precision, in another order
        assert_allclose(one.moments, other.moments, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["bernoulli", "poisson"])
def test_a_planted_subspace_is_found_better_with_more_columns_and_rows(name: str) -> None:
    angles = []
    for n, p in ((100, 20), (1200, 60)):
        x, axes, _ = planted(name, n, p, 2, seed=3)
        end = found(name, x, 2, settings_of(name, x, ridge=1.0, tol=1e-6))
        assert end.best is not None
        angles.append(sine(end.best.V, axes))
    assert angles[1] < 0.5 * angles[0]
    assert angles[1] < 0.15


@pytest.mark.slow
def test_columns_of_few_ones_do_not_spoil_the_steps_of_others(shared_data) -> None:
    with np.load(shared_data("mnist.npz")) as file:
        x = (file["x_train"][:10000].reshape(10000, -1) > 127).astype(float)
    x = x[:, x.sum(axis=0) > 0]  # of which some are 1 once: Newton's step for them is a leap
    axes = np.linalg.eigh(np.cov(x.T))[1][:, :-11:-1].T
    settings = settings_of("bernoulli", x, ridge=0.1, tol=1e-4)
    start = Loadings(axes, FAMILIES["bernoulli"].link(x.mean(axis=0)))

    def look(model: Loadings) -> Sums:
        decoder = settings.decoder(model.V, model.bias)
        return sum_source(ArraySource(x), SumsOfBlock(decoder, model.codes, 1e-8, 3, 30, True))

    end = search(look, Search(settings, start), 12)
    assert end.refused <= 3
    assert end.path[-1] < 0.65 * end.path[0]  # with such leaps 0.69, and no further
