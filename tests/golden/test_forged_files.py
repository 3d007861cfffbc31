"""What a record means is checked when it is read: no forged file opens and then answers in what is no number."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forged import Forgery, ask, forgeries, wrong
from test_golden_files import BEGUN, FILES, KNOWN, MODELS, rows_of
from write import CHECKPOINTS

from harness import Tally, many
from lowdim.errors import FormatError, LowdimError
from lowdim.models.autoencoder import checkpoint as network_checkpoint
from lowdim.models.base.saving import CHECKPOINT, SavedMoments, Seen, unpack
from lowdim.models.probabilistic_pca import checkpoint as latent_checkpoint
from lowdim.models.registry import FOLDERS, part_of
from lowdim.results.container import Document, from_bytes, read_document, to_bytes, write_document
from lowdim.results.fields import places_of
from lowdim.types import Mask

EVERY = 10**9
"""More than there are: all of them."""


@cache
def honest(name: str) -> tuple[Document, np.ndarray, dict[str, Any]]:
    """A golden file, the rows that it is asked about, and what it answers."""
    document, rows = read_document(FILES / name), rows_of(KNOWN[name])
    return document, rows, ask(unpack(document), rows)


def opened(document: Document) -> Any:
    """The model in a forged file; None where it is refused. Sums are made anew, so that they are right."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return unpack(document)
        except LowdimError:
            return None


def some(names: list[str], count: int, seed: int) -> Iterator[tuple[str, Forgery]]:
    """About as many forgeries of these files, drawn at random; all, where there are fewer."""
    every = [(name, forgery) for name in names for forgery in forgeries(honest_document(name))]
    rng = random.Random(seed)
    yield from every if count >= len(every) else rng.sample(every, count)


@cache
def honest_document(name: str) -> Document:
    return read_document(FILES / name)


def try_forgeries(count: int, seed: int, tally: Tally) -> None:
    """Open forgeries and use those that open; count what was tried, and tell all that went wrong."""
    tried, used, found = 0, 0, []
    for name, forgery in some(MODELS, count, seed):
        tried += 1
        model = opened(forgery.make())
        if model is None:
            continue
        used += 1
        _, rows, usual = honest(name)
        found += [f"{name}, {forgery.words}: {what}" for what in wrong(model, ask(model, rows), usual)]
    tally(5, tried, "forged model files with right sums")
    assert not found, "\n".join(found)
    assert tried / 50 < used < tried / 3  # most are refused, and what opens was tried too


def test_forged_files_are_refused_or_answer_in_numbers(tally: Tally) -> None:
    try_forgeries(1_500, 0, tally)


@pytest.mark.slow
def test_many_forged_files(tally: Tally) -> None:
    try_forgeries(many(slow=40_000, full=EVERY), 1, tally)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_pages_and_figures_of_forged_files(tmp_path: Path, tally: Tally) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    tried = 0
    for _, forgery in some(MODELS, many(slow=2_000, full=20_000), 2):
        model = opened(forgery.make())
        if model is None:
            continue
        tried += 1
        for draw in (lambda model=model: model.report(tmp_path / "page.html"), *figures(model)):
            try:
                with np.errstate(all="ignore"):
                    draw()
            except LowdimError:
                pass
            except TypeError as error:  # figures of rows need some
                if "required positional" not in str(error):
                    raise
        pyplot.close("all")
    tally(5, tried, "forged model files drawn")


def figures(model: Any) -> list[Any]:
    """What draws a figure of the model alone."""
    return [getattr(model.plot, name) for name in model.plot.names()]


# -- what was found, each with its file --------------------------------------------------------------------------------


def changed(name: str, array: str, values: Any) -> Document:
    document = honest_document(f"{name}.lowdim")
    return replace(document, arrays={**document.arrays, array: np.asarray(values, document.arrays[array].dtype)})


def told(name: str, *path: str, value: Any) -> Document:
    document = honest_document(f"{name}.lowdim")
    facts = dict(document.facts)
    place = facts
    for key in path[:-1]:
        place[key] = dict(place[key])
        place = place[key]
    place[path[-1]] = value
    return replace(document, facts=facts)


