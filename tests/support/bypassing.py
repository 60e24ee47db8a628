"""A bypassing collector driven by hand, and configurations with windows."""

from typing import Any

from warploom.arch.config import SmConfig
from warploom.arch.isa import NO_SLOT, Pipe, TimingClass
from warploom.golden_model.bypass.collector import BypassingCollector
from warploom.golden_model.bypass.entries import Coming, Delivery, Entry, Events, Taken
from warploom.golden_model.placement import Address
from warploom.golden_model.words import ALL_LANES, broadcast

LOW, HIGH = 0xFFFF, 0xFFFF0000
"""Halves of a warp."""


def config(bypass: str, *settings: str, preset: str = "small") -> SmConfig:
    return SmConfig.preset(preset).with_settings([f"bypass={bypass}", *settings])


def issue(sources: list[int], destination: int | None = None, lanes: int = ALL_LANES, **fields: Any) -> dict[str, Any]:
    """Fields of the issue port of an instruction that reads registers in its first slots."""
    named = {f"src{slot}": register for slot, register in enumerate((*sources, 0, 0, 0)[:3])}
    return {
        "warp": 0, "pipe": int(Pipe.SP), "timing": int(TimingClass.INT_ADD), "reads": (1 << len(sources)) - 1, **named,
        "dst": 255 if destination is None else destination, "writes": int(destination is not None), "lanes": lanes,
        "full": int(lanes == ALL_LANES), "imm_slot": NO_SLOT, "imm": 0, "first": 0, "to_collector": 1, "to_file": 1,
    } | fields


class Driven(BypassingCollector):
    """A collector whose registers are in bank 1, in the row of their number."""

    def __init__(self, bypass: str = "bow_wr", *settings: str) -> None:
        super().__init__(config(bypass, *settings), 0)

    def cycle(self, **events: Any) -> None:
        """A cycle in which these events happen (`Events`)."""
        self.clock(Events(**events))

    def take(self, *instruction: Any, **fields: Any) -> None:
        """A cycle in which the collector takes an instruction made by `issue`."""
        self.cycle(take=self.taken(*instruction, **fields))

    def taken(self, *instruction: Any, **fields: Any) -> Taken:
        """An instruction made by `issue`, with its addresses."""
        named = issue(*instruction, **fields)
        addresses = [Address(1, named[name], False) for name in ("src0", "src1", "src2", "dst")]
        return Taken(named, addresses[:3], addresses[3], [{}] * 4)

    def fetch(self, value: int = 0) -> None:
        """The cycles in which the requested operands arrive: one value in all lanes."""
        while self.request() is not None:
            self.cycle(granted=True)
            self.cycle(arriving_word=broadcast(value))

    def leave(self) -> None:
        """All instructions are dispatched."""
        self.fetch()
        while self.held:
            self.cycle(dispatched=True)

    def write(self, register: int, lanes: int = ALL_LANES, value: int = 0, **fields: Any) -> None:
        """An instruction writes a register, up to its delivery or its alternative."""
        self.take([], register, lanes, **fields)
        self.leave()
        self.result(register, lanes, value, **fields)

    def result(self, register: int, lanes: int = ALL_LANES, value: int = 0, **fields: Any) -> bool:
        """A result enters its latch and completes. Returns whether it is delivered."""
        deliver = self.delivers(register, bool(fields.get("to_collector", 1)))
        self.cycle(coming=[Coming(register, deliver)])
        if deliver:
            full = bool(fields.get("full", lanes == ALL_LANES))
            self.cycle(delivery=Delivery(register, broadcast(value), lanes, full, not fields.get("to_file", 1)))
        return deliver

    def pass_by(self, count: int = 1) -> None:
        """Instructions that name no register."""
        for _ in range(count):
            self.take([])
            self.leave()

    def named(self, register: int) -> Entry:
        """The entry of a register."""
        entry = self.lookup(register)
        assert entry is not None
        return entry

    @property
    def registers(self) -> list[int | None]:
        """The register of each entry, `None` if it is not in use."""
        return [entry.register if entry.used else None for entry in self.entries]
