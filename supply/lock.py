"""Writes supply/hashed.txt: the pins of constraints.txt with the SHA-256 sums of all of their files.

    python supply/lock.py            write it
    python supply/lock.py --check    say whether it holds the pins of constraints.txt
    pip install --require-hashes --no-deps -r supply/hashed.txt    what is checked by it

Sums are those that the package index states for the files of a version; pip refuses a file that has another.
The index is pip's own, or that of PIP_INDEX_URL.
"""

from __future__ import annotations

import os
import re
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

HERE = Path(__file__).parent
PINS, HASHED = HERE.parent / "constraints.txt", HERE / "hashed.txt"
FILE = re.compile(r'href="[^"#]*/([^"/#]+)#sha256=([0-9a-f]{64})"')


def pins() -> dict[str, str]:
    """Package → version."""
    lines = (line.partition("#")[0].strip() for line in PINS.read_text(encoding="utf-8").splitlines())
    return dict(line.split("==") for line in lines if line)


def index() -> str:
    """Where pip looks for packages."""
    from pip._internal.models.index import PyPI

    return os.environ.get("PIP_INDEX_URL", PyPI.simple_url).rstrip("/")


def version_of(filename: str) -> Version | None:
    """The version that a file holds; None of what is neither a wheel nor a source."""
    try:
        return (parse_wheel_filename if filename.endswith(".whl") else parse_sdist_filename)(filename)[1]
    except (InvalidSdistFilename, InvalidWheelFilename, InvalidVersion):
        return None


def hashes(pin: tuple[str, str]) -> list[str]:
    """The sums of all files of a version."""
    name, version = pin
    with urllib.request.urlopen(f"{index()}/{canonicalize_name(name)}/", timeout=60) as page:
        listed = FILE.findall(page.read().decode())
    wanted = Version(version)
    found = sorted({sha for filename, sha in listed if version_of(filename) in (wanted, Version(wanted.public))})
    if not found:
        raise SystemExit(f"{name}=={version}: the index states no sum of any file.")
    return found


def main() -> None:
    """Write the file, or check it."""
    if "--check" in sys.argv:
        held = re.findall(r"^(\S+==\S+)", HASHED.read_text(encoding="utf-8"), re.MULTILINE)
        missing = sorted({f"{name}=={version}" for name, version in pins().items()} ^ set(held))
        if missing:
            raise SystemExit(f"supply/hashed.txt and constraints.txt differ in {', '.join(missing)}: write it anew.")
        return
    with ThreadPoolExecutor(8) as several:
        found = list(several.map(hashes, pins().items()))
    lines = ["# The pins of constraints.txt with the sums of their files; written by supply/lock.py."]
    for (name, version), sums in zip(pins().items(), found, strict=True):
        lines.append(f"{name}=={version} \\")
        lines.append(" \\\n".join(f"    --hash=sha256:{one}" for one in sums))
    HASHED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
