"""SNPs of a model in another file: alleles in either order, of either strand, and what nobody can know."""

import numpy as np
import pytest

from lowdim.errors import UnseenColumns, WrongColumns
from lowdim.sources.genotypes.snps import Snps, compare_alleles, match_snps, on_autosomes


@pytest.mark.parametrize(
    ("model", "file", "found"),
    [
        ("A G", "A G", "same"),
        ("A G", "G A", "swapped"),
        ("A G", "T C", "strand"),
        ("A G", "C T", "swapped strand"),
        ("A G", "a g", "same"),
        ("A G", "A C", "other"),
        ("A T", "A T", "same"),
        ("A T", "T A", "ambiguous"),
        ("C G", "G C", "ambiguous"),
        ("A G", "0 G", "same"),  # nobody in the file has an A: copies of it are 0
        ("A G", "0 A", "swapped"),  # all have two
        ("A G", "0 C", "strand"),
        ("A G", "0 T", "swapped strand"),
        ("A G", "0 0", "same"),  # nobody was called
        ("A T", "0 A", "ambiguous"),
        ("AT A", "A AT", "swapped"),  # an insertion
        ("AT A", "TA T", "other"),  # which is not read backwards
        ("1 2", "2 1", "swapped"),
    ],
)
def test_how_alleles_stand_to_each_other(model, file, found):
    assert compare_alleles(model, file) == found


def matched(alleles, theirs, names=None, used=None):
    ours = tuple(f"rs{j}" for j in range(len(alleles)))
    names = names or ours[: len(theirs)]
    used = np.ones(len(alleles), dtype=bool) if used is None else np.array(used)
    return match_snps(ours, alleles, used, Snps(tuple(names), ("1",) * len(names), tuple(theirs)), "new.bed")


def test_the_order_and_other_snps_do_not_matter():
    found = matched(["A G", "C T"], ["A C", "T C", "A G"], ["rs9", "rs1", "rs0"])
    assert found.take.tolist() == [2, 1]
    assert found.turned.tolist() == [False, True]
    assert found.in_words() == "1 SNP with swapped alleles, turned"


def test_a_t_and_c_g_as_they_stand_are_trusted_only_while_all_are_of_one_strand():
    assert matched(["A T", "A G"], ["A T", "G A"]).found.tolist() == ["same", "swapped"]
    with pytest.raises(WrongColumns, match=r"1 of 2 SNPs has the alleles A/T or C/G .* \(rs0 A/T\)"):
        matched(["A T", "A G"], ["A T", "T C"])
    with pytest.raises(WrongColumns, match="leave them out"):
        matched(["A T", "A G"], ["T A", "A G"])


def test_other_alleles_are_named():
    with pytest.raises(WrongColumns, match=r"new\.bed: 1 of 2 SNPs has other alleles .*rs1 A/C, in the model A/G"):
        matched(["A G", "A G"], ["A G", "A C"])
    # of a SNP without weight nobody asks
    assert matched(["A G", "A G"], ["A G", "A C"], used=[True, False]).found[1] == "unused"


def test_a_few_may_be_absent():
    with pytest.warns(UnseenColumns, match="1 of the 20 SNPs that the model uses is not there"):
        found = matched(["A G"] * 20, ["A G"] * 19)
    assert found.take[-1] == -1
    with pytest.raises(WrongColumns, match="2 of the 20 SNPs that the model uses are absent, and at most 5 % may be"):
        matched(["A G"] * 20, ["A G"] * 18)


def test_autosomes():
    names = ["1", "22", "23", "X", "chrX", "chr22", "MT", "26", "xy", "0", "scaffold_7", "2L"]
    human = [True, True, False, False, False, True, False, False, False, True, True, True]
    assert on_autosomes(names, 22).tolist() == human
    assert on_autosomes(["23", "29", "30", "X"], 29).tolist() == [True, True, False, False]  # cattle
