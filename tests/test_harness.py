"""The table of what was tried for reliability."""

from harness import PROPERTY, collect, table


def test_counts_of_all_tests_of_a_goal_are_added_and_failures_named() -> None:
    rows = collect(
        [
            ("test_a", False, [(PROPERTY, (5, 3_000, "model files"))]),
            ("test_b", True, [(PROPERTY, (5, 500, "model files")), (PROPERTY, (5, 20, "tables"))]),
            ("test_c", False, [("something else", 1), (PROPERTY, (9, "212 MB", "peak of PCA"))]),
        ]
    )
    lines = table(rows)
    assert lines[2].startswith("| 5 |")
    assert lines[2].endswith("| 3,500 model files; 20 tables | test_b |")
    assert lines[3].endswith("| peak of PCA: 212 MB | nothing |")


def test_a_run_that_counts_nothing_has_no_rows() -> None:
    assert collect([("test_a", True, [])]) == {}
