"""`warploom annotate`: counts of lines add up to the statistics of the run, and lines are those of the source."""

import json
import math
import os
from collections import Counter
from pathlib import Path

import pytest

import warploom
from warploom.arch.config import SmConfig
from warploom.cli import main
from warploom.compiler.compile import compile_file
from warploom.golden_model.front_end.stalls import Stall
from warploom.golden_model.functional.executor import Stream
from warploom.golden_model.simulate import simulate
from warploom.kernels.library import kernel
from warploom.programs.library import program
from warploom.running import run
from warploom.verbs.bench import ON
from warploom.watch.profile import Profiles
from warploom.watch.source import Place, Source

PAGE = Path(__file__).resolve().parents[2] / "docs" / "seeing_a_run.md"

CONFIGURATIONS = [
    ("narrow", ()), ("narrow", ON), ("fermi", ("coalescing=on", "gating=cross_lane")),
    ("pascal", ("scheduler=two_level", "active_warps=2", "bypass=bow_hints")),
    ("narrow", ("coalescing=corf_plus", "layout=wid")),
]

CUDA = """\
extern "C" __global__ void axpy(float *y, float a)
{
    y[threadIdx.x] += a;
}
"""

PTX = """\
.version 7.0
.target sm_75
.address_size 64
.visible .entry axpy(.param .u64 y, .param .f32 a)
{
    .reg .b64 %rd<5>;
    .reg .f32 %f<4>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [y];
    .loc 1 3 5
    ld.param.f32 %f1, [a];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f2, [%rd4];
    add.f32 %f3, %f2, %f1;
    st.global.f32 [%rd4], %f3;
    .loc 1 4 1, function_name $L__info_string0, inlined_at 1 2 1
    ret;
}
.file 1 "/nowhere/axpy.cu"
"""

LAUNCH = """\
ptx = "axpy.ptx"
grid = 2
block = 64
[[arguments]]
name = "y"
dtype = "float32"
shape = 64
generator = { kind = "constant", value = 0.5 }
[[arguments]]
name = "a"
type = "f32"
value = 1.5
"""


@pytest.fixture
def axpy(tmp_path: Path) -> Path:
    """The launch file of a kernel with line information."""
    for name, text in (("axpy.cu", CUDA), ("axpy.ptx", PTX), ("axpy.toml", LAUNCH)):
        (tmp_path / name).write_text(text)
    return tmp_path / "axpy.toml"


@pytest.mark.parametrize(("preset", "settings"), CONFIGURATIONS)
def test_lines_add_up(preset: str, settings: tuple[str, ...]) -> None:
    config = SmConfig.preset(preset).with_settings(settings)
    executed = run(kernel("reduction").load("tiny"), config, record=False)
    found = Profiles()
    watched = found.launch(config, Stream(executed.program, executed.file.launch))
    statistics = simulate(config, Stream(executed.program, executed.file.launch)).statistics
    assert watched == statistics, "watching changes nothing"
    lines = found.by_line().values()
    assert sum(line.executed for line in lines) == statistics.warp_instructions
    assert sum(line.lanes for line in lines) == statistics.thread_instructions
    assert sum(line.sources for line in lines).tolist() == statistics.source_widths
    assert sum(line.results for line in lines).tolist() == statistics.destination_widths
    stalls = sum(line.stalls for line in lines) + found.without
    assert stalls == pytest.approx([statistics.stalls[cause.name.lower()] for cause in Stall])
    assert {cause for cause in Stall if found.without[cause]} <= {Stall.NO_WARP, Stall.DRAINED}


def test_a_stall_belongs_to_the_instruction_that_waits(axpy: Path, tmp_path: Path) -> None:
    assert main(["annotate", str(axpy), "--preset", "small", "--json", str(tmp_path / "lines.json")]) == 0
    document = json.loads((tmp_path / "lines.json").read_text())
    memory = {line["text"].split()[0]: line["stalls"]["memory"] for line in document["lines"]
              if "memory" in line["stalls"]}
    assert memory.keys() == {"add.f32"}, "the consumer of the load"
    assert memory["add.f32"] == document["stalls"]["memory"] > 100


