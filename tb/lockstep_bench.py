"""The kernel in lockstep, inside the simulator: golden front end, hardware datapath, and the golden twin beside it.

`tb.lockstep` starts this module with the job in the environment. In every cycle the golden SM steps first; what it
feeds to its datapath goes to the hardware too, except that answers from outside are computed from the hardware's own
operands (`tb.outside`). All outputs are functions of registers, so they are sampled at the falling edge, before the
inputs of the cycle are put on the ports: one trigger a cycle.
"""

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import cocotb
from cocotb.triggers import FallingEdge

from golden_model.blocks import Flight
from golden_model.check import Defined
from golden_model.datapath import Datapath
from golden_model.gating.trivial import promised
from golden_model.gating.zero_mask import Zero
from golden_model.sm import Inputs, Sm
from golden_model.words import ALL_LANES, WORD_MASK, spread
from golden_model.writeback import Result
from tb.bench import Driver, Ports
from tb.coalescing.values import code_of
from tb.gating.values import outcome_bits
from tb.lockstep import JOB, RESULT
from tb.outside import OutsideUnits
from tb.readback import Readback
from tb.replay import replay
from tb.shadow import Form, Shadow
from warploom.arch.config import LANES, Coalescing
from warploom.arch.errors import ExecutionError
from warploom.arch.interfaces import (
    ACTIVITY_FIELDS,
    CODE_FIELDS,
    WRITERS,
    Outcome,
    probe_fields,
    stored_fields,
    trivial_fields,
    unpack,
    zero_fields,
)
from warploom.arch.isa import PT, Op, Pipe
from warploom.kernels.launchfile import load
from warploom.running import run as run_kernel

CONTROL = ("warp", "op", "modifiers", "pipe", "timing", "dst", "writes", "lanes", "full", "pred")
"""Fields of the dispatch port that are compared."""

PLACE = ("bank", "row", "left")
"""Where the destination lies: these too, and how it is stored so far, but only if there is one."""

GATED_ONLY = ("bypass_loads",)
"""Activity that a kernel can do without; all other counters count in any run."""


class Difference(AssertionError):
    """Hardware and golden twin differ; `report` says where."""

    def __init__(self, cycle: int, field: str, expected: int, actual: int, lane: int | None = None) -> None:
        unit = field.partition("_")[0]
        self.report = {"cycle": cycle, "unit": unit, "field": field, "expected": expected, "actual": actual}
        if lane is not None:
            self.report["lane"] = lane
        where = "" if lane is None else f", lane {lane}"
        super().__init__(f"cycle {cycle}, {field}{where}: expected {expected:#x}, actual {actual:#x}")


class Source(Protocol):
    """What drives the two datapaths: the golden SM, then the read-back of the registers."""

    cycle: int
    inputs: Inputs
    datapath: Datapath
    defined: Mapping[int, Defined]

    @property
    def finished(self) -> bool: ...
    def step(self) -> None: ...
    def flight(self, tag: int) -> Flight | None: ...


