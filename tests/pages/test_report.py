"""The report: its numbers are those of the documents, it is whole in itself, and everybody can read it."""

import base64
import copy
import csv
import gzip
import io
import json
import math
import re
import shlex
from pathlib import Path
from typing import Any

import html5lib
import pytest
from lxml import html

from warploom.arch.config import SmConfig
from warploom.arch.gpu import GpuConfig
from warploom.cli import main
from warploom.evaluation.experiments import EXPERIMENTS
from warploom.evaluation.published import published
from warploom.evaluation.repeating import options
from warploom.pages import panels, rendering, report
from warploom.pages.document import DocumentError, checked, read
from warploom.pages.links import experiment_command
from warploom.pages.panels import NONE
from warploom.pages.rendering import MINUS
from warploom.pages.why import reasons

RESULTS = sorted((Path(__file__).resolve().parents[2] / "docs" / "results").glob("*.json"))

STATISTICS = {"cycles": 1000, "ipc": 0.5, "stalls": {"memory": 30, "collector": 10}, "source_widths": [4, 3, 2, 1],
              "destination_widths": [0, 0, 0, 8]}
UNIT = {"unit": "Arbiter", "instances": 1, "logic_um2": 294.4, "sram_bits": 0, "sram_um2": 0.0, "delay_ps": 568.0,
        "start": "slot", "end": "grant"}
EVALUATED: dict[str, Any] = {
    "schema": 2, "verb": "evaluate", "version": "0.1.0", "commit": "0123456789abcdef+", "experiment": "coalescing",
    "size": "tiny", "configuration": {"name": "fermi", "banks": 4, "pipes": [{"name": "sp0", "lanes": 16}]},
    "figures": [
        {"figure": "Fig. 3.21", "note": "", "title": "Bank accesses saved", "unit": "percent", "stacked": False,
         "series": {"reg": {"kernels": {"bfs": 10.25, "nw": -3.5}, "average": 3.375, "published": "31.8",
                            "settings": ["wid_reg", "wid_off"]},
                    "ideal": {"kernels": {"bfs": 20.5, "nw": 1.0}, "average": 10.75, "published": "<= 33.8",
                              "settings": ["wid_ideal", "wid_off"]}}},
        {"figure": "Fig. 4.7", "note": "", "title": "Columns saved", "unit": "percent", "stacked": True,
         "series": {"inactive": {"kernels": {"bfs": 70.0, "nw": 5.0}, "average": 37.5, "published": "15.0"},
                    "zeros": {"kernels": {"bfs": 10.0, "nw": 15.0}, "average": 12.5, "published": "35.0"}}}],
    "pressure": [{"kernel": "bfs", "setting": "wid_off", "ipc": 1.0, "requests": 0.5, "conflicts": 0.1,
                  "issuing": 60.0, "collector": 30.0, "port": 0.0, "other": 10.0}],
    "settings": {"wid_off": ["--preset", "fermi", "--set", "layout=wid"], "wid_reg": ["--preset", "fermi"]},
    "runs": {"bfs": {"wid_off": STATISTICS, "wid_reg": {**STATISTICS, "cycles": 900}}, "nw": {"wid_off": STATISTICS}},
}
HARDWARE: dict[str, Any] = {
    "schema": 2, "verb": "evaluate", "version": "0.1.0", "commit": None, "experiment": "hardware",
    "configuration": {"name": "small"},
    "units": [{"unit": "Arbiter", "before": UNIT, "after": {**UNIT, "logic_um2": 2850.0, "delay_ps": 579.0},
               "area_ratio": 9.7, "added_um2": 2555.6, "added_sram_bits": 0, "delay_ratio": 1.02},
              {"unit": "MaskBuffer", "before": None, "after": {**UNIT, "unit": "MaskBuffer", "end": ""},
               "area_ratio": None, "added_um2": 294.4, "added_sram_bits": 0, "delay_ratio": None}],
}


SWEPT: dict[str, Any] = {
    "schema": 2, "verb": "sweep", "version": "0.1.0", "commit": None, "configuration": {"name": "small"},
    "size": "tiny",
    "points": [{"values": {"banks": "2", "collectors": "4"}, "ipc": 0.5, "ghz": 1.5, "speed": 0.75, "energy_pj": 90.5,
                "storage_bits": 1024, "area_um2": 5000.0, "front": True},
               {"values": {"banks": "4", "collectors": "4"}, "ipc": 0.5, "ghz": 1.25, "speed": 0.625, "energy_pj": 99.0,
                "storage_bits": 2048, "area_um2": 6000.0, "front": False}],
}


