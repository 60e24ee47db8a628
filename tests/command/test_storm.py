"""A storm of faults: commands, alone and several at once, get signals at random moments, and a cache that is damaged
or cleared meanwhile.

In every case the commands leave no process and no part of a file, and the same command, undisturbed, then gives its
usual result. The seed of the test determines the faults.
"""

import random
import signal
from pathlib import Path

import pytest
from support.disturbed import EVALUATE, LINE, REGRESS, RUN, STATUS, SYNTH, VERILOG, Command, parts, results

from warploom.store import Kind
from warploom.store.holdings import clear

COMMANDS = {"run": RUN, "regress": REGRESS, "synth": SYNTH, "verilog": VERILOG, "evaluate": EVALUATE}

QUICK = [kind for kind in Kind if kind not in (Kind.SIMULATORS, Kind.RUNTIMES, Kind.RUNS)]
"""Kinds of entries that are made again in little time."""

ROUNDS = 12

LONGEST = 12.0
"""Maximum seconds before a signal."""


class Storm:
    """Each command has a folder for its output, and all share the cache."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.cache, self.rng = folder, folder / "cache", random.Random(seed)
        self.expected = {name: self.undisturbed(name, folder / f"reference-{name}") for name in COMMANDS}
        for kind in QUICK:
            clear(kind)

    def undisturbed(self, name: str, folder: Path) -> dict[str, object]:
        """The result of an undisturbed command."""
        status, lines = Command(COMMANDS[name], folder, self.cache).end()
        assert status == 0, lines
        assert all(line.endswith("is damaged: made again") for line in lines), lines
        return results(folder)

    def calm(self, name: str) -> None:
        """The command gives its usual result, even with files that others have left in the folder."""
        found = self.undisturbed(name, self.folder / "here")
        assert {key: found[key] for key in self.expected[name]} == self.expected[name], name

    def damage(self) -> None:
        """Flip a bit of a cached file, or truncate it; the large ones of a simulator less often."""
        files = [path for name in ("text", "record") for path in self.cache.glob(f"*/*/{name}")]
        if not files or self.rng.random() < 0.1:
            files = [path for kind in ("simulators", "runtimes") for path in self.cache.glob(f"{kind}/*/**/*")
                     if path.is_file()]
        path = self.rng.choice(sorted(files))
        data = bytearray(path.read_bytes())
        if self.rng.random() < 0.5:
            del data[self.rng.randrange(len(data) + 1) :]
        elif data:
            data[self.rng.randrange(len(data))] ^= 1 << self.rng.randrange(8)
        print(f"damaged: {path.relative_to(self.folder)}")
        path.write_bytes(data)

    def disturb(self) -> None:
        """Start one, two or four commands, the same or different ones, and send each a signal."""
        count, ending = self.rng.choice((1, 1, 2, 4)), self.rng.choice(sorted(STATUS))
        names = self.rng.choices(sorted(COMMANDS), k=count) if self.rng.random() < 0.5 else [
            self.rng.choice(sorted(COMMANDS))] * count
        delays = [self.rng.uniform(0, LONGEST) for _ in names]
        print(f"{ending.name} for {', '.join(f'{n} after {d:.2f} s' for n, d in zip(names, delays, strict=True))}")
        commands = [Command(COMMANDS[name], self.folder / "here", self.cache) for name in names]
        for command in commands:
            command.wait_ready()
        if self.rng.random() < 0.5:
            print(f"cleared: {clear(self.rng.choice(QUICK))}")
        waited = 0.0
        for delay, command in sorted(zip(delays, commands, strict=True), key=lambda pair: pair[0]):
            command.wait_for(delay - waited)
            waited = delay
            command.process.send_signal(ending)
        for name, command in zip(names, commands, strict=True):
            self.check(name, ending, *command.end())
            assert command.leaves_no_process(), name

    def check(self, name: str, ending: signal.Signals, status: int, lines: list[str]) -> None:
        """The command ended by its signal, or before it came."""
        lines = [line for line in lines if not line.endswith("is damaged: made again")]
        assert status in (0, STATUS[ending]), (name, status, lines)
        if ending != signal.SIGKILL:
            assert lines == (LINE[ending] if status else []), (name, status, lines)


@pytest.mark.rtl
@pytest.mark.long
def test_storm(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "cache"))
    storm = Storm(tmp_path, seed)
    for number in range(ROUNDS):
        print(f"round {number}")
        if storm.rng.random() < 0.5:
            storm.damage()
        storm.disturb()
        storm.calm(storm.rng.choice(sorted(COMMANDS)))
    for name in COMMANDS:
        storm.calm(name)
    assert not parts(tmp_path / "here", storm.cache)
    assert not [path for path in (storm.cache / "runs").iterdir() if path.is_dir()]
