"""GTKWave save files: every line is a field of a port, its texts are right, and the wave has its signals."""

import errno
import json
import os
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from support.gtkw_file import Shown, read

from warploom.arch.config import SmConfig
from warploom.arch.isa import Op
from warploom.cli import main
from warploom.compiler.compile import compile_file
from warploom.golden_model.functional.executor import Stream
from warploom.golden_model.placement import Placement
from warploom.golden_model.simulate import simulate
from warploom.kernels.launchfile import load
from warploom.kernels.library import kernel
from warploom.rtl import verilog
from warploom.running import run
from warploom.tb import gtkwave, lockstep, runner
from warploom.tb.codec import Codec
from warploom.tb.lockstep import LockstepError
from warploom.tb.runner import Build
from warploom.verbs.bench import ON

CONFIGURATIONS = [("small", ()), ("narrow", ON), ("maxwell", ()), ("pascal", ("bypass=bow_hints",))]

HIDDEN = re.compile(r"_(a|b|c|data|trivial|valid|ready|enable|write|row|who)$|^free_entries|^stored_|^activity")
"""Data of lanes, what counts, and what is part of a line with texts."""

RESET = "datapath.rst"

LAUNCH = """\
ptx = "{ptx}"
grid = [2]
block = [64]
""" + "".join(f"""
[[arguments]]
name = "{name}"
dtype = "float32"
shape = [128]
generator = {{{{ kind = "arange" }}}}
""" for name in "abc") + """
[[arguments]]
type = "u32"
value = 128
"""


class Saved:
    """A configuration, its ports, and the lines of its save file."""

    def __init__(self, preset: str, settings: tuple[str, ...], folder: Path) -> None:
        self.config = SmConfig.preset(preset).with_settings(settings)
        ports = verilog.ports(verilog.create(self.config, "Datapath", probe=True))
        self.codecs = {port["name"]: Codec(port) for port in ports}
        self.program = compile_file(kernel("vector_add").ptx)
        (folder / "unit.json").write_text(json.dumps(ports))
        made = Build(folder, self.config, "Datapath", "datapath", "vcd")
        self.lines = read(gtkwave.save(folder / "run.vcd", self.config, self.program, made))


@pytest.fixture(scope="module", params=CONFIGURATIONS, ids=lambda case: case[0])
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Saved:
    return Saved(*request.param, tmp_path_factory.mktemp("wave"))


def words(saved: Saved, seed: int) -> dict[str, int]:
    """A random word on each port."""
    source = random.Random(seed)
    return {f"datapath.{name}": source.getrandbits(codec.width) for name, codec in saved.codecs.items()}


def test_numbers_are_those_of_the_fields(saved: Saved) -> None:
    """Each line without texts, by the codec of its port."""
    values = words(saved, 1)
    values["datapath.waves_i.cycle"] = cycle = 0x89ABCDEF
    expected = {"cycle": cycle}
    for name, codec in saved.codecs.items():
        word, stream = values[f"datapath.{name}"], name.removesuffix("__payload")
        if stream != name:
            expected = {f"{stream}_{field}": value for field, value in codec.unpack(word).items()} | expected
        elif name == "probe":
            expected = codec.unpack(word) | expected
        else:
            expected[name.replace("__", "_")] = word
    plain = {label: line for label, line in saved.lines.items() if line.texts is None}
    assert len(plain) > 30
    assert {label: line.value(values.__getitem__) for label, line in plain.items()} == {
        label: expected[label] for label in plain}
    assert [name for name in expected.keys() - saved.lines.keys() if not HIDDEN.search(name)] == []


def test_texts_of_instructions(saved: Saved) -> None:
    line = next(line for label, line in saved.lines.items() if re.fullmatch(r"issue(_\d)*_op", label))
    port, codec = next((port, codec) for port, codec in saved.codecs.items() if re.fullmatch(r"issue.*__payload", port))
    valid = f"datapath.{port.replace('payload', 'valid')}"
    for op in Op:
        word = codec.pack({"op": op.value})
        assert line.text({f"datapath.{port}": word, valid: 1}.__getitem__) == op.name
        assert line.text({f"datapath.{port}": word, valid: 0}.__getitem__) == "-"


