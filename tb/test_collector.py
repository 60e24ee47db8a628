"""Bench of the operand collector: hardware against `golden_model.collector`."""

import random
from collections.abc import Iterator

import cocotb
import pytest

from golden_model.collector import Collector
from tb import runner
from tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WARP_BITS, issue_fields
from warploom.arch.isa import NO_SLOT
from warploom.arch.layout import rows_per_warp

CYCLES = 4000
REGISTERS = 24


def instruction(rng: random.Random, config: SmConfig) -> dict[str, int]:
    """Random fields of the issue port; sources from few registers, so that they repeat and meet in banks."""
    fields = {name: rng.getrandbits(bits) for name, bits in issue_fields(config)}
    reads = rng.getrandbits(3)
    few = rng.sample(range(REGISTERS), rng.randint(1, 4))
    sources = [rng.choice(few) for _ in range(3)]
    imm_slot = rng.choice([slot for slot in range(3) if not reads >> slot & 1] + [NO_SLOT])
    return fields | {"warp": rng.randrange(config.warps), "reads": reads, "imm_slot": imm_slot,
                     **{f"src{slot}": register for slot, register in enumerate(sources)}}  # fmt: skip


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Instructions, grants of what is requested, and dispatches of what is ready, each in bursts and pauses."""
    rng = source()
    takes, grants, dispatches = (busy(rng, chance) for chance in (0.7, 0.6, 0.5))
    stride = rows_per_warp(ports.config, REGISTERS)
    for _ in range(CYCLES):
        requests = [bank for bank in range(ports.config.banks) if ports.peek("request") >> bank & 1]
        yield {
            "take": next(takes) and not ports.peek("busy"),
            "issue": instruction(rng, ports.config),
            "stride": stride,
            "grant": 1 << rng.choice(requests) if requests and next(grants) else 0,
            "operand": rng.getrandbits(WARP_BITS),
            "dispatched": next(dispatches) and ports.peek("ready"),
        }


class CollectorCheck:
    """State, offers and operands equal the twin's; an instruction is granted once for each register that it reads."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._twin = Collector(ports.config, 0)
        self._granted_before = False
        self._grants = self._registers = 0

    def __call__(self, seen: Observation) -> None:
        """Check one cycle, then step the twin through its end."""
        twin, equal = self._twin, self._checker.equal
        for name in ("busy", "waiting", "present"):
            equal(name, seen[name], int(getattr(twin, name)))
        offers = twin.offers()
        rows = self._codecs["row"].array(seen["row"])
        equal("request", seen["request"], sum((offer is not None) << bank for bank, offer in enumerate(offers)))
        for bank, offer in enumerate(offers):
            if offer is not None:
                equal(f"row[{bank}]", rows[bank], offer[1])
        equal("ready", seen["ready"], int(twin.ready))
        if twin.ready:
            equal("operands", tuple(self._codecs["operands"].array(seen["operands"])), twin.operands())
            for name, value in self._codecs["held"].unpack(seen["held"]).items():
                equal(f"held.{name}", value, twin.fields[name])
        self._properties(seen)
        self._step(seen)

    def _properties(self, seen: Observation) -> None:
        self._checker.holds("no slot waits and is present", not seen["waiting"] & seen["present"])
        self._checker.holds("a free collector requests nothing", bool(seen["busy"]) or not seen["request"])
        if seen["ready"]:
            self._checker.equal("grants of the instruction", self._grants, self._registers)

    def _step(self, seen: Observation) -> None:
        if self._granted_before:
            self._twin.capture(seen["operand"])
        self._granted_before = bool(seen["grant"])
        if seen["grant"]:
            self._twin.grant(seen["grant"].bit_length() - 1)
            self._grants += 1
        if seen["dispatched"]:
            self._twin.release()
        if seen["take"]:
            issue = self._codecs["issue"].unpack(seen["issue"])
            self._twin.issue(issue, seen["stride"])
            read = [issue[f"src{slot}"] for slot in range(3) if issue["reads"] >> slot & 1]
            self._grants, self._registers = 0, len(set(read))
            self._coverage.hit("no registers", not read)
            self._coverage.hit("one register in all slots", len(read) == 3 and len(set(read)) == 1)
            self._coverage.hit("repeat of a later slot", issue["reads"] == 7 and read[1] == read[2] != read[0])
            self._coverage.hit("immediate", issue["imm_slot"] != NO_SLOT)


@cocotb.test()
async def random_instructions(dut: cocotb.handle.SimHandleBase) -> None:
    """Random instructions, grants and dispatches."""
    ports, checker = Ports(dut), Checker(minimum=4 * CYCLES)
    coverage = Coverage("no registers", "one register in all slots", "repeat of a later slot", "immediate")
    await exercise(ports, stimuli(ports), CollectorCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("layout", ["wshift", "wid"])
def test_collector(layout: str) -> None:
    config = SmConfig.preset("small").with_settings([f"layout={layout}"])
    runner.run(runner.build(config, "Collector"), "tb.test_collector", 1)
