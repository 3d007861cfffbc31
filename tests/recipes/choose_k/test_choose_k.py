"""How many components: planted ranks are found, noise has none, and answers do not depend on what they should not."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import lowdim
from lowdim import NMF, PCA, KernelPCA, ProbabilisticPCA, choose_k
from lowdim.errors import BadInput, BadParameter
from lowdim.recipes.choose_k.evidence import drawn_rows
from lowdim.recipes.choose_k.rules import RULES
from lowdim.sources.open import open_source

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "how-many.md"

ABOUT_DATA = (
    "parallel-analysis",
    "tracy-widom",
    "gavish-donoho",
    "gavish-donoho-known",
    "bai-ng",
    "minka",
    "bic",
    "bi-cross-validation",
    "held-out",
)


def planted(n: int, p: int, rank: int = 5, seed: int = 0, times: float = 3.0) -> np.ndarray:
    """White noise of variance 1 and singular values from `times` to 1.5 times as often the BBP threshold (n p)^¼.

    Below that threshold no rule can see a component (Benaych-Georges & Nadakuditi 2012).
    """
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.standard_normal((side, rank)))[0] for side in (n, p))
    return times * (n * p) ** 0.25 * (U * np.linspace(1, 1.5, rank)) @ V.T + rng.standard_normal((n, p))


def counts(found) -> dict[str, int | None]:
    return {one.rule: one.k for one in found.answers}


# -- known answers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "p"), [(400, 40), (120, 60), (80, 80), (60, 120)])
def test_a_planted_rank_is_found_by_every_rule_that_should(n, p):
    # Bai–Ng's penalty passes what is above (n + p) log min(n, p) in square: it is made for strong factors
    weak = 9 * np.sqrt(n * p) < 1.2 * (n + p) * np.log(min(n, p))
    rules = [name for name in ABOUT_DATA if name != "bai-ng" or not weak]
    every = [choose_k(planted(n, p, seed=seed), noise=1.0, n_resamples=30, rules=rules) for seed in range(4)]
    assert [found.k for found in every] == [5] * 4
    for name in rules:  # tests at 5 %, and least errors, are off by one now and then
        assert sum(found[name].k == 5 for found in every) >= 3, name
        assert sum(found[name].sound for found in every) >= 3 or (name == "bic" and n <= p)


@pytest.mark.parametrize(("n", "p"), [(400, 40), (60, 300)])
def test_strong_factors_are_found_by_bai_ng(n, p):
    assert choose_k(planted(n, p, times=6), rules="bai-ng").k == 5


def test_agreement_is_said():
    found = choose_k(planted(80, 40, rank=2, times=8), rules=["parallel-analysis", "minka", "bic", "tracy-widom"])
    assert found.verdict == "2 components: all 4 rules about signal and noise agree."


def test_with_many_more_columns_than_rows_bic_and_bai_ng_miss_and_bic_says_so():
    """Both are made for other shapes: BIC for n > p, Bai–Ng's penalty log(60) is large against what 60 rows show."""
    found = choose_k(planted(60, 1000), noise=1.0, n_resamples=30, rules=ABOUT_DATA)
    right = [name for name in ABOUT_DATA if name not in ("bic", "bai-ng")]
    assert {name: found[name].k for name in right} == dict.fromkeys(right, 5)
    assert not found["bic"].sound
    assert "needs n > p: 60 rows × 1,000 columns" in found["bic"].flag
    assert found.k == 5


@pytest.mark.parametrize(("n", "p"), [(300, 30), (100, 100), (50, 200)])
def test_noise_has_no_components(n, p):
    X = np.random.default_rng(1).standard_normal((n, p))
    found = choose_k(X, noise=1.0, n_resamples=50, rules=ABOUT_DATA)
    assert all(k in (0, 1) for k in counts(found).values())
    assert found["minka"].k == 1  # it does not consider 0
    assert found.k == 0


def test_tracy_widom_errs_as_often_as_its_level_says():
    wrong = sum(
        choose_k(planted(120, 60, seed=s), rules="tracy-widom", n_resamples=19)["tracy-widom"].k != 5 for s in range(40)
    )
    assert wrong <= 7  # 5 % of 40 are 2; more than 7 happen less than once in a thousand times


