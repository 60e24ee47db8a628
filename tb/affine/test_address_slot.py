"""Bench of the address slot: the load that is dispatched is the one that was taken, with the same address."""

import random
from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import COLUMNS, GROUP, LANES, SmConfig
from warploom.arch.interfaces import dispatch_fields, issue_fields, zero_fields
from warploom.arch.isa import NO_SLOT
from warploom.tb import runner
from warploom.tb.affine.operands import multiples
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source

CYCLES = 4000
SLOTS = 3
POINTS = ("dispatched at once", "dispatched later", "compact", "zero", "without a destination")


class AddressSlotBench:
    """Drives the issue port, the affine set (base and stride are valid for one cycle), zero buffer and dispatcher."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._config, self._codecs, self._checker, self._coverage = ports.config, ports.codecs, checker, coverage
        self._names = [name for name, _ in dispatch_fields(ports.config) if name != "collector"]
        self._held: dict[str, int] | None = None
        self._fresh = False
        self._compact = 0
        self._values: list[int] = []

    def stimuli(self) -> Iterator[Stimulus]:
        """Loads whenever the slot is free, and dispatches, in bursts and pauses; all other inputs change in every
        cycle."""
        rng = source()
        takes, dispatches = busy(rng, 0.6), busy(rng, 0.5)
        noise = [f"instruction__{name}" for name in ("address", "early", "late")]
        noise = [name for name in (*noise, "values") if name in self._codecs]
        for _ in range(CYCLES):
            yield {
                "take": next(takes) and self._held is None,
                "instruction__issue": self._load(rng),
                "compact": rng.getrandbits(SLOTS),
                **{name: rng.getrandbits(self._codecs[name].width) for name in noise},
                "offer__dispatched": next(dispatches) and self._held is not None,
            }

    def _load(self, rng: random.Random) -> dict[str, int]:
        """Any fields; no register is read, and no slot is a constant."""
        fields = {name: rng.getrandbits(bits) for name, bits in issue_fields(self._config)}
        return fields | {"reads": 0, "imm_slot": NO_SLOT}

    def check(self, seen: Observation) -> None:
        """Check one cycle, then take or dispatch."""
        for name in ("busy", "ready"):
            self._checker.equal(name, seen[f"offer__{name}"], int(self._held is not None))
        if self._held is not None:
            self._complete(seen, self._held)
            self._compare(seen, self._held)
        if seen["offer__dispatched"]:
            self._coverage.hit("dispatched at once" if self._fresh else "dispatched later")
            self._held = None
        self._fresh = bool(seen["take"])
        if seen["take"]:
            self._take(seen)

    def _take(self, seen: Observation) -> None:
        """The fields of the load that the slot stores. A stored side overrides that of the register's number."""
        known = dict(self._codecs["instruction__issue"].unpack(seen["instruction__issue"]))
        for port in ("instruction__address", "instruction__early"):
            known |= self._destination(port, seen) if port in seen else {}
        self._held = {name: known.get(name, 0) for name in self._names}
        self._compact = seen["compact"]
        self._coverage.hit("without a destination", not known["writes"])
        for slot in range(SLOTS):
            self._coverage.hit("compact" if self._compact >> slot & 1 else "zero")

    def _destination(self, port: str, seen: Observation) -> dict[str, int]:
        """The destination's element of a port."""
        fields: dict[str, int] = self._codecs[port].unpack(seen[port])[str(SLOTS)]
        return fields

    def _complete(self, seen: Observation, kept: dict[str, int]) -> None:
        """The cycle after `take` brings base and stride of compact slots, and the zero mask of a destination."""
        if not self._fresh:
            return
        values = self._codecs["values"].array(seen["values"])
        self._values = [value if self._compact >> slot & 1 else 0 for slot, value in enumerate(values)]
        if kept["writes"] and zero_fields(self._config):
            kept |= self._destination("instruction__late", seen)

    def _compare(self, seen: Observation, kept: dict[str, int]) -> None:
        self._checker.equal("held", self._codecs["offer__held"].unpack(seen["offer__held"]), kept)
        oldest = self._codecs["oldest"].unpack(seen["oldest"])
        self._checker.equal("compact", oldest["compact"], (1 << SLOTS) - 1)
        actual = [value["base"] | value["stride"] << 32 for value in oldest["values"].values()]
        self._checker.equal("values", actual, self._values)
        for value in oldest["values"].values():
            self._checker.equal("multiples", value, value | multiples(value["stride"]))
        if self._config.gates_columns:
            needed = self._codecs["offer__needed"].array(seen["offer__needed"])
            self._checker.equal("needed", needed, self._needed(kept["lanes"]))

    def _needed(self, lanes: int) -> list[int]:
        """Columns of a slot that its constant, zero, needs: those of executing lanes or, with coalescing, one of each
        sub-bank for each group with executing lanes; none with a zero mask."""
        if self._config.has_zero_mask:
            return [0] * SLOTS
        if self._config.has_sides:
            groups = [bool(lanes >> first & (1 << GROUP) - 1) for first in range(0, LANES, GROUP)]
            lanes = sum(groups[column % len(groups)] << column for column in range(COLUMNS))
        return [lanes] * SLOTS


@cocotb.test()
async def random_loads(dut: cocotb.handle.SimHandleBase) -> None:
    """Random loads and dispatches."""
    ports, checker = Ports(dut), Checker(minimum=CYCLES)
    coverage = Coverage(*POINTS)
    bench = AddressSlotBench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@pytest.mark.sample(2)
@pytest.mark.rtl
@pytest.mark.parametrize("settings", [
    ["gating=cross_lane"], [], ["gating=active", "coalescing=on", "alignment=write"],
    ["gating=in_lane", "coalescing=on"],
], ids=" ".join)
def test_address_slot(settings: list[str], seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["affine=abm", *settings])
    runner.run(runner.build(config, "AddressSlot"), "warploom.tb.affine.test_address_slot", seed)
