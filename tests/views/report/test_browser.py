"""The page in a real browser: everything that can be dragged, clicked and typed does what it says."""

import math
import re

import pytest

from views.report import pages


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def wines(folder):
    return pages.written(pages.wines(), folder, "wines")


@pytest.fixture(scope="module")
def digits(folder):
    return pages.written(pages.pictures(), folder, "digits")


def pixels(page, selector):
    """A text that changes when the picture on a canvas does."""
    return page.locator(selector).first.evaluate("canvas => canvas.toDataURL()")


def middle(page, selector, across=0.5, down=0.5):
    page.locator(selector).first.scroll_into_view_if_needed()
    box = page.locator(selector).first.bounding_box()
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


def first_point(page):
    """Where the row looked for is drawn: the centre of its ring."""
    page.locator("#map .plot").scroll_into_view_if_needed()
    ring = page.locator("#map .ring").bounding_box()
    return ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2


def kept(page):
    return page.locator("#components .headline b").inner_text()


def test_the_head_says_what_was_found(look, wines, picture):
    page = look(wines)
    assert page.title() == "178 Italian wines"
    found = "3 dimensions keep 66.5 % of the variance of 13 columns: as many as the rules advise, of 6 fitted."
    assert page.locator(".finding").inner_text() == found
    assert page.locator(".warning").inner_text() == "Something to know."
    assert page.locator(".badge").inner_text() == "certified"
    picture(page, "wines-light")


def test_k_follows_keys_and_everything_follows_k(look, wines):
    page = look(wines)
    slider = page.get_by_role("slider", name="Number of components").first
    assert slider.get_attribute("aria-valuetext") == "6 of 6, 85.1 % of the variance"
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert kept(page) == "80.2 %"
    page.keyboard.press("Home")
    assert kept(page) == "36.2 %"
    assert page.locator(".share.in").count() == 1
    assert page.locator("#columns .sticky thead th").count() == 2
    assert "1 component" in page.locator("#rebuild thead").inner_text()
    one = page.locator("#rebuild .headline b").inner_text()
    page.keyboard.press("End")
    assert page.locator("#columns .sticky thead th").count() == 7
    assert page.locator("#rebuild .headline b").inner_text() != one


def test_k_follows_the_mouse(look, wines):
    page = look(wines)
    x, y = middle(page, ".handle")
    bar = page.locator(".share").nth(1).bounding_box()
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(bar["x"] + bar["width"], y, steps=5)
    page.mouse.up()
    assert kept(page) == "55.4 %"
    page.get_by_role("button", name="One component more").click()
    assert kept(page) == "66.5 %"


def test_a_rule_sets_k(look, wines):
    page = look(wines)
    assert page.locator(".rule").count() == 3
    page.get_by_role("button", name="Look at 3 components").click()
    assert page.locator(".grip").inner_text() == "3"


def test_pointing_at_a_row_shows_its_values_largest_deviation_first(look, wines):
    page = look(wines)
    page.get_by_label("find a row").fill("wine 19")
    page.keyboard.press("Enter")
    x, y = first_point(page)
    page.mouse.move(x, y)
    card = page.locator(".floating .card")
    assert card.locator("h3").inner_text() == "wine 19"
    by = [abs(float(text.replace("−", "-"))) for text in card.locator("td:last-child").all_inner_texts()]
    assert by == sorted(by, reverse=True)
    # wine 19 has the most proline of all: 1680, against a mean of 747 and a deviation of 315
    assert card.locator("tr").first.inner_text().split() == ["proline", "1,680", "+3.0"]
    page.get_by_role("button", name="Let go of this row").click()
    assert page.locator("#map .ring").count() == 0
    page.mouse.click(x, y)
    assert page.locator("#map aside .card h3").inner_text().startswith("wine 19")


