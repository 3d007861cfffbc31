"""Frozen records: what was learnt, what compression costs, certificates in words, small tables."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import lowdim
from catalogue import blocks_of, case, fit_quietly, fitted
from lowdim.models.linear.tables.columns import compute_compression
from lowdim.results.certificate import Certificate
from lowdim.results.table import Table
from lowdim.words import ranges

# -- the record of a fit --------------------------------------------------------------------------------------------


def test_a_record_cannot_be_changed() -> None:
    fit = fitted("tall", "auto", 3).model.fit_
    with pytest.raises(dataclasses.FrozenInstanceError):
        fit.ddof = 0  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        fit.certificate.tol = 1.0  # type: ignore[misc]


def test_gain_and_its_inverse_undo_each_other() -> None:
    weight = np.array([1.0, 4.0, 0.25, 2.0, 1.0, 1.0, 1.0, 3.0])
    fit = lowdim.PCA(2, scale=True, column_weight=weight).fit(case("tall").data).fit_
    np.testing.assert_allclose(fit.gain * fit.undo_gain, 1.0, rtol=1e-15)
    np.testing.assert_allclose(fit.gain, np.sqrt(weight) / fit.scale, rtol=1e-15)


def test_columns_of_weight_zero_come_back_as_their_mean() -> None:
    X = case("tall").data
    weight = np.ones(X.shape[1])
    weight[2] = 0.0
    model = lowdim.PCA(column_weight=weight).fit(X)
    assert model.fit_.undo_gain[2] == 0.0
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(back[:, 2], X[:, 2].mean(), rtol=1e-13)
    np.testing.assert_allclose(np.delete(back, 2, axis=1), np.delete(X, 2, axis=1), atol=1e-12)


def test_shares_of_no_variance_are_zero() -> None:
    fit = fitted("zeros", "auto", None).model.fit_
    np.testing.assert_array_equal(fit.shares, 0.0)
    assert fit.noise_variance == 0.0


# -- compression ----------------------------------------------------------------------------------------------------


def test_the_lectures_six_points_need_nine_numbers() -> None:
    # six points on a line through the origin: 6 scores and 3 entries of the axis, in place of 18
    model = lowdim.PCA(1, center=False).fit(case("rank one").data)
    table = model.compression(itemsize=1)
    assert table["numbers"].tolist() == [9]
    assert table["bytes"].tolist() == [9]
    assert table["of_original"].tolist() == [0.5]
    assert table["relative_error"][0] <= 1e-7  # the square root of a rounded difference of equal numbers


@pytest.mark.parametrize("options", [{}, {"center": False}, {"scale": True}, {"ddof": 0}])
def test_errors_are_those_of_the_reconstructions(options: dict[str, Any]) -> None:
    X = case("tall").data
    model = lowdim.PCA(4, **options).fit(X)
    table = model.compression()
    Z = (X - model.mean_) / model.scale_
    total = np.sum(Z**2)
    for k, back in enumerate(model.reconstructions(X)):
        left = np.sum(((back - model.mean_) / model.scale_ - Z) ** 2)
        assert table["squared_error"][k] == pytest.approx(left, rel=1e-10)
        assert table["relative_error"][k] == pytest.approx(np.sqrt(left / total), rel=1e-10)


@pytest.mark.parametrize(("centered", "scaled", "extra"), [(False, False, 0), (True, False, 8), (True, True, 16)])
def test_means_and_scales_are_counted(centered: bool, scaled: bool, extra: int) -> None:
    fit = fitted("tall", "auto", 3).model.fit_
    table = compute_compression(fit, 4, centered, scaled)
    np.testing.assert_array_equal(table["numbers"], np.arange(1, 4) * 208 + extra)
    np.testing.assert_array_equal(table["bytes"], table["numbers"] * 4)


# -- certificates in words ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("indices", "words"),
    [((), ""), ((0,), "1"), ((0, 1, 2), "1–3"), ((2, 3, 4, 7), "3–5, 8"), ((1, 3, 5), "2, 4, 6")],
)
def test_component_numbers_are_read_out_from_one(indices: tuple[int, ...], words: str) -> None:
    assert ranges(indices) == words


def certificate(name: str, solver: str = "auto", keep: int | None = None) -> Certificate:
    return fitted(name, solver, keep).model.certificate_


def test_a_certificate_says_what_it_is() -> None:
    assert certificate("tall").word == "certified"
    assert certificate("repeated").word == "planes"
    text = str(certificate("repeated"))
    assert "components 1–3 are only defined as a plane" in text
    assert "take more or fewer" in str(certificate("repeated", keep=1))


def test_a_certificate_says_what_it_cannot_know() -> None:
    # rows that come once cannot be multiplied again, so digits that squaring lost are gone
    stream = blocks_of(case("graded to 1e-12").data, 40)
    found = fit_quietly(lambda: lowdim.PCA().fit(stream)).model.certificate_
    assert found.word == "untrusted"
    assert not found.reached
    assert "not accurate to 1e-10" in str(found)


@pytest.mark.parametrize("name", ["tall", "wide", "zeros", "one column", "rank one", "near 1e-150", "float32"])
def test_every_certificate_can_be_printed(name: str) -> None:
    model = fitted(name, "auto", None).model
    assert model.certificate_.word in str(model.certificate_)
    assert "nan" not in str(model.certificate_).lower()
    assert model.certificate_.solver in model.explain()


def test_measured_or_not_is_said() -> None:
    assert certificate("tall", "covariance_eigh").measured
    assert certificate("tall", "arpack", 3).measured
    assert not certificate("tall", "full").measured


def test_passes_and_bytes_are_counted() -> None:
    X = case("tall").data
    assert certificate("tall", "covariance_eigh").passes == 1
    assert certificate("tall", "covariance_eigh").bytes_read == X.nbytes
    assert certificate("tall", "tsqr").passes == 3  # means, triangles, and the scatter that few columns always keep
    assert certificate("tall", "arpack", 3).passes > 2


# -- tables ---------------------------------------------------------------------------------------------------------


def test_a_table_is_a_mapping_that_prints_as_a_grid() -> None:
    table = Table({"k": np.arange(3), "share": np.array([0.5, 0.25, 0.123456789])})
    assert list(table) == ["k", "share"]
    assert len(table) == 2
    assert dict(table)["k"].tolist() == [0, 1, 2]
    lines = repr(table).splitlines()
    assert len(lines) == 4
    assert len({len(line) for line in lines}) == 1
    assert "0.123457" in lines[-1]


def test_long_tables_say_how_long_they_are() -> None:
    assert repr(Table({"k": np.arange(50)})).endswith("… 30 more rows")