@pytest.mark.parametrize("rule", ["parallel-analysis", "bi-cross-validation"])
def test_rules_that_resample_need_no_white_noise(rule):
    X = planted(300, 40, rank=3, times=8) * np.linspace(0.5, 2, 40)
    found = choose_k(X, n_resamples=50)
    assert found[rule].k == 3
    assert found[rule].sound
    assert not found["minka"].sound
    assert "white noise" in found["minka"].flag
    assert found.k == 3


def remembering(n: int, p: int, by: float, rng: np.random.Generator) -> np.ndarray:
    """Columns of variance 1, each entry of which is correlated by `by` with the one above it."""
    E = rng.standard_normal((n, p))
    for i in range(1, n):
        E[i] = by * E[i - 1] + np.sqrt(1 - by**2) * E[i]
    return E


@pytest.mark.parametrize(("n", "p"), [(200, 20), (100, 100), (50, 200)])
@pytest.mark.parametrize("of", ["rows", "columns"])
def test_noise_whose_neighbours_go_together_has_no_number_of_components(n, p, of):
    """Rules find many, and agree: nothing is to be made of that."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = remembering(n, p, 0.6, rng) if of == "rows" else remembering(p, n, 0.6, rng).T
        found = choose_k(X, n_resamples=30)
        assert found.k is None
        assert any(f"needs independent {of}" in check.words for check in found.void)
        assert not any(one.sound for one in found.answers if one.rule in ABOUT_DATA)
        assert "No rule applies" in found.verdict


@pytest.mark.parametrize("smooth", ["scores", "axes"])
def test_smooth_components_in_independent_noise_are_found(smooth):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        scores = remembering(200, 3, 0.9 if smooth == "scores" else 0.0, rng)
        axes = remembering(40, 3, 0.9 if smooth == "axes" else 0.0, rng)
        found = choose_k(2 * scores @ axes.T + rng.standard_normal((200, 40)), n_resamples=30)
        assert found.k == 3
        assert not found.void


@pytest.mark.parametrize(("n", "p"), [(200, 20), (50, 200)])
def test_rows_of_unequal_size_have_no_components(n, p):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        heavy = np.sqrt(rng.chisquare(3, (n, 1)) / 3)
        found = choose_k(rng.standard_normal((n, p)) / heavy, n_resamples=50)
        assert found.k == 0
        assert "sign" in found["parallel-analysis"].why
        assert not found["bai-ng"].sound
        assert "rows differ in noise" in " ".join(check.words for check in found["bai-ng"].checks)
    # a fourth as strong as the largest rows, four times as the usual
    planted = 3 * rng.standard_normal((n, 3)) @ rng.standard_normal((3, p))
    assert choose_k((planted + rng.standard_normal((n, p))) / heavy, n_resamples=50).k == 3


def test_heavy_tails_speak_against_rules_for_normal_noise():
    rng = np.random.default_rng(0)
    found = choose_k(rng.standard_t(3, (60, 150)), n_resamples=30)
    assert not found["minka"].sound
    assert "heavy tails" in " ".join(one.flag for one in found.answers)
    assert found.k == 0


def test_without_rows_independence_is_not_known():
    found = choose_k(PCA().fit(planted(60, 8, rank=2)), rules="minka")
    assert any("not known whether noise is independent" in check.words for check in found["minka"].checks)


WHITE = ("tracy-widom", "gavish-donoho", "bai-ng", "minka", "bic", "held-out")


@pytest.mark.parametrize(("n", "p"), [(100, 20), (200, 50)])
def test_scaling_makes_noise_uneven_which_rules_for_white_noise_tell(n, p):
    """They take noisy columns for components, and what they leave over is even."""
    for seed in range(100, 103):
        rng = np.random.default_rng(seed)
        X = 3 * rng.standard_normal((n, 3)) @ rng.standard_normal((3, p)) + rng.standard_normal((n, p))
        found = choose_k(X, scale=True, n_resamples=50)
        assert not any(found[name].sound for name in WHITE)
        assert "columns differ in noise, from" in found["bai-ng"].flag
        assert "white noise" in found["bic"].flag
        assert found["parallel-analysis"].k == found.k == 3


def test_what_parallel_analysis_misses_behind_strong_components_is_not_uneven_noise():
    rng = np.random.default_rng(5)
    axes = np.linalg.qr(rng.standard_normal((20, 3)))[0].T
    X = rng.standard_normal((100, 3)) * [60, 40, 6] @ axes + rng.standard_normal((100, 20))
    found = choose_k(X, n_resamples=50)
    assert found["parallel-analysis"].k == 2
    assert found["bic"].sound
    assert found.k == 3


def test_kaiser_compares_with_the_average_column_also_where_rows_are_fewer():
    X = np.random.default_rng(0).standard_normal((20, 100))
    found = choose_k(X, scale=True, rules="kaiser")
    assert found.k == (np.linalg.eigvalsh(np.corrcoef(X.T)) > 1 + 1e-9).sum() == 19


def test_known_numbers_of_real_data():
    wine = lowdim.datasets.wine().values
    found = choose_k(wine, scale=True)
    assert found["kaiser"].k == 3
    assert found["broken-stick"].k == 2
    assert found["minka"].k == PCA("mle", scale=True).fit(wine).n_components_
    assert found["bic"].k == ProbabilisticPCA("bic", scale=True).fit(wine).n_components_
    assert [found[f"share-{share}"].k for share in (80, 90, 95)] == [5, 8, 10]
    assert found["parallel-analysis"].k == found.k == 3


def test_four_rows_say_nothing_about_noise():
    found = choose_k(lowdim.datasets.uk_foods().values)
    assert all(found[name].k is None for name in ABOUT_DATA if name != "gavish-donoho-known")
    assert "4 rows say nothing about noise" in found["minka"].why
    assert found["share-90"].k == found.k == 2


# -- what answers must not depend on ------------------------------------------------------------------------------


WITHOUT_LEAVING_OUT = [name for name in RULES if name not in ("held-out", "bi-cross-validation", "gavish-donoho-known")]
"""Rules for which a copy of a row is a row; the others leave a row out with all its copies."""


def test_a_weight_of_two_is_the_row_twice():
    X = planted(120, 15, rank=3)
    weight = np.where(np.arange(120) < 40, 2, 1)
    one = choose_k(X, sample_weight=weight, rules=WITHOUT_LEAVING_OUT)
    other = choose_k(np.repeat(X, weight, axis=0), rules=WITHOUT_LEAVING_OUT)
    assert counts(one) == counts(other)
    for mine, theirs in zip(one.answers, other.answers, strict=True):
        np.testing.assert_allclose(mine.curve.values, theirs.curve.values, rtol=1e-7, err_msg=mine.rule)


def test_weights_of_fewer_rows_than_columns_are_rows_twice():
    X = planted(30, 50, rank=2)
    one = choose_k(X, sample_weight=np.full(30, 2.0), rules=WITHOUT_LEAVING_OUT)
    assert counts(one) == counts(choose_k(np.repeat(X, 2, axis=0), rules=WITHOUT_LEAVING_OUT))


@pytest.mark.parametrize("seed", range(2))
def test_copies_of_a_row_are_left_out_together(seed):
    """A row whose copy is known would be predicted by its own noise, and the more components the better."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((100, 3)) @ rng.standard_normal((3, 20)) + rng.standard_normal((100, 20))
    rules = ["held-out", "bi-cross-validation"]
    one, other = choose_k(X, rules=rules), choose_k(X, rules=rules, sample_weight=np.full(100, 3))
    assert counts(one) == counts(other) == dict.fromkeys(rules, 3)
    for rule in rules:  # the same parts are left out, and means over three copies are those over one
        np.testing.assert_allclose(one[rule].curve.values, other[rule].curve.values, rtol=1e-9)


