"""How a verb gets the options of whole groups, and says why it has not some of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints

from lowdim.cli.options import DataOptions, ModelOptions, OutputOptions, TalkOptions
from lowdim.errors import BadParameter
from lowdim.models.registry import OWN_OPTIONS

GROUPS = (ModelOptions, DataOptions, OutputOptions, TalkOptions)

ROWS_ONLY = {"json": "a table is written; -o FILE.jsonl writes it as JSON lines"}
"""Why verbs that write a table and say nothing else have no such option."""

UNCOLOURED = "plot and report colour rows; here --label names a column of classes, which keeps it out of a fit"
"""Why other verbs have no --color."""

Verb = Callable[..., int]


def takes_groups(fits: str = "", has: str = "", **without: str) -> Callable[[Verb], Verb]:
    """Give a verb the options of the groups that its parameters have for types.

    `without` says why the verb has not some of them, which is told to whoever types one. A verb that always fits the
    same model says which it `fits`, and which options of single models this one `has`. An option that is a parameter of
    the verb itself means there what the verb says.
    """

    def group(verb: Verb) -> Verb:
        hints, parameters = get_type_hints(verb, include_extras=True), signature(verb).parameters
        refused = {**(_refuse_other_models(verb.__name__, fits, has) if fits else {}), **without}
        refused |= {} if "color" in parameters else {"color": UNCOLOURED}
        listed, packed = [], dict[str, list[str]]()
        for parameter in parameters.values():
            kind = hints[parameter.name]
            if kind not in GROUPS:
                listed.append(parameter.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY))
                continue
            own = {*getattr(kind, "NOT_TYPED", ()), *refused, *parameters}
            options = [field for field in fields(kind) if field.name not in own]
            packed[parameter.name] = [option.name for option in options]
            types = get_type_hints(kind, include_extras=True)
            listed += [
                Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=types[one.name])
                for one in options
            ]

        def run(**given: Any) -> int:
            for name, options in packed.items():
                given[name] = hints[name](**{option: given.pop(option) for option in options})
            return verb(**given)

        run.__name__, run.__doc__, run.__module__ = verb.__name__, verb.__doc__, verb.__module__
        run.__signature__ = Signature(listed)  # type: ignore[attr-defined]  # what typer reads
        run.__annotations__ = {one.name: one.annotation for one in listed}
        run.refused, run.__wrapped__ = refused, verb  # type: ignore[attr-defined]  # `report_usage` tells the former
        return run

    return group


def _refuse_other_models(verb: str, fits: str, has: str) -> dict[str, str]:
    """Why a verb that always fits the same model has not the options of others."""
    absent = [name for name in OWN_OPTIONS if name not in has.split()]
    refused = dict.fromkeys(absent, f"{verb} fits {fits}, which has no such setting; leave it out")
    return {"model": f"{verb} fits {fits}, and no other model; leave it out", **refused}


def command_of(verb: Verb, wish: DataOptions) -> str:
    """The data and what was said of them, as they would be typed for another verb, with the options that it has."""
    chosen = wish.without(verb.refused)  # type: ignore[attr-defined]  # as `takes_groups` has it
    return " ".join(filter(None, [chosen.typed, chosen.command_line()]))


def refuse_typed(path: str, *groups: Any) -> None:
    """Raise an error if a model file comes with options that say how data are read or fitted."""
    for group in groups:
        for field in fields(group):
            typed = field.name not in getattr(group, "NOT_TYPED", ())
            if typed and getattr(group, field.name) != field.default:
                option = f"--{field.name}"
                raise BadParameter(f"{option}: {path} is fitted already; leave {option} out, or give the data instead.")