def test_axes_colours_ellipses_and_arrows(look, wines):
    page = look(wines)
    before = pixels(page, "#map canvas")
    page.get_by_label("across").select_option("2")
    assert page.locator("#map .axis-label").all_text_contents() == ["PC2 · 19.2 %", "PC3 · 11.1 %"]
    moved = pixels(page, "#map canvas")
    assert moved != before
    assert page.locator(".ellipse").count() == 3
    page.get_by_label("ellipses").uncheck()
    assert page.locator(".ellipse").count() == 0
    page.locator("#map .controls select").nth(2).select_option(label="alcohol")
    assert page.locator(".ramp-ends").inner_text().split() == ["11.03", "14.83"]
    assert pixels(page, "#map canvas") != moved
    page.get_by_label("arrows of columns").check()
    assert page.locator(".arrows line").count() > 5
    assert "rows U S, columns V" in page.locator("#map").inner_text()


def test_zoom_pan_wheel_and_back(look, wines):
    page = look(wines)
    whole = pixels(page, "#map canvas")
    x, y = middle(page, "#map .plot")
    page.get_by_role("group", name="Zoom", exact=True).first.get_by_role("button", name="Zoom in").click()
    closer = pixels(page, "#map canvas")
    assert closer != whole
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 30, steps=4)
    page.mouse.up()
    assert pixels(page, "#map canvas") != closer
    page.get_by_role("button", name="Show all").first.click()
    assert pixels(page, "#map canvas") == whole
    scrolled = page.evaluate("scrollY")
    page.mouse.move(x, y)
    page.locator("#map .plot").focus()
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(100)
    assert pixels(page, "#map canvas") != whole
    assert page.evaluate("scrollY") == scrolled
    page.keyboard.press("0")
    assert pixels(page, "#map canvas") == whole


def test_a_pinch_zooms(look, wines):
    page = look(wines, has_touch=True)
    whole = pixels(page, "#map canvas")
    script = """plot => {
      const box = plot.getBoundingClientRect();
      plot.setPointerCapture = () => {};
      const touch = (type, id, x) => plot.dispatchEvent(new PointerEvent(type, {
        pointerId: id, pointerType: "touch", bubbles: true, clientX: box.left + x, clientY: box.top + 200 }));
      touch("pointerdown", 1, 200); touch("pointerdown", 2, 300);
      touch("pointermove", 2, 400); touch("pointerup", 1, 200); touch("pointerup", 2, 400);
    }"""
    page.locator("#map .plot").evaluate(script)
    page.wait_for_timeout(100)
    assert pixels(page, "#map canvas") != whole


def test_a_lasso_says_what_sets_its_rows_apart(look, wines):
    page = look(wines)
    page.get_by_role("button", name="Lasso").click()
    x, y = middle(page, "#map .plot")
    page.mouse.move(x, y - 180)
    page.mouse.down()
    for step in range(1, 25):  # around the left half
        angle = 2 * math.pi * step / 24
        page.mouse.move(x - 330 + 330 * math.cos(angle), y - 180 + 320 * math.sin(angle))
    page.mouse.up()
    heading = page.locator("#apart h3").inner_text()
    count = int(re.search(r"these (\d+) rows", heading).group(1))
    assert 0 < count < 178
    assert f"{count} rows selected" in page.get_by_role("status").inner_text()
    page.get_by_role("button", name="clear selection").click()
    assert page.locator("#apart").count() == 0


def test_groups_and_ranges_select_without_a_mouse(look, wines):
    page = look(wines)
    page.locator("#map .groups button").first.focus()
    page.keyboard.press("Enter")
    assert "What sets these 59 rows apart" in page.locator("#apart h3").inner_text()
    first = page.locator("#apart tbody tr").first.inner_text()
    wine = pages.datasets.wine()
    proline, these = wine.values[:, -1], wine.labels == wine.labels[0]
    by = (proline[these].mean() - proline[~these].mean()) / proline.std(ddof=1)
    assert first.split() == ["proline", f"{proline[these].mean():,.0f}", f"{proline[~these].mean():.0f}", f"+{by:.2f}"]
    page.locator("#map summary", has_text="Select rows by value").press("Enter")
    page.locator(".select-rows select").select_option(label="alcohol")
    page.get_by_label("from", exact=True).fill("14")
    page.get_by_role("button", name="Select", exact=True).press("Enter")
    values = pages.datasets.wine().values[:, 0]
    assert f"What sets these {(values >= 14).sum()} rows apart" in page.locator("#apart h3").inner_text()