def test_weights_that_are_shares_count_as_rows():
    X = planted(60, 10, rank=2)
    assert counts(choose_k(X, sample_weight=np.full(60, 1 / 60))) == counts(choose_k(X))


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_units_make_no_difference(unit):
    X = planted(100, 20, rank=3)
    assert counts(choose_k(unit * X, n_resamples=30)) == counts(choose_k(X, n_resamples=30))


def test_scaled_answers_do_not_depend_on_the_columns_units():
    X = planted(100, 20, rank=3)
    other = X * np.logspace(-3, 3, 20) + 5
    assert counts(choose_k(other, scale=True, n_resamples=30)) == counts(choose_k(X, scale=True, n_resamples=30))


def test_rules_of_the_spectrum_see_no_rotation():
    X = planted(100, 20, rank=3)
    Q = np.linalg.qr(np.random.default_rng(5).standard_normal((20, 20)))[0]
    rules = ["tracy-widom", "gavish-donoho", "bai-ng", "minka", "bic", "held-out", "kaiser", "share-90"]
    one, other = choose_k(X, rules=rules), choose_k(X @ Q, rules=rules)
    assert counts(one) == counts(other)
    for rule in rules:  # the held-out rows are the same ones, and their density has no preferred axes
        np.testing.assert_allclose(one[rule].curve.values, other[rule].curve.values, rtol=1e-8)