def written(path: Path, *documents: dict[str, Any]) -> html.HtmlElement:
    """The page of documents, parsed as HTML 5 without an error, then with lxml."""
    report.write(documents, path)
    text = path.read_text(encoding="utf-8")
    html5lib.HTMLParser(strict=True).parse(text)
    return html.document_fromstring(text)


def unpacked(page: html.HtmlElement, name: str) -> str:
    """What is packed into the page."""
    return gzip.decompress(base64.b64decode(page.get_element_by_id(name).text)).decode()


def data(page: html.HtmlElement) -> dict[str, Any]:
    """Charts, files and runs."""
    return json.loads(unpacked(page, "data"))


def rows(table: html.HtmlElement) -> dict[str, list[str]]:
    """The cells of a table by the first one of their row."""
    cells = [[cell.text_content().strip() for cell in row] for row in table.iter("tr")]
    return {first: others for first, *others in cells}


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], html.HtmlElement]:
    """The documents of docs/results, and their page."""
    documents = [json.loads(path.read_text()) for path in RESULTS]
    assert len(documents) >= 6
    return documents, written(tmp_path_factory.mktemp("report") / "report.html", *documents)


@pytest.fixture
def page(tmp_path: Path) -> html.HtmlElement:
    """The page of two small documents."""
    return written(tmp_path / "report.html", EVALUATED, HARDWARE)


# ---------------------------------------------------------------- numbers

def panels_of(page: html.HtmlElement, slug: str) -> list[html.HtmlElement]:
    """The figures of an experiment on the page, in order."""
    return [one for one in page.get_element_by_id(slug).iter("section") if one.get("class") == "panel"]


def test_every_number_of_every_figure(committed: tuple[list[dict[str, Any]], html.HtmlElement]) -> None:
    documents, page = committed
    packed, numbers = data(page), 0
    for slug, document in zip(report._slugs([checked(one, "") for one in documents]), documents, strict=True):
        for section, figure in zip(panels_of(page, slug), document.get("figures", ()), strict=False):
            key, series = section.get("id"), figure["series"]
            table = rows(next(one for one in section.iter("table") if one.get("class") is None))
            chart, file = packed["charts"][key]["data"], packed["files"][key]
            lines = {line[0]: line[1:] for line in csv.reader(io.StringIO(file["csv"]))}
            for number, (name, bar) in enumerate(series.items()):
                heights = dict(zip(chart[number]["x"], chart[number]["y"], strict=True))
                assert chart[number]["name"] == name
                averages = bar.get("averages") or {"average": bar["average"]}
                for workload, value in {**bar["kernels"], **averages}.items():
                    assert heights[workload] == value == float(lines[workload][number])
                    assert table[workload][number] == f"{value:,.1f}".replace("-", MINUS)
                    numbers += 1
                assert {name: row[number] for name, row in file["json"]["rows"].items()} == bar["kernels"]
                assert file["json"]["published"].get(name) == bar["published"]
                if bar["published"]:
                    assert table["published"][number] == rendering.typeset(bar["published"])
    assert numbers > 2000


def test_published_and_ours(page: html.HtmlElement) -> None:
    section = panels_of(page, "coalescing")[0]
    compared = next(one for one in section.iter("table") if one.get("class") == "compared")
    assert rows(compared) == {"bar": ["published", "ours", "difference"], "reg": ["31.8", "3.4", f"{MINUS}28.4"],
                              "ideal": ["≤ 33.8", "10.8", f"{MINUS}23.0"]}
    assert "Only requests for one bank" in section.text_content()
    overview = data(page)["charts"]["overview"]["data"][0]
    # Axes are linear about 0, and logarithmic far from it.
    assert [(10 * math.sinh(x), 10 * math.sinh(y)) for x, y in zip(overview["x"], overview["y"], strict=True)] == [
        pytest.approx(pair) for pair in ((31.8, 3.375), (33.8, 10.75), (15.0, 37.5), (35.0, 12.5))]
    assert overview["text"][0] == "Fig. 3.21: Bank accesses saved: reg<br>published 31.8 %, ours 3.4 %"


@pytest.mark.parametrize(("text", "ours", "expected"), [
    ("31.8", 30.0, -1.8), ("~ 60.0", 61.0, 1.0), ("<= 2.0", 3.0, 1.0), ("4.0 to 17.0", 10.0, 0.0),
    ("4.0 to 17.0", 3.0, -1.0), ("4.0 to 17.0", 20.0, 3.0),
])
def test_differences(text: str, ours: float, expected: float) -> None:
    assert panels.difference(text, ours) == pytest.approx(expected)