def test_the_table_of_columns_is_sorted_and_searched(look, wines):
    page = look(wines)
    rows = page.locator("#columns .sticky tbody tr")

    def entries(column):
        return [
            abs(float(text.replace("−", "-"))) for text in rows.locator(f"td:nth-child({column})").all_inner_texts()
        ]

    assert entries(2) == sorted(entries(2), reverse=True)
    page.get_by_role("button", name="PC2").click()
    assert entries(3) == sorted(entries(3), reverse=True)
    page.get_by_role("button", name="PC2").click()
    assert entries(3) == sorted(entries(3))
    assert page.locator("#columns th[aria-sort=ascending]").count() == 1
    page.get_by_label("search columns").fill("phenol")
    assert rows.count() == 2
    assert "2 of 13 columns" in page.locator("#columns").inner_text()


def test_unusual_rows_and_what_put_them_there(look, wines):
    page = look(wines)
    assert "21 of 178 rows are beyond a limit" in page.locator("#unusual .headline").inner_text()
    page.get_by_text("The rows beyond a limit", exact=True).click()
    page.locator("#unusual .members button", has_text="wine 122").click()
    shown = page.locator(".contributions")
    assert shown.locator("h3").inner_text() == "wine 122"
    assert shown.locator("caption").all_inner_texts() == ["Share of T²", "Share of Q"]


def test_rows_step_and_are_rebuilt(look, wines):
    page = look(wines)
    name = page.locator(".row-stepper b")
    assert name.inner_text() == "wine 1"
    page.get_by_role("button", name="Next row").click()
    assert name.inner_text() == "wine 2"
    page.get_by_role("button", name="Previous row").click()
    page.get_by_role("button", name="Previous row").click()
    assert name.inner_text() == "wine 178"
    before = page.locator("#rebuild tbody").inner_text()
    page.locator(".k-slider input").fill("2")
    assert page.locator("#rebuild tbody").inner_text() != before
    assert page.locator(".grip").inner_text() == "2"


def test_pictures_follow_k(look, digits, picture):
    page = look(digits)
    told = "#rebuild figure:nth-of-type(2) canvas"
    original, ten = pixels(page, "#rebuild figure canvas"), pixels(page, told)
    page.locator(".k-slider input").fill("1")
    assert pixels(page, told) != ten
    assert pixels(page, "#rebuild figure canvas") == original
    assert page.locator(".tile").count() == 1
    page.locator(".k-slider input").fill("10")
    steps = pixels(page, ".components figure canvas")
    page.locator(".tile").nth(3).click()
    assert "From less to more of PC4" in page.locator(".components").inner_text()
    assert pixels(page, ".components figure canvas") != steps
    picture(page, "digits")


