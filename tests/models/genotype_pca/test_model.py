"""PCA of genotypes: the plain formula, the tests of its axes, what it refuses, and that bytes stay bytes."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import lowdim
from lowdim import GenotypePCA
from lowdim.errors import BadInput, BadParameter, DuplicateRows, FormatError, RemovedRows, SingularModel, WrongColumns
from lowdim.models.genotype_pca import fit, matrix
from populations import balding_nichols, patterson

CALLS = balding_nichols((20, 15, 15), 700, 0.05, missing=0.03)


def plain_scores(Z: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    U, sizes, _ = np.linalg.svd(Z, full_matrices=False)
    return U[:, :k] * sizes[:k], sizes[:k]


def same_up_to_signs(one: np.ndarray, other: np.ndarray, tol: float) -> None:
    signs = np.sign((one * other).sum(axis=0))
    np.testing.assert_allclose(one, other * signs, atol=tol * np.abs(one).max())


@pytest.mark.parametrize("width", [7, 512, 5000])
def test_the_formula_of_the_paper_whatever_the_blocks(width, monkeypatch):
    monkeypatch.setattr(matrix, "block_width", lambda n: width)
    scores, sizes = plain_scores(patterson(CALLS), 3)
    model = GenotypePCA(3).fit(CALLS)
    # sums of 700 products, in another order
    np.testing.assert_allclose(model.singular_values_, sizes, rtol=1e-12)
    same_up_to_signs(model.transform(CALLS), scores, 1e-12)
    assert model.certificate_.word == "certified"


def test_prices_frequencies_and_centring_alone():
    np.testing.assert_allclose(
        GenotypePCA(3, normalisation="price").fit(CALLS).singular_values_,
        plain_scores(patterson(CALLS, price=True), 3)[1],
        rtol=1e-12,
    )
    numbers = np.random.default_rng(0).normal(size=(30, 9))
    centred = plain_scores(numbers - numbers.mean(axis=0), 2)[1]
    model = GenotypePCA(2, normalisation="center").fit(numbers)
    np.testing.assert_allclose(model.singular_values_, centred, rtol=1e-12)
    assert np.isnan(model.frequencies_).all()


@pytest.mark.parametrize("kind", ["fortran", "int64", "float", "list", "pandas", "sparse", "npy", "npz", "csv", "dask"])
def test_the_same_from_every_kind_of_table(kind, tmp_path):
    expected = GenotypePCA(2).fit(CALLS)
    with_nan = np.where(CALLS < 0, np.nan, CALLS.astype(float))
    if kind in ("npy", "npz", "csv"):
        X = tmp_path / f"calls.{kind}"
        if kind == "csv":
            pd.DataFrame(with_nan, columns=[f"rs{j}" for j in range(CALLS.shape[1])]).to_csv(X, index=False)
        else:
            np.save(X, CALLS) if kind == "npy" else np.savez(X, genotypes=CALLS)
    elif kind == "dask":
        import dask.array

        X = dask.array.from_array(with_nan, chunks=(13, -1))
    else:
        X = {
            "fortran": lambda: np.asfortranarray(CALLS),
            "int64": lambda: CALLS.astype(np.int64),
            "float": lambda: with_nan,
            "list": CALLS.tolist,
            "pandas": lambda: pd.DataFrame(with_nan, columns=[f"rs{j}" for j in range(CALLS.shape[1])]),
            "sparse": lambda: scipy.sparse.csr_array(CALLS),
        }[kind]()
    model = GenotypePCA(2).fit(X)
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-12)
    np.testing.assert_allclose(np.asarray(model.transform(X)), expected.transform(CALLS), atol=1e-9)


def test_frames_in_frames_out():
    frame = pd.DataFrame(CALLS, columns=[f"rs{j}" for j in range(CALLS.shape[1])], index=range(100, 150))
    model = GenotypePCA(2).set_output(transform="pandas").fit(frame)
    scores = model.transform(frame)
    assert list(scores.index) == list(frame.index)
    assert list(model.table("snps")["snp"][:2]) == ["rs0", "rs1"]
    assert list(model.table("tracy_widom").columns)[:2] == ["axis", "eigenvalue"]


def test_three_populations_have_two_significant_axes():
    # each draw has two true axes; the third is noise, which passes at 5 % in one of ten now and then
    found = [GenotypePCA(4).fit(balding_nichols((15, 15, 15), 1000, 0.06, seed)).n_significant_ for seed in range(10)]
    assert min(found) == 2
    assert found.count(2) >= 8  # more than two beyond has a chance of 0.012 if the level is kept


def test_the_phase_change_at_one_over_root_nm():
    n, m = 100, 4000
    threshold = 1 / np.sqrt(n * m)  # Patterson, Price & Reich 2006, eq. 12
    below = [
        GenotypePCA(1).fit(balding_nichols((50, 50), m, 0.3 * threshold, seed)).tracy_widom_["p_value"][0]
        for seed in range(5)
    ]
    above = [
        GenotypePCA(1).fit(balding_nichols((50, 50), m, 4 * threshold, seed)).tracy_widom_["p_value"][0]
        for seed in range(5)
    ]
    assert min(below) > 1e-3
    assert np.median(below) > 0.1
    assert max(above) < 1e-3


def test_tests_from_a_few_eigenvalues_are_those_from_all():
    from lowdim.solvers.rank.tracy_widom import axis_tests

    few = GenotypePCA(3).fit(CALLS).fit_
    values = np.linalg.svd(patterson(CALLS), compute_uv=False)[:-1] ** 2  # the last is zero: columns are centred
    tests = axis_tests(values, most=3)
    np.testing.assert_allclose(few.statistics, tests.statistics, rtol=1e-8)
    np.testing.assert_allclose(few.effective_snps, tests.columns, rtol=1e-8)


def test_new_individuals_fall_short_as_foretold():
    calls = balding_nichols((150, 150, 150), 3000, 0.03, seed=2)
    old = np.arange(450) % 3 != 0
    model = GenotypePCA(2).fit(calls[old])
    labels = np.repeat([0, 1, 2], 150)
    before, after = model.transform(calls[old]), model.transform(calls[~old])
    middles = [
        np.stack([s[g == k].mean(axis=0) for k in range(3)]) for s, g in ((before, labels[old]), (after, labels[~old]))
    ]
    ratio = (middles[0] * middles[1]).sum(axis=0) / (middles[0] ** 2).sum(axis=0)
    # the theory is for many individuals; with 50 a population, means of scores err by a few hundredths
    np.testing.assert_allclose(ratio, model.shrinkage_, atol=0.05)
    assert (model.shrinkage_ < 0.95).all()


def test_snps_that_say_nothing_are_left_out():
    calls = CALLS.copy()
    calls[:, 5], calls[:, 6], calls[:, 7] = 2, -1, np.where(CALLS[:, 7] < 0, -1, 1)
    model = GenotypePCA(2).fit(calls)
    assert not model.kept_snps_[[5, 6, 7]].any()
    assert model.kept_snps_.sum() == CALLS.shape[1] - 3
    assert not model.components_[:, [5, 6, 7]].any()
    others = np.delete(calls, [5, 6, 7], axis=1)
    np.testing.assert_allclose(model.transform(calls), GenotypePCA(2).fit(others).transform(others), atol=1e-10)
    assert np.isnan(model.frequencies_[6])
    with pytest.raises(SingularModel, match=r"3 of 700 SNPs were left out"):
        model.score_samples(calls)


def test_rare_and_badly_called_snps_and_individuals_are_left_out_if_asked():
    calls = CALLS.copy()
    calls[:, 0] = 0
    calls[0, 0] = 1
    calls[:40, 1] = -1
    calls[3, :600] = -1
    with pytest.warns(RemovedRows, match="1 of 50 individuals"):
        model = GenotypePCA(2, min_maf=0.05, max_missing_snps=0.5, max_missing_individuals=0.5).fit(calls)
    assert not model.individuals_[3]
    assert model.fit_.n_rows == 49
    assert not model.kept_snps_[[0, 1]].any()
    assert (model.maf_[model.kept_snps_] >= 0.05).all()
    assert model.transform(calls).shape == (50, 2)


def test_outliers_are_left_out_only_if_asked():
    calls = balding_nichols((80,), 2000, 0.01)
    calls[7] = np.random.default_rng(1).integers(0, 3, 2000)
    assert GenotypePCA(2).fit(calls).individuals_.all()
    with pytest.warns(RemovedRows):
        model = GenotypePCA(2, outlier_sigma=6).fit(calls)
    assert np.flatnonzero(~model.individuals_).tolist() == [7]
    rest = np.delete(calls, 7, axis=0)
    np.testing.assert_allclose(model.explained_variance_, GenotypePCA(2).fit(rest).explained_variance_, rtol=1e-10)
    assert "1 left out, outliers in 1 round" in model.explain()


def test_pruning_leaves_no_linked_neighbours():
    rng = np.random.default_rng(3)
    calls = balding_nichols((60,), 900, 0.02)
    copies = rng.integers(1, 900, 300)
    calls[:, copies] = np.where(rng.random((60, 300)) < 0.1, calls[:, copies], calls[:, copies - 1])
    model = GenotypePCA(2, ld_r2=0.4, ld_window=20).fit(calls)
    kept = np.flatnonzero(model.kept_snps_)
    r2 = np.corrcoef(calls[:, kept].T.astype(float)) ** 2
    near = (kept[:, None] - kept < 20) & (kept[:, None] > kept)
    assert r2[near].max() <= 0.4
    assert 500 < len(kept) < 800
    with_all = np.corrcoef(calls.T.astype(float)) ** 2
    for j in np.flatnonzero(~model.kept_snps_):  # each that went had a reason
        before = kept[(kept < j) & (kept > j - 20)]
        assert (with_all[j, before] > 0.4).any() or calls[:, j].std() == 0


def test_products_in_place_of_the_gram_matrix(monkeypatch):
    direct = GenotypePCA(2).fit(CALLS)
    monkeypatch.setattr(fit, "MOST_INDIVIDUALS_BY_GRAM", 10)
    model = GenotypePCA(2).fit(CALLS)
    assert "too many" in model.explain()
    np.testing.assert_allclose(model.explained_variance_, direct.explained_variance_, rtol=1e-8)
    same_up_to_signs(model.components_.T, direct.components_.T, 1e-5)
    assert len(model.tracy_widom_["p_value"]) == 0
    assert np.isnan(model.shrinkage_).all()
    assert "no axis" in model.explain()


@pytest.mark.parametrize(("wrong", "words"), [(3, "has 3 at"), (9, "EIGENSTRAT"), (0.5, "has 0.5 at"), (np.inf, "inf")])
def test_what_is_no_genotype(wrong, words):
    calls = CALLS.astype(float)
    calls[4, 2] = wrong
    for X in (calls, pd.DataFrame(calls)):
        with pytest.raises(BadInput, match=words) as refused:
            GenotypePCA(2).fit(X)
        assert "Individual 5" in str(refused.value)
        assert str(refused.value).count(". ") == 0  # one sentence
    model = GenotypePCA(2).fit(CALLS)
    with pytest.raises(BadInput, match=words):
        model.transform(calls)


def test_individuals_and_tables_without_calls():
    calls = CALLS.copy()
    calls[[4, 9]] = -1
    with pytest.raises(BadInput, match=r"2 of 50 individuals have no call at all \(the first is number 5\)"):
        GenotypePCA(2).fit(calls)
    with pytest.warns(RemovedRows):
        assert GenotypePCA(2, max_missing_individuals=0.99).fit(calls).fit_.n_rows == 48
    with pytest.raises(BadInput, match="None of the 700 SNPs varies"):
        GenotypePCA(2).fit(np.ones_like(CALLS))
    with pytest.raises(BadInput, match="only one individual"):
        GenotypePCA(1).fit(CALLS[:1])


def test_duplicates_are_named():
    with pytest.warns(DuplicateRows, match="Individuals 3 and 51"):
        GenotypePCA(2).fit(np.concatenate([CALLS, CALLS[2:3]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far = balding_nichols((20, 20), 700, 0.6)  # alike within a population, but not the same
        GenotypePCA(2).fit(far)


@pytest.mark.parametrize(
    "settings",
    [
        {"normalisation": "hwe"},
        {"min_maf": 0.6},
        {"min_maf": 0.1, "normalisation": "center"},
        {"max_missing_snps": -1},
        {"ld_r2": 2},
        {"ld_window": 1},
        {"outlier_sigma": 0},
        {"outlier_rounds": 0},
        {"autosomes": 0},
        {"n_components": 60},
    ],
)
def test_settings_that_cannot_be(settings):
    with pytest.raises(BadParameter):
        GenotypePCA(**{"n_components": 2} | settings).fit(CALLS)


def test_a_file_gives_it_back(tmp_path):
    calls = CALLS.copy()
    calls[0] = -1
    calls[:, 3] = -1
    with pytest.warns(RemovedRows):
        model = GenotypePCA(3, max_missing_individuals=0.9, whiten=True).fit(calls)
    model.save(tmp_path / "people.lowdim")
    back = lowdim.load(tmp_path / "people.lowdim")
    assert back.get_params() == model.get_params()
    for name in ("components_", "frequencies_", "individuals_", "missing_snps_", "missing_individuals_", "shrinkage_"):
        np.testing.assert_array_equal(getattr(back, name), getattr(model, name))
    np.testing.assert_array_equal(back.tracy_widom_["p_value"], model.tracy_widom_["p_value"])
    np.testing.assert_array_equal(back.transform(calls), model.transform(calls))
    assert back.explain() == model.explain()


def test_files_of_before_alleles_and_autosomes(tmp_path):
    from lowdim.models.base.saving import pack, unpack

    model = GenotypePCA(3, autosomes=None).fit(CALLS)
    document = pack(model)
    assert "alleles" not in document.arrays
    del document.facts["fit"]["off_autosomes"], document.facts["params"]["autosomes"]
    np.testing.assert_array_equal(unpack(document).transform(CALLS), model.transform(CALLS))
    document.arrays["alleles"] = np.frombuffer(b'["A G"]', dtype=np.uint8)
    with pytest.raises(FormatError):
        unpack(document)


def test_other_columns_are_refused():
    names = [f"rs{j}" for j in range(CALLS.shape[1])]
    model = GenotypePCA(2).fit(pd.DataFrame(CALLS, columns=names))
    with pytest.raises((WrongColumns, ValueError)):
        model.transform(pd.DataFrame(CALLS, columns=names[::-1]))


def test_memory_is_told_before_and_no_float_copy_is_made():
    calls = np.random.default_rng(0).integers(0, 3, (300, 40_000), dtype=np.int8)  # 12 MB; as floats 96 MB
    model = GenotypePCA(2)
    words = model.explain(calls)
    told = next(line for line in words.splitlines() if line.startswith("memory"))
    assert "300 × 300 Gram matrix" in words
    tracemalloc.start()
    model.fit(calls)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    planned = model.fit_.provenance.memory
    assert str(round(planned / 1e6, 1))[:3] in told
    result = 8 * 40_000 * 20  # components twice over, means, scales and counts
    assert peak < planned + result
    assert peak < calls.size * 8 / 2


def test_hgdp_as_smartpca_has_it(shared_data):
    data = np.load(shared_data("hgdp_europe_genotypes.npz"))
    autosomes = data["genotypes"][:, data["chrom"] <= 22]
    model = GenotypePCA(10).fit(autosomes)
    # eigenvalues that EIGENSOFT's smartpca 18140 printed for these genotypes, numoutlieriter 0: six digits
    theirs = [1.978692, 1.582866, 1.380831, 1.236579, 1.200103, 1.172134, 1.156525, 1.137305, 1.127927, 1.121895]
    np.testing.assert_allclose(model.tracy_widom_["eigenvalue"], theirs, rtol=1e-6)
    # the effective SNPs it prints are (m + 2) / (m + 1) times ours, so p-values in the tail are up to a few times apart
    p_values = [9.48231e-25, 2.00119e-12, 7.7865e-08, 0.0140167, 0.260122, 0.613234]
    np.testing.assert_allclose(np.log(model.tracy_widom_["p_value"][4:]), np.log(p_values), atol=0.7)


@pytest.mark.slow
def test_hgdps_outliers_are_smartpcas(shared_data):
    data = np.load(shared_data("hgdp_europe_genotypes.npz"))
    with pytest.warns(RemovedRows):
        model = GenotypePCA(10, outlier_sigma=6).fit(data["genotypes"][:, data["chrom"] <= 22])
    removed = {"HGDP01384", "HGDP01388", "HGDP01400", "HGDP01404", "HGDP01381", "HGDP01397", "HGDP00520", "HGDP01396"}
    assert set(data["sample"][~model.individuals_]) == removed
