"""Prints a bill of materials (CycloneDX 1.6, JSON): lowdim, what it needs, their versions and licences.

    python supply/sbom.py > out/sbom.json        of lowdim[all]
    python supply/sbom.py --licences             a table of the licences alone

It lists what is installed here and is reached from lowdim; nothing is looked up anywhere else.
"""

from __future__ import annotations

import json
import sys
from importlib import metadata
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT, EXTRAS = "lowdim", ("all",)


def needed(name: str, extras: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """What a package needs with these extras, here."""
    found = []
    for text in metadata.distribution(name).requires or []:
        one = Requirement(text)
        asked = [{"extra": extra} for extra in (*extras, "")]
        if one.marker is None or any(one.marker.evaluate(which) for which in asked):
            found.append((canonicalize_name(one.name), tuple(sorted(one.extras))))
    return found


def reached() -> dict[str, set[str]]:
    """Every package that is reached from the root → what it needs itself."""
    found: dict[str, set[str]] = {}
    waiting, seen = [(ROOT, EXTRAS)], set()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        name, extras = one
        try:
            more = needed(name, extras)
        except metadata.PackageNotFoundError:
            continue
        waiting += more
        found.setdefault(name, set()).update(other for other, _ in more if other != name)
    return found


def licence(name: str) -> str:
    """What a package says of its licence: an expression of SPDX, or the words of its classifiers."""
    about = metadata.metadata(name)
    said = about.get("License-Expression")
    if said:
        return str(said)
    listed = [one.rpartition(" :: ")[2] for one in about.get_all("Classifier", []) if one.startswith("License ::")]
    if [one for one in listed if one != "OSI Approved"]:
        return " AND ".join(listed)
    return (about.get("License") or "not stated").strip().splitlines()[0][:80]


def component(name: str) -> dict[str, Any]:
    """A package as CycloneDX has it."""
    version = metadata.version(name)
    said = licence(name)
    is_expression = metadata.metadata(name).get("License-Expression") is not None
    return {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}@{version}",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name}@{version}",
        "licenses": [{"expression": said} if is_expression else {"license": {"name": said}}],
    }


def bill() -> dict[str, Any]:
    """The bill of materials."""
    found = reached()
    parts = {name: component(name) for name in sorted(found)}
    refs = {name: part["bom-ref"] for name, part in parts.items()}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": parts.pop(ROOT)},
        "components": list(parts.values()),
        "dependencies": [
            {"ref": refs[name], "dependsOn": sorted(refs[other] for other in others if other in refs)}
            for name, others in sorted(found.items())
        ],
    }


if __name__ == "__main__":
    if "--licences" in sys.argv:
        print("\n".join(f"{name}  {metadata.version(name)}  {licence(name)}" for name in sorted(reached())))
    else:
        print(json.dumps(bill(), indent=1))
