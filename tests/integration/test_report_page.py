"""The HTML report in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.browser import CHROMIUM, Browser, browsing
from tests.unit.record_samples import cell_record, outcome, run_record, sixteen_cells

from crossmatrix.records import Verdict
from crossmatrix.report.page import render_html

if TYPE_CHECKING:
    from collections.abc import Iterator

FAILED = "nettle-3.10.2/asm/gcc-12/aarch64_be-linux-musl"
OPENED = "document.querySelector('article.open')?.id ?? ''"
FOCUSED = "document.activeElement.dataset.cell ?? ''"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Give one browser for all tests of the module."""
    assert Path(CHROMIUM).exists(), "install Debian's package chromium; `./bootstrap test` does so as root"
    with browsing(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the sample run's page as a file."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render_html(sixteen_cells()), encoding="utf-8")
    return path


@pytest.fixture
def shown(browser: Browser, page: Path) -> Browser:
    """Give the browser with the sample page in a window of ordinary size."""
    browser.view(1280, 900)
    browser.open(page)
    return browser


def visible(browser: Browser, selector: str) -> int:
    """Give how many elements of a kind take room on the page."""
    return int(browser.ask(f"[...document.querySelectorAll({selector!r})].filter(e => e.offsetParent).length"))


def complaints(browser: Browser) -> list[object]:
    """Give what the browser had to complain of since the page was opened, and what it asked the network for."""
    wrong = [event for event in browser.events if event["method"] in {"Log.entryAdded", "Runtime.exceptionThrown"}]
    asked = [
        event["params"]["request"]["url"]
        for event in browser.events
        if event["method"] == "Network.requestWillBeSent" and not event["params"]["request"]["url"].startswith("file:")
    ]
    return [*wrong, *(url for url in asked if url != "data:,")]


def test_the_verdict_and_the_whole_grid_are_seen_without_scrolling(shown: Browser) -> None:
    """A reader in a hurry sees the sentence and all sixteen fields, in columns of the same width."""
    assert shown.ask("document.querySelector('h1').textContent").startswith("4 of 16 cells are not as expected")
    assert visible(shown, "a.field") == 16
    assert shown.ask(
        "[...document.querySelectorAll('a.field')].every(f => f.getBoundingClientRect().bottom < innerHeight)"
    )
    widths = shown.ask("[...document.querySelectorAll('a.field')].map(f => f.getBoundingClientRect().width)")
    assert max(widths) - min(widths) < 20
    assert visible(shown, "article.cell") == 0
    assert complaints(shown) == []


def test_a_click_opens_a_cell_with_its_stages_tests_versions_and_log(shown: Browser) -> None:
    """Everything on one cell is one click away, and a click beside it closes it."""
    shown.ask(f"document.querySelector('a.field[data-cell=\"{FAILED}\"]').click()")
    assert shown.ask(OPENED) == FAILED
    text = shown.ask("document.querySelector('article.open').innerText")
    for part in ("gcm-test", "exit status 134", "configure", "gcc 12.2.0-14", "FAIL: ghash", "suite log", "copy"):
        assert part in text
    assert shown.ask("location.hash") == f"#{FAILED}"
    shown.ask("document.documentElement.click()")
    assert shown.ask(OPENED) == ""
    assert complaints(shown) == []


def test_the_grid_is_walked_with_the_keyboard(shown: Browser) -> None:
    """Arrows move, Enter opens, Escape closes and gives the focus back."""
    shown.ask("document.querySelector('a.field').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        shown.press(key)
    assert shown.ask(FOCUSED) == FAILED
    shown.press("Enter")
    assert shown.ask(OPENED) == FAILED
    shown.press("Escape")
    assert shown.ask(OPENED) == ""
    assert shown.ask(FOCUSED) == FAILED
    for key in ("ArrowLeft", "ArrowUp", "ArrowLeft", "ArrowLeft"):
        shown.press(key)
    assert shown.ask(FOCUSED) == "openssl-3.0.20/no-asm/gcc-12/aarch64-linux-musl"
    assert shown.ask("document.querySelectorAll('a.field[tabindex=\"0\"]').length") == 1


def test_the_focus_can_be_seen(shown: Browser) -> None:
    """A field that was reached by the keyboard has an outline."""
    shown.ask("document.querySelector('a.field').focus()")
    shown.press("ArrowDown")
    assert shown.ask("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_the_slash_filters_cells(shown: Browser) -> None:
    """Words and key=value narrow the grid and the lists; Escape clears the filter."""
    shown.press("/")
    shown.type("endian=big clang")
    assert shown.ask("document.getElementById('matches').textContent") == "4 of 16 cells"
    assert visible(shown, "a.field:not(.out)") == 4
    assert visible(shown, "li[data-cell]") == 2
    shown.press("Escape")
    assert visible(shown, "a.field:not(.out)") == 16
    shown.ask("document.querySelector('button[data-filter=\"verdict=vacuous\"]').click()")
    assert visible(shown, "a.field:not(.out)") == 1
    assert visible(shown, "tr.row") == 1


def test_an_address_leads_to_a_cell_and_back_closes_it(shown: Browser, page: Path) -> None:
    """A link to one cell can be mailed; the browser's back button works."""
    shown.open(page, f"#{FAILED}")
    assert shown.ask(OPENED) == FAILED
    shown.open(page)
    shown.ask("document.querySelector('a.field').click()")
    assert shown.ask(OPENED) != ""
    shown.ask(
        "new Promise(done => { addEventListener('popstate', done, { once: true }); history.back(); }).then(() => 1)"
    )
    assert shown.ask(OPENED) == ""


@pytest.mark.parametrize("width", [360, 390, 768])
def test_a_narrow_screen_needs_no_sideways_scrolling(shown: Browser, width: int) -> None:
    """On a telephone the page fits, and an opened cell takes the whole width."""
    shown.view(width, 700)
    assert shown.ask("document.documentElement.scrollWidth <= innerWidth")
    assert shown.ask("document.querySelector('.grid').getBoundingClientRect().right <= innerWidth")
    shown.ask(f"document.querySelector('a.field[data-cell=\"{FAILED}\"]').click()")
    assert shown.ask("document.querySelector('article.open').getBoundingClientRect().width <= innerWidth")
    assert shown.ask("document.querySelector('article.open').scrollWidth <= innerWidth")


@pytest.mark.parametrize("dark", [False, True])
def test_text_has_contrast_in_light_and_in_dark(shown: Browser, *, dark: bool) -> None:
    """Every field's words stand out from the field by 4.5 to 1 or more, as WCAG's level AA asks."""
    shown.view(1280, 900, dark=dark)
    script = """
    (() => {
      const light = (colour) => {
        const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
          .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      return [...document.querySelectorAll("a.field, .chip")].map((field) => {
        const over = light(getComputedStyle(field.querySelector("span + span, span")).color);
        const under = light(getComputedStyle(field).backgroundColor);
        return (Math.max(over, under) + 0.05) / (Math.min(over, under) + 0.05);
      });
    })()
    """
    assert min(shown.ask(script)) >= 4.5
    paper = shown.ask("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(19, 21, 24)") == dark


def test_markup_from_a_log_does_nothing(browser: Browser, tmp_path: Path) -> None:
    """A script that a test printed is shown as text and is not run, nor is an image fetched."""
    attack = "</pre><script>document.title='taken'</script><img src='https://example.org/x' onerror='document.title=1'>"
    case = outcome("x-test", "failed", cause=attack, output=attack)
    record = cell_record(verdict=Verdict.FAILED, reason=attack, log_tail=attack, outcomes=(case,))
    path = tmp_path / "report.html"
    path.write_text(render_html(run_record(record)), encoding="utf-8")
    browser.open(path, f"#{record.id}")
    assert browser.ask("document.title").startswith("1 of 1 cell is not as expected")
    assert attack in browser.ask("document.querySelector('article.open pre').textContent")
    assert browser.ask("document.images.length") == 0
    assert complaints(browser) == []


def test_print_shows_the_cells_in_trouble(shown: Browser) -> None:
    """On paper the cells that are not as expected are laid out in full, the others stay away."""
    shown.call("Emulation.setEmulatedMedia", media="print")
    assert visible(shown, "article.cell") == 4
    shown.call("Emulation.setEmulatedMedia", media="")
