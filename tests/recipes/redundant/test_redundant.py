"""Redundant columns: found, in the data's units, measured; nothing found where nothing is."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import lowdim
from lowdim.errors import BadInput, BadParameter, MissingValues, NeedsAnotherPass, TooLarge
from lowdim.matrices.convert import spacing_of
from lowdim.recipes.redundant.result import redundancy_lines
from lowdim.recipes.redundant.steps import value_steps
from lowdim.results.table import Table
from lowdim.views.text.told import Told

MILE = 1.609344


def cars(n: int = 300, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    mph, weight, power = rng.normal(60, 10, n), rng.normal(1500, 200, n), rng.normal(100, 20, n)
    return pd.DataFrame(
        {
            "mph": mph,
            "weight": weight,
            "km/h": MILE * mph,
            "power": power,
            "load": 0.5 * weight + 2 * power - 30,
            "wheels": np.full(n, 4.0),
            "celsius": 20 + mph / 4,
        }
    )


def test_the_lecture_s_miles_and_kilometres():
    found = lowdim.redundant(cars())
    assert found.constant == ("wheels",)
    assert found.groups == (("mph", "km/h", "celsius"),)
    same = {one.column: one for one in found.duplicates}
    # exact to the rounding of 300 rows
    assert same["km/h"].coefficients[0] == pytest.approx(MILE, rel=1e-12)
    assert same["km/h"].intercept == pytest.approx(0, abs=1e-9)
    assert same["celsius"].coefficients[0] == pytest.approx(0.25, rel=1e-12)
    assert same["celsius"].intercept == pytest.approx(20, rel=1e-12)
    assert max(one.residual for one in found.duplicates) < 1e-13
    assert found.kept[0] == "mph"
    assert len(found.kept) == 3


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_miles_and_kilometres_that_are_rounded_are_one(seed, fast):
    """As the lecture's table has them: both are whole numbers, and leave 1 to 4 % of their deviation over."""
    rng = np.random.default_rng(seed)
    mph = rng.uniform(70, 160, 100) if fast else rng.normal(60, 10, 100)
    table = pd.DataFrame({"mph": mph.round(), "power": rng.normal(90, 9, 100), "km/h": (MILE * mph).round()})
    found = lowdim.redundant(table)
    (one,) = found.duplicates
    assert (one.column, one.others) == ("km/h", ("mph",))
    assert one.by_rounding
    assert one.residual > found.tol
    # what rounding to 1 leaves of both, √(1 + 1.6²)/√12, which 100 rows tell to 7 %
    assert one.deviation == pytest.approx(np.sqrt(1 + MILE**2) / np.sqrt(12), rel=0.21)
    assert "by rounding" in str(found)
    assert [set(direction.columns) for direction in found.directions] == [{"mph", "km/h"}]


def test_a_sum_of_rounded_columns_is_found():
    rng = np.random.default_rng(0)
    parts = rng.normal(50, 12, (200, 3))
    found = lowdim.redundant(np.column_stack([parts.round(), parts.sum(axis=1).round()]))
    (one,) = found.combinations
    assert one.by_rounding
    assert len(found.kept) == 3


