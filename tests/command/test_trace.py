"""`warploom trace`: the file, parsed by Perfetto's library, agrees with the statistics of the run."""

import errno
import io
import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TracePacket
from support.perfetto_trace import Read, read

import warploom
from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Bypass, Coalescing
from warploom.cli import main
from warploom.files import writing
from warploom.golden_model.functional.executor import Stream
from warploom.golden_model.simulate import simulate
from warploom.golden_model.statistics import Statistics
from warploom.kernels.library import kernel
from warploom.programs.library import program
from warploom.running import run
from warploom.verbs.bench import ON
from warploom.watch import picture
from warploom.watch.perfetto import PACKETS, Writer
from warploom.watch.recorder import Recording

CONFIGURATIONS = {
    "off": ("narrow", ()), "on": ("narrow", ON), "wide": ("fermi", ("gating=cross_lane",)), "small": ("small", ()),
    "windows": ("narrow", ("bypass=bow_hints", "affine=abm", "coalescing=on")), "rfc": ("narrow", ("bypass=rfc",)),
    "corf": ("narrow", ("coalescing=corf_plus", "layout=wid")), "pairs": ("pascal", ("scheduler=two_level",)),
    "renaming": ("narrow", ("renaming=mem_ra", "tfet_rows=248", "pipes.sp.result_queue=8", "bank_ports=2")),
}


Traced = tuple[SmConfig, Statistics, Read]


