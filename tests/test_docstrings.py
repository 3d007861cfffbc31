"""Every public function and method names its parameters and says what it returns."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

import lowdim


def functions_of(owner: type) -> Iterator[tuple[str, Any]]:
    """Public methods that this library defines, by name."""
    for base in owner.__mro__:
        if not base.__module__.startswith("lowdim."):
            continue
        for name, member in vars(base).items():
            function = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
            if not name.startswith("_") and inspect.isfunction(function):
                yield f"{base.__name__}.{name}", function


def public_functions() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in lowdim.__all__:
        public = getattr(lowdim, name)
        if inspect.isclass(public):
            found.update(functions_of(public))
        elif inspect.isfunction(public):
            found[name] = public
        elif inspect.ismodule(public):
            listed = {one: getattr(public, one) for one in getattr(public, "__all__", ())}
            found.update({f"{name}.{one}": given for one, given in listed.items() if inspect.isfunction(given)})
    return found


FUNCTIONS = public_functions()


def test_there_are_many():
    assert len(FUNCTIONS) > 100


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_named(name):
    function = FUNCTIONS[name]
    said = inspect.getdoc(function) or ""
    parameters = [one for one in inspect.signature(function).parameters if one not in ("self", "cls")]
    assert not [one for one in parameters if not re.search(rf"\b{one}\b", said)], said


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_comes_back_is_said(name):
    function = FUNCTIONS[name]
    said = inspect.getdoc(function) or ""
    nothing = inspect.signature(function).return_annotation in ("None", None)
    # in a section of its own; of what takes nothing the first line says it: "(p, p) covariance …"
    free = not [one for one in inspect.signature(function).parameters if one != "self"]
    assert nothing or free or "\nReturns\n-------\n" in said, said
