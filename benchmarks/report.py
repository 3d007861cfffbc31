"""The report page: how large it is, how soon it is written, and how long a frame of its map takes, without a GPU."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from lowdim import PCA
from lowdim.models.linear.overview import linear_payload
from lowdim.views.report.page import write_report
from lowdim.views.report.payload import ReportContext, colour_column
from workloads import SEED

NAME = "report page"

SIZES = (1_000, 10_000, 100_000, 200_000)
COLUMNS, COMPONENTS, FRAMES = 20, 5, 40
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

WATCH = """() => {
  window.taken = [];
  new PerformanceObserver(list => taken.push(...list.getEntriesByName("lowdim-draw").map(one => one.duration)))
    .observe({ type: "measure" });
}"""


def table() -> list[str]:
    lines = [
        "",
        f"## {NAME}",
        "",
        f"Five clouds in {COLUMNS} columns with all their values, {COMPONENTS} components; one HTML file each. A frame",
        f"is the drawing of all points by Chromium without a GPU, in {FRAMES} steps of a drag.",
        "",
        "| rows | file | written | page ready | frame, median | frame, worst |",
        "|---|---|---|---|---|---|",
    ]
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    for n in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            seconds = written(n, path)
            size = path.stat().st_size / 1e6
            ready, frames = (None, [0.0]) if found is None else looked_at(path, found)
        lines.append(f"| {n:,} | {size:.1f} MB | {seconds:.1f} s | {_shown(ready, frames)} |")
    return lines


def _shown(ready: float | None, frames: list[float]) -> str:
    if ready is None:
        return "no browser | – | –"
    return f"{ready:.1f} s | {np.median(frames):.0f} ms | {max(frames):.0f} ms"


def written(n: int, path: Path) -> float:
    rng = np.random.default_rng(SEED)
    group = rng.integers(0, 5, n)
    X = 2 * rng.normal(size=(5, COLUMNS))[group] + rng.normal(size=(n, COLUMNS))
    model = PCA(COMPONENTS).fit(X)
    beside = ReportContext("Five clouds", values=X, colours=(colour_column("cloud", group),))
    start = time.perf_counter()
    write_report(linear_payload(model.fit_, model.transform(X), beside), path)
    return time.perf_counter() - start


def looked_at(path: Path, browser: str) -> tuple[float, list[float]]:
    """Seconds until the map is there, and milliseconds of each frame of a drag."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened: Any = driver.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        page = opened.new_page(viewport={"width": 1200, "height": 900})
        start = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector("#map canvas")
        ready = time.perf_counter() - start
        page.evaluate(WATCH)
        page.locator("#map .plot").scroll_into_view_if_needed()
        box = page.locator("#map .plot").bounding_box()
        page.mouse.move(box["x"] + 300, box["y"] + 200)
        page.mouse.down()
        for step in range(FRAMES):
            page.mouse.move(box["x"] + 300 + 2 * step, box["y"] + 200 + step)
        page.mouse.up()
        page.wait_for_timeout(300)
        frames = page.evaluate("taken")
        opened.close()
    return ready, frames


if __name__ == "__main__":
    print("\n".join(table()))