def test_stacked_bars_have_sums(page: html.HtmlElement) -> None:
    section = panels_of(page, "coalescing")[1]
    table = rows(list(section.iter("table"))[-1])
    assert table["program"] == ["inactive", "zeros", "in all"]
    assert [table[name][-1] for name in ("bfs", "nw", "average", "published")] == ["80.0", "20.0", "50.0", "50.0"]
    assert data(page)["charts"][section.get("id")]["layout"]["barmode"] == "relative"


def test_breakdowns(page: html.HtmlElement) -> None:
    files = {file["json"]["title"]: file["json"] for file in data(page)["files"].values()}
    stalls = files["Scheduler cycles without an issue, by cause, wid_off"]
    assert stalls["columns"] == ["memory", "collector"] and stalls["rows"]["nw"] == [75.0, 25.0]
    assert files["Cycles of the schedulers, wid_off"]["rows"] == {"bfs": [60.0, 30.0, 0.0, 10.0]}
    assert files["Register sources by bytes"]["rows"]["bfs"] == [40.0, 30.0, 20.0, 10.0]
    assert files["Register results by bytes"]["averages"]["average"] == [0.0, 0.0, 0.0, 100.0]


@pytest.mark.parametrize("settings", [
    [], ["banks=2", "rows=512"], ["sp1.lanes=8", "timing.int_mul=[5, 2]"], ["sp0.classes.int_add=[29, 1]"]])
def test_the_command_of_a_document(settings: list[str]) -> None:
    config = SmConfig.preset("fermi").with_settings(settings)
    words = shlex.split(experiment_command(checked({**EVALUATED, "options": options(config, "fermi")}, "")))
    assert words[:5] + words[-4:] == ["warploom", "evaluate", "coalescing", "--preset", "fermi", "--size", "tiny",
                                      "--json", "coalescing.json"]
    assert SmConfig.preset("fermi").with_settings(words[6:-4:2]) == config
    assert shlex.split(experiment_command(checked(EVALUATED, "")))[3:5] == ["--preset", "fermi"], "an earlier document"


def test_the_command_of_a_sample() -> None:
    command = shlex.split(experiment_command(checked({**EVALUATED, "blocks": 12}, "")))
    assert command[command.index("--blocks") + 1] == "12"
    assert "--blocks" not in experiment_command(checked(EVALUATED, ""))
    whole = {**EVALUATED, "experiment": "units", "size": "default"}  # an experiment of samples
    assert "--blocks all" in experiment_command(checked(whole, ""))
    assert "--blocks" not in experiment_command(checked({**whole, "size": "tiny"}, ""))


def test_the_command_of_a_document_of_a_gpu() -> None:
    gpu = GpuConfig.preset("hd7970").with_settings(["sms=5", "slices=1", "channels=1", "scheduler=lrr"])
    words = shlex.split(experiment_command(checked({**EVALUATED, "options": options(gpu, "k20x")}, "")))
    assert words[3:5] == ["--gpu", "hd7970"]
    assert sorted(words[6:-4:2]) == ["channels=1", "scheduler=lrr", "slices=1", "sms=5"]


def test_areas_and_paths(page: html.HtmlElement) -> None:
    area, path = panels_of(page, "hardware")
    assert rows(area.find(".//table"))["Arbiter"] == ["294", "2,850", "+2,556", "1"]
    assert rows(path.find(".//table")) == {
        "unit": ["without", "with", "from and to"], "Arbiter": ["568", "579", "slot → grant"],
        "MaskBuffer": [panels.NONE] * 3}


NEED = {"what": "buffer", "unit": "bytes", "ours": 2560.0, "published": "2.25 KB"}


def test_what_mechanisms_need(tmp_path: Path) -> None:
    """Bars are of bytes; the table has the rest, too."""
    share = {"what": "share", "unit": "%", "ours": 3.9, "published": "3.1 %"}
    beside = {"unit": "bytes", "what": "table", "corf": 512.0, "corf_published": "512 B", "ours": 0,
              "ours_published": "0"}
    gated = {**HARDWARE, "experiment": "gating", "units": [],
             "overheads": {"bytes": [NEED, share], "threads": [{**NEED, "ours": 9792.0}, {**share, "ours": 7.5}]}}
    page = written(tmp_path / "report.html", gated, {**HARDWARE, "overheads": [beside], "affine_registers": [NEED]})
    (section,) = panels_of(page, "gating")
    assert rows(section.find(".//table")) == {
        "what": ["bytes", "threads", "unit", "published"], "buffer": ["2,560.0", "9,792.0", "bytes", "2.25 KB"],
        "share": ["3.9", "7.5", "%", "3.1 %"]}
    bars = data(page)["charts"][section.get("id")]["data"]
    assert [(bar["name"], bar["x"], bar["y"]) for bar in bars] == [
        ("bytes", ["buffer"], [2560.0]), ("threads", ["buffer"], [9792.0])]
    beside_corf, affine = panels_of(page, "hardware")[2:]
    assert rows(beside_corf.find(".//table"))["table"] == ["512.0", "0.0", "bytes", "512 B", "0"]
    assert rows(affine.find(".//table"))["buffer"] == ["2,560.0", "bytes", "2.25 KB"]


