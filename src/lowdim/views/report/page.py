"""The file: script, style and data in one HTML page that needs no network and may not use any."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from importlib.resources import files

from lowdim.runtime.files import atomic_write
from lowdim.views.report.payload import Payload

ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""Characters that could end the element which holds the data; JSON reads the escapes as the same characters."""


def write_report(payload: Payload, path: str | os.PathLike[str]) -> None:
    """Write the page of a payload, whole or not at all."""
    text = report_html(payload)
    with atomic_write(path) as file:
        file.write(text.encode("utf-8", errors="replace"))


def report_html(payload: Payload) -> str:
    """The page as text."""
    script, style = _bundled("page.js"), _bundled("page.css")
    data = json.dumps(payload.as_json(), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character, escape in ESCAPES.items():
        data = data.replace(character, escape)
    # nothing but this script and this style may run, and nothing may be fetched, whatever the labels hold
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="lowdim">
<title>{html.escape(payload.title)}</title>
<style>{style}</style>
</head>
<body>
<div id="page"><p>This report is drawn by a script that it contains: open it in a browser that runs scripts.</p></div>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def _bundled(name: str) -> str:
    """A file that `make page` built from `frontend/`."""
    return files("lowdim.views.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
