"""Which rows a regression learns from, holds out and draws: weights, splits, groups, names."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    ShuffleSplit,
    TimeSeriesSplit,
)

import lowdim
from lowdim import PCRegression
from lowdim.errors import BadInput, BadParameter, UnrelatedWarning
from lowdim.models.pc_regression.folds import mean_and_error

EXACT = 1e-9
"""Answers of two ways through float64, for data of moderate condition."""


def made(n: int = 60, p: int = 8, m: int | None = None, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 3)) * [3, 2, 1.5]
    X = hidden @ rng.normal(size=(3, p)) + 0.3 * rng.normal(size=(n, p)) + 10
    y = hidden @ rng.normal(size=(3, m or 1)) + rng.normal(size=(n, m or 1))
    return X, y if m else y[:, 0]


def replicates(groups: int = 12, times: int = 8) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of a group are nearly the same: there are as many units as groups, not as rows."""
    rng = np.random.default_rng(3)
    hidden = rng.normal(size=(groups, 4))
    X = (hidden @ rng.normal(size=(4, 20))).repeat(times, 0) + 0.01 * rng.normal(size=(groups * times, 20))
    y = (hidden[:, 0] + rng.normal(size=groups)).repeat(times) + 0.01 * rng.normal(size=groups * times)
    return X, y, np.arange(groups).repeat(times)


