"""One law over many cases as one test: thousands of tests with a line each take longer to count than to run."""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest


def for_each(names: str, values: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `pytest.mark.parametrize`, but all values are one test, which tells every value that breaks the law.

    What may be skipped is left out; the test is skipped where nothing is left. The values share the test's fixtures.
    """
    asked = [name.strip() for name in names.split(",")]
    table = [value if len(asked) > 1 else (value,) for value in values]

    def decorate(law: Callable[..., None]) -> Callable[..., None]:
        @wraps(law)
        def test(**given: Any) -> None:
            broken: list[BaseException] = []
            skipped: list[BaseException] = []
            for row in table:
                told = dict(zip(asked, row, strict=True))
                try:
                    law(**given, **told)
                except pytest.skip.Exception as reason:
                    skipped.append(reason)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note("where " + ", ".join(f"{name} is {value}" for name, value in told.items()))
                    broken.append(error)
            if broken:
                raise BaseExceptionGroup(f"{law.__name__} is broken by {len(broken)} of {len(table)}", broken)
            if table and len(skipped) == len(table):
                raise skipped[0]

        signature = inspect.signature(law)
        left = [parameter for name, parameter in signature.parameters.items() if name not in asked]
        test.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]  # what pytest asks for
        return test

    return decorate
