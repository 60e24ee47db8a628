"""The gallery of bundled programs: a few of them on the page, their launches and their pictures."""

import base64
import io
import subprocess
import sys
from pathlib import Path

import html5lib
import numpy as np
import pytest
from lxml import html
from matplotlib.image import imread

from warploom.arch.errors import ExecutionError
from warploom.cli import main
from warploom.kernels.library import kernel, kernels
from warploom.pages import gallery
from warploom.pages.gallery import described
from warploom.pages.pictures import SHOWN, middle, pictures, unprinted
from warploom.programs.library import names, program


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> html.HtmlElement:
    """Two programs, one of which has pictures, and a kernel, at tiny size."""
    path, heard = tmp_path_factory.mktemp("gallery") / "new" / "gallery.html", list[str]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gallery, "SIZE", "tiny")
        gallery.write(path, [program("median"), program("lud")], [kernel("hotspot")], heard.append)
    assert heard == ["median", "lud", "hotspot"]
    text = path.read_text(encoding="utf-8")
    html5lib.HTMLParser(strict=True).parse(text)
    return html.document_fromstring(text)


def facts(page: html.HtmlElement, name: str) -> dict[str, str]:
    """What the page says of a program."""
    card = page.get_element_by_id(name)
    return {term.text: term.getnext().text_content() for term in card.iter("dt")}


def test_cards(page: html.HtmlElement) -> None:
    assert [one.get("id") for one in page.iter("li") if one.get("class") == "card"] == ["median", "lud", "hotspot"]
    assert page.get_element_by_id("median").find("p").text == program("median").what
    assert facts(page, "median") == {
        "Stands for": "median [AFFINE]", "Launches": "median, 1 block of 16 x 8 threads",
        "Outputs": "result: 8 x 16 uint8", "Sizes": "tiny, default, large",
        "Source": "warploom/programs/median/median.cu"}
    assert facts(page, "hotspot")["Launches"] == "hotspot, 4 x 4 blocks of 8 x 8 threads"


def test_pictures_are_inputs_and_outputs(page: html.HtmlElement) -> None:
    shown = list(page.get_element_by_id("median").iter("img"))
    assert [one.get("alt") for one in shown] == ["median, input", "median, output"]
    this = program("median")
    given = this.inputs("tiny")
    expected = [given["image"], this.reference(given)["result"]]
    for image, array in zip(shown, expected, strict=True):
        data = base64.b64decode(image.get("src").removeprefix("data:image/png;base64,"))
        grey = imread(io.BytesIO(data))[..., 0]
        low, high = int(array.min()), int(array.max())
        assert grey.shape == array.shape
        assert np.abs(grey - (array.astype(float) - low) / (high - low)).max() < 1 / 100
    assert not list(page.get_element_by_id("lud").iter("img"))


def test_links_and_addresses(page: html.HtmlElement) -> None:
    known = {one.get("id") for one in page.iter() if one.get("id")}
    assert all(one.get("href")[1:] in known for one in page.iter("a"))
    assert all(one.get("src").startswith("data:image/png;") for one in page.iter("img"))
    assert not list(page.iter("script")) and page.find("head/link").get("href") == "data:,"


def test_launches_in_words() -> None:
    step = [("step", (blocks, 1, 1), (16, 1, 1)) for blocks in (3, 2, 1)]
    assert described([*step, ("end", (4, 2, 1), (32, 1, 1)), ("end", (4, 2, 1), (32, 1, 1))]) == [
        "step, 3 launches: 3 blocks of 16 threads ... 1 block of 16 threads",
        "end, 2 launches: 4 x 2 blocks of 32 threads"]


def test_colours() -> None:
    printed = np.array([[[0, 0, 0, 0], [255, 0, 0, 0], [0, 0, 0, 255], [0, 51, 0, 51]]], np.uint8)
    assert unprinted(printed).tolist() == [[[255, 255, 255], [0, 255, 255], [0, 0, 0], [204, 153, 204]]]
    assert unprinted(printed[..., :3]).tolist() == printed[..., :3].tolist()
    assert middle(np.arange(5)) == 2
    assert pictures("aes", {}, {}) == []


def test_inks_give_the_colours_back() -> None:
    this = program("rgb2cmyk")
    given = this.inputs("tiny")
    assert np.array_equal(unprinted(this.reference(given)["cmyk"]), given["rgb"])


def test_what_has_pictures_is_bundled() -> None:
    assert SHOWN.keys() <= {*names(), *(one.name for one in kernels())}


def test_wrong_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    this = program("median")
    monkeypatch.setattr(gallery, "SIZE", "tiny")
    monkeypatch.setattr(type(this), "mismatches", lambda *_: ["result: differs"])
    with pytest.raises(ExecutionError, match=r"median \(tiny\): result: differs"):
        gallery.write(tmp_path / "gallery.html", [this], [], lambda _: None)
    assert not (tmp_path / "gallery.html").exists()


def test_the_place_is_checked_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernels", "--gallery", str(tmp_path / "none" / "gallery.html")]) == 1
    assert "No such file or directory" in capsys.readouterr().err


@pytest.mark.long
def test_every_program(tmp_path: Path) -> None:
    path = tmp_path / "gallery.html"
    subprocess.run([sys.executable, "-m", "warploom.cli", "kernels", "--gallery", str(path)], check=True)
    page = html.document_fromstring(path.read_text(encoding="utf-8"))
    cards = [one.get("id") for one in page.iter("li") if one.get("class") == "card"]
    assert cards == [*names(), *(one.name for one in kernels())] and len(cards) > 60
    assert {one.get("alt").split(",")[0] for one in page.iter("img")} == SHOWN.keys()
