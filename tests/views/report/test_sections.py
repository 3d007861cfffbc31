"""What only some models show, in a real browser, and the figures behind it."""

import base64
import struct
import zlib

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim import datasets
from lowdim.models.kernel_pca.figures import _kernel
from lowdim.models.kernel_pca.record import KernelFacts
from lowdim.models.nmf.figures import leading_parts
from lowdim.models.nmf.overview import parts_section
from lowdim.models.pc_regression.figures import fit_coefficients
from lowdim.models.pc_regression.overview import MOST_COLUMNS as MOST_DRAWN
from lowdim.models.pc_regression.overview import regression_section
from lowdim.models.pc_regression.tables import coefficient_columns
from lowdim.models.vector_quantizer.figures import clusters
from lowdim.views.plots.missing import holes
from lowdim.views.plots.representations import leading
from lowdim.views.report.encode import data_uri, grey_levels, png
from lowdim.views.report.sections import MOST_MAP_COLUMNS, MOST_MAP_ROWS, holes_section, table_section
from lowdim.words import column_names

IRIS = datasets.iris().values
RNG = np.random.default_rng(0)
HOLES = np.where(RNG.random(IRIS.shape) < 0.1, np.nan, IRIS)

TEXTS = ["The cat chased the mouse.", "A mouse fears every cat.", "My cat caught a mouse!"] * 2 + [
    "Banks lend money.",
    "The banks want money back.",
    "Money rests in banks.",
] * 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sections")


# -- figures --------------------------------------------------------------------------------------------------------


def test_a_map_of_many_rows_keeps_those_with_most_holes():
    given = np.zeros((MOST_MAP_ROWS + 50, MOST_MAP_COLUMNS + 20))
    given[10:20, 3:9] = np.nan
    given[280, 5] = np.nan
    found = holes(given, np.ones_like(given), np.full_like(given, 0.5))
    rows, columns = ([f"{what}{i}" for i in range(count)] for what, count in zip("rx", given.shape, strict=True))
    data = holes_section(found, columns, rows, None).data
    assert len(data["rows"]) == MOST_MAP_ROWS
    assert len(data["columns"]) == MOST_MAP_COLUMNS
    assert data["filled"] == 61
    assert "r280" in data["rows"]
    assert sum(data["missing"]) == 61
    assert np.isnan(found.doubt).all()  # columns that do not vary say nothing of how sure a number is


def test_holes_of_some_rows_and_columns():
    given = np.array([[np.nan, 1.0, np.nan], [2.0, np.nan, 5.0], [4.0, 3.0, 9.0]])
    found = holes(given, np.full((3, 3), 7.0), np.full((3, 3), 0.5))
    some = found.restrict_to(np.array([2, 1]), np.array([1, 0]))
    assert (some.row.tolist(), some.column.tolist(), some.value.tolist()) == ([1], [0], [7.0])
    assert some.doubt.tolist() == [0.5]  # 1 and 3 have a standard deviation of 1
    assert found.missing.tolist() == [1, 1, 1]


def test_leading_columns_are_those_of_largest_magnitude():
    found = leading(np.array([0.1, -3.0, 0.0, 2.0]), ("a", "b", "c", "d"), 5)
    assert found.names == ("b", "d", "a")
    assert found.values.tolist() == [-3.0, 2.0, 0.1]


def test_page_and_plot_name_the_same_columns_of_a_part():
    fit = lowdim.NMF(2, tol=1e-3).fit(IRIS).fit_
    drawn = {one.title: one for one in leading_parts(fit, most=4).parts}
    for one in parts_section(fit, column_names(fit), ("part 1", "part 2"), None).data["parts"]:
        assert tuple(one["columns"]) == drawn[one["name"]].names
        np.testing.assert_allclose(one["values"], drawn[one["name"]].values)
        assert one["values"] == sorted(one["values"], reverse=True)


