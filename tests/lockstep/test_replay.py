"""Replays find every kind of difference, in the same cycle as the bench, which then takes over."""

import json
import random
import re
import sys
import zlib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from support import power_up_bench
from support.small_launches import CONFIG, cycles, launches

from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.arch.mechanisms import Settings, cores
from warploom.cli import main
from warploom.kernels.launchfile import LaunchFile, Options, load
from warploom.kernels.library import kernel
from warploom.store import run_folder
from warploom.tb import lockstep, player, runner
from warploom.tb import tape as tapes
from warploom.tb.lockstep import LockstepError
from warploom.tb.player import Replay, play
from warploom.tb.shadow import BYTES, Shadow
from warploom.tb.tape import Recorder

STORED = "stored_data"
PROGRAMS = Path(__file__).parents[1] / "ptx"
ALWAYS = {"probe", "activity", "dispatch__valid", "dispatch__payload", STORED}
AFFINE = {"outcome_0__valid", "outcome_0__payload", "uniform_0__valid"}
CORES = cores()
on = pytest.mark.xdist_group
"""The core of `warploom.tb.test_datapath` that a test runs on."""


@pytest.fixture
def file(tmp_path: Path) -> LaunchFile:
    """A launch of 300 cycles."""
    launch, = launches(tmp_path, 1)
    return launch


# ---------------------------------------------------------------- what a replay finds


