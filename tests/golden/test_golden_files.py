"""Model files of this and of earlier versions are opened, and answer as they did, for ever."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answers import answers, answers_of_checkpoint
from safetensors import numpy as safetensors
from write import CHECKPOINTS, FACTS, FILES, GOLDEN, NAMES

import lowdim
from harness import Tally

KNOWN = json.loads(FACTS.read_text(encoding="utf-8"))
MODELS = [name for name, facts in KNOWN.items() if "class" in facts]
BEGUN = [name for name, facts in KNOWN.items() if "class" not in facts]

TOLERANCE = 1e-12
"""Of a number, against the largest of its array. What files hold comes back to the bit; what is computed of it here are
sums of at most 24 products of such numbers, whose order BLAS chooses: 24 × 2⁻⁵³ ≈ 3e-15, times the condition of these
small matrices, which is below 300."""

ITERATED = 1e-8
"""The same where an answer is found by steps of its own: the codes of an NMF or a logistic PCA, pre-images, a fit that
goes on. All take the same steps from the same bits, and rounding errors of 1e-15 grow in some hundreds of them."""

SINGLE = 1e-5
"""The same of networks, whose weights are float32: 100 times its 2⁻²⁴."""

ROUNDING = 1e-14
"""Of any number, against the largest of the rows: an intercept of zero, or a coefficient that is none, is what is left
of sums of at most 24 such numbers that cancel, 24 × 2⁻⁵³ ≈ 3e-15, and another processor leaves something else."""

LINE_SEARCH = "Autoencoder checkpoint-lbfgs.lowdim"
"""A fit of some hundred line searches in float32, where the last bit of a product decides how far a step goes:
processors that sum in another order arrive at weights that differ in the second digit."""

ITERATING = ("NMF", "LogisticPCA", "KernelPCA", "PCRegression", "ProbabilisticPCA checkpoint")


def tolerance(name: str) -> float:
    kind = name.split("-")[0]
    return SINGLE if kind.startswith("Autoencoder") else ITERATED if kind in ITERATING else TOLERANCE


def rows_of(facts: dict[str, Any]) -> np.ndarray:
    told = facts["rows"]
    return np.array(told["values"], dtype=told["dtype"]).reshape(told["shape"])


def differ(name: str, found: Any, known: Any) -> list[str]:
    """Where the answer of a golden file is not what it was."""
    rounding = ROUNDING * float(np.nanmax(np.abs(rows_of(known))))
    return differences({"rows": known["rows"]} | found, known, tolerance(name), rounding)


def differences(found: Any, known: Any, tol: float, rounding: float, where: str = "", size: float = 0.0) -> list[str]:
    """Where an answer is not what it was: numbers beyond the tolerance, or anything else that is not the same."""
    if isinstance(known, dict) and isinstance(found, dict) and known.keys() == found.keys():
        keys = [(key, f"{where}.{key}") for key in known]
        return [line for key, at in keys for line in differences(found[key], known[key], tol, rounding, at)]
    if isinstance(known, list) and isinstance(found, list) and len(known) == len(found):
        numbers = [abs(number) for number in known if isinstance(number, float)]
        size = max(numbers, default=0.0)
        pairs = enumerate(zip(found, known, strict=True))
        return [line for i, (a, b) in pairs for line in differences(a, b, tol, rounding, f"{where}[{i}]", size)]
    if isinstance(known, float) and isinstance(found, float):
        near = math.isclose(found, known, rel_tol=tol, abs_tol=max(tol * size, rounding))
        return [] if near else [f"{where}: {found!r}, and it was {known!r}"]
    return [] if type(found) is type(known) and found == known else [f"{where}: {found!r}, and it was {known!r}"]


def as_read(answer: Any) -> Any:
    """An answer as the facts file has it: JSON knows no tuples."""
    return json.loads(json.dumps(answer))


@pytest.mark.parametrize("name", MODELS)
def test_a_golden_file_answers_as_it_did_and_so_does_its_copy(name: str, tmp_path: Path, tally: Tally) -> None:
    tally(22, 1, "golden model files, and their copies")
    facts, copy = KNOWN[name], tmp_path / "copy.lowdim"
    rows = rows_of(facts)
    found = as_read(answers(FILES / name, rows))
    assert not differ(name, found, facts)
    lowdim.load(FILES / name).save(copy)
    assert as_read(answers(copy, rows)) == found  # to the bit, as the copy holds the same bits


@pytest.mark.parametrize("name", MODELS)
def test_saving_again_loses_nothing(name: str, tmp_path: Path) -> None:
    lowdim.load(FILES / name).save(tmp_path / "copy.lowdim")
    facts, arrays = opened(FILES / name)
    facts_again, arrays_again = opened(tmp_path / "copy.lowdim")
    if name.endswith("-earlier.lowdim"):  # what later versions do not write any more
        arrays.pop("feature_names", None)
        (facts["moments"] or {}).pop("rounding", None)
    assert not lost(facts, facts_again)
    for key, values in arrays.items():
        np.testing.assert_array_equal(arrays_again[key], values, strict=True)


def opened(path: Path) -> tuple[Any, dict[str, np.ndarray]]:
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return json.loads(header["__metadata__"]["lowdim"])["facts"], safetensors.load(data)


def lost(before: Any, after: Any, where: str = "") -> list[str]:
    """Facts that are not there any more, or are others."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [line for key in before for line in lost(before[key], after.get(key, "nothing"), f"{where}.{key}")]
    return [] if before == after else [f"{where}: {before!r} became {after!r}"]


