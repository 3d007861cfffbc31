"""tests/ repeats the tree of the package, so that the tests of a file are found where the file is."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PACKAGE = TESTS.parent / "src" / "lowdim"

WITH_OTHERS = {"contracts", "golden", "messy", "scikit_learn", "typing"}
"""What is owed by all of the package at once: laws, files of every version, tables as people have them, scikit-learn's
users, type checkers."""


def test_every_folder_of_tests_is_one_of_the_package_or_a_contract() -> None:
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("*.py")}
    strange = [folder for folder in folders if folder.parts and folder.parts[0] not in WITH_OTHERS]
    assert sorted(str(folder) for folder in strange if not (PACKAGE / folder).is_dir()) == []


def test_what_only_one_folder_asks_for_lies_there() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")}
    lost = []
    for helper in (path for path in texts if not path.name.startswith(("test_", "__init__", "conftest"))):
        if helper.relative_to(TESTS).parts[0] in WITH_OTHERS:
            continue
        module = ".".join(helper.relative_to(TESTS).with_suffix("").parts)
        asking = {path.parent for path, text in texts.items() if re.search(rf"from (tests\.)?{module} import", text)}
        if len(asking) == 1 and asking != {helper.parent} and not asking & {TESTS / name for name in WITH_OTHERS}:
            lost.append(f"{helper.relative_to(TESTS)}: only {asking.pop().relative_to(TESTS)} asks for it")
    assert lost == []