class Lockstep:
    """Drives and compares. `checks` counts compared values by kind; `shadow` follows the register file."""

    def __init__(self, ports: Ports, outside: OutsideUnits) -> None:
        self.ports, self.outside = ports, outside
        self.driver = Driver(ports)
        self.shadow = Shadow(ports.config)
        self.fields = probe_fields(ports.config)
        self.checks = dict.fromkeys(("cycles", "dispatches", "operands", "writes", "predicates"), 0)
        self.cycle = 0
        self._handles, self._codecs = ports.outputs, ports.codecs
        self._destination = (*PLACE, *(name for name, _ in stored_fields(ports.config)))
        self._has_outcomes, self._zero_names = bool(trivial_fields(ports.config)), dict(zero_fields(ports.config))
        if self._has_outcomes:
            self.checks["outcomes"] = 0
        self._stride = 0

    async def run(self, source: Source, stride: int, cycles: int | None = None) -> None:
        """Until the source is finished, or for some cycles."""
        self._stride = stride
        while self.cycle != cycles:
            source.step()
            if source.finished:
                return
            self._compare(source)
            self._drive(source.inputs)
            self.cycle += 1
            await FallingEdge(self.ports.clk)

    @property
    def activity(self) -> dict[str, int]:
        """The hardware's activity counters."""
        return unpack(ACTIVITY_FIELDS, self._read("activity"))

    def _compare(self, source: Source) -> None:
        datapath = source.datapath
        expected, actual = datapath.probe(), self._read("probe")
        if expected != actual:
            self._fields_equal("", unpack(self.fields, expected), unpack(self.fields, actual))
        self._fields_equal("activity_", datapath.activity(), self.activity)
        self._fields_equal("dispatch_", {"valid": int(datapath.sent is not None)},
                           {"valid": int(self._handles["dispatch__valid"].value)})  # fmt: skip
        self.checks["cycles"] += 1
        if datapath.sent is not None:
            self._sent(source, datapath.sent)
        if any(datapath.done):
            self._completed(source, actual)

    def _sent(self, source: Source, expected: Mapping[str, Any]) -> None:
        """The dispatch port, in the lanes whose operands are defined; the units outside take what it shows."""
        codec, word = self._codecs["dispatch__payload"], self._read("dispatch__payload")
        names = CONTROL + self._destination if expected["writes"] else CONTROL
        self._fields_equal("dispatch_", {name: expected[name] for name in names},
                           {name: codec.field(word, name) for name in names})  # fmt: skip
        self.checks["dispatches"] += 1
        operands = tuple(codec.field(word, slot) for slot in "abc")
        common, defined = ALL_LANES, source.defined[expected["tag"]].operands
        for slot, lanes in enumerate(defined):
            name, lanes_used = f"dispatch_operand{slot}", lanes & expected["lanes"]
            self._equal(name, operands[slot], expected["operands"][slot], lanes_used)
            self.checks["operands"] += 1
            common &= lanes
        flight = source.flight(expected["tag"])
        served = flight is not None and expected["op"] > Op.SEL
        if served:
            self.outside.accept(flight, operands, expected["pred"], common)
        if self._has_outcomes:
            self._outcomes(expected, codec.field(word, "trivial"), common)
            if served and expected["pipe"] == Pipe.SP:
                self._outcomes_hold(expected, codec.field(word, "trivial"), operands, common)

    def _outcomes(self, expected: Mapping[str, Any], trivial: int, defined: int) -> None:
        """What is known of the results. Conditions look at operands, so that in a lane with an undefined one, where the
        hardware has what it found at power-up, the model may know what the hardware does not, or the reverse."""
        compared = outcome_bits(defined | ALL_LANES & ~expected["lanes"])
        if (trivial ^ expected["trivial"]) & compared:
            raise Difference(self.cycle, "dispatch_trivial", expected["trivial"] & compared, trivial & compared)

    def _outcomes_hold(self, sent: Mapping[str, Any], trivial: int, operands: Sequence[int], defined: int) -> None:
        """What outcomes promise is what the unit outside computes from the same operands."""
        if not trivial:
            return
        result, pred = self.outside.answer(sent["tag"])
        for outcome, lanes in promised(trivial):
            promise = 0 if outcome is Outcome.ZERO else operands[outcome - Outcome.A]
            self._equal(f"dispatch_trivial_{outcome.name}", promise, result, lanes & defined)
            if pred & lanes & defined:
                raise Difference(self.cycle, "dispatch_trivial_pred", pred, 0)
            self.checks["outcomes"] += 1

    def _completed(self, source: Source, probe: int) -> None:
        """Predicates of completions, and the registers that they wrote."""
        written = []
        for writer, result in zip(WRITERS, source.datapath.done, strict=True):
            if result is None:
                continue
            flight, lanes = source.flight(result["tag"]), source.defined[result["tag"]].result
            if flight.static.instruction.pdst != PT:
                port = f"done_{writer}__payload"
                actual = self._codecs[port].field(self._read(port), "pred")
                if (actual ^ result["pred"]) & lanes & result["lanes"]:
                    raise Difference(self.cycle, f"{writer}_done_pred", result["pred"], actual)
                self.checks["predicates"] += 1
            if result["writes"]:
                written.append((writer, result, self.outside.traced(flight), lanes))
        if written:
            self._written(written, probe)

    def _written(self, written: list[tuple[str, Result, int, int]], probe: int) -> None:
        """Whole registers, as they are after the writes of this cycle: (writer, result, word of the trace, defined)."""
        data, enables = self._read("stored_data"), self._read("stored_bytes")
        for writer, result, word, defined in written:
            bank, form = result["bank"], self._form(writer, probe)
            place = bank, result["row"]
            self.shadow.store(place, form, *(self._codecs[name].field(all_banks, str(bank)) for name, all_banks in
                                             (("stored_data", data), ("stored_bytes", enables))))  # fmt: skip
            self.shadow.assign(place, word, result["lanes"], defined, bool(result["full"]))
            self._equal(f"bank{bank}_row{place[1]}", self.shadow.stored(place, form), self.shadow.value(place),
                        self.shadow.known[place])  # fmt: skip
            self.checks["writes"] += 1

    def _form(self, writer: str, probe: int) -> Form:
        """How a register is stored that is written in this cycle."""
        form, field = Form(), self._codecs["probe"].field
        if self.ports.config.coalescing is Coalescing.ON:
            form = form._replace(code=code_of(unpack(CODE_FIELDS, field(probe, f"{writer}_latch_code"))))
        if self._zero_names:
            zero = Zero(*(field(probe, f"{writer}_latch_{name}") for name in self._zero_names))
            form = form._replace(zero=zero)
        return form

    def _read(self, port: str) -> int:
        return self._handles[port].value.to_unsigned()

    def _fields_equal(self, prefix: str, expected: Mapping[str, int], actual: Mapping[str, int]) -> None:
        if expected != actual:
            name = next(name for name in expected if expected[name] != actual[name])
            raise Difference(self.cycle, prefix + name, expected[name], actual[name])

    def _equal(self, name: str, actual: int, expected: int, lanes: int) -> None:
        wrong = (actual ^ expected) & spread(lanes)
        if wrong:
            lane = (wrong & -wrong).bit_length() - 1 >> 5
            values = [word >> LANES * lane & WORD_MASK for word in (expected, actual)]
            raise Difference(self.cycle, name, *values, lane)

    def _drive(self, inputs: Inputs) -> None:
        stimulus: dict[str, Any] = {"stride": self._stride, "credit_sfu": int(inputs.credit_sfu),
                                    "credit_mem": int(inputs.credit_mem)}  # fmt: skip
        if inputs.issue is not None:
            stimulus |= {"issue__valid": 1, "issue__payload": inputs.issue}
        for writer in WRITERS:
            result = getattr(inputs, writer)
            if result is not None:
                data, pred = self.outside.answer(result["tag"])
                place = {} if result["writes"] else dict.fromkeys(self._destination, 0)
                stimulus[f"result_{writer}__valid"] = 1
                stimulus[f"result_{writer}__payload"] = {**result, **place, "data": data, "pred": pred}
        self.driver.drive(stimulus)