class TestBootstrap:
    def test_a_weight_of_four_is_a_row_four_times(self):
        X, y = made(40, 3)
        weight = np.full(40, 4)
        counted = PCRegression(None, cv=None).fit(X, y, sample_weight=weight)
        found = counted.bootstrap(X, y, 400, sample_weight=weight).std_error
        X4, y4 = X.repeat(4, 0), y.repeat(4)
        written = PCRegression(None, cv=None).fit(X4, y4).bootstrap(X4, y4, 400).std_error
        once = PCRegression(None, cv=None).fit(X, y).bootstrap(X, y, 400).std_error
        # a deviation of 400 draws is off by 3.5 % (1 σ), a ratio of two by 5 %; unweighted it would be off by 100 %
        np.testing.assert_allclose(found, written, rtol=0.2)
        np.testing.assert_allclose(found, once / 2, rtol=0.2)

    def test_parts_of_rows_cannot_be_drawn(self):
        X, y = made(30)
        weight = np.full(30, 2.0)
        weight[4] = 1.5
        model = PCRegression(2, cv=3).fit(X, y, sample_weight=weight)
        with pytest.raises(BadInput, match=r"counts 1\.5 rows at row 4"):
            model.bootstrap(X, y, 5, sample_weight=weight)
        # of groups it is said how many there are, whatever rows weigh
        groups = np.arange(30) // 3
        grouped = PCRegression(2, cv=3).fit(X, y, sample_weight=weight, groups=groups)
        assert grouped.bootstrap(X, y, 5, sample_weight=weight, groups=groups).std_error.shape == (8,)

    def test_other_rows_are_refused(self):
        X, Y = made(30, m=2)
        y = Y[:, 0]
        model = PCRegression(2, cv=3).fit(X, y)
        other = np.ones(30)
        other[0] = 2
        moved = X + 0.01
        for arguments, said in (
            ((X[:29], y[:29]), "29 rows of weight 29"),
            ((X, Y), "2 responses"),
            ((moved, y), "not the rows of the fit"),
            ((X, y + 0.01), "not the rows of the fit"),
            ((X, y[::-1]), "not the rows of the fit"),  # the same means, but of other pairs
        ):
            with pytest.raises(BadInput, match=said):
                model.bootstrap(*arguments, 5)
        with pytest.raises(BadInput, match="of weight 31"):
            model.bootstrap(X, y, 5, sample_weight=other)
        holes = X.copy()
        holes[3, 2] = np.nan
        filled = PCRegression(2, cv=None, missing="ppca").fit(holes, y)
        assert filled.bootstrap(holes, y, 2).std_error.shape == (8,)
        with pytest.raises(BadInput, match="not the rows of the fit"):
            filled.bootstrap(X, y, 2)

    @pytest.mark.filterwarnings("ignore::lowdim.errors.UnrelatedWarning")
    @pytest.mark.parametrize("offset", [0.0, 1e7])
    def test_the_rows_of_the_fit_are_known_again(self, offset, tmp_path):
        X, Y = made(30, 50, m=2)
        Y = np.column_stack([Y + offset, np.full(30, 14.62)])  # and one that is constant
        weight = np.arange(30) % 3
        model = PCRegression(2, cv=3, scale=True).fit(X + offset, Y, sample_weight=weight)
        model.save(tmp_path / "m.lowdim")
        again = lowdim.load(tmp_path / "m.lowdim").bootstrap(X + offset, Y, 3, sample_weight=weight)
        assert again.std_error.shape == (3, 50)

    def test_whole_groups_are_drawn(self):
        X, y, groups = replicates()
        model = PCRegression(3).fit(X, y, groups=groups)
        found = model.bootstrap(X, y, 300, groups=groups)
        rng, known = np.random.default_rng(0), []
        for _ in range(300):
            drawn = np.concatenate([np.flatnonzero(groups == g) for g in rng.integers(0, 12, 12)])
            known.append(PCRegression(3, cv=None).fit(X[drawn], y[drawn]).coef_)
        # each is off by 4 % (1 σ) and the worst of 20 columns counts; rows drawn one by one give a quarter
        np.testing.assert_allclose(found.std_error, np.std(known, axis=0, ddof=1), rtol=0.35)
        assert found.words.startswith("12 whole groups drawn with replacement")
        with pytest.raises(BadInput, match="12 groups"):
            model.bootstrap(X, y, 5)
        with pytest.raises(BadInput, match="6 groups"):
            model.bootstrap(X, y, 5, groups=groups // 2)

    def test_a_choice_in_resamples_knows_of_groups_and_splits(self):
        X, y, groups = replicates()
        model = PCRegression(repeats=1).fit(X, y, groups=groups)
        found = model.bootstrap(X, y, 10, choose=True, groups=groups)
        assert "folds of whole groups" in found.words
        assert found.n_components.max() <= 4  # 4 is all that groups say; loose rows find a dozen
        splitter = PCRegression(cv=GroupKFold(4)).fit(X, y, groups=groups)
        assert "by 4 splits of GroupKFold" in splitter.bootstrap(X, y, 5, choose=True, groups=groups).words
        assert "by 10 folds" in PCRegression().fit(X, y).bootstrap(X, y, 3, choose=True).words

    def test_splits_that_a_resample_does_not_have_are_said(self):
        X, y = made(30)
        splits = [(np.arange(29), [29])]  # a third of resamples do not draw the only row that is held out
        words = PCRegression(cv=splits).fit(X, y).bootstrap(X, y, 20, choose=True).words
        assert "chosen by 1 given split, " in words
        assert "of 20 by 5 folds, as the given splits leave too few rows" in words


class TestWeights:
    @pytest.mark.parametrize("share", [1 / 60, 0.05, 0.5])
    def test_equal_shares_are_no_weights(self, share):
        X, y = made()
        one, other = PCRegression().fit(X, y), PCRegression().fit(X, y, sample_weight=np.full(60, share))
        assert one.n_components_ == other.n_components_
        np.testing.assert_allclose(one.coef_std_err_, other.coef_std_err_, rtol=EXACT)
        np.testing.assert_allclose(one.cv_table_["std_error"], other.cv_table_["std_error"], rtol=EXACT)

    def test_shares_are_scaled_up_to_the_rows_and_counts_stay(self):
        X, y = made()
        weight = np.arange(60) % 4
        counts, shares = (PCRegression(3, cv=None).fit(X, y, sample_weight=w) for w in (weight, weight / weight.sum()))
        assert counts.fit_.axes.weight == weight.sum()
        np.testing.assert_allclose(shares.fit_.axes.weight, 45, rtol=EXACT)  # rows of a weight above 0
        np.testing.assert_allclose(counts.coef_, shares.coef_, rtol=EXACT)

    def test_no_freedom_is_none_whatever_rounding_leaves(self):
        X, y = made(10, 200)
        for share in np.linspace(0.05, 0.95, 19):
            model = PCRegression(None, cv=None).fit(X, y, sample_weight=np.full(10, share))
            assert model.fit_.freedom == 0
            assert np.isnan(model.coef_std_err_).all()

    def test_t_tests_are_as_many(self):
        X, y = made(41, 60)
        one = PCRegression("t-test", cv=None).fit(X, y)
        other = PCRegression("t-test", cv=None).fit(X, y, sample_weight=np.full(41, 0.1))
        assert len(one.fit_.p_values) == len(other.fit_.p_values) == 20

    def test_errors_of_light_rows_are_finite(self):
        mean, error = mean_and_error(np.array([[1.0], [3.0]]), np.array([0.1, 0.1]), None)
        np.testing.assert_allclose([mean[0], error[0]], [2, 1])  # as of two rows: √(2 / 2)

    def test_rows_held_out_keep_their_places(self):
        X, y = made(20)
        weight = np.ones(20)
        weight[:5] = 0
        model = PCRegression(2, cv=3).fit(X, y, sample_weight=weight)
        assert model.held_out_.shape == (20,)
        assert list(np.flatnonzero(np.isnan(model.held_out_))) == [0, 1, 2, 3, 4]


class TestSplits:
    def test_masks_are_places(self):
        X, y = made()
        mask = np.arange(60) % 2 == 0
        one = PCRegression(3, cv=[(mask, ~mask), (~mask, mask)]).fit(X, y)
        even, odd = np.flatnonzero(mask), np.flatnonzero(~mask)
        other = PCRegression(3, cv=[(even, odd), (odd, even)]).fit(X, y)
        np.testing.assert_array_equal(one.held_out_, other.held_out_)
        assert one.q2_ < 0.999

    @pytest.mark.parametrize(
        ("splits", "said"),
        [
            ([(np.arange(40), np.arange(40, 90))], "names row 60, but there are rows 0 to 59"),
            ([(np.arange(40), [-1, -2])], "names row -1"),
            ([(np.arange(40), np.arange(30, 60))], "10 rows in both"),
            ([(np.arange(40), np.ones(50, dtype=bool))], "a mask of 60"),
            ([(np.arange(40), [40.0, 41.0])], "float64"),
            ([(np.arange(40), [])], "0 to hold out"),
            ([], "at least one split"),
            ([1, 2], "pairs"),
            (PredefinedSplit(np.arange(70) % 5), "names row 6"),
        ],
    )
    def test_splits_of_other_rows_are_refused(self, splits, said):
        with pytest.raises(BadParameter, match=said):
            PCRegression(3, cv=splits).fit(*made())

    @pytest.mark.parametrize("cv", [PredefinedSplit(np.arange(60) % 5), [(np.arange(30), np.arange(30, 60))]])
    def test_splitters_know_rows_of_no_weight(self, cv):
        X, y = made()
        weight = np.ones(60)
        weight[:10] = 0
        model = PCRegression(2, cv=cv).fit(X, y, sample_weight=weight)
        left = PredefinedSplit((np.arange(60) % 5)[10:]) if isinstance(cv, PredefinedSplit) else None
        same = PCRegression(2, cv=left or [(np.arange(20), np.arange(20, 50))]).fit(X[10:], y[10:])
        np.testing.assert_allclose(model.q2_, same.q2_, rtol=EXACT)

    def test_parts_without_weight_are_left_out(self):
        X, y = made()
        weight = np.ones(60)
        weight[:12] = 0
        assert "4 splits of KFold" in PCRegression(2, cv=KFold(5)).fit(X, y, sample_weight=weight).explain()

    @pytest.mark.parametrize("cv", [TimeSeriesSplit(4), ShuffleSplit(2, random_state=0), KFold(4)])
    def test_q2_has_one_denominator(self, cv):
        X, y = made()
        model = PCRegression(3, cv=cv, compare=True).fit(X, y)
        np.testing.assert_allclose(model.cv_table_["q2"][3], model.q2_, rtol=EXACT)
        np.testing.assert_allclose([1 - one.error for one in model.fit_.rivals], model.rivals_["q2"], rtol=EXACT)

    def test_held_out_rows_that_are_the_mean_have_the_unit_of_all(self):
        X, y = made(9)
        y[0] = y[1:].mean()
        model = PCRegression(2, cv=[(np.arange(1, 9), [0])]).fit(X, y)
        np.testing.assert_allclose(model.q2_, 1 - model.press_ / y.var(), rtol=EXACT)
        np.testing.assert_allclose(model.cv_table_["q2"][2], model.q2_, rtol=EXACT)


class TestRivals:
    @pytest.mark.parametrize(
        ("cv", "grouped", "said"),
        [
            (PredefinedSplit(np.arange(60) % 5), False, "(5 folds, as PredefinedSplit cannot split them)"),
            (LeaveOneGroupOut(), True, "(5 folds, as LeaveOneGroupOut cannot split them)"),
            (5, True, "(5 folds, as they are of one group)"),
            (GroupKFold(2), True, "(5 folds, as GroupKFold cannot split them)"),
            ([(np.arange(30), np.arange(30, 60))], False, "(5 folds)"),
            (KFold(4), False, "(4 splits of KFold)"),
        ],
    )
    def test_folds_within_that_cannot_be_are_said(self, cv, grouped, said):
        X, y = made()
        groups = np.arange(60) // 30 if grouped else None  # two: one is left within
        model = PCRegression(cv=cv, compare=True).fit(X, y, groups=groups)
        assert said in model.fit_.rivals_words
        assert list(model.rivals_["method"]) == ["PCR", "least squares", "ridge", "PLS"]
        assert min(model.rivals_["q2"]) > 0.5

    def test_groups_within_stay_whole_where_a_splitter_cannot(self):
        X, y, groups = replicates()
        with pytest.warns(UserWarning, match="ignored by PredefinedSplit") as said:  # scikit-learn's own, once
            model = PCRegression(cv=PredefinedSplit(groups % 3), compare=True).fit(X, y, groups=groups)
        assert len(said) == 1
        assert "(5 folds of whole groups, as PredefinedSplit cannot split them)" in model.fit_.rivals_words

    def test_units_of_several_responses_do_not_matter(self):
        # of one response ridge needs hardly any penalty, of the other, noise, all there is: the choice is a compromise
        rng = np.random.default_rng(0)
        X, y = made(40)
        Y = np.column_stack([y, rng.normal(size=40)])
        one, other = (
            PCRegression(2, cv=KFold(4), compare=True).fit(X, Y * units).rivals_ for units in ([1, 1], [1, 1e4])
        )
        for name in ("y0 q2", "y1 q2", "difference"):
            np.testing.assert_allclose(one[name], other[name], rtol=1e-6, atol=1e-9)

    def test_ridge_of_one_response_is_that_of_scikit_learn(self):
        X, y = made(40)
        model = PCRegression(2, cv=KFold(4), compare=True).fit(X, y)
        errors = []
        for train, test in KFold(4).split(X):
            mean = X[train].mean(axis=0)
            unit = np.linalg.norm(X[train] - mean, 2) ** 2
            plain = RidgeCV(np.logspace(-10, 2, 61) * unit).fit(X[train] - mean, y[train])
            errors.append((y[test] - plain.predict(X[test] - mean)) ** 2)
        np.testing.assert_allclose(model.rivals_["rmse"][2], np.mean(errors) ** 0.5, rtol=1e-7)


class TestResponses:
    def test_a_constant_one_has_no_part_in_shared_errors(self):
        X, y = made()
        one = PCRegression(compare=True).fit(X, y)
        with pytest.warns(UnrelatedWarning, match="y1 does not vary"):
            two = PCRegression(compare=True).fit(X, np.column_stack([y, np.full(60, 14.62)]))
        np.testing.assert_allclose(one.cv_table_["error"], two.cv_table_["error"], rtol=EXACT)
        np.testing.assert_allclose(one.rivals_["difference"], two.rivals_["difference"], rtol=1e-6, atol=1e-9)
        errors = [[rival.error for rival in model.fit_.rivals] for model in (one, two)]
        np.testing.assert_allclose(*errors, rtol=1e-6)

    def test_constant_ones_alone_have_a_q2_of_0_everywhere(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnrelatedWarning)
            model = PCRegression(2, compare=True).fit(made(20)[0], np.full((20, 2), 14.62))
        np.testing.assert_array_equal(model.cv_table_["q2"], 0)
        assert [one.error for one in model.fit_.rivals] == [1] * 4

    def test_names_must_differ(self):
        X, Y = made(20, m=2)
        with pytest.raises(BadInput, match="2 of the 2 responses are called 'a'"):
            PCRegression(2).fit(X, pd.DataFrame(Y, columns=["a", "a"]))

    def test_names_that_look_like_ends_of_intervals(self):
        X, Y = made(20, m=2)
        model = PCRegression(2, cv=3).fit(X, pd.DataFrame(Y, columns=["a", "a lower"]))
        table = model.table("predictions", X)
        assert list(table) == [
            *("a", "a interval lower", "a interval upper"),
            *("a lower", "a lower interval lower", "a lower interval upper"),
        ]
        np.testing.assert_array_equal(table["a lower"], model.predict(X)[:, 1])
        assert len(list(model.table("coefficients"))) == 12

    @pytest.mark.parametrize("length", [59, 61])
    def test_groups_are_as_many_as_rows(self, length):
        with pytest.raises(BadParameter, match="each of the 60 rows"):
            PCRegression(2).fit(*made(), groups=np.arange(length) // 6)

    def test_groups_must_be_of_one_kind(self):
        with pytest.raises(BadParameter, match="all texts or all numbers"):
            PCRegression(2).fit(*made(4), groups=np.array(["a", "a", 1, None], dtype=object))

    def test_sparse_rows_are_shown_two_ways(self):
        X, y = made(20)
        with pytest.raises(BadInput, match=r"20 rows × 8 columns.*toarray\(\) \(0\.0 MB\).*make_pipeline"):
            PCRegression().fit(scipy.sparse.csr_matrix(X), y)


def test_columns_that_do_not_vary_leave_the_mean_to_every_method():
    y = np.random.default_rng(0).standard_normal(30)
    with pytest.warns(UnrelatedWarning):
        model = PCRegression(compare=True, repeats=1).fit(np.ones((30, 1)), y)
    assert len(set(np.round(model.rivals_["rmse"], 12))) == 1


def test_holes_are_counted_whatever_columns_are_called():
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((30, 2)), columns=["a:b", "c"])
    X.iloc[2, 0] = np.nan
    with pytest.raises(BadInput, match=r"a:b: 1\), in 30 rows, but every value must be known; PCRegression"):
        PCRegression(1).fit(X, np.arange(30.0))