def test_rules_of_the_spectrum_see_no_order_of_rows():
    X = planted(100, 20, rank=3)
    rules = ["tracy-widom", "gavish-donoho", "minka", "bic", "kaiser", "broken-stick", "share-80"]
    assert counts(choose_k(X, rules=rules)) == counts(choose_k(X[::-1], rules=rules))


def test_constant_columns_do_not_count():
    X = planted(100, 12, rank=2)
    padded = np.hstack([X, np.full((100, 30), 7.0)])
    assert counts(choose_k(padded)) == counts(choose_k(X))


def test_a_rule_says_the_same_alone():
    X = planted(60, 20, rank=2)
    whole = choose_k(X, n_resamples=30)
    for one in whole.answers:
        assert choose_k(X, rules=one.rule, n_resamples=30).answers[0].k == one.k


# -- where rows come from -----------------------------------------------------------------------------------------


def test_arrays_files_frames_and_sparse_matrices_agree(tmp_path):
    import pandas as pd

    X = np.round(planted(80, 12, rank=2), 3)
    X[np.abs(X) < 0.3] = 0
    expected = counts(choose_k(X, n_resamples=30))
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for rows in (frame, str(tmp_path / "rows.csv"), scipy.sparse.csr_array(X), lowdim.open(X)):
        assert counts(choose_k(rows, n_resamples=30)) == expected


def test_weights_in_a_file_count(tmp_path):
    import pandas as pd

    X = np.round(planted(80, 6, rank=1), 3)
    weight = np.where(np.arange(80) < 30, 2, 1)
    pd.DataFrame(np.column_stack([X, weight]), columns=[*"abcdef", "w"]).to_csv(tmp_path / "rows.csv", index=False)
    rows = lowdim.open(str(tmp_path / "rows.csv"), weight="w")
    assert counts(choose_k(rows, n_resamples=30)) == counts(choose_k(X, sample_weight=weight, n_resamples=30))


def test_shares_in_a_file_count_as_those_beside_it(tmp_path):
    import pandas as pd

    X, weight = np.round(planted(80, 6, rank=1), 3), np.where(np.arange(80) < 30, 2, 1) / 110
    weight[7] = 0
    pd.DataFrame(np.column_stack([X, weight]), columns=[*"abcdef", "w"]).to_csv(tmp_path / "rows.csv", index=False)
    rows = lowdim.open(str(tmp_path / "rows.csv"), weight="w")
    one, other = choose_k(rows, n_resamples=30), choose_k(X, sample_weight=weight, n_resamples=30)
    assert counts(one) == counts(other)
    np.testing.assert_allclose(one["bic"].curve.values, other["bic"].curve.values, rtol=1e-9)


def test_rows_that_come_once_answer_by_their_spectrum():
    X = planted(60, 8, rank=2)
    found = choose_k(iter([X[:30], X[30:]]))
    assert found["parallel-analysis"].k is None
    assert "only once" in found["parallel-analysis"].why
    assert found["minka"].k == choose_k(X, rules="minka")["minka"].k


def test_large_data_are_resampled_on_some_rows_and_say_so(monkeypatch):
    monkeypatch.setattr("lowdim.recipes.choose_k.evidence.ENTRIES", 4000)
    found = choose_k(planted(1000, 10, rank=2, times=8), n_resamples=30)
    assert any("on 400 of 1,000 rows" in check.words for check in found["parallel-analysis"].checks)
    assert not found["minka"].checks[0].words.startswith("on ")
    assert found["parallel-analysis"].k == 2


def test_drawn_rows_stand_as_often_as_they_count():
    X = np.arange(10.0)[:, None]
    weight = np.array([0, 1, 2, 3, 0, 1, 1, 1, 1, 4.0])
    rows, numbers, n = drawn_rows(open_source(X).with_weights(weight), 1, np.random.default_rng(0))
    np.testing.assert_array_equal(rows[:, 0], np.repeat(np.arange(10), weight.astype(int)))
    np.testing.assert_array_equal(numbers, np.repeat(np.arange(8), weight[weight > 0].astype(int)))
    assert n == 14


