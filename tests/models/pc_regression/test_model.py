"""Principal component regression: known answers, laws, honest folds, and sentences for what cannot be."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats
from sklearn import decomposition
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, ShuffleSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lowdim
from lowdim import PCRegression
from lowdim.errors import BadInput, BadParameter, LowdimWarning, NotConverged, RankWarning, UnrelatedWarning, WrongShape
from lowdim.models.pc_regression.folds import fit_filler, fit_rough_filler
from lowdim.models.pc_regression.rivals import _pls_path
from lowdim.models.pc_regression.settings import task_of
from lowdim.models.pc_regression.solvers import Rows, rotate_columns

EXACT = 1e-9
"""Answers of two ways through float64, for data of moderate condition."""


def made(n: int = 60, p: int = 8, m: int | None = None, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of few strong and some weak directions, and responses of two of the strong ones."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 3)) * [3, 2, 1.5]
    X = hidden @ rng.normal(size=(3, p)) + 0.3 * rng.normal(size=(n, p)) + 10
    y = hidden[:, :2] @ rng.normal(size=(2, m or 1)) + 0.3 * rng.normal(size=(n, m or 1))
    return X, y if m else y[:, 0]


@pytest.fixture(scope="module")
def gasoline(shared_data):
    frame = pd.read_csv(shared_data("gasoline_nir.csv"))
    return frame.drop(columns="octane").to_numpy(), frame["octane"].to_numpy()


class TestAgainstOthers:
    """Numbers that others compute or have published."""

    # R 4.2.2, pls 2.8.1: pcr(y ~ X, ncomp=10, validation="CV", segments = every tenth row)$validation$PRESS
    R_PRESS = (122.02396552980366, 125.39512367881936, 88.99916619762529, 3.65447503860027, 3.59291865775716)
    R_PRESS_SCALED = (134.97759845428368, 120.90936058700798, 6.79308620844120, 4.02718059010388, 3.01024593401008)
    R_COEF = (0.397880820494864, 0.230159267927702, -0.638804683926690)  # coef(m, ncomp=4)[c(1, 100, 401)]
    R_LOO = (1.542989958510910, 1.447044894917195, 1.474386841913887, 1.254944623420352, 0.250059636188694)
    # Mevik & Wehrens, "Introduction to the pls package" §3: plsr(octane ~ NIR) of rows 1 to 50, LOO, RMSEP as printed
    VIGNETTE = (1.545, 1.357, 0.2966, 0.2524, 0.2476, 0.2398, 0.2319, 0.2386, 0.2316, 0.2449, 0.2673)

    @pytest.mark.parametrize(("scale", "known"), [(False, R_PRESS), (True, R_PRESS_SCALED)])
    def test_gasoline_has_the_press_of_r(self, gasoline, scale, known):
        splits = [(np.setdiff1d(np.arange(60), np.arange(i, 60, 10)), np.arange(i, 60, 10)) for i in range(10)]
        table = PCRegression(scale=scale, cv=splits).fit(*gasoline).cv_table_
        np.testing.assert_allclose(np.square(table["rmse"][1:6]) * 60, known, rtol=1e-9)

    def test_gasoline_has_the_coefficients_of_r(self, gasoline):
        model = PCRegression(4, cv=60).fit(*gasoline)
        np.testing.assert_allclose(model.coef_[[0, 99, 400]], self.R_COEF, rtol=1e-9)
        np.testing.assert_allclose(model.r2_, 0.976925493955855, rtol=1e-12)
        np.testing.assert_allclose(model.cv_table_["rmse"][:5], self.R_LOO, rtol=1e-9)
        assert model.certificate_.word == "certified"

    def test_the_pls_beside_it_is_that_of_the_vignette(self, gasoline):
        X, y = gasoline[0][:50], gasoline[1][:50, None]
        rows, task = rotate_columns(Rows(X, y, np.ones(50)))[0], task_of(PCRegression(), 50)
        errors = np.zeros(11)
        for i in range(50):
            left = np.delete(np.arange(50), i)
            errors += (_pls_path(rows.some(left), rows.some(np.array([i])), task, 10)[0, :, 0] - y[i]) ** 2
        np.testing.assert_allclose(np.sqrt(errors / 50), self.VIGNETTE, atol=5.1e-4)  # the digits that are printed

    @pytest.mark.parametrize("scale", [False, True])
    @pytest.mark.parametrize("shape", [(40, 6), (20, 50)])
    def test_folds_are_those_of_a_pipeline_that_is_fitted_anew(self, shape, scale):
        X, y = made(*shape)
        folds = KFold(5, shuffle=True, random_state=1)
        model = PCRegression(cv=folds, scale=scale).fit(X, y)
        for k in (1, 3, 5):
            # scikit-learn's scaler divides by n, ours by n − 1: one factor for all columns, so the axes are the same
            steps = [StandardScaler()] if scale else []
            plain = make_pipeline(*steps, decomposition.PCA(k, svd_solver="full"), LinearRegression())
            errors = (y - cross_val_predict(plain, X, y, cv=folds)) ** 2
            np.testing.assert_allclose(model.cv_table_["rmse"][k] ** 2, errors.mean(), rtol=1e-8)

    def test_standard_errors_at_full_rank_are_those_of_least_squares(self):
        X, y = made(50, 5)
        model = PCRegression(None, cv=None, scale=True).fit(X, y)
        design = np.column_stack([np.ones(50), X])
        beta, rss = np.linalg.lstsq(design, y, rcond=None)[:2]
        covariance = np.linalg.inv(design.T @ design) * rss[0] / (50 - 6)
        np.testing.assert_allclose(model.coef_, beta[1:], rtol=1e-8)
        np.testing.assert_allclose(model.intercept_, beta[0], rtol=1e-8)
        np.testing.assert_allclose(model.coef_std_err_, np.sqrt(np.diag(covariance))[1:], rtol=1e-8)
        np.testing.assert_allclose(model.intercept_std_err_, np.sqrt(covariance[0, 0]), rtol=1e-8)
        new = np.column_stack([np.ones(3), made(3, 5, seed=1)[0]])
        known = np.sqrt(rss[0] / 44 + np.einsum("ij,jk,ik->i", new, covariance, new))
        np.testing.assert_allclose(model.predict(new[:, 1:], return_std=True)[1], known, rtol=1e-8)
        lower, upper = model.intervals(new[:, 1:], 0.9)
        np.testing.assert_allclose((upper - lower) / 2, known * scipy.stats.t.ppf(0.95, 44), rtol=1e-8)


class TestLaws:
    def test_columns_may_be_rotated(self):
        X, y = made()
        turn = np.linalg.qr(np.random.default_rng(1).normal(size=(8, 8)))[0]
        one, other = PCRegression().fit(X, y), PCRegression().fit(X @ turn, y)
        assert one.n_components_ == other.n_components_
        np.testing.assert_allclose(one.predict(X), other.predict(X @ turn), atol=EXACT)
        np.testing.assert_allclose(one.coef_ @ turn, other.coef_, atol=EXACT)
        np.testing.assert_allclose(one.q2_, other.q2_, atol=EXACT)

    def test_units_of_the_response_do_not_matter(self):
        X, y = made()
        one, other = PCRegression().fit(X, y), PCRegression().fit(X, 1e6 * y - 3e6)
        assert one.n_components_ == other.n_components_
        np.testing.assert_allclose(1e6 * one.coef_, other.coef_, rtol=1e-7)
        np.testing.assert_allclose(1e6 * one.coef_std_err_, other.coef_std_err_, rtol=1e-7)
        np.testing.assert_allclose([one.q2_, one.r2_], [other.q2_, other.r2_], rtol=EXACT)

    def test_units_of_columns_do_not_matter_where_they_are_scaled(self):
        X, y = made()
        gain = np.logspace(-3, 3, 8)
        one, other = PCRegression(scale=True).fit(X, y), PCRegression(scale=True).fit(X * gain, y)
        np.testing.assert_allclose(one.coef_, other.coef_ * gain, rtol=1e-7)

    def test_several_responses_are_one_by_one(self):
        X, Y = made(m=3)
        both = PCRegression(2).fit(X, Y)
        assert both.coef_.shape == (3, 8)
        assert both.predict(X).shape == (60, 3)
        for j in range(3):
            one = PCRegression(2).fit(X, Y[:, j])
            np.testing.assert_allclose(both.coef_[j], one.coef_, atol=EXACT)
            np.testing.assert_allclose(both.coef_std_err_[j], one.coef_std_err_, atol=EXACT)
            np.testing.assert_allclose(both.predict(X)[:, j], one.predict(X), atol=EXACT)
            np.testing.assert_allclose(both.q2_[j], one.q2_, atol=EXACT)
            np.testing.assert_allclose(both.intervals(X)[0][:, j], one.intervals(X)[0], atol=EXACT)

    def test_one_response_in_a_column_is_the_same_and_stays_a_column(self):
        X, y = made()
        one, other = PCRegression().fit(X, y), PCRegression().fit(X, y[:, None])
        assert other.predict(X).shape == (60, 1)
        np.testing.assert_allclose(one.predict(X), other.predict(X)[:, 0])

    @pytest.mark.parametrize("rule", ["cv", 2, 0.8, "t-test", None])
    def test_a_weight_of_two_is_a_row_twice(self, rule):
        X, y = made(30)
        weight = np.random.default_rng(2).integers(0, 3, size=30)
        place = np.repeat(np.arange(30), weight)
        kept = np.flatnonzero(weight)
        pairs = list(KFold(4).split(kept))
        splits = [(kept[train], kept[test]) for train, test in pairs]
        twice = [
            (np.flatnonzero(np.isin(place, train)), np.flatnonzero(np.isin(place, test))) for train, test in splits
        ]
        one = PCRegression(rule, scale=True, cv=splits).fit(X, y, sample_weight=weight)
        other = PCRegression(rule, scale=True, cv=twice).fit(X[place], y[place])
        assert list(one.picked_) == list(other.picked_)
        np.testing.assert_allclose(one.coef_, other.coef_, atol=EXACT)
        np.testing.assert_allclose(one.coef_std_err_, other.coef_std_err_, atol=EXACT)
        np.testing.assert_allclose([one.q2_, one.press_], [other.q2_, other.press_], atol=1e-8)
        np.testing.assert_allclose(one.cv_table_["std_error"], other.cv_table_["std_error"], atol=EXACT)

    def test_scores_are_orthogonal_and_explain_r2_one_by_one(self):
        X, y = made()
        model = PCRegression(3).fit(X, y)
        T = model.transform(X)
        np.testing.assert_allclose(T.T @ T, np.diag(np.diag(T.T @ T)), atol=1e-8)
        np.testing.assert_allclose(model.table("components")["r2"].sum(), model.r2_, rtol=EXACT)
        np.testing.assert_allclose(model.predict(X), y.mean() + T @ model.score_coef_, atol=EXACT)
        np.testing.assert_allclose(model.score(X, y), model.r2_, rtol=EXACT)

    def test_q2_is_of_what_was_predicted_of_rows_held_out(self):
        X, y = made()
        model = PCRegression(repeats=1).fit(X, y)
        known = ((y - model.held_out_) ** 2).sum()
        np.testing.assert_allclose(model.press_, known, rtol=EXACT)
        np.testing.assert_allclose(model.q2_, 1 - known / ((y - y.mean()) ** 2).sum(), rtol=EXACT)
        assert model.q2_ < model.r2_

    def test_intervals_hold_new_responses_as_often_as_they_say(self):
        # a fixed design whose three components are all there is: the linear model holds, conditional on the axes
        rng = np.random.default_rng(5)
        X = rng.normal(size=(25, 3)) @ rng.normal(size=(3, 10))
        beta = rng.normal(size=10)
        new = X[:5].mean(axis=0, keepdims=True) * 1.5
        inside = 0
        for _ in range(300):
            model = PCRegression(3, cv=None).fit(X, X @ beta + rng.normal(size=25))
            lower, upper = model.intervals(new, 0.9)
            inside += int(lower[0] <= (new @ beta)[0] + rng.normal() <= upper[0])
        low, high = scipy.stats.binom.ppf([5e-4, 1 - 5e-4], 300, 0.9)
        assert low <= inside <= high


class TestChoice:
    def test_two_components_are_found_and_no_more(self):
        X, y = made(100, 40)
        model = PCRegression().fit(X, y)
        assert model.n_components_ <= 3
        assert PCRegression(rule="best").fit(X, y).n_components_ >= model.n_components_
        table = model.cv_table_
        best = int(np.argmin(table["error"]))
        limit = table["error"][best] + table["std_error"][best]
        assert model.n_components_ == int(np.argmax(np.asarray(table["error"]) <= limit))

    def test_t_tests_find_a_small_component_that_carries_the_response(self):
        # Jolliffe 1982: the last of five components, with a thousandth of the variance, is all that y depends on
        rng = np.random.default_rng(0)
        T = rng.normal(size=(80, 5))
        T = np.linalg.qr(T - T.mean(axis=0))[0] * [100, 80, 60, 40, 3]  # scores are orthogonal in the sample
        X = T @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
        y = T[:, 4] + 0.05 * rng.normal(size=80)
        found = PCRegression("t-test").fit(X, y)
        assert list(found.picked_) == [4]
        assert found.q2_ > 0.95
        assert PCRegression(0.99).fit(X, y).q2_ < 0.1
        assert PCRegression(4).fit(X, y).q2_ < 0.1
        assert "after Holm's correction for 5 tests" in found.explain()

    def test_nothing_to_find_is_said(self):
        rng = np.random.default_rng(1)
        X, y = rng.normal(size=(50, 6)), rng.normal(size=50)
        for rule in ("cv", "t-test"):
            with pytest.warns(UnrelatedWarning, match="the model is the mean"):
                model = PCRegression(rule).fit(X, y)
            assert model.n_components_ == 0
            np.testing.assert_allclose(model.predict(X), y.mean())
            np.testing.assert_allclose(model.coef_, 0)
            assert model.transform(X).shape == (50, 0)
            assert model.intervals(X)[0].shape == (50,)

    def test_q2_of_noise_is_not_above_zero_where_the_rule_chooses_within_folds(self):
        rng = np.random.default_rng(2)
        X, y = rng.normal(size=(40, 100)), rng.normal(size=40)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LowdimWarning)
            model = PCRegression("t-test", compare=True).fit(X, y)
        assert model.q2_ <= 0.05
        assert max(model.rivals_["q2"]) < 0.3  # no method finds what is not there
        assert model.fit_.validation.nested

    @pytest.mark.parametrize("cv", [5, KFold(5), ShuffleSplit(3, random_state=0), LeaveOneOut(), 1000])
    def test_any_splitter_will_do(self, cv):
        X, y = made(30)
        model = PCRegression(cv=cv, repeats=2).fit(X, y)
        assert model.q2_ > 0.8
        assert clone(model).cv is not None

    def test_groups_are_held_out_together(self):
        X, y = made(12)
        X, y, groups = X.repeat(5, 0), y.repeat(5), np.arange(12).repeat(5)
        loose, whole = PCRegression(5).fit(X, y), PCRegression(5).fit(X, y, groups=groups)
        assert whole.press_ > loose.press_
        same = PCRegression(5, cv=GroupKFold(4)).fit(X, y, groups=groups)
        assert "GroupKFold" in same.explain()
        assert "whole groups" in whole.explain()

    def test_everything_is_chosen_within_the_fold(self):
        # a row that is held out must not move the axes, means or scales of its fold: an outlier shows
        X, y = made(30)
        splits = [(np.arange(29), np.array([29]))]
        one = PCRegression(2, scale=True, cv=splits).fit(X, y).held_out_[29]
        X2 = X.copy()
        X2[29] *= 1000
        known = PCRegression(2, scale=True, cv=None).fit(X[:29], y[:29])
        np.testing.assert_allclose(one, known.predict(X[29:])[0], atol=EXACT)
        far = PCRegression(2, scale=True, cv=splits).fit(X2, y).held_out_[29]
        np.testing.assert_allclose(far, known.predict(X2[29:])[0], rtol=EXACT)


class TestBootstrap:
    def test_it_is_the_spread_of_least_squares_at_full_rank(self):
        X, y = made(200, 3)
        model = PCRegression(None, cv=None).fit(X, y)
        found = model.bootstrap(X, y, 500)
        # pairs and normal noise agree as n grows; the deviation of 500 draws is off by 3 % (1 σ), n = 200 by more
        np.testing.assert_allclose(found.std_error, model.coef_std_err_, rtol=0.25)
        assert (found.lower < model.coef_).all()
        assert (model.coef_ < found.upper).all()

    def test_wide_tables_and_new_choices(self):
        X, y = made(30, 90)
        model = PCRegression(repeats=1).fit(X, y)
        fixed, anew = model.bootstrap(X, y, 40), model.bootstrap(X, y, 40, choose=True)
        assert fixed.std_error.shape == fixed.lower.shape == (90,)
        assert set(fixed.n_components) == {model.n_components_}
        assert len(set(anew.n_components)) > 1
        assert list(fixed.table) == ["components", "resamples", "share"]
        again = model.bootstrap(X, y, 40)
        np.testing.assert_array_equal(fixed.lower, again.lower)

    def test_rotation_within_it_changes_nothing(self):
        X, y = made(12, 30)
        ones = np.ones(30)
        turned, plain = PCRegression(2, cv=None), PCRegression(2, cv=None, scale=ones)  # scaled rows are not turned
        one, other = turned.fit(X, y).bootstrap(X, y, 20), plain.fit(X, y).bootstrap(X, y, 20)
        np.testing.assert_allclose(one.lower, other.lower, atol=EXACT)


class TestMissing:
    def test_filled_within_the_folds_and_close_to_the_truth(self, tmp_path):
        X, y = made(40, 8)
        holes = X.copy()
        holes[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
        full = PCRegression(cv=3, repeats=1).fit(X, y)
        model = PCRegression(cv=3, repeats=1, missing="ppca", compare=True).fit(holes, y)
        assert model.q2_ > full.q2_ - 0.1
        assert np.corrcoef(model.predict(holes), full.predict(X))[0, 1] > 0.98
        assert "filled by probabilistic PCA" in model.explain()
        model.save(tmp_path / "m.lowdim")
        np.testing.assert_array_equal(lowdim.load(tmp_path / "m.lowdim").predict(holes), model.predict(holes))

    def test_a_fold_is_filled_by_what_is_left_alone(self):
        X, y = made(30, 5)
        X[[2, 5, 11, 28], [0, 3, 1, 2]] = np.nan
        X[29] = X[28]  # held out twice: one of them stays
        train, test = np.arange(24), np.arange(24, 30)
        other = X.copy()
        other[24:29] = X[[27, 26, 25, 24, 20]][:, ::-1] * 3  # other values, other holes, in rows held out
        settings = {"n_components": 2, "missing": "ppca", "cv": [(train, test)]}
        models = [PCRegression(**settings).fit(rows, y) for rows in (X, other)]
        assert models[0].held_out_[29] == models[1].held_out_[29]

    def test_rough_fillers_of_folds_fill_as_whole_ones_do_and_warn_of_nothing(self, monkeypatch):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(25, 2)) @ rng.normal(size=(2, 5)) + rng.normal(size=(25, 5))  # noise: EM is slow
        y = X @ rng.normal(size=5)
        X[[1, 7, 13, 19], [0, 2, 3, 4]] = np.nan
        rows = Rows(X, y[:, None], np.ones(25))
        rough = fit_rough_filler(rows, 0)
        filled, deviation = fit_filler(rows, 0).impute(X, return_std=True)
        # a tenth of their own error bars: what is predicted does not hang on the last digits of a likelihood
        assert (np.abs(rough.impute(X) - filled) <= 0.1 * deviation).all()
        monkeypatch.setattr("lowdim.models.pc_regression.folds.MOST_STEPS", 2)  # no fold converges
        with pytest.warns(NotConverged):
            fit_rough_filler(rows, 0)
        PCRegression(1, missing="ppca", cv=3, repeats=1).fit(X, y)  # a warning would be an error

    def test_without_holes_nothing_is_filled(self):
        X, y = made()
        one, other = PCRegression(cv=3).fit(X, y), PCRegression(cv=3, missing="ppca").fit(X, y)
        np.testing.assert_array_equal(one.coef_, other.coef_)

    def test_holes_are_refused_with_a_way_out(self):
        X, y = made()
        holes = X.copy()
        holes[3, 1] = np.nan
        with pytest.raises(BadInput, match=r"missing='ppca'"):
            PCRegression().fit(holes, y)
        with pytest.raises(BadInput, match="missing"):
            PCRegression().fit(X, y).predict(holes)
        holes[3, 1] = np.inf
        with pytest.raises(BadInput, match="infinite"):
            PCRegression(missing="ppca").fit(holes, y)


class TestRivals:
    def test_they_stand_on_the_same_folds(self):
        X, y = made(40, 5)
        model = PCRegression(None, cv=KFold(5), compare=True).fit(X, y)
        table = model.rivals_
        assert list(table["method"]) == ["PCR", "least squares", "ridge", "PLS"]
        # with all components PCR is least squares, and nothing was chosen, so that its own Q² is the nested one
        np.testing.assert_allclose(table["q2"][:2], model.q2_, rtol=EXACT)
        np.testing.assert_allclose(table["difference"][:2], 0, atol=EXACT)
        known = ((y - cross_val_predict(LinearRegression(), X, y, cv=KFold(5))) ** 2).mean() ** 0.5
        np.testing.assert_allclose(table["rmse"][1], known, rtol=1e-8)

    def test_weights_leave_pls_out_and_say_so(self):
        X, y = made(30)
        model = PCRegression(cv=3, repeats=1, compare=True).fit(X, y, sample_weight=np.arange(1, 31))
        assert "PLS" not in model.rivals_["method"]
        assert "PLS takes no weights" in model.explain()

    def test_explain_says_how_to_get_them(self):
        assert "compare=True" in PCRegression(2, cv=3).fit(*made(20)).explain()


class TestAtTheEdge:
    @pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
    def test_what_cannot_be_is_said_in_a_sentence(self):
        X, y = made(20)
        for settings in (
            {"n_components": 0},
            {"n_components": "most"},
            {"n_components": 1.5},
            {"n_components": True},
            {"n_components": 9},
            {"rule": "two_se"},
            {"alpha": 0},
            {"cv": 1},
            {"cv": "ten"},
            {"cv": None},
            {"repeats": 0},
            {"missing": "mean"},
            {"scale": [1, 2]},
        ):
            with pytest.raises(BadParameter, match=next(iter(settings))):
                PCRegression(**settings).fit(X, y)
        with pytest.raises(WrongShape, match="y has shape"):
            PCRegression().fit(X, y[:5])
        with pytest.raises(BadInput, match="3 rows"):
            PCRegression().fit(X[:2], y[:2])
        with pytest.raises(BadInput, match=r"n_samples=3: 3 folds leave 2 rows to choose by.*compare=True"):
            PCRegression(compare=True).fit(X[:3], y[:3])
        with pytest.raises(BadInput, match="NaN or infinity in 1 of 20 entries"):
            PCRegression().fit(X, np.r_[y[:-1], np.nan])
        with pytest.raises(BadInput, match="no number"):
            PCRegression().fit(X, ["a"] * 20)
        with pytest.raises(BadParameter, match="level"):
            PCRegression(1, cv=3).fit(X, y).intervals(X, 95)
        with pytest.raises(BadParameter, match="is about rows"):
            PCRegression(1, cv=3).fit(X, y).table("predictions")
        with pytest.raises(BadParameter, match="'cv'"):
            PCRegression(1, cv=3).fit(X, y).table("scree")

    def test_more_components_than_directions(self):
        X, y = made(20, 3)
        wide = np.column_stack([X, X])
        with pytest.warns(RankWarning, match="along 3 only"):
            model = PCRegression(5).fit(wide, y)
        assert model.n_components_ == 3
        np.testing.assert_allclose(model.predict(wide), LinearRegression().fit(X, y).predict(X), atol=EXACT)

    def test_collinear_columns_share_what_one_would_have(self):
        X, y = made(30, 1)
        one = PCRegression(1, cv=3).fit(X, y)
        two = PCRegression(1, cv=3).fit(np.column_stack([X, X]), y)
        np.testing.assert_allclose(two.coef_, [one.coef_[0] / 2] * 2, rtol=EXACT)

    def test_a_constant_response(self):
        X, _ = made(20)
        with pytest.warns(UnrelatedWarning, match="does not vary"):
            model = PCRegression(2, compare=True).fit(X, np.full(20, 14.62))
        np.testing.assert_allclose(model.predict(X), 14.62)
        assert (model.r2_, model.q2_) == (0.0, 0.0)

    @pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
    def test_constant_columns(self):
        y = np.arange(10.0)
        model = PCRegression(scale=True).fit(np.full((10, 3), 7.5), y)
        np.testing.assert_allclose(model.predict(np.full((2, 3), 7.5)), y.mean())

    def test_fewer_rows_than_columns(self):
        X, y = made(10, 200)
        model = PCRegression(None).fit(X, y)
        assert model.n_components_ == 9
        np.testing.assert_allclose(model.predict(X), y, atol=1e-8)
        assert np.isnan(model.coef_std_err_).all()
        assert np.isnan(model.intervals(X)[0]).all()

    def test_other_columns_are_refused(self):
        X, y = made(20)
        frame = pd.DataFrame(X, columns=list("abcdefgh"))
        model = PCRegression(2, cv=3).fit(frame, y)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame.rename(columns={"a": "z"}))
        with pytest.raises(ValueError, match="7 features"):
            PCRegression(2, cv=3).fit(X, y).predict(X[:, :7])

    def test_sparse_rows_are_refused(self):
        import scipy.sparse

        with pytest.raises(BadInput, match="toarray"):
            PCRegression().fit(scipy.sparse.csr_matrix(made(20)[0]), made(20)[1])


class TestFrames:
    @pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
    def test_frames_come_back_with_names(self, kind):
        X, y = made(20)
        frame = kind(dict(zip("abcdefgh", X.T, strict=True)))
        model = PCRegression(2, cv=3, compare=True).fit(frame, kind({"octane": y}))
        for name in ("coefficients", "components", "cv", "rivals"):
            assert type(model.table(name)) is kind
        found = model.table("predictions", frame)
        assert list(found.columns) == ["octane", "octane lower", "octane upper"]
        assert list(model.table("coefficients")["column"])[:3] == ["intercept", "a", "b"]
        np.testing.assert_allclose(np.asarray(found["octane"]), PCRegression(2, cv=3).fit(X, y).predict(X))

    def test_files_are_read(self, tmp_path):
        X, y = made(20)
        pd.DataFrame(X, columns=list("abcdefgh")).to_csv(tmp_path / "x.csv", index=False)
        model = PCRegression(2, cv=3).fit(str(tmp_path / "x.csv"), pd.Series(y, name="octane"))
        np.testing.assert_allclose(model.predict(str(tmp_path / "x.csv")), PCRegression(2, cv=3).fit(X, y).predict(X))
        assert model.fit_.names == ("octane",)


@pytest.mark.parametrize(
    "settings", [{}, {"n_components": "t-test"}, {"n_components": None, "cv": None}, {"scale": True, "compare": True}]
)
@pytest.mark.parametrize("m", [None, 2])
def test_files_give_the_same_model_back(tmp_path, settings, m):
    X, y = made(25, m=m)
    model = PCRegression(repeats=1, **settings).fit(X, y)
    model.save(tmp_path / "m.lowdim")
    back = lowdim.load(tmp_path / "m.lowdim")
    assert isinstance(back, PCRegression)
    assert back.get_params() == model.get_params()
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    np.testing.assert_array_equal(back.coef_std_err_, model.coef_std_err_)
    assert back.explain() == model.explain()
    back.save(tmp_path / "again.lowdim")
    assert (tmp_path / "again.lowdim").read_bytes() == (tmp_path / "m.lowdim").read_bytes()


def test_a_splitter_is_not_kept_in_a_file(tmp_path):
    X, y = made(25)
    model = PCRegression(2, cv=KFold(3)).fit(X, y)
    model.save(tmp_path / "m.lowdim")
    assert lowdim.load(tmp_path / "m.lowdim").cv is None
