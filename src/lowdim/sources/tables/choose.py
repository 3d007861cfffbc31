"""Which of several tables, sheets, arrays or files in one file is meant."""

from __future__ import annotations

from collections.abc import Mapping

from lowdim.errors import BadFile, SeveralTables
from lowdim.sources.columns import suggest


def choose_table(where: str, name: str | None, tables: Mapping[str, str], what: str) -> str:
    """The table that was named, or the only one; an error that lists them, with what each is."""
    if name is not None:
        if name not in tables:
            raise BadFile(f"{where}: there is no table {name!r}{suggest(name, list(tables))}")
        return name
    if not tables:
        raise BadFile(f"{where}: holds no {what}; at least one is needed.")
    if len(tables) > 1:
        raise SeveralTables.in_file(where, tables, what)
    return next(iter(tables))