def test_lines_of_cuda(axpy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", str(axpy), "--cuda", "--preset", "small", "--json", str(tmp_path / "lines.json")]) == 0
    document = json.loads((tmp_path / "lines.json").read_text())
    lines = {line["line"]: line for line in document["lines"]}
    assert {number: line["text"] for number, line in lines.items()} == {3: "y[threadIdx.x] += a;", 4: "}"}
    assert lines[3]["executed"] == 4 * len(lines[3]["instructions"])
    assert lines[4]["instructions"] == ["EXIT"]
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == "/nowhere/axpy.cu"
    assert rows[2].split()[:2] == ["3", f"{lines[3]['executed']}"]
    assert rows[2].endswith("      y[threadIdx.x] += a;")


def test_a_program_in_sum(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lines.json"
    assert main(["annotate", "gaussian", "--size", "tiny", "--preset", "small", "--json", str(path)]) == 0
    document = json.loads(path.read_text())
    gpu = warploom.Gpu("small")
    this = program("gaussian")
    this.run(gpu, this.inputs("tiny"))
    assert (document["kernel"], document["launches"]) == ("factors_of_column, eliminate", 16)
    assert document["cycles"] == gpu.statistics.cycles
    exits = [line for line in document["lines"] if line["text"] == "ret;"]
    warps = [sum(math.prod(launch.geometry.grid) for launch in gpu.launches if launch.kernel == name) * warps
             for name, warps in (("factors_of_column", 8), ("eliminate", 1))]
    assert [line["executed"] for line in exits] == warps
    assert all(line["instructions"] == ["EXIT"] for line in exits)
    stalls = Counter(document["stalls_without_instruction"])
    for line in document["lines"]:
        stalls.update(line["stalls"])
    assert stalls == pytest.approx({cause: count for cause, count in gpu.statistics.stalls.items() if count}, rel=1e-3)
    output = capsys.readouterr().out
    assert sum(line.split()[0].isdecimal() and line.endswith(" ret;") for line in output.splitlines() if line) == 2
    assert "factors_of_column, eliminate: 16 launches, " in output


def test_each_instruction_has_its_lines(axpy: Path) -> None:
    source = Source(compile_file(axpy.with_suffix(".ptx")))
    last = source.lines[-1]
    assert (last.machine, last.ptx.line, last.cuda) == ("EXIT", 19, Place("/nowhere/axpy.cu", 4))
    assert source.at(last.ptx) == "ret;"
    axpy.with_suffix(".cu").unlink()
    assert Source(compile_file(axpy.with_suffix(".ptx"))).at(Place("/nowhere/axpy.cu", 4)) == ""


@pytest.mark.parametrize("character", ["\f", "\v", "\u2028", "\x85"], ids=ascii)
def test_only_a_line_feed_ends_a_line(axpy: Path, capsys: pytest.CaptureFixture[str], character: str) -> None:
    comment, ptx = f"// a{character}b\n", axpy.with_suffix(".ptx")
    axpy.with_suffix(".cu").write_text(comment + CUDA)
    ptx.write_text(comment + PTX.replace(".loc 1 4", ".loc 1 5").replace(".loc 1 3", ".loc 1 4"))
    source = Source(compile_file(ptx))
    assert {source.at(lines.cuda) for lines in source.lines if lines.cuda} == {"y[threadIdx.x] += a;", "}"}
    assert source.at(source.lines[-1].ptx) == "ret;"
    assert main(["compile", str(ptx)]) == 0
    assert "//   20: ret;" in capsys.readouterr().out


@pytest.mark.parametrize("name", [".", "", "a\0b", "x" * 5000, "/dev/zero", "pipe.cu"])
@pytest.mark.parametrize("line", [3, "9" * 5000])
def test_a_source_that_cannot_be_read(axpy: Path, tmp_path: Path, name: str, line: int | str) -> None:
    os.mkfifo(tmp_path / "pipe.cu")
    text = PTX.replace("/nowhere/axpy.cu", name).replace(".loc 1 3 5", f".loc 1 {line} 5")
    (tmp_path / "axpy.ptx").write_text(text)
    assert main(["annotate", str(axpy), "--cuda", "--preset", "small"]) == 0
    source = Source(compile_file(tmp_path / "axpy.ptx"))
    assert {lines.cuda and source.at(lines.cuda) for lines in source.lines} <= {None, ""}


def test_ptx_without_lines_of_cuda(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", "vector_add", "--size", "tiny", "--cuda"]) == 1
    line, = capsys.readouterr().err.splitlines()
    assert line.endswith("vector_add.ptx: has no lines of CUDA: compile it with nvcc -lineinfo -ptx")


def test_the_example_of_the_page_is_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGE.read_text()
    shown = text[text.index("    line  executed"):].split("\n\n")[0]
    example = [line.removeprefix("    ") for line in shown.splitlines()]
    assert len(example) > 5
    assert main(["annotate", "reduction", "--size", "tiny"]) == 0
    output = capsys.readouterr().out.splitlines()
    assert set(example) <= set(output)