def test_energy(tmp_path: Path) -> None:
    """Bars of an assumption start at our figure and end at those with its least and its most value."""
    carried = {"figure": "Fig. 4.9", "published": "27.0", "ours": 47.5, "assumption": "row_share", "least": 0.0,
               "most": 0.4, "with least": 51.25, "with most": 44.0, "range": 7.25}
    parts = {"setting": "bytes_off", "macros": 40.0, "wires": 20.0, "registers": 25.0, "selection": 10.0, "clock": 0.0,
             "overhead": 5.0, "total": 100.0, "added": {"zero masks": 5.0}}
    page = written(tmp_path / "report.html", {**EVALUATED, "figures": [], "runs": {}, "pressure": [],
                                              "sensitivity": [carried], "energy": [parts]})
    energy, assumptions = panels_of(page, "coalescing")
    assert rows(energy.find(".//table"))["bytes_off"] == ["40.0", "20.0", "25.0", "10.0", "0.0", "5.0"]
    assert assumptions.find("h3").text == "Fig. 4.9: what each assumption carries, ours 47.5, published 27.0"
    assert rows(assumptions.find(".//table"))["row share"] == ["51.2", "44.0", "0", "0.4"]
    least, most = data(page)["charts"][assumptions.get("id")]["data"]
    assert (least["base"], least["y"], most["y"]) == ([47.5], [3.75], [-3.5])


def test_averages_over_groups(tmp_path: Path) -> None:
    grouped = copy.deepcopy(EVALUATED)
    for series in grouped["figures"][0]["series"].values():
        series["averages"] = {"13 programs of [RADAIDEH]": series["average"], "seven kernels": 1.5}
    grouped["groups"] = {"13 programs of [RADAIDEH]": ["nw"], "seven kernels": ["bfs"]}
    page = written(tmp_path / "report.html", grouped)
    made = next(one for one in page.get_element_by_id("coalescing").iter("dl") if one.get("class") == "made")
    assert {term.text: term.getnext().text_content() for term in made.iter("dt")} == {
        "Made by": "warploom evaluate coalescing --preset fermi --size tiny --json coalescing.json",
        "13 programs of [RADAIDEH]": "nw", "seven kernels": "bfs"}
    first, second = panels_of(page, "coalescing")[:2]
    table = rows(list(first.iter("table"))[-1])
    assert list(table)[3:] == ["13 programs of [RADAIDEH]", "seven kernels", "published"]
    assert table["13 programs of [RADAIDEH]"] == ["3.4", "10.8"] and table["seven kernels"] == ["1.5", "1.5"]
    layout = data(page)["charts"][first.get("id")]["layout"]["xaxis"]
    assert layout["ticktext"][2:] == ["13 programs of<br>[RADAIDEH]", "seven kernels", "published"]
    assert "average" in rows(list(second.iter("table"))[-1])


def test_a_sweep(tmp_path: Path) -> None:
    page = written(tmp_path / "report.html", SWEPT)
    energy, area = panels_of(page, "sweep")
    assert rows(energy.find(".//table")) == {
        "machine": ["energy of a warp instruction, pJ", "IPC x GHz", "on the front"],
        "banks=2, collectors=4": ["90.500", "0.750", "yes"], "banks=4, collectors=4": ["99.000", "0.625", "no"]}
    front, others = data(page)["charts"][area.get("id")]["data"]
    assert (front["x"], front["y"], others["x"], others["y"]) == ([5000.0], [0.75], [6000.0], [0.625])
    unsynthesised = copy.deepcopy(SWEPT)
    for point in unsynthesised["points"]:
        point |= {"area_um2": None, "ghz": None}
    _, storage = panels_of(written(tmp_path / "report.html", unsynthesised), "sweep")
    assert "storage, bits" in storage.find("h3").text


