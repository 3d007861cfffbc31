"""The file: one, whole, and harmless whatever the names are."""

import base64
import hashlib
import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from lowdim.errors import CannotWrite
from lowdim.views.report.page import report_html, write_report
from lowdim.words import shown
from views.report import pages

SOURCES = sorted((Path(__file__).parents[3] / "frontend" / "src").rglob("*.ts*"))


@pytest.fixture(scope="module")
def text():
    return report_html(pages.hostile())


def test_names_come_back_as_they_can_be_looked_at(text):
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL).group(1)
    told = json.loads(data)
    assert told["columns"]["names"] == [shown(name) for name in pages.HOSTILE]
    assert told["title"] == pages.HOSTILE[0]


def test_no_name_can_end_the_element_that_holds_it(text):
    assert "<img" not in text
    assert text.count("<script") == 2
    assert text.count("</script>") == 2


def test_only_the_bundle_may_run(text):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for rule, element in (("script-src", "script"), ("style-src", "style")):
        held = re.search(rf"<{element}>(.*?)</{element}>", text, re.DOTALL).group(1)
        digest = base64.b64encode(hashlib.sha256(held.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"


def test_nothing_is_fetched(text):
    head = text.split('id="data"')[0]
    assert not re.search(r"<link|<iframe|<[a-z]+ [^>]*src=|@import|url\(", head)
    assert "sourceMappingURL" not in text


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_sources_neither_fetch_nor_write_markup(path):
    asks = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|\bfetch\(|XMLHttpRequest|WebSocket|https?://"
    )
    assert not re.search(asks, path.read_text(encoding="utf-8"))


def test_the_bundle_is_small():
    folder = files("lowdim.views.report")
    assert sum(len(folder.joinpath(name).read_bytes()) for name in ("page.js", "page.css")) < 150_000


def test_a_page_replaces_the_old_one_whole(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    write_report(pages.one_component(), path)
    assert path.read_text(encoding="utf-8").endswith("</html>\n")
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(CannotWrite, match="nowhere"):
        write_report(pages.one_component(), tmp_path / "nowhere" / "page.html")
