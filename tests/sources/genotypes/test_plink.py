"""PLINK's files: what was written comes back, by rows and by SNPs; what is damaged is said."""

import warnings

import numpy as np
import pytest
from bed_reader import to_bed

import lowdim
from lowdim import GenotypePCA
from lowdim.errors import BadFile, BadInput, BadParameter, RemovedColumns, UnseenColumns, WrongColumns
from populations import balding_nichols

CALLS = balding_nichols((11, 12), 60, 0.1, missing=0.05)


@pytest.fixture
def bed(tmp_path):
    path = tmp_path / "people.bed"
    write(path, CALLS)
    return path


def write(path, calls, names=None, **more):
    n, p = calls.shape
    known = {
        "iid": [f"i{i}" for i in range(n)],
        "fid": ["a"] * 11 + ["b"] * (n - 11),
        "sid": names or [f"rs{j}" for j in range(p)],
        **more,
    }
    to_bed(path, np.where(calls < 0, -127, calls).astype(np.int8), properties=known)


def test_round_trip(bed):
    source = lowdim.open(bed)
    assert (source.n_rows, source.n_columns) == CALLS.shape
    assert source.columns[:2] == ("rs0", "rs1")
    assert list(source.aside("iid")[:2]) == ["i0", "i1"]
    assert list(source.aside("fid")[[0, -1]]) == ["a", "b"]
    np.testing.assert_array_equal(source.read_columns(3, 20), CALLS[:, 3:20])
    rows = source.limited(60 * 4 * 5).to_array()  # five rows a block
    np.testing.assert_array_equal(np.where(np.isnan(rows), -1, rows), CALLS)
    assert rows.dtype == np.float32


def test_a_model_of_a_file_is_that_of_its_array(bed, tmp_path):
    of_file, of_array = GenotypePCA(2).fit(bed), GenotypePCA(2).fit(CALLS)
    np.testing.assert_array_equal(of_file.components_, of_array.components_)
    np.testing.assert_allclose(of_file.transform(bed), of_array.transform(CALLS), atol=1e-12)
    # SNPs are found by name, in another file with others among them
    more = np.concatenate([CALLS[:, :30], CALLS[:, ::-1][:, :5], CALLS[:, 30:]], axis=1)
    names = [f"rs{j}" for j in range(30)] + [f"other{j}" for j in range(5)] + [f"rs{j}" for j in range(30, 60)]
    write(tmp_path / "more.bed", more, names)
    np.testing.assert_allclose(of_file.transform(tmp_path / "more.bed"), of_array.transform(CALLS), atol=1e-12)


def alleles(first, second):
    return {"allele_1": list(first), "allele_2": list(second)}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # the same numbers as an array
def test_alleles_that_are_swapped_or_of_the_other_strand_are_turned(tmp_path):
    write(tmp_path / "old.bed", CALLS, **alleles("A" * 60, "G" * 60))
    model = GenotypePCA(2).fit(tmp_path / "old.bed")
    model.save(tmp_path / "m.lowdim")
    expected = model.transform(tmp_path / "old.bed")
    # blocks of a file are others than those of an array: sums of 60 products in another order
    np.testing.assert_allclose(model.transform(CALLS), expected, atol=1e-12)
    turned = np.arange(60) % 3 == 0
    calls = np.where(turned & (CALLS >= 0), 2 - CALLS, CALLS)
    first = np.where(turned, "G", np.where(np.arange(60) % 5 == 1, "T", "A"))
    second = np.where(turned, "A", np.where(np.arange(60) % 5 == 1, "C", "G"))
    order = np.random.default_rng(0).permutation(60)
    names = [f"rs{j}" for j in order]
    write(tmp_path / "new.bed", calls[:, order], names, **alleles(first[order], second[order]))
    for one in (model, lowdim.load(tmp_path / "m.lowdim")):
        np.testing.assert_array_equal(one.transform(tmp_path / "new.bed"), expected)
        np.testing.assert_array_equal(one.transform(lowdim.open(tmp_path / "new.bed")), expected)
        source = one.matched(tmp_path / "new.bed")
        np.testing.assert_array_equal(source.read_columns(0, 60), CALLS)
        rows = source.limited(60 * 4 * 5).to_array()
        np.testing.assert_array_equal(np.where(np.isnan(rows), -1, rows), CALLS)
        np.testing.assert_array_equal(one.transform(source), expected)  # it is not turned again
    strand = int((~turned & (np.arange(60) % 5 == 1)).sum())
    assert source.match.in_words() == f"20 SNPs with swapped alleles, turned; {strand} SNPs read from the other strand"
    assert list(model.table("snps")["a1"][:2]) == ["A", "A"]
    with pytest.raises(BadInput, match="without alleles"):
        GenotypePCA(2).fit(CALLS).matched(tmp_path / "new.bed")


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # the same numbers as an array
def test_snps_that_are_absent_or_of_other_alleles(bed, tmp_path):
    model = GenotypePCA(2).fit(bed)
    write(tmp_path / "fewer.bed", CALLS[:, 1:], [f"rs{j}" for j in range(1, 60)])
    with pytest.warns(UnseenColumns, match=r"1 of the 5\d SNPs"):
        found = model.transform(tmp_path / "fewer.bed")
    hidden = CALLS.copy()
    hidden[:, 0] = -1
    np.testing.assert_allclose(found, model.transform(hidden), atol=1e-12)
    write(tmp_path / "half.bed", CALLS[:, :30])
    with pytest.raises(WrongColumns, match=r"2\d of the 5\d SNPs that the model uses are absent"):
        model.transform(tmp_path / "half.bed")
    write(tmp_path / "other.bed", CALLS, **alleles("A" * 60, "G" * 60))
    with pytest.raises(WrongColumns, match=r"5\d of 5\d SNPs have other alleles than in the model \(rs0 A/G"):
        model.transform(tmp_path / "other.bed")