def test_runs_and_their_commands(page: html.HtmlElement) -> None:
    found = data(page)["runs"]
    assert found.keys() == {"coalescing"} and found["coalescing"]["runs"] == EVALUATED["runs"]
    assert found["coalescing"]["commands"] == {
        "wid_off": "warploom run KERNEL --size tiny --preset fermi --set layout=wid",
        "wid_reg": "warploom run KERNEL --size tiny --preset fermi"}
    links = [link.get("href") for link in panels_of(page, "coalescing")[0].iter("a")]
    assert links == ["#run=coalescing/bfs/wid_reg%7Cwid_off", "#run=coalescing/nw/wid_off"]


# ---------------------------------------------------------------- one file for everybody

ADDRESSES = ("href", "src", "action", "srcset", "data", "poster", "formaction")


def test_no_network(committed: tuple[list[dict[str, Any]], html.HtmlElement]) -> None:
    _, page = committed
    for one in page.iter():
        assert all(one.get(name, "#").startswith(("#", "data:,")) for name in ADDRESSES), html.tostring(one)
    style = "".join(one.text for one in page.iter("style"))
    assert style and not re.search(r"url\(|@import", style)
    policy = next(one.get("content") for one in page.iter("meta") if one.get("http-equiv"))
    assert policy.startswith("default-src 'none';") and "http" not in policy
    assert unpacked(page, "plotly").startswith("/**\n* plotly.js v")


def test_structure(committed: tuple[list[dict[str, Any]], html.HtmlElement]) -> None:
    _, page = committed
    assert page.get("lang") == "en" and page.find(".//title").text
    for landmark in ("main", "nav", "footer"):
        assert len(list(page.iter(landmark))) == 1
    levels = [int(one.tag[1]) for one in page.find(".//main").iter("h1", "h2", "h3", "h4")]
    assert len(list(page.iter("h1"))) == 1
    assert all(following <= level + 1 for level, following in zip([1, *levels], levels, strict=False))
    names = [one.get("id") for one in page.iter() if one.get("id")]
    assert len(names) == len(set(names))
    targets = [one.get("href")[1:] for one in page.iter("a") if not one.get("href").startswith("#run=")]
    assert targets and set(targets) <= set(names)
    assert all(one.get("aria-labelledby", names[0]) in names for one in page.iter())


def test_tables_and_charts_are_named(committed: tuple[list[dict[str, Any]], html.HtmlElement]) -> None:
    _, page = committed
    for table in page.iter("table"):
        assert table[0].tag == "caption" and table[0].text_content().strip()
        assert all(cell.get("scope") for cell in table.iter("th"))
    charts = [one for one in page.iter() if one.get("role") == "img"]
    assert len(charts) == len(data(page)["charts"]) > 100
    for chart in charts:
        assert "the table below" in chart.get("aria-label")
        section = next(one for one in chart.iterancestors("section"))
        assert section.find(".//table") is not None
    assert all(one.text_content().strip() for one in page.iter("button", "a", "summary"))