@cocotb.test()
async def kernel(dut: cocotb.handle.SimHandleBase) -> None:
    """One kernel, from reset to the last write-back; then all registers, then all memory."""
    job, ports = json.loads(os.environ[JOB]), Ports(dut)
    executed = run_kernel(load(job["launch"]), ports.config)
    trace = executed.execution.trace
    sm, outside = Sm(ports.config, trace, check=True), OutsideUnits(trace)
    lockstep = Lockstep(ports, outside)
    await ports.reset()
    start = time.perf_counter()
    outcome: dict[str, Any] = {"difference": None}
    try:
        await lockstep.run(sm, sm.stride, job["cycles"])
        outcome["cycles"] = lockstep.cycle
        outcome["seconds"] = time.perf_counter() - start
        if not sm.finished:
            return
        registers = Readback(ports.config, trace.program.registers, sm.datapath, lockstep.shadow.known)
        await lockstep.run(registers, sm.stride)
        outcome["registers"] = registers.compared
        _check_memory(outside, executed.execution, trace)
        idle = [name for name, count in lockstep.activity.items() if not count and name not in GATED_ONLY]
        assert not idle, f"the hardware counted no {', '.join(idle)}"
    except Difference as difference:
        outcome["difference"] = difference.report
        raise
    finally:
        outcome |= {"checks": lockstep.checks, "warp_instructions": trace.warp_instructions}
        Path(RESULT).write_text(json.dumps(outcome))
    assert min(lockstep.checks["cycles"], lockstep.checks["writes"]) > 0, "nothing was compared"


def _check_memory(outside: OutsideUnits, execution: Any, trace: Any) -> None:
    """Every access of the hardware, replayed, leaves the memory that functional execution left."""
    try:
        memory, wrong = replay(trace, outside.accesses)
    except ExecutionError as error:
        raise AssertionError(f"the hardware sent an illegal address: {error}") from None
    assert not wrong, "\n".join(wrong[:5])
    for name, array in memory.buffers().items():
        assert array.tobytes() == execution.buffers[name].tobytes(), f"buffer {name} differs from functional execution"
    assert memory.globals() == execution.globals, "the module's .global variables differ from functional execution"