def test_what_rounding_does_not_explain_is_no_relation():
    """Twice what rounding leaves; the same of values that are not rounded; and marks from 1 to 5."""
    rng = np.random.default_rng(0)
    mph = rng.uniform(70, 160, 100)
    km = MILE * mph
    assert not lowdim.redundant(np.column_stack([mph.round(), (km + rng.normal(0, 1.2, 100)).round()])).duplicates
    assert not lowdim.redundant(np.column_stack([mph, km + rng.normal(0, 0.55, 100)])).duplicates
    marks = rng.integers(1, 6, 100)
    near = np.clip(marks + (rng.random(100) < 0.1), 1, 5)
    assert not lowdim.redundant(np.column_stack([marks, near])).duplicates


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_steps_are_what_values_were_rounded_to(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(50, 12, (300, 5)).astype(dtype)
    for j, decimals in enumerate((-1, 0, 1, 3)):
        X[:, j] = X[:, j].round(decimals)
    steps = value_steps(lowdim.open(X), spacing_of(X.dtype))
    np.testing.assert_allclose(steps, [10, 1, 0.1, 0.001, 0], rtol=1e-12)


def test_a_sum_of_others_in_the_data_s_units():
    found = lowdim.redundant(cars())
    (one,) = found.combinations
    assert {one.column, *one.others} == {"weight", "power", "load"}
    values = cars()
    rebuilt = one.intercept + sum(b * values[name] for b, name in zip(one.coefficients, one.others, strict=True))
    np.testing.assert_allclose(rebuilt, values[one.column], rtol=1e-12)


def test_the_smallest_direction_shows_the_pair():
    # lecture 4: the smallest eigenvector of (mph, km/h) is (1.609, −1) in the data's units, (1, −1)/√2 standardised
    found = lowdim.redundant(cars()[["mph", "power", "km/h"]])
    (direction,) = found.directions
    assert set(direction.columns) == {"mph", "km/h"}
    np.testing.assert_allclose(np.abs(direction.weights), np.sqrt(0.5), rtol=1e-9)
    assert direction.deviation < 1e-7  # eigenvectors of squares know half the digits


def test_what_a_relation_leaves_over_is_measured():
    X = cars()[["mph", "power", "km/h"]].to_numpy().copy()
    X[:, 2] = np.round(X[:, 2])  # rounding to whole km/h: a deviation of 1/√12
    found = lowdim.redundant(X, tol=0.05)
    (one,) = found.duplicates
    assert one.deviation == pytest.approx(12**-0.5, rel=0.1)  # of 300 draws
    fitted = np.polyfit(X[:, 0], X[:, 2], 1)
    np.testing.assert_allclose([one.coefficients[0], one.intercept], fitted, rtol=1e-8)
    rest = X[:, 2] - np.polyval(fitted, X[:, 0])
    assert one.deviation == pytest.approx(rest.std(), rel=1e-9)
    (rounded,) = lowdim.redundant(X, tol=0.01).duplicates
    assert rounded.by_rounding
    assert not one.by_rounding  # as more was asked for
    X[:, 2] += 1e-7 * X[:, 1]  # no longer rounded, but as far off
    assert not lowdim.redundant(X, tol=0.01).duplicates


def test_nothing_is_redundant_in_noise():
    found = lowdim.redundant(np.random.default_rng(0).standard_normal((200, 30)))
    assert (found.constant, found.duplicates, found.combinations, found.directions) == ((), (), (), ())
    assert found.kept == found.columns
    assert "30 of 30" in str(found)


def test_few_rows_are_no_reason_to_call_columns_sums():
    X = np.random.default_rng(0).standard_normal((20, 40))
    X[:, 7] = -2 * X[:, 3]
    found = lowdim.redundant(X)
    assert found.groups == (("x3", "x7"),)
    assert found.combinations is None
    assert found.directions is None
    assert "cannot tell sums" in str(found)


def test_many_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 700))
    X[:, 600:650] = X[:, :50] * np.arange(1, 51) + 3
    X[:, 699] = X[:, 100] - X[:, 200] + 0.5 * X[:, 300]
    found = lowdim.redundant(X)
    assert len(found.duplicates) == 50
    assert [one.others[0] for one in found.duplicates] == [f"x{j}" for j in range(50)]
    np.testing.assert_allclose([one.coefficients[0] for one in found.duplicates], np.arange(1, 51), rtol=1e-12)
    assert [{one.column, *one.others} for one in found.combinations] == [{"x699", "x100", "x200", "x300"}]