@pytest.fixture(scope="module", params=CONFIGURATIONS)
def traced(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Traced:
    """A configuration, the statistics of a kernel, and its trace."""
    preset, settings = CONFIGURATIONS[request.param]
    config = SmConfig.preset(preset).with_settings(settings)
    executed = run(kernel("reduction").load("tiny"), config, record=False)
    path = tmp_path_factory.mktemp("trace") / "run.perfetto-trace"
    stream = Stream(executed.program, executed.file.launch)
    with path.open("wb") as file:
        recording = Recording("reduction", file)
        statistics = recording.launch(config, stream)
        recording.close()
    assert statistics == simulate(config, stream).statistics, "watching changes nothing"
    trace = read(path)
    assert len(trace.slices) == recording.slices
    return config, statistics, trace


@pytest.mark.sample(4)
def test_schedulers(traced: Traced) -> None:
    config, statistics, trace = traced
    cycles = trace.cycles("/schedulers")
    issued = cycles.pop("issue")
    assert cycles == {cause: count * config.front_end_interval for cause, count in statistics.stalls.items() if count}
    assert issued + cycles.total() == -(-statistics.cycles // config.front_end_interval) * (
        config.front_end_interval * config.schedulers)
    issues = {(each.begin, each.track) for each in trace.on("/warps") if each.track.endswith("/instructions")}
    assert len(issues) == issued / config.front_end_interval, "seconds of pairs issue beside the first"


@pytest.mark.sample(4)
def test_instructions(traced: Traced) -> None:
    config, statistics, trace = traced
    issued = [each for each in trace.on("/warps") if each.track.endswith("/instructions")]
    if not config.affine.is_on:
        assert len(issued) == statistics.warp_instructions
        assert sum(each.arguments["lanes"] for each in issued) == statistics.thread_instructions
    entered = [each for each in issued if each.flow is not None]
    assert len(entered) == statistics.datapath_instructions
    for group, cycles in (("/warps", statistics.living), ("/collectors", statistics.collecting)):
        slices = [each for each in trace.on(group) if each.flow is not None]
        assert len(slices) == len(entered)
        assert sum(each.cycles for each in slices) == sum(cycles.values())
    assert sum(each.cycles for each in (*trace.on("/collectors"), *trace.on("/pipes"), *trace.on("/memory"))) == sum(
        statistics.living.values())
    assert {each.arguments["warp"] for each in issued} == set(range(32))


@pytest.mark.sample(4)
def test_an_instruction_is_one_flow(traced: Traced) -> None:
    _, statistics, trace = traced
    flows: dict[int, dict[str, object]] = {}
    for each in trace.slices:
        if each.flow is not None:
            flows.setdefault(each.flow, {})[each.track.split("/")[1]] = each
    assert len(flows) == statistics.datapath_instructions
    for found in flows.values():
        warp, collector, pipe = found.pop("warps"), found.pop("collectors"), found.popitem()[1]
        assert not found
        assert (warp.begin, warp.end) == (collector.begin, pipe.end)
        assert collector.end == pipe.begin
        assert warp.arguments == collector.arguments == pipe.arguments


def test_banks(traced: Traced) -> None:
    config, statistics, trace = traced
    found = Counter((each.track, each.name) for each in trace.on("/banks"))
    for name, counts in (("read", statistics.bank_reads), ("write", statistics.bank_writes)):
        assert [found[f"/banks/bank {bank}", name] for bank in range(config.banks)] == counts
    assert all(each.cycles == 1 for each in trace.on("/banks"))
    explained = [each for each in trace.on("/banks") if "register" in each.arguments]
    shows = config.bypass is not Bypass.RFC and config.coalescing is not Coalescing.CORF_PLUS
    assert len(explained) == (len(trace.on("/banks")) if shows else 0)
    for each in explained:
        register = each.arguments["register"].split()[0]
        if "machine" in each.arguments:
            result, _, sources = each.arguments["machine"].rpartition(" =")
            assert register in re.findall(r"R\d+", result if each.name == "write" else sources)


@pytest.mark.sample(4)
def test_loads(traced: Traced) -> None:
    _, _, trace = traced
    events: Counter[int] = Counter()
    for each in trace.on("/memory"):
        if each.name == "LD":
            events[each.begin] += 1
            events[each.end] -= 1
    level, expected = 0, []
    for cycle in sorted(cycle for cycle, change in events.items() if change):
        level += events[cycle]
        expected.append((cycle, level))
    assert trace.counters == {"/memory/loads in flight": expected}
    assert level == 0


def test_a_warp_waits_or_issues(traced: Traced) -> None:
    config, _, trace = traced
    for slot in range(config.warps):
        track = f"/warps/warp slot {slot}"
        issues = {each.begin for each in trace.slices if each.track == f"{track}/instructions"}
        waits = Counter(cycle for each in trace.slices if each.track == track for cycle in range(each.begin, each.end))
        assert set(waits.values()) <= {1}
        assert not issues & waits.keys()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.perfetto-trace"
    arguments = ["trace", "reduction", "--size", "tiny", "--preset", "small", "--out"]
    assert main([*arguments, str(path), "--json", str(tmp_path / "trace.json")]) == 0
    document = json.loads((tmp_path / "trace.json").read_text())
    trace = read(path)
    assert trace.root == "reduction on small"
    assert (document["slices"], document["bytes"]) == (len(trace.slices), path.stat().st_size)
    add = next(each for each in trace.on("/pipes/sp") if each.arguments["ptx"].startswith("add.f32"))
    assert add.name == "FADD"
    assert add.arguments["machine"].startswith("FADD")
    capsys.readouterr()
    assert main([*arguments, "/dev/full"]) == 1
    assert capsys.readouterr().err == "warploom: error: /dev/full: No space left on device\n"


def test_lines_of_several_files(tmp_path: Path) -> None:
    """With the file that each is in."""
    files = [Path(__file__).parents[1] / "ptx" / f"linked_{name}.ptx" for name in ("main", "functions")]
    (tmp_path / "k.toml").write_text(f"""ptx = {[str(file) for file in files]}\ngrid = 1\nblock = 64\n[[arguments]]
name = "out"\ndtype = "uint32"\nshape = 64\ngenerator = {{ kind = "zeros" }}\n""")
    path = tmp_path / "run.perfetto-trace"
    assert main(["trace", str(tmp_path / "k.toml"), "--preset", "small", "--out", str(path)]) == 0
    places = {each.arguments["ptx line"].rpartition(":"): each.arguments["ptx"]
              for each in read(path).slices if "ptx line" in each.arguments}
    assert {file for file, _, _ in places} == set(map(str, files))
    for (file, _, line), text in places.items():
        assert Path(file).read_text().split("\n")[int(line) - 1].strip() == text.strip()


def test_a_path_that_is_no_utf_8(tmp_path: Path) -> None:
    with (tmp_path / "trace").open("wb") as file:
        Recording("bad\udcff/k.toml on small", file).close()
    assert read(tmp_path / "trace").root == r"bad\udcff/k.toml on small"


@pytest.mark.parametrize("preset", ["small", "pascal"])
def test_a_program(preset: str, tmp_path: Path) -> None:
    """Each launch begins where the last one ended; the cycles of its slices are those of the launch alone."""
    path, document = tmp_path / "run.perfetto-trace", tmp_path / "trace.json"
    assert main(["trace", "gaussian", "--size", "tiny", "--preset", preset, "--out", str(path),
                 "--json", str(document)]) == 0
    gpu = warploom.Gpu(preset)
    this = program("gaussian")
    this.run(gpu, this.inputs("tiny"))
    assert json.loads(document.read_text())["timing"] == gpu.statistics.to_json()
    trace, interval = read(path), gpu.config.front_end_interval
    assert trace.root == f"gaussian on {preset}"
    shown = trace.on("/launches")
    assert [(each.name, each.arguments["launch"], each.arguments["cycles"]) for each in shown] == [
        (launch.kernel, number, launch.statistics.cycles) for number, launch in enumerate(gpu.launches)]
    assert [each.begin for each in shown] == [0, *(each.end for each in shown[:-1])]
    assert all(0 <= each.cycles - each.arguments["cycles"] < interval for each in shown)
    for each, launch in zip(shown, gpu.launches, strict=True):
        inside = [one for one in trace.slices if each.begin <= one.begin < each.end]
        assert all(one.end <= each.end for one in inside)
        banks = [one for one in inside if one.track.startswith("/banks")]
        assert len(banks) == sum(launch.statistics.bank_reads) + sum(launch.statistics.bank_writes)
        issued = [one for one in inside if one.track.endswith("/instructions")]
        assert len(issued) == launch.statistics.warp_instructions
        assert {one.arguments["ptx"].split()[-1] for one in issued if one.name == "EXIT"} <= {"ret;"}
    flows = Counter(each.flow for each in trace.slices if each.flow is not None)
    assert set(flows.values()) == {3}, "a number is of one instruction"


def test_a_picture_of_some_cycles(tmp_path: Path) -> None:
    path = tmp_path / "run.perfetto-trace"
    assert main(["trace", "vector_add", "--size", "tiny", "--preset", "small", "--out", str(path)]) == 0
    first, last = 430, 490
    expected = Counter((each.track.split("/")[-1], each.begin, each.end, each.name) for each in read(path).slices
                       if each.begin < last and each.end > first)
    shown = picture.rows(path, first, last)
    assert Counter((row.name, *each) for row in shown for each in row.slices) == expected
    assert [row.name for row in shown if row.depth == 1] == [
        "launches", "schedulers", "warps", "collectors", "pipes", "memory", "banks"]
    banks = [row.name for row in picture.rows(path, 0, 1 << 40) if row.name.startswith("bank ")]
    assert banks == [f"bank {number}" for number in range(len(banks))]
    names = {name for _, _, _, name in expected}
    picture.main([str(path), str(first), str(last), str(tmp_path / "run.svg")])
    text = (tmp_path / "run.svg").read_text()
    assert all(f">{name}</text>" in text for name in names), "each is in the legend"
    assert text.count(">LD</text>") == 1 + sum(each[3] == "LD" for each in expected.elements())
    assert picture.draw(shown, first, last, "png").startswith(b"\x89PNG")


@pytest.mark.parametrize(("arguments", "message"), [
    (["absent", "0", "9", "a.png"], "absent: No such file or directory"),
    (["text", "0", "9", "a.png"], "text: not a trace"), (["empty", "0", "9", "a.png"], "empty: not a trace"),
    (["foreign", "0", "9", "a.png"], "foreign: not a trace"), (["small", "0", "9", "a.gif"], "must end in"),
    (["small", "5", "9", "a.png"], "nothing happens in cycles 5 to 9"),
    (["small", "0", "9", "absent/a.png"], "absent/a.png: No such file or directory"),
])
def test_no_picture(arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                    capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("no trace")
    Path("empty").touch()
    Path("foreign").write_bytes(Trace(packet=[TracePacket(compressed_packets=b"x")]).SerializeToString())
    with Path("small").open("wb") as file:
        writer = Writer(file)
        writer.slice(writer.track("track"), (0, 5), "slice", "category")
        writer.close()
    with pytest.raises(SystemExit):
        picture.main(arguments)
    assert message in capsys.readouterr().err


def test_nothing_is_half_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(OSError, match="No space left on device") as raised, writing(path) as file:
        file.write(b"new")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert raised.value.filename == str(path)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    assert path.read_text() == "old"


def test_packets_do_not_pile_up() -> None:
    file = io.BytesIO()
    writer = Writer(file)
    track = writer.track("track")
    sizes = []
    for cycle in range(5 * PACKETS):
        writer.slice(track, (cycle, cycle + 1), f"name {cycle % 3}", "category")
        sizes.append(file.tell())
    assert len(set(sizes)) == 2 * 5 + 1, "written every PACKETS packets, of which a slice has two"
