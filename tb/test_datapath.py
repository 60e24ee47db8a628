"""Bench of the datapath: random instruction streams at its ports, every cycle against `golden_model.datapath`."""

from typing import Any

import cocotb
import pytest

from golden_model.coalescing.alignment import byte_enables, to_sub_banks
from golden_model.coalescing.datapath import CoalescingDatapath
from golden_model.datapath import Datapath, Write
from golden_model.gating.datapath import GatedCoalescingDatapath, GatedDatapath
from golden_model.gating.reorder import reorder
from golden_model.gating.trivial import promised
from golden_model.words import spread
from tb import runner
from tb.bench import Checker, Coverage, Observation, Ports, exercise, source
from tb.datapath_driver import REGISTERS, Surroundings
from warploom.arch.config import Coalescing, Gating, SmConfig
from warploom.arch.interfaces import (
    WARP_BITS,
    WRITERS,
    Outcome,
    place_fields,
    probe_fields,
    stored_fields,
    unpack,
    zero_fields,
)
from warploom.arch.isa import Pipe
from warploom.arch.layout import rows_per_warp

INSTRUCTIONS = 3000
WARP_MASK = (1 << WARP_BITS) - 1


class DatapathCheck:
    """Probe, activity, dispatches with operands, completions, readiness and written words equal the twin's in every
    cycle."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._probe = probe_fields(ports.config)
        self._config = ports.config
        self._destination = [name for name, _ in (*place_fields(ports.config), *stored_fields(ports.config))]
        self._coalescing = ports.config.coalescing is Coalescing.ON
        self.twin = kind_of(ports.config)(ports.config, rows_per_warp(ports.config, REGISTERS))
        self.completions = 0

    def __call__(self, seen: Observation) -> None:
        """Check one cycle, then step the twin through its end."""
        twin, equal = self.twin, self._checker.equal
        twin.settle()
        probe = twin.probe()
        self._checker.checks += 1
        if seen["probe"] != probe:
            actual, expected = unpack(self._probe, seen["probe"]), unpack(self._probe, probe)
            for name in expected:
                equal(name, actual[name], expected[name])
        equal("activity", self._codecs["activity"].unpack(seen["activity"]), twin.activity())
        equal("issue.ready", seen["issue__ready"], int(twin.issue_ready))
        equal("dispatch.valid", seen["dispatch__valid"], int(twin.sent is not None))
        if twin.sent is not None and seen["dispatch__valid"]:
            self._dispatch(seen, twin.sent)
        for i, writer in enumerate(WRITERS):
            self._completion(seen, writer, twin.done[i])
            if writer != "sp":
                equal(f"{writer} ready", seen[f"result_{writer}__ready"], int(twin.ready[i]))
                self._coverage.hit(f"{writer} stalls", seen[f"result_{writer}__valid"] and not twin.ready[i])
        self._stored(seen, twin.writes())
        twin.clock(
            issue=self._fields(seen, "issue"), sp=self._fields(seen, "result_sp"),
            sfu=self._fields(seen, "result_sfu"), mem=self._fields(seen, "result_mem"),
            credit_sfu=bool(seen["credit_sfu"]), credit_mem=bool(seen["credit_mem"]),
        )  # fmt: skip

    def _fields(self, seen: Observation, port: str) -> Any:
        """The fields of a stream, `None` when it is not valid."""
        return self._codecs[f"{port}__payload"].unpack(seen[f"{port}__payload"]) if seen[f"{port}__valid"] else None

    def _dispatch(self, seen: Observation, expected: dict[str, Any]) -> None:
        actual = self._fields(seen, "dispatch")
        # Without gating lanes that do not execute are read too.
        shown = WARP_MASK if self._config.gating is Gating.OFF else spread(expected["lanes"])
        for slot, name in enumerate("abc"):
            self._checker.equal(f"dispatch.{name}", actual.pop(name) & shown, expected["operands"][slot] & shown)
        if not expected["writes"]:
            for name in self._destination:
                del actual[name]
        for name, value in actual.items():
            self._checker.equal(f"dispatch.{name}", value, expected[name])
        self._coverage.hit(f"{Pipe(expected['pipe']).name} dispatch")
        if self._config.gating.has_zero_mask:
            for outcome, _ in promised(expected["trivial"]):
                self._coverage.hit(f"outcome {outcome.name}")

    def _stored(self, seen: Observation, writes: list[Write]) -> None:
        """What the sub-banks take, byte by byte; nothing where no bank is written."""
        words, enables = (self._codecs[name].array(seen[name]) for name in ("stored_data", "stored_bytes"))
        if self._coalescing:
            self._coverage.hit("narrow write", any(spread(write.lanes) & ~write.byte_mask for write in writes))
            self._coverage.hit("sign fill", any(write.byte_mask & ~spread(write.lanes) for write in writes))
        for bank, (word, enabled) in enumerate(zip(words, enables, strict=True)):
            data = mask = 0
            here = [write for write in writes if write.bank == bank]
            for write in here:
                groups = self._reordered(seen, write)
                data |= self._form(write.data & write.byte_mask, write.left, groups)
                mask |= self._form(write.byte_mask, write.left, groups)
            self._checker.equal(f"bank {bank} bytes", enabled, byte_enables(mask))
            self._checker.equal(f"bank {bank} word", word & mask if here else word, data)

    def _form(self, word: int, left: bool, groups: int) -> int:
        """A byte-interleaved word as the sub-banks hold it."""
        return to_sub_banks(word, left) if self._coalescing else reorder(word, groups)

    def _reordered(self, seen: Observation, write: Write) -> int:
        """The groups that are reordered in a register that is written."""
        name = f"{write.writer}_latch_reorder"
        groups = unpack(self._probe, seen["probe"])[name] if name in dict(self._probe) else 0
        if groups:
            self._coverage.hit("reordered write")
        return groups

    def _completion(self, seen: Observation, writer: str, done: Any) -> None:
        self._checker.equal(f"{writer} done", seen[f"done_{writer}__valid"], int(done is not None))
        self.completions += seen[f"done_{writer}__valid"]
        if done is not None and seen[f"done_{writer}__valid"]:
            self._checker.equal(f"{writer} done", self._fields(seen, f"done_{writer}"),
                                {"tag": done["tag"], "pred": done["pred"]})  # fmt: skip


def kind_of(config: SmConfig) -> Any:
    """The twin that a configuration asks for."""
    if config.gating is Gating.OFF:
        return CoalescingDatapath if config.coalescing is Coalescing.ON else Datapath
    return GatedCoalescingDatapath if config.coalescing is Coalescing.ON else GatedDatapath


def points(config: SmConfig) -> list[str]:
    """What a random stream must come by."""
    always = ["SP dispatch", "SFU dispatch", "MEM dispatch", "sfu stalls", "mem stalls"]
    coalescing = ["narrow write", "sign fill"] if config.coalescing is Coalescing.ON else []
    outcomes = [f"outcome {outcome.name}" for outcome in Outcome if outcome is not Outcome.COMPUTE]
    reordered = any(name == "reorder" for name, _ in zero_fields(config))
    return [*always, *coalescing, *(outcomes if config.gating.has_zero_mask else []),
            *(["reordered write"] if reordered else [])]  # fmt: skip


@cocotb.test()
async def random_stream(dut: cocotb.handle.SimHandleBase) -> None:
    """A random instruction stream; every instruction with a result completes once."""
    ports, checker = Ports(dut), Checker(minimum=10 * INSTRUCTIONS)
    coalescing = ports.config.coalescing is Coalescing.ON
    coverage = Coverage(*points(ports.config))
    surroundings = Surroundings(ports, source(), INSTRUCTIONS)
    check = DatapathCheck(ports, checker, coverage)
    await exercise(ports, surroundings.stimuli(), check, checker)
    checker.equal("completions", check.completions, surroundings.expected)
    checker.holds("banks and ports were contended", min(check.twin.bank_conflicts, check.twin.port_conflicts) > 0)
    if coalescing:
        traffic = check.twin.traffic()
        checker.holds("all kinds of accesses were coalesced", min(traffic.coalesced.values()) > 0)
        checker.holds("collector writes were coalesced", traffic.collector_writes < traffic.operands_stored)
    checker.finish()
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("settings", [
    [], ["coalescing=on", "alignment=reg"], ["coalescing=on", "alignment=write"], ["gating=active"],
    ["gating=in_lane"], ["gating=cross_lane"], ["gating=in_lane", "coalescing=on", "alignment=reg"],
    ["gating=cross_lane", "coalescing=on", "alignment=write"],
], ids=["baseline", "reg", "write", "active", "in_lane", "cross_lane", "in_lane reg", "cross_lane write"])  # fmt: skip
def test_datapath(settings: list[str]) -> None:
    config = SmConfig.preset("small").with_settings(settings)
    runner.run(runner.build(config, "Datapath"), "tb.test_datapath", 1)
