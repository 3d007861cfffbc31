"""Whatever a model or a result tells can be printed where only ASCII is known, and is itself everywhere else."""

import io
import sys

import numpy as np
import pytest

import lowdim
from lowdim.words import SPELLED, Text

IRIS = lowdim.datasets.iris().values
CALLS = np.random.default_rng(0).integers(0, 3, (40, 12)).astype(float)

TOLD = {
    "PCA": lambda: lowdim.PCA(2).fit(IRIS).explain(),
    "a plan": lambda: lowdim.PCA(2).explain(IRIS),
    "ProbabilisticPCA": lambda: lowdim.ProbabilisticPCA(2).fit(IRIS).explain(),
    "KernelPCA": lambda: lowdim.KernelPCA(2, kernel="rbf").fit(IRIS).explain(),
    "NMF": lambda: lowdim.NMF(2).fit(IRIS).explain(),
    "VectorQuantizer": lambda: lowdim.VectorQuantizer(3).fit(IRIS).explain(),
    "GenotypePCA": lambda: lowdim.GenotypePCA(2).fit(CALLS).explain(),
    "PPCAMixture": lambda: lowdim.PPCAMixture(2, 1).fit(IRIS).explain(),
    "PCRegression": lambda: lowdim.PCRegression(2, cv=None).fit(IRIS[:, :3], IRIS[:, 3]).explain(),
    "a choice of k": lambda: lowdim.choose_k(lowdim.PCA().fit(IRIS), IRIS),
    "uncertainty": lambda: lowdim.PCA(2).fit(IRIS).uncertainty(IRIS, n_resamples=20),
    "redundant columns": lambda: lowdim.redundant(np.column_stack([IRIS, IRIS.sum(axis=1)])),
}


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
@pytest.mark.parametrize("what", TOLD)
def test_it_prints(what, encoding, monkeypatch):
    told = TOLD[what]()
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    print(told)
    print(f"{told}")
    stream.flush()
    printed = stream.buffer.getvalue().decode(encoding)
    monkeypatch.undo()
    assert printed.count("\n") == 2 * (str(told).count("\n") + 1)
    if encoding == "utf-8":
        assert printed == f"{told}\n" * 2


def test_a_text_is_itself_but_in_print(monkeypatch):
    text = Text("150 × 4 → 2")
    assert text == "150 × 4 → 2"
    assert text + "" == "150 × 4 → 2"
    assert repr(text) == "'150 × 4 → 2'"
    assert hash(text) == hash("150 × 4 → 2")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert str(text) == "150 x 4 -> 2"
    assert text == "150 × 4 → 2"


def test_what_a_stream_lacks_is_spelled_and_not_refused():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors=SPELLED)
    print("−1.5 █ é 日", file=stream, flush=True)
    assert stream.buffer.getvalue().decode() == "-1.5 # e ?\n"
    assert b"x".decode("ascii", SPELLED) == "x"
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("ascii", SPELLED)
