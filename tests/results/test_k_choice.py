"""What is made of several answers: the median of those that may be believed, and who says what."""

import numpy as np
import pytest

from lowdim.results.k_choice import Answer, Check, Curve, KChoice


def answer(rule: str, k: int | None, asks: str = "noise", holds: bool | None = True) -> Answer:
    return Answer(rule, rule.upper(), asks, k, "because", (Check("needs something", holds),))


def choice(*answers: Answer) -> KChoice:
    return KChoice(answers, "rows", 10, 5)


@pytest.mark.parametrize(
    ("answers", "k"),
    [
        ([answer("a", 3), answer("b", 3)], 3),
        ([answer("a", 2), answer("b", 9), answer("c", 3)], 3),
        ([answer("a", 2), answer("b", 4)], 2),  # the lower of two
        ([answer("a", 2), answer("b", 9, holds=False), answer("c", 8, holds=False)], 2),
        ([answer("a", 7, holds=False), answer("b", 9, holds=False), answer("c", 1, "keeps")], 7),
        ([answer("a", None), answer("b", 4, "keeps"), answer("c", 6, "keeps")], 4),
        ([answer("a", 2, holds=None)], 2),  # a remark speaks against nothing
        ([answer("a", None)], None),
    ],
)
def test_the_number_is_the_lower_median_of_what_may_be_believed(answers, k):
    assert choice(*answers).k == k


def test_the_verdict_says_who_says_what():
    found = choice(answer("a", 2), answer("b", 4), answer("c", 9, "likely", False), answer("d", 5, "keeps"))
    assert found.verdict == (
        "2 components: the lower of two rules about signal and noise that no check contradicts, which say 2 and 4. "
        "What stands out from noise: A 2, B 4. How many hidden causes are most probable: (C 9). "
        "How much of the variance to keep: D 5. In brackets: a check contradicts the rule."
    )
    assert choice(answer("a", 1), answer("b", 1)).verdict == "1 component: both rules about signal and noise agree."
    assert choice(answer("a", 1)).verdict == "1 component: A says so."
    assert "a check contradicts each" in choice(answer("a", 1, holds=False), answer("b", 2, holds=False)).verdict


def test_answers_that_range_widely_are_told_as_a_range():
    found = choice(answer("a", 2), answer("b", 17), answer("c", 10, "predicts"))
    assert found.wide
    assert found.range == (2, 17)
    assert found.k == 10
    assert found.conclusion == (
        "2 to 17 components: the 3 rules about signal and noise disagree widely. 2 (A) stand out from noise; 17 (B) "
        "take in weaker ones that may do so too. Recommended: 10, the median; 2 for axes to interpret, up to 17 where "
        "losing weak ones is worse than noise."
    )
    two = choice(answer("a", 6, "predicts"), answer("b", 15, "likely"))
    assert two.k == 6
    assert "6 (A) predict best what was left out; 15 (B) are most probable if noise is white" in two.conclusion
    assert "Recommended: 6, the cautious end" in two.conclusion
    for near in ((2, 4), (7, 10), (10, 20)):  # no more than two apart, or than twice as many
        assert not choice(*(answer(f"r{k}", k) for k in near)).wide


def test_no_number_is_defended_where_none_may_be_believed_and_they_contradict_each_other():
    told = (answer("a", 0, holds=False), answer("b", 8, "likely", holds=False))
    found = KChoice(told, "rows", 10, 5, swamped=(("day", 0.6), ("ozone", 0.33)))
    assert found.k is None
    assert "No number can be recommended" in found.verdict
    assert "day and ozone together hold 93 % of the variance" in found.verdict
    assert "scale=True" in found.verdict
    assert "scale=True" not in choice(*told).verdict  # columns are on one scale


def test_what_every_rule_needs_leaves_no_number():
    """Though the rules agree, and though one may be asked alone."""
    shared = Check("needs independent rows: they are not", False, shared=True)
    told = [Answer(rule, rule.upper(), "noise", 5, "because", (shared,)) for rule in "ab"]
    for some in (told, told[:1]):
        found = choice(*some, answer("c", 3, "keeps"))
        assert found.k is None
        assert found.void == (shared,)
        assert found.conclusion.startswith("No rule applies: needs independent rows: they are not.")
        assert "what they say, 5, is too many by an unknown number" in found.conclusion
    assert choice(answer("a", 5), *told).k == 5  # a rule that has not been contradicted stands


def test_checks_that_hold_stand_apart_from_those_that_do_not():
    checks = (Check("needs n > p", True), Check("needs white noise", False), Check("drawn at random"))
    table = choice(Answer("a", "A", "likely", 3, "because", checks)).table()
    assert table["contradicted"] == ["needs white noise"]
    assert table["not contradicted"] == ["needs n > p"]
    assert table["notes"] == ["drawn at random"]


def test_answers_are_found_by_name_and_listed():
    found = choice(answer("a", 2), answer("b", None, "keeps", None))
    assert found["a"].k == 2
    with pytest.raises(KeyError, match="'a', 'b'"):
        found["c"]
    table = found.table()
    assert table["rule"] == ["a", "b"]
    assert table["sound"] == [True, False]
    assert "A: 2, because" in found.explain()
    assert "B: no answer, because" in str(found)


def test_curves_have_tables():
    curve = Curve("value", np.arange(2), np.array([1.0, 2]), np.array([0.5, 3]))
    assert list(curve.table()) == ["k", "value", "bar"]