def times(name: str, array: str, factor: float) -> Document:
    with np.errstate(over="ignore"):
        return changed(name, array, honest_document(f"{name}.lowdim").arrays[array] * factor)


def full(name: str, array: str, value: float) -> Document:
    return changed(name, array, np.full_like(honest_document(f"{name}.lowdim").arrays[array], value))


def permuted(name: str, array: str) -> Document:
    return changed(name, array, np.roll(honest_document(f"{name}.lowdim").arrays[array], 1, axis=-1))


LIES = {
    "components twice as long": times("PCA-plain", "components", 2),
    "components a hair longer": times("PCA-plain", "components", 1 + 1e-9),
    "components of other columns": permuted("PCA-plain", "components"),
    "variances below 0": times("PCA-plain", "variances", -1),
    "variances in another order": permuted("PCA-plain", "variances"),
    "more variance than there is": times("PCA-plain", "variances", 100),
    "singular values of another fit": times("PCA-plain", "singular_values", 2),
    "variances of other columns": permuted("PCA-plain", "column_variances"),
    "a spectrum of another fit": times("PCA-full-solver", "spectrum", 1.001),
    "moments of another fit": times("PCA-plain", "moments_scatter", 1.001),
    "moments that no columns have": changed("PCA-converted", "scale", [5e-324, 1, 1, 1]),
    "column weights below 0": times("PCA-column-weights", "column_weight", -1),
    "a scale of which one over it is none": changed("PCA-scaled-by-hand", "scale", [5e-324, 1, 1, 1]),
    "two columns of one name": changed(
        "PCA-names", "columns", np.frombuffer(b'["a", "a", "b", "c"]'.ljust(20), dtype=np.uint8)
    ),
    "bounds that leave the variance out": times("PCA-plain", "certificate_upper", 0.5),
    "right to more digits than its bounds": times("PCA-plain", "certificate_upper", 1.001),
    "angles beyond the right one": times("PCA-plain", "certificate_angles", 1e20),
    "an empty cluster": told("PCA-plain", "fit", "certificate", "clusters", value=[[]]),
    "a cluster of one": told("PCA-plain", "fit", "certificate", "clusters", value=[[0]]),
    "a cluster in disorder": told("PCA-plain", "fit", "certificate", "clusters", value=[[1, 0]]),
    "nothing in the first component": told("PCA-plain", "fit", "certificate", "null", value=[0]),
    "captured in all": told("PCA-plain", "fit", "certificate", "captured", value=[1.0, 1.0]),
    "weights that add up to two": times("PPCAMixture-plain", "weights", 2),
    "no noise": told("ProbabilisticPCA-plain", "fit", "noise", value=5e-324),
    "nothing observed of a column with loadings": changed("ProbabilisticPCA-missing", "observed", [0, 10, 10, 10]),
    "a triangle without inverse": times("KernelPCA-landmarks", "triangle", 0),
    "kernel axes twice as long": times("KernelPCA-landmarks", "axes", 2),
    "eigenvectors twice as long": times("KernelPCA-rbf", "axes", 2),
    "a mean elsewhere": times("KernelPCA-landmarks", "offset", 1.5),
    "a kernel without its number": told("KernelPCA-rbf", "fit", "kernel", "gamma", value=None),
    "a rest that landmarks do not see, without landmarks": told("KernelPCA-rbf", "fit", "slack", value=3.0),
    "parts below 0": times("NMF-frobenius", "components", -1),
    "squares of no codes": times("NMF-frobenius", "code_squares", 1e6),
    "an exponent of a thousand": told("NMF-beta", "fit", "beta", value=1000.0),
    "more lost than there is": full("PCRegression-t-test", "residual_squares", 1e9),
    "a chance of two": full("PCRegression-t-test", "p_values", 2.0),
    "logistic axes twice as long": times("LogisticPCA-bernoulli", "components", 2),
    "a covariance below 0": times("Autoencoder-unit", "code_covariance", -1),
    "scores that vary more than columns": told("TruncatedSVD-plain", "fit", "columns_variance", value=1e-320),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_record_that_no_fit_can_have_is_refused(lie: str) -> None:
    with pytest.raises(FormatError) as caught:
        unpack(from_bytes(to_bytes(LIES[lie])))
    assert len(str(caught.value).splitlines()) == 1


def test_a_tiny_variance_that_nobody_vouches_for_is_shown() -> None:
    variances = honest_document("PCA-assigned.lowdim").arrays["variances"].copy()
    variances[-1] = 5e-324
    model = unpack(changed("PCA-assigned", "variances", variances))
    assert np.isfinite(model.certificate_.relative_error)


def test_rows_have_no_distance_along_no_components() -> None:
    _, _, answers = honest("IncrementalPCA-none.lowdim")
    for name in ("table limits of rows", "table outliers of rows"):
        assert not isinstance(answers[name], Exception)


# -- checkpoints -------------------------------------------------------------------------------------------------------


def carry_on(forgery: Forgery, name: str, folder: Path) -> str:
    """What becomes of a fit that goes on from a forged checkpoint."""
    path = folder / "checkpoint.lowdim"
    write_document(path, forgery.make())
    begin, rows = CHECKPOINTS[name.removesuffix(".lowdim")]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            scores = begin(str(path)).fit(rows).transform(rows)
        except LowdimError:
            return "refused"
    return "fitted" if np.isfinite(scores).all() else "wrong"


def try_checkpoints(names: list[str], count: int, seed: int, folder: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"refused": [], "fitted": [], "wrong": []}
    for name, forgery in some(names, count, seed):
        try:
            found[carry_on(forgery, name, folder)].append(f"{name}, {forgery.words}")
        except Exception as error:
            error.add_note(f"{name}, {forgery.words}")
            raise
    return found


NETWORKS = [name for name in BEGUN if name.startswith("Autoencoder")]
OTHERS = [name for name in BEGUN if name not in NETWORKS]


def test_forged_checkpoints_are_refused_or_lead_to_numbers(tmp_path: Path, tally: Tally) -> None:
    found = try_checkpoints(OTHERS, 150, 0, tmp_path)
    tally(5, sum(map(len, found.values())), "forged checkpoints")
    assert not found["wrong"]
    assert found["refused"]


@pytest.mark.slow
@pytest.mark.parametrize("names", [OTHERS, NETWORKS], ids=["others", "networks"])
def test_many_forged_checkpoints(names: list[str], tmp_path: Path, tally: Tally) -> None:
    if names is NETWORKS:
        pytest.importorskip("torch")
    found = try_checkpoints(names, many(slow=1_000, full=EVERY), 1, tmp_path)
    tally(5, sum(map(len, found.values())), "forged checkpoints")
    assert not found["wrong"]


# -- every kind of record ----------------------------------------------------------------------------------------------


def records() -> set[type]:
    """Every class of record that a file may hold."""
    found: set[type] = set()

    def add(kind: Any) -> None:
        if kind in found:
            return
        found.add(kind)
        for place in places_of(kind)[0]:
            if place.record is not None:
                add(place.record)

    parts = [part_of(name, "record") for name in FOLDERS]
    for kind in (*(part.RECORD for part in parts if part), SavedMoments, Seen):
        add(kind)
    for one in (network_checkpoint, latent_checkpoint):
        add(one.Checkpoint)
    return found


def test_every_record_says_what_holds_of_it() -> None:
    for kind in records():
        arrays = [place for place in places_of(kind)[0] if place.array and place.hint != tuple[str, ...]]
        bare = [place.name for place in arrays if not place.checks and place.hint != Mask]
        assert hasattr(kind, "check") or not bare, f"{kind.__name__} has no check(), and says nothing of {bare}"


def test_files_of_every_kind_are_forged() -> None:
    kinds = {honest_document(name).kind for name in KNOWN}
    assert {kind.removesuffix(CHECKPOINT) for kind in kinds} == set(FOLDERS)
