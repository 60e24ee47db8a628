"""The report and the gallery in a browser: headless Chromium, as Debian packages it."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright
from test_report import EVALUATED, HARDWARE, RESULTS, SWEPT

from warploom.kernels.library import kernel
from warploom.pages import gallery, report
from warploom.programs.library import program

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("chromium")]

PATIENCE = 120_000
"""Milliseconds to wait for a page on a busy machine."""

LAPTOP, PHONE = (1366, 800), (390, 800)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; the page needs no server, and the browser gets no network."""
    path = shutil.which("chromium")
    if path is None:
        pytest.fail("no Chromium: install the Debian package chromium (apt install chromium)", pytrace=False)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of small documents, one of them with runs."""
    path = tmp_path_factory.mktemp("browser") / "report.html"
    report.write([EVALUATED, HARDWARE, SWEPT], path)
    return path


class Opened:
    """A page that has drawn what is in view; `said` is all that its console says, and every request for a network."""

    def __init__(self, browser: Browser, path: Path, size: tuple[int, int] = LAPTOP, scheme: Any = "light") -> None:
        self.said: list[str] = []
        self._context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme,
                                            offline=True)
        self._context.set_default_timeout(PATIENCE)
        self.page: Page = self._context.new_page()
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.said.extend(
            [] if request.url.startswith(("file:", "data:", "blob:")) else [request.url]))
        self.page.goto(path.as_uri())

    def draw_all(self) -> None:
        """Look at every chart."""
        self.page.wait_for_selector("html[data-ready]")
        for chart in self.page.locator("[data-chart]").all():
            chart.scroll_into_view_if_needed()
            chart.locator(".main-svg").first.wait_for()

    def close(self) -> None:
        """Nothing went wrong."""
        self._context.close()
        assert self.said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [LAPTOP, PHONE])
def test_charts(browser: Browser, path: Path, size: tuple[int, int], scheme: str, tmp_path: Path) -> None:
    opened = Opened(browser, path, size, scheme)
    opened.draw_all()
    page = opened.page
    drawn = page.evaluate("""[...document.querySelectorAll("[data-chart]")].map((place) => [
        place.dataset.chart, place.data.map((trace) => trace.y), place.querySelectorAll(".point path").length])""")
    assert len(drawn) == page.locator("[data-chart]").count() > 6
    bars = {key: (values, count) for key, values, count in drawn}
    values, count = bars["coalescing-fig-3-21"]
    assert values == [[10.25, -3.5, 3.375, 31.8], [20.5, 1.0, 10.75, 33.8]] and count == 8
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page itself never scrolls sideways"
    ink = page.evaluate("""getComputedStyle(document.querySelector(".xtick text")).fill""")
    assert ink == {"light": "rgb(34, 38, 43)", "dark": "rgb(232, 230, 225)"}[scheme]
    assert page.screenshot(path=tmp_path / "page.png", full_page=True)
    opened.close()


def test_another_theme_is_drawn_at_once(browser: Browser, path: Path) -> None:
    opened = Opened(browser, path)
    opened.draw_all()
    opened.page.emulate_media(color_scheme="dark")
    expect(opened.page.locator(".xtick text").first).to_have_css("fill", "rgb(232, 230, 225)", timeout=PATIENCE)
    opened.close()


def test_a_bar_leads_to_its_runs(browser: Browser, path: Path) -> None:
    opened = Opened(browser, path)
    opened.draw_all()
    page = opened.page
    chart = page.locator("[data-chart=coalescing-fig-3-21]")
    chart.scroll_into_view_if_needed()
    box = chart.locator(".trace.bars").nth(0).locator(".point").nth(0).bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    dialog = page.get_by_role("dialog", name="bfs in “Coalescing of accesses”")
    dialog.wait_for()
    assert "warploom run bfs --size tiny --preset fermi --set layout=wid  # wid_off" in dialog.inner_text()
    row = dialog.get_by_role("row", name="cycles").inner_text().split()
    assert row == ["cycles", "900", "1,000"]  # of wid_reg and of wid_off
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    opened.close()


def test_by_keyboard(browser: Browser, path: Path) -> None:
    opened = Opened(browser, path)
    opened.draw_all()
    page = opened.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    section = page.locator("#coalescing-fig-3-21")
    section.get_by_text("Table of all numbers").focus()
    page.keyboard.press("Enter")
    for _ in range(2):  # the table, which scrolls, and the first row's link
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "bfs"
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for()
    assert page.evaluate("document.activeElement.closest('dialog') !== null")
    page.get_by_role("button", name="Close").press("Enter")
    assert page.evaluate("location.hash") == ""
    opened.close()


@pytest.mark.parametrize("kind", ["CSV", "JSON"])
def test_downloads(browser: Browser, path: Path, kind: str) -> None:
    opened = Opened(browser, path)
    opened.draw_all()
    with opened.page.expect_download() as waiting:
        opened.page.get_by_role("button", name=f"{kind} of Fig. 3.21: Bank accesses saved").click()
    assert waiting.value.suggested_filename == f"coalescing-fig-3-21.{kind.lower()}"
    text = Path(waiting.value.path()).read_text()
    if kind == "CSV":
        assert text.splitlines()[:2] == ["program,reg,ideal", "bfs,10.25,20.5"]
    else:
        assert json.loads(text)["rows"] == {"bfs": [10.25, 20.5], "nw": [-3.5, 1.0]}
    opened.close()


def test_print(browser: Browser, path: Path, tmp_path: Path) -> None:
    opened = Opened(browser, path, scheme="dark")
    opened.draw_all()
    page = opened.page
    page.evaluate("""addEventListener("beforeprint", () => {
        window.printed = [...document.querySelectorAll("[data-chart]")].map((place) => [
            place.querySelector(".main-svg").getAttribute("width"),
            getComputedStyle(place.querySelector(".xtick text, .legendtext")).fill]);
        window.open_ = document.querySelectorAll("details:not([open], .on-screen)").length;
    })""")
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    printed = page.evaluate("window.printed")
    assert len(printed) == page.locator("[data-chart]").count()
    assert {tuple(one) for one in printed} == {("660", "rgb(34, 38, 43)")}, "light, and as wide as paper"
    assert page.evaluate("window.open_") == 0
    assert (tmp_path / "report.pdf").stat().st_size > 50_000
    opened.close()


def test_paper_has_averages_and_no_rows_of_programs(browser: Browser, path: Path) -> None:
    opened = Opened(browser, path)
    opened.draw_all()
    page = opened.page
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    figure, area = page.locator("#coalescing-fig-3-21"), page.locator("#hardware-area-coalescing")
    assert figure.locator("details tr").filter(visible=True).all_inner_texts() == [
        "program\treg\tideal", "average\t3.4\t10.8", "published\t31.8\t≤ 33.8"]
    assert not figure.locator(".compared").is_visible()
    assert area.locator("details tbody tr").filter(visible=True).count() == 2
    opened.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(browser: Browser, path: Path, scheme: str) -> None:
    """The rules of axe-core, which include those of WCAG 2."""
    opened = Opened(browser, path, scheme=scheme)
    opened.draw_all()
    opened.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = Axe().run(opened.page)
    assert found.violations_count == 0, found.generate_report()
    opened.close()


def test_the_committed_results(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    report.write([json.loads(one.read_text()) for one in RESULTS], path)
    opened = Opened(browser, path)
    opened.draw_all()
    assert opened.page.locator(".bars").count() > 300
    opened.close()


@pytest.mark.parametrize("size", [LAPTOP, PHONE])
def test_the_gallery(browser: Browser, size: tuple[int, int], tmp_path: Path) -> None:
    path = tmp_path / "gallery.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gallery, "SIZE", "tiny")
        gallery.write(path, [program("median"), program("ray_tracing"), program("aes")], [kernel("hotspot")],
                      lambda _: None)
    opened = Opened(browser, path, size, "dark")
    assert opened.page.evaluate("[...document.images].every((one) => one.complete && one.naturalWidth > 0)")
    assert opened.page.locator("img").count() == 4
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = Axe().run(opened.page)
    assert found.violations_count == 0, found.generate_report()
    opened.close()
