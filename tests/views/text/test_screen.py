"""Summaries in text: what they say of fits whose answers are known, and that they keep to one screen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lowdim import PCA
from lowdim.models.base.output import overview_of
from lowdim.models.linear.overview import drivers, swamping
from lowdim.results.certificate import blank_certificate
from lowdim.results.record import LinearFit
from lowdim.views.text.facts import fit_facts
from lowdim.views.text.lines import bar, break_command, listed, percent, wrapped
from lowdim.views.text.screen import About, fit_screen
from lowdim.views.text.told import Told


def with_variances(variances, n: int = 50, rotate: bool = False, keep=None) -> LinearFit:
    """A fit of rows with exactly these variances along axes that are columns, or turned at random."""
    rng = np.random.default_rng(0)
    p = len(variances)
    rows = rng.standard_normal((n, p))
    rows = np.linalg.qr(rows - rows.mean(axis=0))[0] * np.sqrt(n - 1)
    X = rows * np.sqrt(variances)
    if rotate:
        X = X @ np.linalg.qr(rng.standard_normal((p, p)))[0]
    return PCA(keep).fit(X).fit_


def accuracy(fit: LinearFit) -> str:
    return overview_of(fit).trust.sentence


def text(fit: LinearFit, **about) -> str:
    return "\n".join(line.text for line in fit_screen(overview_of(fit), About("t.csv", **about)))


def test_it_answers_the_questions_of_a_newcomer():
    fit = with_variances([6.0, 3.0, 1.0], keep=2)
    said = text(
        fit, asked="--keep 2", told=Told({"name": "text", "day": "time"}), next=(("lowdim choose t.csv", "how many?"),)
    )
    assert "t.csv: 50 rows × 3 columns of numbers, no value missing" in said
    assert "left out  name (text), day (time)" in said
    assert "2 dimensions keep 90.0 % of the variance (--keep 2)" in said
    assert "PC1    60.0 %    60.0 %  ██████████████  + x0" in said
    assert "PC2    30.0 %    90.0 %  ███████         + x1" in said
    assert "PC3    10.0 %            ██▍             not kept" in said
    assert "accuracy  certified: variances right to 1" in said
    assert "lowdim choose t.csv  # how many?" in said
    assert "written   m.lowdim, s.csv" in text(fit, written=("m.lowdim", "s.csv"))


def test_bars_are_in_proportion():
    assert bar(1.0, 8) == "█" * 8
    assert bar(0.5, 8) == "█" * 4
    assert bar(1 / 64, 8) == "▏"
    assert bar(0.0, 8) == ""
    assert bar(7.0, 8) == "█" * 8


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.5, "50.0 %"), (1.0, "100.0 %"), (0.99999, "99.999 %"), (1 - 1e-7, "99.999 %"), (1e-5, "< 0.1 %"), (0, "0.0 %")],
)
def test_shares_are_not_rounded_to_all_or_nothing(share, said):
    assert percent(share) == said


def test_columns_that_drive_a_component_carry_their_sign():
    fit = with_variances([9.0, 1.0, 1e-3])
    turned = replace(fit, components=np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]))
    assert drivers(turned, 0) == [("x0", 0.8), ("x1", -0.6)]
    assert "+ x0  − x1" in text(turned)


def test_one_large_column_is_said_to_swamp_the_others():
    assert swamping(with_variances([100.0, 1, 1, 1])) == [("x0", pytest.approx(100 / 103))]
    assert swamping(with_variances([10.0, 9, 9, 9])) == []
    assert swamping(with_variances([100.0, 1, 1, 1], rotate=True)) == []  # one strong direction is no column
    assert swamping(with_variances([100.0, 1])) == []  # of two columns one is always larger
    assert [name for name, _ in swamping(with_variances([90.0, 80.0, *[1.0] * 6]))] == ["x0", "x1"]
    assert "--drop x0 leaves it out" in text(with_variances([100.0, 1, 1, 1]))
    assert "note" not in text(PCA(2, scale=True).fit(np.diag([100.0, 1, 1, 1])).fit_)


def test_a_share_of_a_column_is_never_more_than_it_has():
    fit = with_variances([5.0, 4, 3, 2, 1], rotate=True, keep=2)
    held = fit.variances @ fit.components**2
    full = with_variances([5.0, 4, 3, 2, 1], rotate=True)
    # what two components explain of a column is a part of its variance; 1e-12 for rounding
    assert (held <= (full.variances @ full.components**2) * (1 + 1e-12)).all()


def test_accuracy_in_words():
    assert accuracy(with_variances([3.0, 2, 1])).startswith("certified: variances right to 1")
    planes = with_variances([3.0, 3.0, 1.0], rotate=True)
    assert "PC1 to PC2 have nearly equal variances, so only the plane they span is fixed" in accuracy(planes)
    cut = with_variances([3.0, 1.0, 1.0], rotate=True, keep=2)
    assert "keep one more or one fewer" in accuracy(cut)
    lost = replace(planes, certificate=replace(planes.certificate, untrusted=(1, 2)))
    assert accuracy(lost).startswith("NOT reached: the variance of component 2–3")
    elsewhere = blank_certificate(
        planes.components, planes.variances, planes.total_variance, "another program", "who knows"
    )
    assert accuracy(replace(planes, certificate=elsewhere)) == "who knows"


def test_a_constant_table_has_no_direction():
    fit = PCA().fit(np.ones((5, 3))).fit_
    assert "No column varies: there is no direction to find." in text(fit)
    assert "nothing: no variance is left" in text(fit)


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("k", [1, 3, 40])
def test_one_screen(width, k):
    fit = with_variances(np.geomspace(1e6, 1e-3, 40), n=60, keep=k)
    long = replace(fit, columns=tuple(f"a name that is rather long, {j}" for j in range(40)))
    steps = tuple((f"lowdim fit {'folder/' * 5}table.csv --keep {i} --save model.lowdim", "again") for i in range(5))
    lines = fit_screen(
        overview_of(long), About("x" * 200, "--keep", Told({f"text {i}": "text" for i in range(90)}), next=steps), width
    )
    assert len(lines) <= 24
    assert max(len(line.text) for line in lines) <= width


def test_lists_say_how_many_they_leave_out():
    assert listed(["a", "b"], 20) == "a, b"
    assert listed([f"column {i}" for i in range(100)], 30) == "column 0, column 1 and 98 more"
    assert listed(["x" * 50, "y"], 20) == "2 in all"


def test_long_commands_are_broken_before_options():
    lines = break_command("  lowdim fit a.csv --save b.lowdim -o c.csv", 30)
    assert lines == ["  lowdim fit a.csv \\", "    --save b.lowdim -o c.csv"]
    joined = " ".join(line.rstrip("\\").strip() for line in lines)
    assert joined == "lowdim fit a.csv --save b.lowdim -o c.csv"


def test_wrapped_lines_are_indented():
    first, second = wrapped("note  ", "one two three four five six seven", 30)
    assert first.text.startswith("note  one")
    assert second.text.startswith("      ")


def test_facts_are_those_of_the_fit():
    fit = with_variances([6.0, 3.0, 1.0], keep=2)
    facts = fit_facts(overview_of(fit))
    assert facts["kept"] == {"components": 2, "share": pytest.approx(0.9)}
    assert [one["variance"] for one in facts["components"]] == fit.variances.tolist()
    assert facts["certificate"]["reached"] is True
