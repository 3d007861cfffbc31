"""Every public function, method and figure names its parameters and says what it returns."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, get_args, get_type_hints

import pytest

import lowdim
from laws import for_each
from lowdim.models.base.plots import SHARED, Plots, figure
from lowdim.models.registry import FOLDERS
from test_contributing import FIGURES


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


def records_in(hint: Any) -> Iterator[type]:
    """Classes of this library that a type hint names, also within others: `Iterator[Block]`."""
    if inspect.isclass(hint) and hint.__module__.startswith("lowdim."):
        yield hint
    for part in get_args(hint):
        yield from records_in(part)


PUBLIC = public_functions()
RECORDS = {record for function in PUBLIC.values() for record in records_in(get_type_hints(function)["return"])}
RESULTS = dict(told for record in RECORDS for told in functions_of(record))
FUNCTIONS = PUBLIC | FIGURES | RESULTS


def parameters_of(function: Any) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


def section(said: str, title: str) -> str:
    """What stands under a title, up to the next one."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=\n\n\w+\n---|\Z)", said, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def named_in(said: str) -> list[str]:
    """Names under Parameters, in order: `color, names : …` are two."""
    heads = re.findall(r"^[*\w].*", section(said, "Parameters"), re.MULTILINE)
    return [name.strip().lstrip("*") for head in heads for name in head.partition(" : ")[0].split(",")]


def test_there_are_many():
    assert len(PUBLIC) > 100
    assert len(FIGURES) > 30
    assert {"Chosen.plot", "Restored.save", "Uncertainty.table", "Rotation.scores", "Topics.top_words"} <= set(RESULTS)


@for_each("name", FUNCTIONS)
def test_parameters_are_named_in_their_order(name):
    function = FUNCTIONS[name]
    assert named_in(inspect.getdoc(function) or "") == parameters_of(function)


@for_each("name", FUNCTIONS)
def test_what_comes_back_is_said(name):
    function = FUNCTIONS[name]
    said = inspect.getdoc(function) or ""
    nothing = inspect.signature(function).return_annotation in ("None", None)
    # in a section of its own; of what takes nothing the first line says it: "(p, p) covariance …"
    assert nothing or not parameters_of(function) or section(said, "Returns"), said


@for_each("name", FIGURES)
def test_parameters_that_figures_share_are_said_in_the_same_words(name):
    """A figure may add below what a parameter does there."""
    said = inspect.getdoc(FIGURES[name]) or ""
    shared = [one for one in parameters_of(FIGURES[name]) if one in SHARED]
    heads = [f"{one} : {SHARED[one].partition(chr(10))[0]}" for one in shared]
    assert not [head for head in heads if f"\n{head}\n" not in f"{said}\n"], said


def test_a_figure_tells_what_it_leaves_out_and_keeps_its_own_words():
    @figure
    def drawn(self: Plots, X: Any, most: int = 3, ax: Any = None) -> Any:
        """Bars.

        Parameters
        ----------
        most : int
            Bars, at most:

            the first.

        References
        ----------
        Nobody.
        """

    own = "most : int\n    Bars, at most:\n\n    the first."
    shared = {name: f"{name} : {SHARED[name]}" for name in ("X", "ax")}
    parameters = f"Parameters\n----------\n{shared['X']}\n{own}\n{shared['ax']}"
    returns = "Returns\n-------\nmatplotlib Axes"
    assert inspect.getdoc(drawn) == f"Bars.\n\n{parameters}\n\n{returns}\n\nReferences\n----------\nNobody."
    assert list(inspect.signature(drawn).parameters) == ["self", "X", "most", "ax"]


def test_a_parameter_that_a_figure_does_not_have_is_refused():
    def drawn(self: Plots, ax: Any = None) -> Any:
        """Bars.

        Parameters
        ----------
        most : int
        """

    with pytest.raises(ValueError, match="most"):
        figure(drawn)


WITH_TABLES = [name for name, folder in FOLDERS.items() if find_spec(f"lowdim.models.{folder}.tables")]


@for_each("name", WITH_TABLES)
def test_every_table_of_a_model_is_told_and_says_what_it_is(name):
    tables = import_module(f"lowdim.models.{FOLDERS[name]}.tables").TABLES
    said = inspect.getdoc(getattr(lowdim, name).table) or ""
    assert not [one for one in tables if f'"{one}"' not in said]
    assert all(make.__doc__ for make in tables.values())
