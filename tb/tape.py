"""A tape: the inputs of the datapath in each cycle of a lockstep run, and the expected outputs.

It is recorded without hardware: `Recorder` replaces it, and returns the expected outputs. So the results on a tape,
which the units outside compute from operands, belong to the golden model's operands. They are correct for hardware with
the same operands, and a replay compares these first: the dispatch port, in all lanes from which a result is computed.
If that is impossible, because a result depends on an operand that is undefined in the kernel, there is no tape.

A tape is a compressed sequence of items. An item is a byte with its kind, and its contents: a slot that changes (an
input port; the expected value of an output; the mask of the bits that are compared), a register write, or the end of a
cycle. Slots have the sizes of Verilator's C++ types, and are zero at first.
"""

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from warploom import store
from warploom.arch.config import SmConfig
from warploom.kernels.launchfile import LaunchFile
from warploom.store import Key, Kind
from warploom.tb.codec import Codec
from warploom.tb.identity import identity
from warploom.tb.kernel_run import KernelRun
from warploom.tb.shadow import BYTES, Address, Form, Shadow

SOURCES = ("warploom/arch", "warploom/compiler", "warploom/kernels", "warploom/golden_model", "warploom/tb",
           "warploom/running.py")
"""The sources on which a tape depends, in addition to configuration, launch, and ports of the hardware."""

ITEMS, ABOUT = "items", "about.json"
"""The files of a tape."""

WRITE, END = 0xFE, 0xFF
"""Items that are not slots."""

_WRITE = struct.Struct(f"<BII{BYTES // 8}s{BYTES}s{BYTES}s")
"""A register write: bank, number of the register, bytes whose enables count, new contents of its columns, and their
mask."""

CHUNK = 1 << 20


class Refused(Exception):
    """A run that cannot be replayed; the message has the reason."""


@dataclass(frozen=True)
class About:
    """The run on a tape, as in `warploom.tb.lockstep.Lockstep`; `refused` is the reason why there is no tape."""

    cycles: int
    warp_instructions: int
    registers: int
    checks: dict[str, int]
    refused: str | None


class Recorder:
    """Replaces hardware with these ports, and writes a tape of the run."""

    def __init__(self, config: SmConfig, ports: Sequence[Mapping[str, Any]], file: BinaryIO) -> None:
        self.config = config
        self.codecs = {port["name"]: Codec(port) for port in ports}
        self._file, self._deflate = file, zlib.compressobj(1)
        self._inputs, self._outputs = (directed(ports, direction) for direction in ("input", "output"))
        self._slots = {name: number for number, name in enumerate((*self._inputs, *self._outputs))}
        self._sizes = [size_of(self.codecs[name].width) for name in (*self._slots, *self._outputs)]  # and the masks
        assert len(self._sizes) < WRITE, f"{len(self._sizes)} slots"
        self._last = [0] * len(self._sizes)
        self._masked: dict[int, int] = {}
        self._pending = bytearray()

    def expect(self, cycle: int, port: str, word: int, mask: int | None = None) -> int:
        """Record the expected value of an output."""
        slot = self._slots[port]
        mask = (1 << self.codecs[port].width) - 1 if mask is None else mask
        self._put(slot, word & mask)
        self._masked[slot + len(self._outputs)] = mask
        return word

    def expect_stored(self, cycle: int, address: Address, form: Form, shadow: Shadow) -> None:
        """Record the expected write of a bank."""
        bank, row = address
        columns, mask = shadow.columns(address, form)
        self._pending += _WRITE.pack(WRITE, bank, bank * self.config.rows + row,
                                     shadow.enables(form).to_bytes(BYTES // 8, "little"),
                                     columns.to_bytes(BYTES, "little"), mask.to_bytes(BYTES, "little"))

    def drive(self, stimulus: Mapping[str, Any]) -> None:
        """Record the inputs."""
        for name, value in {**dict.fromkeys(self._inputs, 0), **stimulus}.items():
            self._put(self._slots[name], self.codecs[name].pack(value))

    def end_cycle(self) -> None:
        """End the record of a cycle."""
        for slot in range(len(self._slots), len(self._sizes)):
            self._put(slot, self._masked.get(slot, 0))
        self._masked.clear()
        self._pending.append(END)
        if len(self._pending) >= CHUNK:
            self._flush()

    def close(self) -> None:
        """End the record of the run."""
        self._flush()
        self._file.write(self._deflate.flush())

    def _put(self, slot: int, word: int) -> None:
        if word != self._last[slot]:
            self._last[slot] = word
            self._pending.append(slot)
            self._pending += word.to_bytes(self._sizes[slot], "little")

    def _flush(self) -> None:
        self._file.write(self._deflate.compress(self._pending))
        self._pending.clear()


def directed(ports: Sequence[Mapping[str, Any]], direction: str) -> list[str]:
    """The ports of a direction, in the order of their slots."""
    return [port["name"] for port in ports if port["direction"] == direction]


def size_of(width: int) -> int:
    """Bytes of a port in Verilator's C++."""
    return next((size for size in (1, 2, 4, 8) if width <= 8 * size), -(-width // 32) * 4)


def tape(config: SmConfig, ports: Sequence[Mapping[str, Any]], file: LaunchFile) -> tuple[Path, About]:
    """The cached tape of a launch, recorded if it is absent. Raises `Refused`, and the errors of the run."""
    key = Key(Kind.TAPES, f"{file.path.resolve().parent.name}-{file.path.stem}", {
        "run": identity(config, file, 0), "ports": store.digest(json.dumps(ports)), "sources": store.sources(*SOURCES)})
    folder = store.folder(key, lambda own: record(config, ports, file, own))
    about = About(**json.loads((folder / ABOUT).read_text()))
    if about.refused:
        raise Refused(about.refused)
    return folder / ITEMS, about


def record(config: SmConfig, ports: Sequence[Mapping[str, Any]], file: LaunchFile, folder: Path) -> None:
    """Record a run on a tape, two files in a folder. Raises the errors of the run."""
    with (folder / ITEMS).open("wb") as items:
        recorder = Recorder(config, ports, items)
        run = KernelRun(recorder, file)
        for _ in run.cycles():
            recorder.end_cycle()
        recorder.close()
    refused = run.outside.guessed
    if refused:
        (folder / ITEMS).unlink()
    found = run.outcome
    about = About(found["cycles"], found["warp_instructions"], found["registers"], found["checks"], refused)
    (folder / ABOUT).write_text(json.dumps(asdict(about)))


