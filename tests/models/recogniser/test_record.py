"""Files of recognisers: what no gallery can be is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lowdim import Recogniser
from lowdim.errors import BadInput, FormatError
from lowdim.models.recogniser.record import RecogniserFit
from lowdim.results.codec import pack, unpack

RNG = np.random.default_rng(0)
ROWS, WHO = RNG.normal(size=(24, 6)), np.repeat(["a", "b", "c"], 8)
FIT = Recogniser(3, reject=0.2).fit(ROWS, WHO).fit_


def test_arrays_and_facts_come_back() -> None:
    back = unpack(RecogniserFit, *pack(FIT))
    np.testing.assert_array_equal(back.codes, FIT.codes)
    np.testing.assert_array_equal(back.classes, FIT.classes)
    np.testing.assert_array_equal(back.trial.strangers, FIT.trial.strangers)
    np.testing.assert_array_equal(back.trial.right, FIT.trial.right)
    assert (back.max_distance, back.unknown, back.trial.folds) == (FIT.max_distance, "unknown", FIT.trial.folds)


@pytest.mark.parametrize(
    ("facts", "arrays"),
    [
        ({"metric": "manhattan"}, {}),
        ({"drop_first": 3}, {}),
        ({"n_classes": 2}, {}),
        ({"n_neighbors": 25}, {}),
        ({"labels": "complex128"}, {}),
        ({"more": 1}, {}),
        ({}, {"places": np.full(24, 3)}),
        ({}, {"codes": np.zeros((24, 2))}),
        ({}, {"strangers": np.full(24, np.nan)}),
        ({}, {"classes": np.frombuffer(b'["b", "a", "c"]', dtype=np.uint8)}),
    ],
)
def test_what_no_gallery_can_be_is_refused(facts: dict[str, Any], arrays: dict[str, Any]) -> None:
    known, kept = pack(FIT)
    with pytest.raises(FormatError):
        unpack(RecogniserFit, known | facts, kept | arrays)


def test_labels_that_are_neither_texts_nor_numbers_are_not_kept() -> None:
    mixed = np.array([1, "a"] * 12, dtype=object)
    days = np.repeat(np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"), 12)
    fit = Recogniser(3).fit(ROWS, WHO).fit_
    for labels in (mixed, days):
        with pytest.raises(BadInput, match="kept in a model file"):
            pack(type(fit)(**{**fit.__dict__, "classes": labels[:3]}))