def luminance(colour: str) -> float:
    """Relative luminance of ``#rgb`` or ``#rrggbb``, as the contrast of WCAG 2 needs it."""
    digits = colour.lstrip("#")
    parts = [int(digits[2 * i : 2 * i + 2], 16) / 255 if len(digits) == 6 else int(digits[i] * 2, 16) / 255
             for i in range(3)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    style = (rendering.FOLDER / "page.css").read_text()
    blocks = re.findall(r"\{([^{}]*--ink:[^{}]*)\}", style)
    themes = [dict(re.findall(r"--([\w-]+): (#\w+);", block)) for block in blocks]
    assert len(themes) == 2
    for theme in themes:
        for text in ("ink", "soft", "accent"):
            assert min(contrast(theme[text], theme[behind]) for behind in ("paper", "panel")) >= 4.5
        series = [theme[f"series-{number}"] for number in range(9)]
        assert min(contrast(colour, theme["paper"]) for colour in series) >= 3
        assert len(set(series)) == 9


# ---------------------------------------------------------------- documents

def test_the_same_documents_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        report.write([EVALUATED, HARDWARE], tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_part_of_an_evaluation(tmp_path: Path) -> None:
    part = {"schema": 2, "verb": "evaluate", "version": "0.1.0", "experiment": "new_one", "failure": "a < b failed",
            "figures": [], "another key": 1}
    page = written(tmp_path / "report.html", part)
    assert page.get_element_by_id("new_one").text_content().split() == [
        "New", "one", "Failed.", "a", "<", "b", "failed", "Made", "bywarploom", "evaluate", "new_one", "--json",
        "new_one.json"]
    assert data(page) == {"charts": {}, "files": {}, "runs": {}}


def test_workloads_of_other_machines(tmp_path: Path) -> None:
    """Workloads of one experiment may run on machines of their own, with settings of other names."""
    document = copy.deepcopy(EVALUATED)
    name, of = document["runs"].popitem()
    document["runs"] |= {name: of, "elsewhere": {f"other {setting}": run for setting, run in of.items()}}
    page = written(tmp_path / "report.html", document)
    shown = [rows(table) for table in page.iter("table") if "elsewhere" in rows(table)]
    assert shown and all(table["elsewhere"] == table[name] for table in shown)


def test_names_are_text(tmp_path: Path) -> None:
    hostile = copy.deepcopy(EVALUATED)
    hostile["figures"][0]["title"] = hostile["configuration"]["name"] = "</script><b id=x onclick=y>&amp;"
    page = written(tmp_path / "report.html", hostile)
    assert not list(page.iter("b")) and "</script><b id=x onclick=y>&amp;" in page.text_content()


def test_documents_of_one_experiment(tmp_path: Path) -> None:
    other = {**EVALUATED, "configuration": {"name": "gtx480"}}
    page = written(tmp_path / "report.html", EVALUATED, other, other)
    assert [page.get_element_by_id(name).find("h2").text for name in (
        "coalescing-fermi", "coalescing-gtx480", "coalescing-gtx480-2")] == [
        "Coalescing of accesses, fermi", "Coalescing of accesses, gtx480", "Coalescing of accesses, gtx480-2"]


def test_sizes_tell_documents_apart(tmp_path: Path) -> None:
    page = written(tmp_path / "report.html", EVALUATED, {**EVALUATED, "size": "default"})
    assert [page.get_element_by_id(f"coalescing-fermi-{size}").find("h2").text for size in ("tiny", "default")] == [
        "Coalescing of accesses, fermi-tiny", "Coalescing of accesses, fermi-default"]


TABLES: dict[str, dict[str, Any]] = {
    "workloads": {
        "groups": {"13 of [X]": [], "seven": []},
        "averages": [
            {"figure": "Fig. 1", "quantity": "4 bytes", "13 of [X]": 20.5, "seven": 11.2, "published": "27.3"},
            {"figure": "Fig. 1", "quantity": "1 byte", "13 of [X]": 79.5, "seven": 88.8, "published": ""},
            {"figure": "Fig. 2", "title": "Zeros", "quantity": "zeros", "13 of [X]": 14.0, "seven": 10.5,
             "published": "20.0"}]},
    "combination": {"combinations": [
        {"combination": "none", "ipc": 1, "ipc_expected": 1, "accesses": 1, "accesses_expected": 1, "energy": 1,
         "energy_expected": 1},
        {"combination": "a + b", "ipc": 1.1, "ipc_expected": 1.2, "accesses": 0.5, "accesses_expected": 0.25,
         "energy": 0.75, "energy_expected": 0.5}]},
    "sampling": {"samples": [
        {"workload": "aes", "sample": 4, "ipc": -21.0, "accesses": 0.0},
        {"workload": "aes", "sample": 8, "ipc": -3.0, "accesses": 0.5},
        {"workload": "bfs", "sample": 4, "ipc": 2.0, "accesses": -1.0}]},
}


@pytest.mark.parametrize(("experiment", "expected"), [
    ("workloads", [
        {"13 of [X]": ["20.5", "79.5"], "seven": ["11.2", "88.8"], "published": ["27.3", NONE]},
        {"13 of [X]": ["14.0"], "seven": ["10.5"], "published": ["20.0"]}]),
    ("combination", [
        {"none": ["1.00", "1.00"], "a + b": ["1.10", "1.20"]}, {"none": ["1.00", "1.00"], "a + b": ["0.50", "0.25"]},
        {"none": ["1.00", "1.00"], "a + b": ["0.75", "0.50"]}]),
    ("sampling", [
        {"aes": [f"{MINUS}21.0", f"{MINUS}3.0"], "bfs": ["2.0", NONE]},
        {"aes": ["0.0", "0.5"], "bfs": [f"{MINUS}1.0", NONE]}]),
])
def test_what_experiments_print_as_tables(
    experiment: str, expected: list[dict[str, list[str]]], tmp_path: Path
) -> None:
    document = {"schema": 2, "verb": "evaluate", "version": "0.1.0", "experiment": experiment, **TABLES[experiment]}
    page = written(tmp_path / "report.html", document)
    found = [rows(table) for table in page.get_element_by_id(experiment).iter("table")]
    assert [{name: of[name] for name in wanted} for of, wanted in zip(found, expected, strict=True)] == expected
    assert len(data(page)["charts"]) == len(expected)


def test_every_experiment_has_a_figure(committed: tuple[list[dict[str, Any]], html.HtmlElement]) -> None:
    documents, page = committed
    assert {document["experiment"] for document in documents} >= EXPERIMENTS.keys()
    for slug in report._slugs([checked(one, "") for one in documents]):
        assert panels_of(page, slug), slug


def by_title(tmp_path: Path, experiment: str) -> dict[str, dict[str, list[str]]]:
    """The tables of a committed document, by their captions."""
    page = written(tmp_path / "report.html", json.loads((RESULTS[0].parent / f"{experiment}.json").read_text()))
    return {table.find("caption").text: rows(table) for table in page.get_element_by_id(experiment).iter("table")}


def test_programs_on_the_engine(tmp_path: Path) -> None:
    document = json.loads((RESULTS[0].parent / "fg_simt.json").read_text())
    tables = by_title(tmp_path, "fg_simt")
    speed = tables["Table 3: speed with affine execution, times that without"]
    assert speed["program"] == ["a", "ab", "abm", "mcore", *(f"published {key}" for key in ("a", "ab", "abm", "mcore"))]
    for entry in document["table_3"]:
        assert speed[entry["program"]][2] == f"{entry['abm']:.2f}"
        assert speed[entry["program"]][6] == f"{entry['published abm']:.4g}"
    mix = tables["Table 3: instructions by kind, %"]
    del mix["program"]
    assert all(sum(map(float, row[:4])) == pytest.approx(100, abs=0.3) for row in mix.values())


def test_rows_by_machine(tmp_path: Path) -> None:
    document = json.loads((RESULTS[0].parent / "tfet_sms.json").read_text())
    tables = by_title(tmp_path, "tfet_sms")
    cycles, served = tables["Time, cycles"], tables["Requests for TFET rows that are served, %"]
    for entry in document["by_sm"]:
        column = cycles["program"].index(entry["machine"])
        assert cycles[entry["workload"]][column] == f"{entry['cycles']:,}"
        if entry["served, %"] is None:
            assert entry["machine"] not in served["program"]
        else:
            assert served[entry["workload"]][served["program"].index(entry["machine"])] == f"{entry['served, %']:.1f}"


def test_a_stage_in_gates(tmp_path: Path) -> None:
    document = json.loads((RESULTS[0].parent / "tfet_power.json").read_text())
    table = by_title(tmp_path, "tfet_power")["The rename stage, of the register file, %"]
    assert table["quantity"] == ["share", "stage", "register file", "published, %"]
    (gated,) = (entry for entry in document["power"] if entry["what"] == "all power, clock gated, mW")
    assert table[gated["what"]] == [f"{gated['share, %']:.1f}", f"{gated['stage']:.4g}",
                                    f"{gated['register file']:.4g}", f"{gated['published, %']:.4g}"]
    assert table["area of cells, µm²"][0] == NONE


def test_beside_a_chip(tmp_path: Path) -> None:
    document = json.loads((RESULTS[0].parent / "silicon.json").read_text())
    page = written(tmp_path / "report.html", document)
    instructions, cycles, *_ = panels_of(page, "silicon")
    sizes = data(page)["charts"][cycles.get("id")]["data"]
    drawn = {name: pair for size in sizes for name, pair in zip(size["text"], zip(size["x"], size["y"], strict=True),
                                                                strict=True)}
    assert drawn == {f"{one['workload']}, {one['size']}": (one["chip_cycles"], one["cycles"])
                     for one in document["programs"]}
    chart = data(page)["charts"][instructions.get("id")]["layout"]
    assert chart["xaxis"]["type"] == chart["yaxis"]["type"] == "log"
    assert any(table["what"] == ["logarithms", "ranks", "ratio"]
               for table in map(rows, page.get_element_by_id("silicon").iter("table")) if "what" in table)


def test_figures_of_workloads_have_their_subjects(tmp_path: Path) -> None:
    page = written(tmp_path / "report.html", {"schema": 2, "verb": "evaluate", "version": "0.1.0",
                                              "experiment": "workloads", **TABLES["workloads"]})
    assert [section.find("h3").text for section in panels_of(page, "workloads")] == ["Fig. 1", "Fig. 2: Zeros"]


def test_a_reason_for_every_published_figure() -> None:
    assert reasons().keys() == published().keys()
    root = Path(__file__).resolve().parents[2]
    assert all((root / reason.page).is_file() for reason in reasons().values())


def without(key: str) -> str:
    """A document that lacks a key."""
    return json.dumps({name: value for name, value in EVALUATED.items() if name != key})


@pytest.mark.parametrize(("text", "message"), [
    ("", "not JSON: Expecting value"), ("[" * 100_000, "not JSON: "), ("[]", "not a document of warploom evaluate"),
    ('{"verb": "run"}', "not a document of warploom evaluate"), ("NaN", "not JSON: NaN is not a number"),
    ("1e999", "not JSON: 1e999 is not a number"),
    (json.dumps({**EVALUATED, "schema": 1}), "schema 1: this version reads 2; run the experiment again"),
    (json.dumps({**EVALUATED, "documents": {}}), "a document of several experiments: give the documents that it names"),
    (without("experiment"), "not as docs/json.md describes it: Object missing required field `experiment`"),
    (json.dumps(EVALUATED).replace("10.25", '"many"'),
     "not as docs/json.md describes it: Expected `float`, got `str` - at `$.figures[0].series[...].kernels[...]`"),
])
def test_bad_documents(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = tmp_path / "bad.json", tmp_path / "report.html"
    path.write_text(text)
    assert main(["report", str(path), "--out", str(page)]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"warploom: error: {path}: {message}") and error.count("\n") == 1
    assert not page.exists()


SENSITIVE = {"figure": "Fig. 3.21", "published": "-", "ours": 1.0, "assumption": "wires", "least": 0.5, "most": 2,
             "with least": 0.9, "with most": 1.1}


@pytest.mark.parametrize(("change", "key"), [
    ({"sensitivity": [{}]}, "`figure` - at `$.sensitivity[0]`"),
    ({"sensitivity": [{**SENSITIVE, "with least": "x"}]}, "$.sensitivity[0].with least`"),
    ({"pressure": [{}]}, "`kernel` - at `$.pressure[0]`"),
    ({"pressure": [{**EVALUATED["pressure"][0], "port": "x"}]}, "$.pressure[0].port`"),
    *(({"figures": [{"figure": "Fig. 1", "title": "", "series": {"3 bytes": {
        "kernels": {}, "average": 1.0, "published": text}}}]}, "published: could not convert string to float: ")
      for text in ("x", "")),
    *(({"runs": {"bfs": {"wid_off": {**STATISTICS, "stalls": {"war": count}}}}}, "$.runs[...][...].stalls[...]`")
      for count in (None, "x")),
    ({"runs": {"bfs": {"wid_off": {**STATISTICS, "source_widths": [1]}}}}, "$.runs[...][...].source_widths`"),
    ({"configuration": {"pipes": [{}]}}, "`name` - at `$.configuration.pipes[0]`"),
    ({"configuration": {"sm": {"pipes": [{"name": "sp", "classes": {"int": 1}}]}}},
     "$.configuration.sm.pipes[0].classes[...]`"),
])
def test_a_wrong_type_inside_a_document(change: dict[str, Any], key: str, tmp_path: Path,
                                        capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({**EVALUATED, **change}))
    assert main(["report", str(path), "--out", str(tmp_path / "report.html")]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"warploom: error: {path}: not as docs/json.md") and key in error


@pytest.mark.parametrize("table", ["calibration", "combinations", "by_sm", "averages", "code"])
def test_a_table_without_its_columns(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({**EVALUATED, table: [{}]}))
    assert main(["report", str(path), "--out", str(tmp_path / "report.html")]) == 1
    assert "coalescing: a table is not as docs/json.md describes it: KeyError(" in capsys.readouterr().err


def test_what_an_assumption_carries(tmp_path: Path) -> None:
    document = {**EVALUATED, "sensitivity": [SENSITIVE]}
    table = next(table for table in written(tmp_path / "page.html", document).iter("table")
                 if "what each assumption carries" in table.text_content())
    assert {"wires", "0.9", "1.1"} <= {cell.text_content().strip() for cell in table.iter("th", "td")}


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page, summary = tmp_path / "one.json", tmp_path / "new" / "report.html", tmp_path / "summary.json"
    path.write_text(json.dumps(EVALUATED))
    assert main(["report", str(path), "--out", str(page), "--json", str(summary)]) == 0
    assert json.loads(summary.read_text())["bytes"] == page.stat().st_size
    assert "coalescing" in page.read_text() and "report.html" in capsys.readouterr().out
    assert read(path).workloads == ["bfs", "nw"]
    assert main(["report", str(tmp_path / "none.json"), "--out", str(page)]) == 1
    assert "none.json: No such file" in capsys.readouterr().err
    with pytest.raises(DocumentError):
        checked([], "here")
