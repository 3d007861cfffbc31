"""What a page is told about a fit."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest

from lowdim import PCA, datasets
from lowdim.errors import BadInput
from lowdim.models.linear.overview import linear_payload
from lowdim.results.certificate import blank_certificate
from lowdim.views.report import payload as report_rows
from lowdim.views.report.payload import ReportContext, colour_column
from views.report import pages


def floats(blob):
    return np.frombuffer(base64.b64decode(blob["data"]), dtype="<f4").reshape(blob["shape"])


@pytest.fixture(scope="module")
def fitted():
    values = datasets.iris().values
    model = PCA(2).fit(values)
    return model, values


@pytest.mark.parametrize("make", [pages.wines, pages.pictures, pages.one_component, pages.with_holes, pages.hostile])
def test_json_has_no_nan(make):
    json.dumps(make().as_json(), allow_nan=False)


def test_a_row_is_the_mean_and_its_scores_times_loadings_over_gain():
    values = datasets.wine().values
    model = PCA(scale=True).fit(values)
    told = linear_payload(model.fit_, model.transform(values), ReportContext("Wine")).as_json()
    columns = {name: floats(told["columns"][name]) for name in ("loadings", "mean", "gain")}
    again = columns["mean"] + floats(told["rows"]["scores"]) @ columns["loadings"] / columns["gain"]
    # float32 of scores, loadings, mean and gain: a few times 6e-8 of the largest value of a column
    assert (np.abs(again - values) <= 2e-6 * np.abs(values).max(axis=0)).all()


def test_rows_with_holes_come_back_as_the_model_fills_them():
    payload = pages.with_holes()
    columns = payload.columns
    told = columns.mean + payload.rows.scores @ columns.loadings / columns.gain
    model = pages.ProbabilisticPCA(2).fit(payload.rows.values)
    filled = np.asarray(model.inverse_transform(model.transform(payload.rows.values)))
    np.testing.assert_allclose(told, filled, rtol=0, atol=1e-10)  # the same sums in another order


def test_shares_go_on_beyond_the_components_kept(fitted):
    model, _ = fitted
    told = linear_payload(model.fit_, None, ReportContext("Iris")).as_json()
    shares = floats(told["spectrum"]["shares"])
    assert len(shares) == 4
    assert shares.sum() == pytest.approx(1, abs=1e-6)
    assert told["rows"] is None


def test_rules_and_verdict_come_from_the_choice():
    told = pages.wines().as_json()["spectrum"]
    assert {one["title"]: one["k"] for one in told["rules"]} == {"Kaiser": 3, "broken stick": 2, "80 % share": 5}
    assert told["verdict"].startswith("2 to 5 components: the 3 rules")


def test_missing_values_are_counted():
    payload = pages.with_holes()
    missing = int(np.isnan(payload.rows.values).sum())
    assert f"{missing:,}" in [fact.value for fact in payload.facts if fact.label == "missing values"]


def test_what_was_not_certified_says_so(fitted):
    fit = fitted[0].fit_
    bare = blank_certificate(
        fit.components, fit.variances, fit.total_variance, "elsewhere", "converted from scikit-learn"
    )
    proof = linear_payload(replace(fit, certificate=bare), None, ReportContext("Iris")).proof
    assert (proof.word, proof.good, proof.sentence) == ("untrusted", False, "Converted from scikit-learn.")


def test_records_without_deviations_have_no_correlations(fitted):
    fit = replace(fitted[0].fit_, column_variances=None)
    told = linear_payload(fit, None, ReportContext("Iris")).as_json()["columns"]
    assert told["correlations"] is None
    assert told["deviations"] is None


def test_swamping_is_a_warning():
    values = datasets.wine().values
    frame = datasets.wine().to_pandas()[list(datasets.wine().columns)]
    assert "proline" in linear_payload(PCA(2).fit(frame).fit_, None, ReportContext("Wine")).warnings[0]
    assert linear_payload(PCA(2, scale=True).fit(values).fit_, None, ReportContext("Wine")).warnings == ()


def test_more_rows_than_a_page_shows_are_sampled(monkeypatch, fitted):
    model, values = fitted
    monkeypatch.setattr(report_rows, "MOST_ROWS", 40)
    names = tuple(f"flower {i}" for i in range(150))
    beside = ReportContext("Iris", values=values, row_names=names, colours=(colour_column("width", values[:, 1]),))
    scores = model.transform(values)
    rows = linear_payload(model.fit_, scores, beside).rows
    assert rows.total == 150
    assert len(rows.scores) == 40
    np.testing.assert_array_equal(rows.scores, scores[rows.places])
    np.testing.assert_array_equal(rows.values, values[rows.places])
    np.testing.assert_array_equal(rows.colours[0].values, values[rows.places, 1])
    assert rows.names == tuple(names[i] for i in rows.places)


def test_more_values_than_a_page_holds_are_sampled(monkeypatch, fitted):
    model, values = fitted
    monkeypatch.setattr(report_rows, "MOST_CELLS", 40)
    rows = linear_payload(model.fit_, model.transform(values), ReportContext("Iris", values=values)).rows
    assert len(rows.scores) == 150
    np.testing.assert_array_equal(rows.values, values[rows.held])
    assert len(rows.values) == 10


@pytest.mark.parametrize(
    "wrong", [{"values": np.zeros((3, 4))}, {"row_names": ("a",)}, {"colours": (colour_column("c", ["a", "b"]),)}]
)
def test_parts_of_other_rows_are_refused(fitted, wrong):
    model, values = fitted
    with pytest.raises(BadInput, match="150 scored rows"):
        linear_payload(model.fit_, model.transform(values), ReportContext("Iris", **wrong))


def test_scores_of_another_fit_are_refused(fitted):
    with pytest.raises(BadInput, match="2 components, but the scores have 3"):
        linear_payload(fitted[0].fit_, np.zeros((5, 3)), ReportContext("Iris"))


def test_groups_and_numbers():
    assert colour_column("n", np.arange(30)).values is not None
    assert colour_column("few", [2, 1, 2]).names == ("1", "2")
    assert colour_column("holed", [2.0, np.nan, 1.0]).names == ("1", "2")  # as plots have it
    missing = colour_column("word", np.array(["a", None, "b", float("nan")], dtype=object))
    np.testing.assert_array_equal(missing.codes, [0, -1, 1, -1])
    many = colour_column("many", [str(i) for i in range(20)] + ["7", "7"])
    assert many.names[0] == "7"  # of many groups the largest come first
    with pytest.raises(BadInput, match="one value for each row"):
        colour_column("square", np.zeros((2, 2)))