def test_page_and_plot_draw_the_same_coefficients():
    X = RNG.normal(size=(80, 50))
    model = lowdim.PCRegression(10).fit(X, X[:, 7] - X[:, 30])
    table = coefficient_columns(model.fit_, 0.95)
    found = fit_coefficients(model.fit_, 0, table, 0.95, MOST_DRAWN)
    (target,) = regression_section(model.fit_, table, 0.95, ()).data["targets"]
    places = np.frombuffer(base64.b64decode(target["drawn"]["data"]), dtype="<u4")
    assert [table["column"][i] for i in places] == list(found.names)
    assert len(places) == MOST_DRAWN
    assert target["places"] is None


def test_a_kernel_is_half_where_it_says():
    for name, half in (("rbf", np.sqrt(np.log(2) / 3)), ("laplacian", np.log(2) / 3)):
        assert _kernel(KernelFacts(name, gamma=3.0), np.array([half]))[0] == pytest.approx(0.5)


def test_offsets_of_groups_balance():
    found = clusters(lowdim.VectorQuantizer(3).fit(IRIS).fit_)
    assert np.allclose(found.shares @ found.offsets, 0.0, atol=1e-12)
    assert np.allclose(found.shares @ found.offsets**2, 1.0)


def test_png_gives_its_pixels_back():
    for shape in ((5, 7), (5, 7, 3), (5, 7, 4)):
        pixels = RNG.integers(0, 256, shape, dtype=np.uint8)
        file = png(pixels)
        assert file[:8] == b"\x89PNG\r\n\x1a\n"
        width, height, depth, kind = struct.unpack(">IIBB", file[16:26])
        assert (height, width, depth, kind) == (
            5,
            7,
            8,
            {2: 0, 3: 2, 4: 6}[len(shape) if len(shape) == 2 else shape[2]],
        )
        size = struct.unpack(">I", file[33:37])[0]
        lines = np.frombuffer(zlib.decompress(file[41 : 41 + size]), dtype=np.uint8).reshape(5, -1)
        assert (lines[:, 0] == 2).all()
        assert (np.cumsum(lines[:, 1:], axis=0, dtype=np.uint8) == pixels.reshape(5, -1)).all()


def test_grey_levels_span_their_ends():
    assert grey_levels(np.array([[0.0, 0.5], [1.0, np.nan]])).tolist() == [[0, 128], [255, 0]]
    assert grey_levels(np.array([[3.0, 3.0]])).tolist() == [[0, 0]]
    assert grey_levels(np.array([[-1.0, 9.0]]), (0.0, 1.0)).tolist() == [[0, 255]]
    assert base64.b64decode(data_uri(np.zeros((1, 1), np.uint8)).split(",")[1])[1:4] == b"PNG"


def test_tables_keep_numbers_and_say_what_is_left_out():
    found = table_section("t", {"a": range(300), "b": [True] * 299 + [None]}).data
    assert found["rows"][0] == [0, "yes"]
    assert found["more"] == 100


# -- in the browser -------------------------------------------------------------------------------------------------


def test_missing_values(look, folder):
    model = lowdim.ProbabilisticPCA(2).fit(HOLES)
    model.report(folder / "holes.html", HOLES)
    page = look((folder / "holes.html").as_uri())
    count = int(np.isnan(HOLES).sum())
    assert page.locator(".hole-map .filled").count() == count
    assert f"{count} of 600 entries" in page.locator(".holes .lead").inner_text()
    page.locator(".hole-map .filled").first.scroll_into_view_if_needed()
    page.locator(".hole-map .filled").first.hover()
    assert "missing, filled with" in page.locator(".readout").inner_text()
    places = "all => all.map(one => Number(one.getAttribute('y')))"
    before = page.locator(".hole-map .filled").evaluate_all(places)
    page.get_by_text("most missing first").click()
    assert max(page.locator(".hole-map .filled").evaluate_all(places)) < max(before)