# -- missing values -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_holes_leave_the_rules_by_entries():
    X = planted(150, 12, rank=2, times=6)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    found = choose_k(X)
    assert found["bic"].k == found["held-out"].k == found.k == 2
    assert found["held-out"].title == "hidden entries"
    assert "entries are missing" in found["parallel-analysis"].why
    assert found["share-90"].k is None


def test_with_holes_columns_on_larger_scales_are_told_as_the_reason_to_disagree():
    """One column of 12 has all the variance; hidden entries are then predicted by nothing, and BIC keeps going."""
    X = planted(80, 12, rank=2, times=6)
    X[:, 0] = 300 * np.random.default_rng(1).standard_normal(80)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    found = choose_k(X, rules=["bic", "held-out"], most=6)
    assert not found["held-out"].sound
    assert not found["bic"].sound
    assert "of the error is in x0" in found["bic"].flag
    assert [name for name, _ in found.swamped] == ["x0"]
    assert "scale=True" in found.verdict
    scaled = choose_k(X, scale=True, rules=["bic", "held-out"], most=6)
    assert scaled["held-out"].sound
    assert not scaled.swamped


def test_bic_of_rows_without_holes_is_the_closed_form():
    """One entry missing of very many changes it by what that entry says, about a few units of 3,000."""
    X = planted(200, 8, rank=2, times=6)
    holed = X.copy()
    holed[0, 0] = np.nan
    one, other = choose_k(X, rules="bic")["bic"].curve, choose_k(holed, rules="bic")["bic"].curve
    m = min(len(one.values), len(other.values))
    np.testing.assert_allclose(other.values[:m], one.values[:m], atol=12)


# -- other models -------------------------------------------------------------------------------------------------


def made_of_parts(n: int, parts: int, width: int, seed: int = 0) -> np.ndarray:
    """Rows made of parts that overlap by a third, each entry right to about a tenth; noise adds no part of its own."""
    rng = np.random.default_rng(seed)
    H = np.kron(np.eye(parts), np.ones(width)) + np.roll(np.kron(np.eye(parts), np.ones(width)), width // 3, axis=1)
    return rng.gamma(100.0, rng.gamma(0.5, size=(n, parts)) @ H / 100 + 1e-4)


@pytest.mark.slow
def test_planted_parts_are_found():
    X = made_of_parts(100, 3, 9)
    found = choose_k(NMF(), X)
    assert counts(found) == {"held-out": 3, "bi-cross-validation": 3}
    assert found.verdict == "3 parts: both rules about signal and noise agree."
    assert choose_k(NMF(), scipy.sparse.csr_array(X), rules="bi-cross-validation").k == 3


@pytest.mark.slow
def test_planted_parts_of_counts_are_found():
    rng = np.random.default_rng(0)
    X = rng.poisson(20 * rng.gamma(0.5, size=(100, 3)) @ np.kron(np.eye(3), np.full(8, 0.25)))
    assert choose_k(NMF(beta_loss="poisson"), X).k == 3


def test_parts_with_holes_are_chosen_by_hidden_entries_alone():
    X = made_of_parts(60, 2, 8)
    X[np.random.default_rng(1).random(X.shape) < 0.05] = np.nan
    found = choose_k(NMF(), X)
    assert found["bi-cross-validation"].k is None
    assert found.k == 2


def test_kernels_are_chosen_by_held_out_rows_and_shares():
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((6, 2)))[0].T  # of equal strength: a weak one may not lead by itself
    X = rng.standard_normal((90, 2)) @ axes + 0.1 * rng.standard_normal((90, 6))
    found = choose_k(KernelPCA(kernel="linear"), X)
    assert found["held-out"].k == 2
    linear = choose_k(X, rules=["share-90", "share-95"])
    assert [found[f"share-{share}"].k for share in (90, 95)] == [linear[f"share-{share}"].k for share in (90, 95)]
    fitted = KernelPCA(2, kernel="linear").fit(X)
    assert choose_k(fitted)["held-out"].k is None
    assert choose_k(fitted)["share-90"].k == 2


# -- models -------------------------------------------------------------------------------------------------------


def test_a_fitted_model_answers_by_its_spectrum():
    X = planted(100, 12, rank=2)
    found, whole = choose_k(PCA().fit(X)), choose_k(X)
    for one in found.answers:
        if one.rule in ("parallel-analysis", "bi-cross-validation", "held-out"):
            assert one.k is None
            assert "choose_k(model, X)" in one.why
        else:
            assert one.k == whole[one.rule].k
    assert counts(choose_k(PCA().fit(X), X)) == counts(whole)