class Noted(Recorder):
    """Notes every expected value with its cycle, and keeps the whole tape. `expected` has, by port: the cycle, the
    value, its mask, and the place on the tape if it is a write of a bank."""

    last: "Noted"

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.expected: defaultdict[str, list[tuple[int, int, int, int | None]]] = defaultdict(list)
        self.ends: list[int] = []
        self.tape = b""
        type(self).last = self

    def expect(self, cycle: int, port: str, word: int, mask: int | None = None) -> int:
        mask = (1 << self.codecs[port].width) - 1 if mask is None else mask
        super().expect(cycle, port, word, mask)
        self._note(port, cycle, word & mask, mask, None)
        return word

    def expect_stored(self, cycle: int, address: Any, form: Any, shadow: Shadow) -> None:
        super().expect_stored(cycle, address, form, shadow)
        self._note(STORED, cycle, *shadow.columns(address, form), len(self._pending) - 2 * BYTES)

    def _note(self, port: str, cycle: int, word: int, mask: int, place: int | None) -> None:
        if mask:
            self.expected[port].append((cycle, word, mask, place))

    def end_cycle(self) -> None:
        super().end_cycle()
        self.ends.append(len(self._pending) - 1)

    def close(self) -> None:
        self.tape = bytes(self._pending)
        super().close()

    def spoiled(self, port: str, rng: random.Random) -> tuple[bytes, int]:
        """The tape with one bit inverted of one expected value of a port, and its cycle."""
        cycle, word, mask, place = rng.choice(self.expected[port])
        wrong = word ^ 1 << rng.choice([bit for bit in range(mask.bit_length()) if mask >> bit & 1])
        if place is not None:
            return self.tape[:place] + wrong.to_bytes(BYTES, "little") + self.tape[place + BYTES:], cycle
        slot, end = self._slots[port], self.ends[cycle]
        before, after = (bytes([slot]) + value.to_bytes(self._sizes[slot], "little") for value in (wrong, word))
        return self.tape[:end] + before + self.tape[end : end + 1] + after + self.tape[end + 1 :], cycle


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize(("settings", "more"), [
    pytest.param((), set(), marks=on("baseline")),
    pytest.param(CORES["abm cross_lane write"], AFFINE | {"address_ready"}, marks=on("abm cross_lane write")),
    pytest.param(CORES["abm bow_hints cross_lane reg"], AFFINE | {"free_entries"},
                 marks=on("abm bow_hints cross_lane reg")),
])
def test_every_port_is_compared_in_every_cycle(
    settings: Settings, more: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    config, file = SmConfig.preset("small").with_settings([*settings]), load(PROGRAMS / "taps.toml")
    made, rng = runner.build(config, "Datapath"), random.Random(seed)
    monkeypatch.setattr(tapes, "Recorder", Noted)
    monkeypatch.setattr(tapes, "CHUNK", sys.maxsize)
    tapes.record(config, made.ports, file, tmp_path)
    noted, items = Noted.last, tmp_path / tapes.ITEMS
    assert play(made, items, seed).differs is None
    assert noted.expected.keys() >= ALWAYS | more
    assert any(port.startswith("done_") for port in noted.expected)
    for port in noted.expected:
        tape, cycle = noted.spoiled(port, rng)
        items.write_bytes(zlib.compress(tape, 0))
        found = play(made, items, seed)
        assert (found.differs, found.cycles - 1) == (port, cycle)


@pytest.mark.rtl
@on("baseline")
@pytest.mark.parametrize("port", ["issue__payload", "result_mem__payload", "credit_mem"])
def test_what_is_driven_counts(port: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Hardware that does not get this input differs."""
    file = kernel("vector_add").load("tiny")
    drive = Recorder.drive
    monkeypatch.setattr(Recorder, "drive", lambda recorder, stimulus: drive(
        recorder, {name: value for name, value in stimulus.items() if name != port}))
    made = runner.build(CONFIG, "Datapath")
    tapes.record(CONFIG, made.ports, file, tmp_path)
    assert play(made, tmp_path / tapes.ITEMS, seed).differs
    assert play(made, tmp_path / tapes.ITEMS, seed, compare=False).differs is None


@pytest.mark.rtl
@on("baseline")
def test_power_up_is_that_of_the_bench(tmp_path: Path, seed: int) -> None:
    made = runner.build(CONFIG, "Datapath")
    with run_folder("power_up") as folder:
        runner.simulate(made, folder, "support.power_up_bench", seed)
        seen = json.loads((folder / power_up_bench.SEEN).read_text())
    assert len(set(seen)) > 1
    with (tmp_path / "items").open("wb") as items:
        recorder = Recorder(CONFIG, made.ports, items)
        for cycle, (stimulus, shown) in enumerate(zip(power_up_bench.stimuli(CONFIG), seen, strict=True)):
            recorder.expect(cycle, power_up_bench.PORT, shown)
            recorder.drive(stimulus)
            recorder.end_cycle()
        recorder.close()
    assert play(made, tmp_path / "items", seed).differs is None
    assert play(made, tmp_path / "items", seed + 1).differs == power_up_bench.PORT


# ---------------------------------------------------------------- who compares


@pytest.mark.rtl
@on("baseline")
def test_a_replay_has_the_results_of_the_bench(file: LaunchFile, seed: int) -> None:
    bench, replay = (lockstep.lockstep(CONFIG, file, seed, replay=replay).to_json() for replay in (False, True))
    assert (bench.pop("by"), replay.pop("by")) == ("cocotb", "replay")
    del bench["seconds"], replay["seconds"]
    assert bench == replay


@pytest.mark.rtl
@on("baseline")
@pytest.mark.parametrize("replay", [False, True])
def test_options_of_the_launch_hold_in_lockstep(replay: bool, file: LaunchFile, seed: int) -> None:
    """More registers, and other addresses: with other cycles than the model's the run would be an error."""
    file = file.changed(Options(optimise=False, virtual_registers=True, heap_base=0xC0000000))
    done = lockstep.lockstep(CONFIG, file, seed, cycles=cycles(file), replay=replay)
    assert done.registers == lockstep.lockstep(CONFIG, file, seed, replay=not replay).registers


ANSWER = '{"cycles": 8, "seconds": 1, "differs": null}'


@pytest.mark.parametrize(("script", "message"), [
    ("kill -9 $$", "ended with status -9: no output"), ("kill -6 $$", "ended with status -6"),
    ("echo no room >&2; exit 4", "ended with status 4: no room"),
    (f"echo '{ANSWER}'; exit 4", "ended with status 4"), ("exit 0", "ended with status 0: no output")])
def test_a_replay_without_an_answer_is_no_difference(
    script: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ToolError, match=message):
        _answer_of(script, tmp_path, monkeypatch)


@pytest.mark.parametrize(("script", "differs"), [
    (f"echo from the loader >&2; echo '{ANSWER}'", None),
    ("echo a rule; echo '- unit.sv:5: Verilog $stop'; echo Aborting...; exit 1", "an assertion .*: a rule")])
def test_the_last_line_of_a_replay_is_its_answer(
    script: str, differs: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _answer_of(script, tmp_path, monkeypatch)
    assert found.differs is None if differs is None else re.match(differs, str(found.differs))


def _answer_of(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Replay:
    """What `play` makes of a program that is this shell script."""
    program, items = folder / "player", folder / "items"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    items.write_bytes(zlib.compress(b""))
    monkeypatch.setattr(player, "program", lambda made, source: program)
    return play(runner.Build(folder, CONFIG, "Datapath", "datapath", None), items, 1)


@pytest.mark.rtl
@on("baseline")
def test_a_difference_that_the_bench_does_not_find_is_an_error(
    file: LaunchFile, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    for played, message in ((Replay(8, "probe", 1), "7 .*: probe"), (Replay(8, None, 1), "8 .*: the tape has ended")):
        monkeypatch.setattr(lockstep, "play", lambda *_, played=played: played)
        with pytest.raises(LockstepError, match=f"only the replay differs in cycle {message}"):
            lockstep.lockstep(CONFIG, file, seed, replay=True)


@pytest.mark.rtl
@on("baseline")
@pytest.mark.parametrize(("refused", "said"), [
    (False, ""), (True, "the bench runs instead of a replay: it is so\n"),
])
def test_the_command_names_the_comparing_tool(refused, said, file, monkeypatch, capsys):
    def refuse(*_):
        raise tapes.Refused("it is so")

    if refused:
        monkeypatch.setattr(lockstep, "tape", refuse)
    path = file.path.with_name("run.json")
    assert main(["run", str(file.path), "--preset", "small", "--rtl", "--replay", "--json", str(path)]) == 0
    assert json.loads(path.read_text())["rtl"]["by"] == ("cocotb" if refused else "replay")
    assert capsys.readouterr().err.endswith(said)


@pytest.mark.parametrize("options", [["--replay"], ["--rtl", "--replay", "--waves", "a.vcd"]])
def test_only_hardware_without_waves_is_replayed(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "vector_add", *options]) == 1
    assert "--replay: it replays on hardware" in capsys.readouterr().err


@pytest.mark.rtl
@on("baseline")
def test_programs_whose_operands_are_not_all_defined_are_replayed(seed: int) -> None:
    """Prints, module variables, early returns: as in `warploom.tb.test_lockstep`."""
    for name in ("print", "symbols", "early"):
        done = lockstep.lockstep(CONFIG, load(PROGRAMS / f"{name}.toml"), seed, replay=True)
        assert done.by == "replay"