def test_kinds_of_data(tmp_path):
    frame = cars()
    plain = lowdim.redundant(frame)
    frame.to_csv(tmp_path / "cars.csv", index=False)
    assert lowdim.redundant(tmp_path / "cars.csv").groups == plain.groups
    assert lowdim.redundant(sparse.csr_array(frame.to_numpy())).groups == (("x0", "x2", "x6"),)
    assert lowdim.redundant(frame.to_numpy().astype(np.float32)).groups == (("x0", "x2", "x6"),)
    huge = lowdim.redundant(frame.to_numpy() * 1e200)
    assert huge.groups == (("x0", "x2", "x6"),)
    assert huge.duplicates[0].coefficients[0] == pytest.approx(MILE, rel=1e-12)


def test_rows_of_weight_zero_do_not_count():
    frame = cars()
    frame.loc[0, "km/h"] = 0.0
    weight = np.ones(len(frame))
    assert not any("km/h" in one for one in lowdim.redundant(frame).groups)
    weight[0] = 0
    assert any("km/h" in one for one in lowdim.redundant(frame, sample_weight=weight).groups)


def test_tables():
    found = lowdim.redundant(cars())
    relations = found.table("relations")
    assert list(relations) == ["column", "other", "coefficient", "intercept", "residual", "deviation"]
    assert len(relations["column"]) == 2 + 2
    assert set(found.table("directions")["direction"]) == {1, 2, 3}
    with pytest.raises(BadParameter, match="'relations' or 'directions'"):
        found.table("nonsense")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_are_frames_of_the_kind_that_came_in(library):
    module = import_module(library)
    frame = cars()
    given = {
        "pandas": lambda: frame,
        "polars": lambda: module.from_pandas(frame),
        "pyarrow": lambda: module.table(frame),
    }
    found = lowdim.redundant(given[library]())
    kind = module.Table if library == "pyarrow" else module.DataFrame
    for name in ("relations", "directions"):
        assert isinstance(found.table(name), kind)
        assert isinstance(lowdim.redundant(frame.to_numpy()).table(name), Table)


@pytest.mark.parametrize("copies", [19, 20, 21, 35])
def test_directions_beyond_those_that_are_given_are_counted(copies):
    X = np.random.default_rng(0).standard_normal((200, 40))
    found = lowdim.redundant(np.hstack([X, 2 * X[:, :copies]]))
    assert len(found.directions) == min(copies, 20)
    assert found.more_directions == max(copies - 20, 0)
    said = f"{copies} directions hardly vary, by the correlations: the 20 smallest are given, {copies - 20} are not"
    assert (said in str(found)) == (copies > 20)
    lines = [line.text for line in redundancy_lines("X", found, Told({"name": "text"}), 200)]
    assert any(said in line for line in lines) == (copies > 20)


def test_what_is_refused():
    X = cars().to_numpy().copy()
    for tol in (0, 1, 1e-9, "a", True):
        with pytest.raises(BadParameter, match="tol"):
            lowdim.redundant(X, tol=tol)
    with pytest.raises(BadInput, match="at least 3"):
        lowdim.redundant(X[:2])
    with pytest.raises(NeedsAnotherPass):
        lowdim.redundant(iter([X]))
    X[3, 1] = np.nan
    with pytest.raises(
        MissingValues, match=r"fill them first, as ProbabilisticPCA\('auto'\).fit\(X\).impute\(X\) does"
    ):
        lowdim.redundant(X)


@pytest.mark.parametrize(
    ("shape", "free", "said"),
    [
        ((300, 101), 4 * 8 * 100**2, r"Relations between 101 columns .* look at up to 100 columns at a time"),
        ((40, 101), 2 * 8 * 40 * 100, r"Duplicates among 101 columns of 40 rows .* up to 100 columns at a time"),
    ],
    ids=["more rows", "more columns"],
)
def test_what_does_not_fit_is_refused_before_it_is_worked_on(shape, free, said, monkeypatch):
    monkeypatch.setattr("lowdim.runtime.memory.available_memory", lambda: free)
    X = np.random.default_rng(0).standard_normal(shape)
    assert lowdim.redundant(X[:, 1:]).n_rows == len(X)
    with pytest.raises(TooLarge, match=said):
        lowdim.redundant(X)
