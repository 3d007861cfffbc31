"""What `for_each` owes to the laws that it runs over many cases as one test."""

import pytest

from laws import for_each


def test_every_value_that_breaks_a_law_is_told_and_the_others_are_not() -> None:
    @for_each("number, limit", [(1, 9), (5, 3), (2, 9), (7, 3)])
    def law(number: int, limit: int) -> None:
        if number == 7:
            pytest.fail("a failure of pytest's own")
        assert number < limit

    with pytest.raises(BaseExceptionGroup, match="law is broken by 2 of 4") as told:
        law()
    assert [error.__notes__ for error in told.value.exceptions] == [
        ["where number is 5, limit is 3"],
        ["where number is 7, limit is 3"],
    ]


def test_a_law_is_skipped_only_where_it_is_for_all_values() -> None:
    seen: list[int] = []

    def law(number: int, least: int) -> None:
        if number < least:
            pytest.skip("too small")
        seen.append(number)

    test = for_each("number", [1, 2, 3])(law)
    test(least=3)
    assert seen == [3]
    with pytest.raises(pytest.skip.Exception, match="too small"):
        test(least=4)


@for_each("number", [1, 2])
@pytest.mark.parametrize("letter", ["a"])
def test_fixtures_and_grids_go_with_it(number: int, letter: str, tmp_path: object) -> None:
    assert number in (1, 2)
    assert letter == "a"
    assert tmp_path
