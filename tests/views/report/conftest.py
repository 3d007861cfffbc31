"""A browser for the pages, one for all tests of this folder, and where it takes its pictures."""

from __future__ import annotations

import runpy
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import sync_playwright

FRONT_END = Path(__file__).parents[3] / "frontend"
BUILD = runpy.run_path(str(FRONT_END / "build.py"))
"""What `make page` does, step by step."""

BAD = ("error", "warning")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Chromium of the machine; it lives no longer than this folder's tests, as other tests have loops of their own."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium or Chrome is installed (`make chromium` installs Debian's)")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


class Watch:
    """What a page must not do: complain, or ask the network for anything."""

    def __init__(self, page: Any) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda told: self.complaints.append(told.text) if told.type in BAD else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda asked: self.requests.append(asked.url))


@pytest.fixture
def look(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open an address; at the end nothing may have complained, and nothing but the file may have been asked for."""
    opened: list[tuple[Any, Watch, str]] = []

    def open_page(address: str, **settings: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **settings})
        page = context.new_page()
        page.set_default_timeout(20_000)
        opened.append((context, Watch(page), address))
        page.goto(address)
        page.wait_for_selector("h1")
        return page

    yield open_page
    for context, watch, address in opened:
        context.close()
        assert watch.complaints == []
        assert [one for one in watch.requests if one.split("#")[0] != address] == []


@pytest.fixture
def picture() -> Callable[[Any, str], None]:
    """Keep a picture of a page in out/page, to be looked at."""
    folder = FRONT_END.parent / "out" / "page"
    folder.mkdir(parents=True, exist_ok=True)

    def take(page: Any, name: str) -> None:
        page.screenshot(path=str(folder / f"{name}.png"), full_page=True)

    return take


UNREACHABLE = ("ENOTFOUND", "ECONNREFUSED", "ETIMEDOUT", "EAI_AGAIN", "ENETUNREACH")
"""What npm says without a network."""


@pytest.fixture(scope="session")
def front_end(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of `frontend/` with its packages as the lock file names them."""
    copy = tmp_path_factory.mktemp("frontend") / "frontend"
    shutil.copytree(FRONT_END, copy, ignore=shutil.ignore_patterns("node_modules"))
    try:
        BUILD["install"](copy)
    except SystemExit as failed:
        if any(code in str(failed) for code in UNREACHABLE):
            pytest.skip("no registry of npm packages can be reached, so the bundle cannot be made again")
        raise
    return copy


@pytest.fixture(scope="session")
def axe(front_end: Path) -> str:
    """The script that looks for what some readers cannot use."""
    return (front_end / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