def test_a_kernel_and_a_search(look, folder):
    lowdim.KernelPCA(2, kernel="rbf").fit(IRIS).report(folder / "kernel.html", IRIS)
    page = look((folder / "kernel.html").as_uri())
    assert "has no loadings" in page.locator(".kernel").inner_text()
    assert page.locator(".similarity polyline").count() == 1
    assert page.locator("#columns").count() == 0


def test_parts_in_another_order(look, folder):
    digits = datasets.digits().values[:300]
    model = lowdim.NMF(6).fit(digits)
    model.report(folder / "parts.html", digits, picture_shape=(8, 8))
    page = look((folder / "parts.html").as_uri())
    assert page.locator(".cards .card").count() == 6
    shown = page.locator(".cards img").first
    assert shown.evaluate("one => one.naturalWidth") == 8
    page.get_by_text("sparsest").click()
    most = int(np.argmax(model.fit_.sparseness)) + 1
    assert page.locator(".cards .card h3").first.inner_text().startswith(f"part {most}")


def test_topics(look, folder):
    found = lowdim.topics(TEXTS, 2, labels=["pets"] * 6 + ["trade"] * 6, starts=2, held_out=0)
    found.report(folder / "topics.html", title="Pets and trade")
    page = look((folder / "topics.html").as_uri())
    assert page.title() == "Pets and trade"
    assert page.locator(".topics .card").count() == 2
    words = page.locator(".topics .card").first.inner_text()
    assert ("cat" in words) != ("money" in words)
    assert page.locator(".heat tbody tr").count() == 2
    page.get_by_text("found nowhere else").click()
    assert "×" in page.locator(".topics .card").first.inner_text()


def test_a_regression(look, folder):
    X, y = IRIS[:, :3], IRIS[:, 3]
    lowdim.PCRegression(compare=True).fit(X, y).report(folder / "regression.html", X, y=y)
    page = look((folder / "regression.html").as_uri())
    assert page.locator("main section").first.get_attribute("id") == "section-1"  # what it is about comes first
    assert page.locator(".points circle").count() == 150
    assert page.locator(".forest .whisker").count() == 3
    page.get_by_text("per standard deviation", exact=True).click()
    assert "per standard deviation" in page.locator(".forest .axis-label").text_content()


def test_a_picture_before_and_after(look, folder):
    rows, columns = np.mgrid[:32, :32]
    clean = 0.5 + 0.3 * np.sign(np.sin(rows / 6) * np.sin(columns / 6))
    noisy = np.clip(clean + 0.1 * RNG.standard_normal(clean.shape), 0, 1)
    lowdim.denoise(noisy, 0.1, method="threshold", clean=clean).report(folder / "picture.html")
    page = look((folder / "picture.html").as_uri())
    assert "dB before" in page.locator(".restored .lead").inner_text()
    slider = page.get_by_role("slider", name="Share of the picture that is shown before")
    slider.focus()
    page.keyboard.press("End")
    assert page.locator(".wipe").evaluate("one => getComputedStyle(one).getPropertyValue('--at')") == "100%"
    page.get_by_text("how unsure each pixel is").click()
    assert page.locator(".restored figure img").count() == 1


def test_models_side_by_side(look, folder):
    digits = datasets.digits().values[:200]
    found = lowdim.compare(digits, ["pca", "vq"], 4, picture_shape=(8, 8))
    found.report(folder / "compare.html")
    page = look((folder / "compare.html").as_uri())
    assert page.locator(".gallery-row").count() == 3
    assert page.locator("table.data tbody tr").first.inner_text().startswith("pca")


def test_hostile_words_stay_text(look, folder):
    bad = "</script><img src=x onerror=\"document.title='broken into'\">"
    frame = pd.DataFrame(IRIS, columns=[bad, "<b>b</b>", "c", "d"])
    lowdim.VectorQuantizer(2).fit(frame).report(folder / "hostile.html", title=bad)
    page = look((folder / "hostile.html").as_uri())
    assert page.title() == bad
    assert page.locator("main img").count() == 0