def test_texts_of_banks(saved: Saved) -> None:
    """Each register of each warp slot at its address, and who reads or writes it."""
    config, codec = saved.config, saved.codecs["probe"]
    placement = Placement(config, -(-saved.program.registers // config.banks))
    for slot in range(config.warps):
        for register in range(saved.program.registers):
            bank, row = placement[slot << 8 | register][:2]
            name = next(label.removesuffix("_register") for label in saved.lines
                        if re.fullmatch(rf"bank{bank}(_\w+)?_register", label))
            word = codec.pack({f"{name}_enable": 1, f"{name}_write": 1, f"{name}_row": row, f"{name}_who": 1})
            assert saved.lines[f"{name}_register"].text({"datapath.probe": word}.__getitem__) == f"w{slot} R{register}"
    shown: Shown = saved.lines[f"{name}_access"]
    texts = [shown.text({"datapath.probe": codec.pack(
        {f"{name}_enable": enable, f"{name}_write": write, f"{name}_who": 1})}.__getitem__)
        for enable, write in ((0, 0), (1, 0), (1, 1))]
    assert texts == ["-", "rd c1", f"wr {config.writers[1]}"]


class Wave:
    """A VCD: widths of signals, and values as they are before each rising edge of the clock."""

    def __init__(self, path: Path, wanted: set[str]) -> None:
        self.widths: dict[str, int] = {}
        self.cycles: list[dict[str, int]] = []
        names: dict[str, list[str]] = {}
        values, scopes = dict.fromkeys(wanted, 0), []
        with path.open() as file:
            for line in file:
                words = line.split()
                if words[:1] == ["$scope"]:
                    scopes.append(words[2])
                elif words[:1] == ["$upscope"]:
                    scopes.pop()
                elif words[:1] == ["$var"]:
                    name = ".".join((*scopes, words[4]))
                    self.widths[name] = int(words[2])
                    names.setdefault(words[3], []).append(name)
                elif words and line[0] in "01b":
                    value, identity = words if line[0] == "b" else (line[0], words[0][1:])
                    for name in names[identity]:
                        if name == "datapath.clk" and value == "1":
                            self.cycles.append(dict(values))
                        if name in wanted:
                            values[name] = int(value.removeprefix("b"), 2)


@pytest.mark.rtl
@pytest.mark.xdist_group("baseline")
def test_a_wave_needs_room_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], seed: int,
) -> None:
    """Before the run, and in each cycle: Verilator would wait for itself if it could not write. What the run has found
    is told even if its waveform cannot be kept."""
    def begun(made: Build, folder: Path, *options: Any, **more: Any) -> None:
        (folder / f"waves.{made.waves}").touch()
        run_bench(made, folder, *options, **more)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "run.gtkw")

    run_bench = lockstep._run
    path, room = tmp_path / "add.toml", 1 << 62
    path.write_text(LAUNCH.format(ptx=kernel("vector_add").ptx))
    monkeypatch.setattr(lockstep, "ROOM", room)
    made, wave = runner.build(SmConfig.preset("small"), "Datapath"), {"record": tmp_path / "run.vcd"}
    with pytest.raises(OSError, match="No space left on device"):
        lockstep._compare(made, [load(path)], seed, **wave)
    monkeypatch.setattr(lockstep, "need_room", lambda *_: None)
    monkeypatch.setattr(lockstep, "_run", begun)
    monkeypatch.setattr(gtkwave, "save", full)
    with pytest.raises(LockstepError, match=r"the bench itself failed in cycle 0 .*No space left on device"):
        lockstep._compare(made, [load(path)], seed, **wave)
    assert "no waveform: run.gtkw: No space left on device" in capsys.readouterr().err


def test_a_wave_on_another_disk_is_whole_or_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: BinaryIO, target: BinaryIO) -> None:
        target.write(source.read(1))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def elsewhere(source: Path, target: Path) -> Path:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    source, target = tmp_path / "waves.vcd", tmp_path / "run.vcd"
    source.write_text("wave")
    monkeypatch.setattr(Path, "replace", elsewhere)
    lockstep._move(source, target)
    assert target.read_text() == "wave"
    monkeypatch.setattr(lockstep.shutil, "copyfileobj", full)
    with pytest.raises(OSError, match=r"run\.vcd"):
        lockstep._move(source, target)
    assert target.read_text() == "wave" and len([*tmp_path.iterdir()]) == 2


@pytest.mark.long
@pytest.mark.rtl
def test_the_wave_of_a_run(tmp_path: Path) -> None:
    """All signals of the save file are in the wave, and what it shows agrees with the model's statistics."""
    path = tmp_path / "add.toml"
    path.write_text(LAUNCH.format(ptx=kernel("vector_add").ptx))
    assert main(["run", str(path), "--preset", "small", "--rtl", "--waves", str(tmp_path / "run.vcd")]) == 0
    lines = read(tmp_path / "run.gtkw")
    signals = {signal: width for line in lines.values() for signal, width, _ in line.bits}
    wave = Wave(tmp_path / "run.vcd", {*signals, RESET})
    assert {name: wave.widths[name] for name in signals} == signals
    config = SmConfig.preset("small")
    executed = run(load(path), config, record=False)
    statistics = simulate(config, Stream(executed.program, executed.file.launch)).statistics
    kernel_only = [cycle for cycle in wave.cycles if not cycle[RESET]][: statistics.cycles]
    shown = Counter((label, line.text(cycle.__getitem__)) for cycle in kernel_only for label, line in lines.items()
                    if line.texts is not None)
    assert shown["issue_transfer", "yes"] == statistics.datapath_instructions
    dispatched = Counter({op: count for (label, op), count in shown.items() if label == "dispatch_op" and op != "-"})
    assert dispatched.total() == statistics.datapath_instructions
    assert (dispatched["LD"], dispatched["FADD"], dispatched["ST"]) == (8, 4, 4), "of 4 warps"
    for bank in range(config.banks):
        accesses: Counter[str] = Counter()
        for (label, text), count in shown.items():
            if label == f"bank{bank}_access" and text != "-":
                accesses[text.split()[0]] += count
        assert accesses == {"rd": statistics.bank_reads[bank], "wr": statistics.bank_writes[bank]}
