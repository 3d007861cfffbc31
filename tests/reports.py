"""What a report holds, read back from its file."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
MISSING = 65535


def told(path: Path) -> dict[str, Any]:
    """The payload of a page."""
    found = DATA.search(path.read_text(encoding="utf-8"))
    assert found is not None
    payload: dict[str, Any] = json.loads(found[1])
    return payload


def numbers(blob: dict[str, Any]) -> NDArray[Any]:
    """An array of a payload, as the page decodes it."""
    raw = np.frombuffer(base64.b64decode(blob["data"]), dtype=f"<{blob['type']}").reshape(blob["shape"])
    if blob["type"] != "u2":
        return raw.astype(np.float64)
    low, high = np.array(blob["lo"]), np.array(blob["hi"])
    return np.where(raw == MISSING, np.nan, low + (high - low) * raw / (MISSING - 1))


def section(payload: dict[str, Any], kind: str) -> dict[str, Any]:
    """The data of the only section of a kind."""
    (found,) = [one["data"] for one in payload["sections"] if one["kind"] == kind]
    assert isinstance(found, dict)
    return found