def test_a_model_is_asked_of_its_own_rows():
    X, other = planted(60, 8, rank=2), planted(60, 8, rank=2, seed=1)
    weight = np.where(np.arange(60) < 20, 3, 1)
    for model in (PCA().fit(X), PCA(2, scale=True).fit(X), ProbabilisticPCA(2).fit(X)):
        assert choose_k(model, X, rules="minka").n_rows == 60
        with pytest.raises(BadInput, match=r"not the rows of the model's fit.*clone\(model\)"):
            choose_k(model, other)
        with pytest.raises(BadInput, match="fitted on 60 rows, but here are 59"):
            choose_k(model, X[1:])
        with pytest.raises(BadInput, match="rows have 7 columns"):
            choose_k(model, X[:, 1:])
        with pytest.raises(BadInput, match="count 100"):
            choose_k(model, X, sample_weight=weight)


@pytest.mark.parametrize("first", [0.0, 3.0])
def test_a_model_with_weights_asks_for_them(first):
    X = planted(60, 8, rank=2)
    weight = np.where(np.arange(60) < 20, first, 1.0)
    model = PCA().fit(X, sample_weight=weight)
    with pytest.raises(BadInput, match="with the sample_weight of its fit"):
        choose_k(model, X)
    assert counts(choose_k(model, X, sample_weight=weight)) == counts(choose_k(X, sample_weight=weight))
    assert choose_k(model)["minka"].k == choose_k(X, sample_weight=weight, rules="minka").k


def test_settings_of_an_estimator_are_used():
    X = planted(100, 12, rank=2) * np.logspace(0, 2, 12)
    assert counts(choose_k(PCA(3, scale=True), X)) == counts(choose_k(X, scale=True))
    assert choose_k(PCA(scale=True), X).scaled
    uncentred = choose_k(PCA(center=False), X + 1000, rules=["share-90", "gavish-donoho"])
    assert uncentred["share-90"].k == 1  # the mean


@pytest.mark.parametrize(
    ("given", "settings", "error", "words"),
    [
        (lambda X: (PCA(2, svd_solver="lanczos").fit(X),), {}, BadInput, "does not know all|need all"),
        (lambda X: (X, X), {}, BadParameter, "X is for an estimator"),
        (lambda X: (X,), {"rules": "nonsense"}, BadParameter, "parallel-analysis"),
        (lambda X: (PCA(), X), {"scale": True}, BadParameter, "own setting"),
        (lambda X: (X,), {"noise": -1.0}, BadParameter, "standard deviation above 0"),
        (lambda X: (X,), {"n_resamples": 3}, BadParameter, "from 19"),
        (lambda X: (X,), {"most": 0}, BadParameter, "from 1"),
        (lambda X: (NMF(),), {}, BadInput, "pass the rows too"),
        (lambda X: (KernelPCA(),), {}, BadInput, "not fitted"),
        (lambda X: (lowdim.VectorQuantizer(2),), {}, BadParameter, "PCA, ProbabilisticPCA, KernelPCA or NMF"),
        (
            lambda X: (lowdim.GenotypePCA(),),
            {},
            BadParameter,
            "n_significant_ is the number .* tracy_widom_ tests each",
        ),
        (lambda X: (np.ones((20, 3)),), {}, BadInput, "No column varies"),
    ],
)
def test_errors_teach(given, settings, error, words):
    X = planted(300, 30, rank=2)
    with pytest.raises(error, match=words):
        choose_k(*given(X), **settings)


def test_known_noise_needs_the_datas_units():
    found = choose_k(planted(50, 8, rank=1), scale=True, noise=1.0, rules="gavish-donoho-known")
    assert found["gavish-donoho-known"].k is None
    assert found.k is None
    assert found.verdict == "No rule has an answer for these data."


def test_most_limits_what_is_considered():
    found = choose_k(planted(100, 30), most=3, n_resamples=30)
    assert max(found[name].k for name in ("minka", "bic", "bai-ng", "parallel-analysis", "held-out")) == 3
    assert any("largest number considered" in check.words for check in found["bic"].checks)


@pytest.mark.slow
def test_the_guide_runs(tmp_path):
    guide = tmp_path / "guide.py"
    guide.write_text("\n".join(re.findall(r"```python\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)))
    scope = runpy.run_path(str(guide))
    assert scope["chosen"].k == 3