@pytest.mark.parametrize("name", BEGUN)
def test_a_fit_goes_on_from_a_golden_checkpoint(name: str) -> None:
    if name.startswith("Autoencoder"):
        pytest.importorskip("torch")
    begin, rows = CHECKPOINTS[name.removesuffix(".lowdim")]
    found = as_read(answers_of_checkpoint(FILES / name, begin, rows))
    known = dict(KNOWN[name])
    if name == LINE_SEARCH:  # which way it goes on is the law of the next test
        known["transform"] = found["transform"]
    assert not differ(name, found, known)


def test_line_searches_go_on_from_a_golden_checkpoint(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    begin, rows = CHECKPOINTS[LINE_SEARCH.removesuffix(".lowdim")]
    begun = opened(FILES / LINE_SEARCH)[1]["curve"][:, 0]
    copy = shutil.copy(FILES / LINE_SEARCH, tmp_path)
    with pytest.warns(lowdim.errors.NotConverged):
        curve = begin(copy).fit(rows).learning_curve_[:, 0]
    np.testing.assert_array_equal(curve[: len(begun)], begun)  # what was learnt is kept to the bit
    assert len(curve) > len(begun)
    assert (np.diff(curve) < 0).all()


@pytest.mark.parametrize("name", ["PCA-eight-by-two.lowdim", "PCA-eight-by-two-earlier.lowdim"])
def test_the_first_file_of_all_has_the_variances_of_the_lecture(name: str) -> None:
    X = lowdim.datasets.eight_by_two().values
    # eigenvalues of a 2 × 2 matrix, by another algorithm: a few roundings
    variances = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    np.testing.assert_allclose(lowdim.load(FILES / name).explained_variance_, variances, rtol=1e-12)


def test_names_in_all_letters_come_back_from_an_early_file() -> None:
    assert list(lowdim.load(FILES / "PCA-names-earlier.lowdim").feature_names_in_) == NAMES


def test_every_kind_of_file_and_every_maker_has_a_golden_file() -> None:
    # the one place here that knows where the package keeps its list of kinds
    from lowdim.models.autoencoder import checkpoint
    from lowdim.models.probabilistic_pca import checkpoint as latent_checkpoint
    from lowdim.models.registry import FOLDERS

    kinds = {*FOLDERS, checkpoint.KIND, latent_checkpoint.KIND, "PCA checkpoint"}
    assert {name.split("-")[0] for name in KNOWN} == kinds
    assert {path.name for path in FILES.iterdir()} == set(KNOWN)
    made = {f"{name}.lowdim" for name in (*GOLDEN, *CHECKPOINTS)}
    assert {name for name in KNOWN if not name.endswith("-earlier.lowdim")} == made
