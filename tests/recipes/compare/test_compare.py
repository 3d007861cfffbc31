"""compare: every number of its table by hand, figures that show what they say, sentences for what is wrong."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from matplotlib.text import Text
from sklearn import decomposition

import lowdim
from lowdim import PCA, KernelPCA
from lowdim.errors import BadInput, BadParameter, LowdimError, MissingValues, NotConverged
from lowdim.models.nmf.model import NMF
from lowdim.models.vector_quantizer.model import VectorQuantizer
from lowdim.recipes.compare.compare import compare
from lowdim.recipes.compare.overview import comparison_lines
from lowdim.views.plots.representations import basis_picture, code_picture, row_picture, signed_colours

K = 4


def bars(n: int, seed: int = 0) -> np.ndarray:
    """(n, 5, 5) pictures, each the sum of a few bars: parts that NMF should find (Földiák 1990)."""
    rng = np.random.default_rng(seed)
    across = np.kron(np.eye(5), np.ones((1, 5))).reshape(5, 5, 5)
    parts = np.concatenate([across, across.transpose(0, 2, 1)])
    return np.tensordot(rng.random((n, 10)) * (rng.random((n, 10)) < 0.3), parts, axes=1)


PICTURES = bars(120)
X = PICTURES.reshape(120, -1)


class Nothing:
    """A model that says nothing of any row; no more is asked of an estimator."""

    def fit(self, rows: np.ndarray) -> Nothing:
        self.p = rows.shape[1]
        return self

    def transform(self, rows: np.ndarray) -> np.ndarray:
        return np.zeros((len(rows), 2))

    def inverse_transform(self, codes: np.ndarray) -> np.ndarray:
        return np.zeros((len(codes), self.p))


class Clipped(decomposition.PCA):
    """PCA whose rows are never negative: no sums of a basis, though it has components_."""

    def inverse_transform(self, codes: np.ndarray) -> np.ndarray:
        return np.maximum(super().inverse_transform(codes), 0.0)


def hoyer(v: np.ndarray) -> float:
    n = len(v)
    return float((np.sqrt(n) - np.abs(v).sum() / np.linalg.norm(v)) / (np.sqrt(n) - 1))


def relative(A: np.ndarray, B: np.ndarray) -> float:
    return float(np.linalg.norm(A - B) / np.linalg.norm(A))


# -- numbers ----------------------------------------------------------------------------------------------------------


def test_the_table_by_hand() -> None:
    found = compare(X, ["pca", "vq", "nmf"], K, held_out=0.25, random_state=7)
    order = np.random.default_rng(7).permutation(len(X))
    unseen, known = X[order[:30]], X[order[30:]]
    models = {
        "pca": PCA(K, random_state=7),
        "vq": VectorQuantizer(K, random_state=7),
        "nmf": NMF(K, random_state=7),
    }
    assert [one.name for one in found.representations] == list(models)
    for name, model in models.items():
        one = found[name]
        model.fit(known)
        codes = model.transform(unseen)
        back = model.inverse_transform(codes)
        assert one.k == K
        assert one.error == pytest.approx(relative(unseen, back), rel=1e-12)
        seen = known[:30]
        assert one.training_error == pytest.approx(relative(seen, model.inverse_transform(model.transform(seen))))
        assert one.basis_sparseness == pytest.approx(np.mean([hoyer(row) for row in model.components_]))
        assert one.code_sparseness == pytest.approx(np.mean([hoyer(code) for code in codes if code.any()]))
        assert one.zeros == pytest.approx((np.abs(codes) <= 1e-3 * np.abs(codes).max()).mean())
        np.testing.assert_allclose(one.codes, codes[:8], atol=1e-12)
        np.testing.assert_allclose(one.rows, back[:8], atol=1e-12)
        assert min(one.fit_seconds, one.code_seconds) > 0
    assert found["pca"].numbers == K * 25 + 25 + 120 * K
    assert found["nmf"].numbers == K * 25 + 120 * K
    assert found["vq"].numbers == K * 25 + 120
    assert found["nmf"].bytes == 8 * found["nmf"].numbers
    assert found["vq"].bytes == 8 * K * 25 + 120 * 2 // 8
    assert found["vq"].of_original == found["vq"].bytes / (120 * 25 * 8)
    np.testing.assert_array_equal(found.places, order[:8])
    np.testing.assert_array_equal(found.originals, X[order[:8]])
    assert (found.n_rows, found.n_held_out) == (120, 30)


def test_codes_of_vq_are_sparsest_and_pca_loses_least_where_it_learnt() -> None:
    found = compare(X, ["pca", "nmf", "vq"], K, held_out=0)
    errors = [one.error for one in found.representations]
    assert errors[0] < errors[1] < errors[2]  # PCA may subtract and has a mean; NMF may add; VQ may only choose
    assert found["vq"].code_sparseness == 1.0
    assert found["vq"].zeros == 1 - 1 / K
    # no rank-k plane through the mean is nearer than PCA's (Eckart & Young), so its error is known from singular values
    tail = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[K:]
    assert errors[0] == pytest.approx(np.sqrt((tail**2).sum()) / np.linalg.norm(X), rel=1e-10)
    assert found.n_held_out == 0
    assert "none held out" in found.explain()


def test_nmf_finds_the_bars() -> None:
    found = compare(bars(400), {"parts": NMF(10), "axes": PCA(9)})  # all bars across are all bars down: rank 9
    assert found["parts"].error < 1e-4  # NMF's tolerance
    # a bar is 5 pixels of 25 alike: its sparseness is (5 − √5) / 4
    assert found["parts"].basis_sparseness == pytest.approx((5 - np.sqrt(5)) / 4, abs=1e-3)
    assert found["axes"].error < 1e-12
    assert found["axes"].basis_sparseness < 0.5


def test_estimators_of_others_and_of_ours() -> None:
    ours = KernelPCA(3, kernel="rbf", gamma=0.5, fit_inverse_transform=True)
    found = compare(
        X, {"theirs": decomposition.PCA(3), "ours": "pca", "kernel": ours, "ica": decomposition.FastICA(2)}, 3
    )
    assert found["theirs"].error == pytest.approx(found["ours"].error, rel=1e-10)
    assert found["theirs"].numbers == found["ours"].numbers
    assert found["kernel"].basis is None
    assert found["kernel"].numbers == 96 * 25 + 96 * 3 + 120 * 3  # rows that it keeps, their coefficients, codes
    assert np.isnan(found["kernel"].basis_sparseness)
    assert not hasattr(ours, "fit_")  # the user's own is left alone
    assert isinstance(found.models["theirs"], decomposition.PCA)
    assert found["ica"].k == 2


SCALES = np.linspace(1.0, 20.0, 25)
"""Columns in different units: scaled models differ from plain ones."""

LINEAR = {
    **{name: name for name in ("pca", "nmf", "nmf-kl", "vq", "ppca")},
    "whitened": PCA(3, whiten=True),
    "scaled": PCA(3, scale=True),
    "both": PCA(3, scale=True, whiten=True),
    "uncentred": PCA(3, center=False),
    "their whitened": decomposition.PCA(3, whiten=True),
    "ica": decomposition.FastICA(3, random_state=0),
    "svd": decomposition.TruncatedSVD(3, random_state=0),
}


@pytest.mark.parametrize("name", list(LINEAR))
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_basis_code_and_mean_are_the_result(name: str, offset: float) -> None:
    one = compare(X * SCALES + offset, {name: LINEAR[name]}, 3)[name]
    assert one.basis is not None
    assert one.basis.shape == (3, 25)
    made = one.codes @ one.basis + (0 if one.mean is None else one.mean)
    assert np.abs(made - one.rows).max() <= 1e-12 * np.abs(one.rows).max()  # some roundings of float64
    assert one.basis_sparseness == pytest.approx(np.mean([hoyer(row) for row in one.basis]))
    codes = 120 if name == "vq" else 120 * 3
    assert one.numbers == 3 * 25 + (0 if one.mean is None else 25) + codes  # scales are in the basis
    assert (one.mean is None) == (name in ("nmf", "nmf-kl", "vq", "uncentred", "svd"))


def test_a_basis_has_the_units_in_which_codes_count() -> None:
    found = compare(X * SCALES, {"plain": PCA(3), "whitened": PCA(3, whiten=True), "ppca": "ppca"}, 3, held_out=0)
    plain, whitened = found["plain"], found["whitened"]
    np.testing.assert_allclose(plain.basis, found.models["plain"].components_, atol=1e-12)
    deviations = np.sqrt(found.models["whitened"].explained_variance_)[:, None]
    np.testing.assert_allclose(whitened.basis, deviations * plain.basis, atol=1e-9)
    np.testing.assert_allclose(found["ppca"].mean, (X * SCALES).mean(axis=0), atol=1e-9)


def test_models_that_are_not_linear_have_no_basis() -> None:
    found = compare(X, {"clipped": Clipped(3), "kernel": "kernel"}, 3)
    for one in found.representations:
        assert one.basis is None
        assert one.mean is None
        assert np.isnan(one.basis_sparseness)
    assert np.isnan(found["clipped"].numbers)  # nobody knows what it keeps


def test_every_model_keeps_its_name() -> None:
    def names(models: Any) -> list[str]:
        found = compare(X, models, 2)
        assert list(found.models) == [one.name for one in found.representations]
        return list(found.models)

    assert names([decomposition.PCA(1), decomposition.PCA(2), PCA(1)]) == ["PCA", "PCA 2", "PCA 3"]
    keys = ["pca 2", "pca", "pca 3", "p", "p c"]
    assert names(dict.fromkeys(keys, "pca")) == keys
    assert [one.title for one in compare(X, ["pca", "pca"], 2).representations] == ["PCA", "PCA 2"]
    with pytest.raises(BadParameter, match="two keys read '1'"):
        compare(X, {1: "pca", "1": "vq"}, 2)


def test_the_same_rows_from_everywhere(tmp_path: Path) -> None:
    plain = compare(X, ["pca", "vq"], K)
    np.save(tmp_path / "x.npy", X)
    for data in (PICTURES, pd.DataFrame(X), scipy.sparse.csr_array(X), tmp_path / "x.npy", lowdim.open(X)):
        found = compare(data, ["pca", "vq"], K)
        for one, other in zip(found.representations, plain.representations, strict=True):
            assert one.error == pytest.approx(other.error, rel=1e-9)
            assert one.code_sparseness == pytest.approx(other.code_sparseness, rel=1e-9)
    assert compare(PICTURES, "vq", K).shape == (5, 5)


def test_stacks_in_files_know_their_shape(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", X)
    np.save(tmp_path / "stack.npy", PICTURES)
    np.save(tmp_path / "by_columns.npy", np.asfortranarray(PICTURES))
    np.savez(tmp_path / "stack.npz", faces=PICTURES, labels=np.arange(120))
    np.save(tmp_path / "volumes.npy", PICTURES.reshape(12, 10, 5, 5))
    for name in ("stack.npy", "by_columns.npy", "stack.npz"):
        found = compare(tmp_path / name, "vq", K)
        assert found.shape == (5, 5)
        np.testing.assert_array_equal(found.originals, X[found.places])
        assert lowdim.open(tmp_path / name).after(3).n_rows == 117
    assert lowdim.open(tmp_path / "stack.npy").after(3).shape_of_rows == (5, 5)
    for name in ("rows.npy", "volumes.npy"):  # ten slices are no colours
        assert compare(tmp_path / name, "vq", K).shape is None
    with pytest.raises(BadParameter, match="these rows are no pictures"):
        compare(tmp_path / "rows.npy", "vq", K).plot(row=3)


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ((20, 6, 5, 4), r"\(20, 6, 5, 4\) .* RGBA, as it seems: leave its alpha out with X\[\.\.\., :3\]"),
        ((20, 3, 6, 5), r"colours first, as it seems: put them last with np\.moveaxis\(X, 1, -1\)"),
        ((20, 6, 5, 7), r"pass X\.reshape\(len\(X\), -1\)"),
    ],
)
def test_stacks_that_are_no_pictures_are_refused(shape: tuple[int, ...], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        compare(np.ones(shape), "pca", 2)


def test_whole_numbers_are_compared_with_float32() -> None:
    counts = np.random.default_rng(0).integers(0, 256, (40, 6)).astype(np.uint8)
    one = compare(counts, ["pca"], 2)["pca"]
    assert one.bytes == 4 * (2 * 6 + 6 + 40 * 2)  # no factor fits in a byte
    assert one.of_original == one.bytes / (40 * 6)


def test_rows_of_zeros_and_codes_of_zeros() -> None:
    nothing = compare(np.zeros((20, 4)), [Nothing()])["Nothing"]
    assert nothing.error == 0.0
    assert np.isnan([nothing.code_sparseness, nothing.basis_sparseness]).all()
    assert nothing.numbers == 2 * 4 + 20 * 2  # two rows of zeros, and codes
    assert compare(X, [Nothing()])["Nothing"].error == 1.0
    assert np.isnan(compare(X, ["vq"], 1)["vq"].code_sparseness)  # a code of one entry is neither sparse nor full


def test_explain_and_table_say_the_numbers() -> None:
    found = compare(X, ["pca", "vq"], K)
    said = str(found)
    assert "96 to learn from, 24 held out, drawn with seed 0" in said
    assert f"pca: error {found['pca'].error:.4f}" in said
    assert "pca loses least; vq has the sparsest codes; vq takes the fewest bytes" in said
    table = found.table()
    assert table["model"] == ["pca", "vq"]
    assert table["error"] == [one.error for one in found.representations]
    with pytest.raises(KeyError, match="no model 'nmf' here, but 'pca', 'vq'"):
        found["nmf"]


def test_models_know_the_names_of_a_frames_columns() -> None:
    frame = pd.DataFrame(X, columns=[f"pixel {j}" for j in range(25)])
    import polars

    for data in (frame, polars.DataFrame(X, schema=list(frame))):
        found = compare(data, {"ours": "pca", "vq": "vq", "theirs": decomposition.PCA(K)}, K)
        for name, model in found.models.items():
            assert list(model.feature_names_in_) == list(frame)
            codes = np.asarray(model.transform(data[found.places]) if data is not frame else model.transform(frame))
            np.testing.assert_allclose(codes if data is not frame else codes[found.places], found[name].codes)
    assert list(compare(polars.DataFrame(X).lazy(), "pca", K).models) == ["pca"]
    compare(pd.DataFrame(X), "pca", K).models["pca"].transform(pd.DataFrame(X))  # numbers are no names


def test_warnings_name_their_model() -> None:
    with pytest.warns(NotConverged, match="^short: ") as said:
        found = compare(X, {"short": NMF(3, max_iter=1), "long": "pca"}, 3)
    assert {str(one.message)[:6] for one in said} == {"short:"}
    assert list(found.models) == ["short", "long"]


def test_the_screen_has_whole_columns() -> None:
    found = compare(X, {"pca": "pca", "a model with a name of its own": "nmf", "vq": "vq"}, K)

    def screen(width: int) -> list[list[str]]:
        lines = [line.text for line in comparison_lines("a_file_with_a_long_name.csv", found, width=width)]
        assert max(map(len, lines)) <= width
        table = [re.split(r"\s{2,}", line) for line in lines[2:6]]
        assert ("no room for" in " ".join(" ".join(lines).split())) == (len(table[0]) < 10)
        return table

    titles, *rows = screen(120)
    assert titles == ["model", "k", "error", "±", "learnt", "basis", "codes", "bytes", "share", "time"]
    assert rows[0][:3] == ["pca", "4", f"{100 * found['pca'].error:.1f} %"]
    most = 10
    for width in range(119, 40, -1):
        some, *others = screen(width)
        assert {"model", "error"} <= set(some)
        assert len(some) <= most
        most = len(some)
        for row, other in zip(rows, others, strict=True):  # each number whole, or not there
            assert other == [cell for title, cell in zip(titles, row, strict=True) if title in some]
    assert most < 5


# -- figures ----------------------------------------------------------------------------------------------------------


def test_colours_are_white_black_and_red() -> None:
    white, black, red = signed_colours(np.array([0.0, 1.0, -1.0]))
    np.testing.assert_array_equal(white, 1.0)
    np.testing.assert_array_equal(black, 0.0)
    assert red[0] > 0.8
    assert red[1:].max() < 0.2


def test_tiles_and_codes_have_the_same_places() -> None:
    basis = np.zeros((5, 6))
    basis[4] = [0, 0, 0, -2.0, 0, 0]
    montage = basis_picture(basis, (2, 3))
    assert montage.shape == (2 * 3 + 1, 3 * 4 + 1, 3)  # 5 tiles: 2 lines of 3
    np.testing.assert_allclose(montage[5, 5], signed_colours(np.array([-1.0]))[0])  # tile 5: line 2, place 2, its row 2
    np.testing.assert_array_equal(montage[1:3, 1:4], 1.0)
    code = code_picture(np.array([0.0, 0, 0, 0, 3.0]))
    assert code.shape == (2, 3, 3)
    np.testing.assert_array_equal(np.argwhere(code[..., 0] == 0), [[1, 1]])
    assert basis_picture(np.ones((300, 6)), (2, 3)).shape == (31, 41, 3)  # the first hundred
    np.testing.assert_array_equal(
        row_picture(np.array([-1.0, 0, 1, 9]), np.array([0.0, 0, 2, 2]), (2, 2))[..., 0], [[0, 0], [0.5, 1]]
    )


def texts(figure: Any) -> str:
    found = [text.get_text() for ax in figure.axes for text in [*ax.texts, ax.title, ax._left_title, ax.xaxis.label]]
    return "\n".join(found)


def test_figure_six() -> None:
    found = compare(PICTURES, ["nmf", "vq", "pca"], 6)
    figure = found.plot(row=1)
    said = texts(figure)
    for one in found.representations:
        assert f"{one.title}: error {100 * one.error:.1f} %" in said
    assert f"picture {found.places[1]} of the data (from 0), held out from them" in said
    off = relative(found.originals[1], found["vq"].rows[1])
    assert f"off by {100 * off:.1f} %" in said
    pictures = [image.get_array() for ax in figure.axes for image in ax.images]
    assert len(pictures) == 1 + 3 * 3 + 1  # the original; basis, code and result of each; the mean of PCA
    np.testing.assert_array_equal(pictures[0], row_picture(found.originals[1], found.originals[1], (5, 5)))


def test_figures_of_colours_kernels_and_tables(tmp_path: Path) -> None:
    colours = np.random.default_rng(0).random((30, 4, 3, 3))
    compare(colours, ["pca", "kernel"], 2).plot().savefig(tmp_path / "colours.png")
    assert (tmp_path / "colours.png").stat().st_size > 1000
    figure = compare(X, ["pca", "vq"], K).plot()  # nobody said that these rows are pictures
    assert "bytes kept" in figure.axes[0].get_xlabel()
    assert {"pca", "vq"} <= set(texts(figure).split("\n"))


def test_the_figure_says_what_its_colours_are() -> None:
    grey = texts(compare(PICTURES, ["vq"], 1).plot())
    assert "white is zero, black positive, red negative" in grey
    assert "the larger a number, the lighter" in grey
    assert "nan" not in grey  # a code of one number is neither sparse nor full
    assert "basis: 1 picture, sparseness" in grey
    colours = texts(compare(np.random.default_rng(0).random((30, 4, 3, 3)), ["pca"], 2).plot())
    assert "grey is zero, lighter adds a colour" in colours


def test_names_of_models_that_are_alike_do_not_hide_each_other() -> None:
    figure = compare(X, {f"model {i}": "pca" for i in range(5)}, K).plot()
    figure.draw_without_rendering()
    named = [text for text in figure.axes[0].texts if text.get_text().startswith("model ") and text.get_visible()]
    boxes = [Text.get_window_extent(text) for text in named]  # of the words, without the lines to their points
    assert len(boxes) == 5
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
    low, high = figure.axes[0].get_ylim()
    assert low == 0.0
    assert high > 1.1 * max(float(y) for _, y in figure.axes[0].collections[0].get_offsets())  # room for names


# -- what cannot be ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "settings", "said"),
    [
        (["pca", "vk"], {}, "no such model"),
        (["pcaa"], {}, "did you mean 'pca'"),
        ([], {}, "nothing to compare"),
        ([PCA], {}, "a class"),
        ([object()], {}, "without fit and transform and inverse_transform"),
        (["pca"], {"k": None}, r"compare\(k=None\): k must be a whole number from 1"),
        (["pca"], {"k": 0}, "k must be"),
        (["pca"], {"held_out": 1.0}, "held_out must be"),
        (["pca"], {"held_out": -0.1}, "held_out must be"),
        (["pca"], {"held_out": "half"}, "held_out must be"),
        (["pca"], {"picture_shape": (5, 6)}, "pictures of 5 × 6 have 30 numbers, but the rows have 25"),
        (["pca"], {"picture_shape": 5}, "picture_shape must be"),
        (["pca"], {"picture_shape": (5, 0)}, "picture_shape must be"),
        (["pca"], {"random_state": None}, "random_state must be"),
        (["vq"], {"random_state": -1}, "random_state must be"),
        (["vq"], {"random_state": 2**32}, "random_state must be a whole number from 0 to 4294967295"),
        (["pca"], {"n_shown": 0}, "n_shown must be"),
    ],
)
def test_wrong_settings_are_said(asked: list, settings: dict, said: str) -> None:
    with pytest.raises(BadParameter, match=said):
        compare(X, asked, **({"k": K} | settings))


def test_errors_name_their_model() -> None:
    with pytest.raises(LowdimError, match=r"^nmf-kl: "):
        compare(X - 1, k=K)
    with pytest.raises(BadInput, match=r"^theirs: Negative values"):
        compare(X - 1, {"theirs": decomposition.NMF(2)})
    with pytest.raises(BadParameter, match=r"^pca: PCA"):
        compare(X, ["pca"], 26)


def test_holes_and_too_few_rows_are_said() -> None:
    holes = X.copy()
    holes[3, 4] = np.nan
    with pytest.raises(MissingValues, match="1 value is missing"):
        compare(holes, ["pca"], 2)
    with pytest.raises(BadInput, match="holds 119 out and leaves 1"):
        compare(X, ["pca"], 2, held_out=119)
    with pytest.raises(BadParameter, match="row must be a whole number from 0 to 7"):
        compare(PICTURES, ["pca"], 2).plot(8)


# -- real faces -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_faces_of_the_lecture(shared_data: Any) -> None:
    """Floor and codebook of Lee & Seung's scaling of the CBCL faces, computed elsewhere by other programs."""
    faces = np.load(shared_data("cbcl_faces.npz"))["x_train"][:2429].reshape(2429, -1) / 255
    faces = np.clip(0.25 + 0.25 * (faces - faces.mean(1, keepdims=True)) / faces.std(1, keepdims=True), 0, 1)
    found = compare(faces, ["nmf", "vq", "pca"], 49, held_out=0, picture_shape=(19, 19))
    assert found["vq"].error == pytest.approx(0.353, abs=0.004)  # one start each: other optima
    tail = np.linalg.svd(faces, compute_uv=False)[49:]
    floor = np.sqrt((tail**2).sum()) / np.linalg.norm(faces)
    assert floor == pytest.approx(0.1674, abs=5e-5)
    assert found["pca"].error < floor < found["nmf"].error < found["vq"].error  # PCA has a mean beside its 49 axes
    assert found["nmf"].basis_sparseness > 0.6 > 0.3 > found["pca"].basis_sparseness  # parts, not whole faces


def test_coins_and_networks_are_counted_by_what_gives_rows_back() -> None:
    rows = np.clip(X, 0, 1)
    small = lowdim.Autoencoder(3, hidden=(8,), max_iter=2)
    found = compare(rows, {"logistic": "logistic", "network": small}, 3)
    assert found["logistic"].basis is None
    assert found["logistic"].numbers == 3 * 25 + 25 + 120 * 3  # axes, bias, codes
    assert found["network"].numbers == (3 * 8 + 8) + (8 * 25 + 25) + 120 * 3  # the decoder's layers, codes
    assert found["logistic"].error < compare(rows, "pca", 3)["pca"].error