def test_lines_are_copied(look, wines):
    page = look(wines, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy: In Python").click()
    page.get_by_text("Copied", exact=True).wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "model = lowdim.PCA(6, scale=True).fit(wine)"


def test_dark_and_light(look, wines, picture):
    page = look(wines, color_scheme="dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    points = pixels(page, "#map canvas")
    picture(page, "wines-dark")
    page.get_by_role("button", name="Light colours").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    assert pixels(page, "#map canvas") != points
    assert page.get_by_role("button", name="Dark colours").count() == 1


def test_a_phone_has_no_sideways_scroll(look, wines, digits, picture):
    for name, address in (("wines", wines), ("digits", digits)):
        page = look(address, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        picture(page, f"{name}-phone")


def test_paper_is_light_and_holds_everything(look, wines, picture):
    page = look(wines, color_scheme="dark", viewport={"width": 794, "height": 1100})
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.locator("details:not([open])").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 794
    assert not page.locator(".bar-top").is_visible()
    picture(page, "wines-paper")
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_one_component_is_a_line(look, folder, picture):
    page = look(pages.written(pages.one_component(), folder, "line"))
    assert page.get_by_label("across").count() == 0
    assert "placed along the one component" in page.locator("#map").inner_text()
    assert page.locator("#rebuild").count() == 0  # the page holds no values
    page.get_by_label("find a row").fill("7")
    page.keyboard.press("Enter")
    assert page.locator("aside .card h3").inner_text().startswith("Row 7")
    picture(page, "line")


def test_missing_values_are_named_and_filled(look, folder):
    page = look(pages.written(pages.with_holes(), folder, "holes"))
    page.get_by_label("find a row").fill("1")
    holes = pages.with_holes().rows.values
    row = int((holes != holes).any(axis=1).argmax())
    page.get_by_label("find a row").fill(f"Row {row + 1}")
    page.keyboard.press("Enter")
    assert page.locator("#rebuild em").first.inner_text() == "missing"


def test_hostile_names_stay_text(look, folder, picture):
    page = look(pages.written(pages.hostile(), folder, "hostile"))
    page.get_by_label("arrows of columns").check()
    page.locator("#map .groups button").first.click()
    page.get_by_role("button", name="Next row").click()
    for summary in page.locator("summary").all():
        summary.click()
    assert page.locator("img, #page script, iframe, svg[onload]").count() == 0
    assert page.title() == pages.HOSTILE[0]
    assert page.locator("h1").inner_text() == pages.HOSTILE[0]
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200
    picture(page, "hostile")


def test_the_keyboard_alone_reaches_everything(look, wines):
    page = look(wines)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.evaluate("""() => {
      window.reached = [];
      addEventListener("focusin", ({ target }) => {
        const bare = getComputedStyle(target).outlineStyle === "none";
        const name = target.getAttribute("aria-label") || target.className || target.tagName;
        reached.push((bare ? "no outline: " : "") + name);
      });
    }""")
    for _ in range(90):
        page.keyboard.press("Tab")
    reached = set(page.evaluate("reached"))
    assert not [one for one in reached if one.startswith("no outline")]
    assert {"Number of components", "Zoom in", "Next row", "Copy: In Python", "sort", "toggle"} <= reached


@pytest.mark.parametrize("which", ["wines", "digits"])
def test_axe_finds_nothing_serious_in_light_and_dark(look, request, axe, which):
    page = look(request.getfixturevalue(which))
    if which == "wines":
        page.locator("#map .groups button").first.click()
        page.locator("#map summary", has_text="Select rows by value").click()
    page.evaluate(axe)  # the page's policy runs no foreign script, but the debugger may
    for _ in ("light", "dark"):
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert [(one["id"], one["nodes"][0]["html"][:200], one["nodes"][0]["failureSummary"]) for one in serious] == []
        page.locator(".bar-tools > button").click()


def test_a_hundred_thousand_points(look, folder, picture):
    page = look(pages.written(pages.many(), folder, "many"))
    page.evaluate("""() => {
      window.frames_ = [];
      new PerformanceObserver(list => frames_.push(...list.getEntriesByName("lowdim-draw").map(one => one.duration)))
        .observe({ type: "measure" });
    }""")
    whole = pixels(page, "#map canvas")
    x, y = middle(page, "#map .plot")
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(20):
        page.mouse.move(x + 3 * step, y + step)
    page.mouse.up()
    page.wait_for_timeout(200)
    frames = sorted(page.evaluate("frames_"))
    print(f"median frame of 100,000 points: {frames[len(frames) // 2]:.1f} ms, worst {frames[-1]:.1f} ms")
    assert pixels(page, "#map canvas") != whole
    picture(page, "many")