def test_snps_off_the_autosomes_are_left_out_and_counted(tmp_path):
    chromosomes = ["1"] * 50 + ["23"] * 4 + ["X", "MT", "0", "0", "22", "26"]
    write(tmp_path / "x.bed", CALLS, chromosome=chromosomes)
    with pytest.warns(RemovedColumns, match="7 of 60 SNPs lie on no autosome"):
        model = GenotypePCA(2).fit(tmp_path / "x.bed")
    inside = np.array([name not in ("23", "X", "MT", "26") for name in chromosomes])
    assert not model.kept_snps_[~inside].any()
    np.testing.assert_allclose(
        model.explained_variance_, GenotypePCA(2).fit(CALLS[:, inside]).explained_variance_, rtol=1e-10
    )
    assert "(7 on no autosome)" in model.explain()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        all_of_them = GenotypePCA(2, autosomes=None).fit(tmp_path / "x.bed")
    np.testing.assert_array_equal(all_of_them.components_, GenotypePCA(2).fit(CALLS).components_)
    write(tmp_path / "only.bed", CALLS, chromosome=["X"] * 60)
    with pytest.raises(BadParameter, match="autosomes=22"):
        GenotypePCA(2).fit(tmp_path / "only.bed")


@pytest.mark.parametrize("n", [12, 13, 14, 15])
def test_bytes_that_are_not_full(n, tmp_path):
    write(tmp_path / "some.bed", CALLS[:n])
    source = lowdim.open(tmp_path / "some.bed")
    np.testing.assert_array_equal(source.read_columns(0, 60), CALLS[:n])
    rows = source.limited(60 * 4 * 3).to_array()  # three rows a block, so that most begin within a byte
    np.testing.assert_array_equal(np.where(np.isnan(rows), -1, rows), CALLS[:n])


def test_a_file_that_is_cut_while_it_is_read(bed):
    source = lowdim.open(bed)
    bed.write_bytes(bed.read_bytes()[:-40])
    with pytest.raises(BadFile, match="open it anew"):
        source.read_columns(0, 5)


def test_some_snps(bed):
    source = lowdim.open(bed, columns=["rs7", "rs2"])
    np.testing.assert_array_equal(source.read_columns(0, 2), CALLS[:, [7, 2]])
    assert lowdim.open(bed, drop=["rs0"]).n_columns == 59


def test_snps_of_one_name_are_told_apart(tmp_path):
    write(tmp_path / "dots.bed", CALLS[:, :4], [".", ".", "rs1", "."])
    assert lowdim.open(tmp_path / "dots.bed").columns == (".", ".-1", "rs1", ".-2")


def test_missing_calls_are_no_numbers_for_other_models(bed):
    with pytest.raises(lowdim.errors.MissingValues, match="fit GenotypePCA, for which missing calls"):
        lowdim.PCA(2).fit(bed)
    missing = lowdim.ProbabilisticPCA(1).fit(bed).fit_.missing
    assert missing == (CALLS < 0).sum()


def test_what_is_damaged(bed, tmp_path):
    whole = bed.read_bytes()
    bed.write_bytes(whole[:-4])
    with pytest.raises(BadFile, match="cut short"):
        lowdim.open(bed)
    bed.write_bytes(b"\x6c\x1b\x00" + whole[3:])
    with pytest.raises(BadFile, match="does not start as a plink file"):
        lowdim.open(bed)
    bed.write_bytes(whole)
    fam = bed.with_suffix(".fam")
    fam.write_text("too few\n")
    with pytest.raises(BadFile, match=r"people\.bed"):
        lowdim.open(bed)
    fam.write_text("")
    with pytest.raises(BadFile, match=r"people\.fam is empty"):
        lowdim.open(bed)
    fam.unlink()
    with pytest.raises(BadFile, match=r"people\.fam is not beside it"):
        lowdim.open(bed)


@pytest.mark.parametrize(
    "wish", [{"label": "sex"}, {"weight": "rs1"}, {"encode": True}, {"table": "x"}, {"sql": "SELECT 1"}]
)
def test_wishes_that_a_file_does_not_have(bed, wish):
    with pytest.raises(BadParameter):
        lowdim.open(bed, **wish)
