"""The kernel in lockstep, inside the simulator: golden front end, hardware datapath, and the golden twin beside it.

`tb.lockstep` starts this module with the job in the environment. In every cycle the golden SM steps first; what it
feeds to its datapath goes to the hardware too, except that answers from outside are computed from the hardware's own
operands (`tb.outside`). All outputs are functions of registers, so they are sampled at the falling edge, before the
inputs of the cycle are put on the ports: one trigger a cycle.
"""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import cocotb
from cocotb.triggers import FallingEdge

from golden_model.blocks import Flight
from golden_model.check import Defined
from golden_model.datapath import Datapath
from golden_model.sm import Inputs, Sm
from golden_model.words import ALL_LANES, WORD_MASK, spread
from tb.bench import Driver, Ports
from tb.lockstep import JOB, RESULT
from tb.outside import OutsideUnits
from tb.readback import Readback
from tb.replay import replay
from warploom.arch.config import LANES
from warploom.arch.errors import ExecutionError
from warploom.arch.interfaces import WARP_BITS, WRITERS, probe_fields, unpack
from warploom.arch.isa import PT, Op
from warploom.kernels.launchfile import load
from warploom.running import run as run_kernel


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
    """Drives and compares. `checks` counts compared values by kind; `known` are the lanes of each (bank, row) whose
    contents the kernel defines."""

    def __init__(self, ports: Ports, outside: OutsideUnits) -> None:
        self.ports, self.outside = ports, outside
        self.driver = Driver(ports)
        self.fields = probe_fields(ports.config)
        self.checks = dict.fromkeys(("cycles", "dispatches", "operands", "writes", "predicates"), 0)
        self.known: dict[tuple[int, int], int] = {}
        self.cycle = 0
        self._handles = ports.outputs
        self._stride = 0
        self._sent: tuple[int, tuple[int, ...], int] | None = None  # dispatch of the cycle before: tag, operands, pred

    async def run(self, source: Source, stride: int, cycles: int | None = None) -> None:
        """Until the source is finished, or for some cycles."""
        self._stride = stride
        while self.cycle != cycles:
            source.step()
            self._serve(source)
            if source.finished:
                return
            self._compare(source)
            self._drive(source.inputs)
            self.cycle += 1
            await FallingEdge(self.ports.clk)

    def _serve(self, source: Source) -> None:
        """The units outside take what the hardware dispatched in the previous cycle."""
        if self._sent is None:
            return
        tag, operands, pred = self._sent
        flight, defined = source.flight(tag), source.defined[tag]
        for slot, (word, expected, lanes) in enumerate(zip(operands, self._expected, defined.operands, strict=True)):
            self._equal(f"dispatch_operand{slot}", word, expected, lanes & self._lanes)
            self.checks["operands"] += 1
        if flight is not None:
            common = ALL_LANES
            for lanes in defined.operands:
                common &= lanes
            self.outside.accept(flight, operands, pred, common)
        self._sent = None

    def _compare(self, source: Source) -> None:
        datapath = source.datapath
        expected, actual = datapath.probe(), self._handles["probe"].value.to_unsigned()
        if expected != actual:
            wanted, found = unpack(self.fields, expected), unpack(self.fields, actual)
            name = next(name for name in wanted if wanted[name] != found[name])
            raise Difference(self.cycle, name, wanted[name], found[name])
        self.checks["cycles"] += 1
        if datapath.dispatch is not None:
            self._dispatched(datapath.dispatch)
        if any(datapath.done):
            self._completed(source)

    def _dispatched(self, expected: Mapping[str, Any]) -> None:
        """Control fields at once; operands of outside instructions in `_serve`, when it is known which are defined."""
        codec = self.ports.codecs["dispatch__payload"]
        word = self._handles["dispatch__payload"].value.to_unsigned()
        for name in ("warp", "op", "modifiers", "pipe", "dst", "writes", "lanes", "pred"):
            actual = codec.field(word, name)
            if actual != expected[name]:
                raise Difference(self.cycle, f"dispatch_{name}", expected[name], actual)
        self.checks["dispatches"] += 1
        if expected["op"] > Op.SEL:
            operands = tuple(codec.field(word, slot) for slot in "abc")
            self._sent = expected["tag"], operands, expected["pred"]
            self._expected, self._lanes = expected["operands"], expected["lanes"]

    def _completed(self, source: Source) -> None:
        """Predicates of completions, and the words that they write."""
        for writer, result in zip(WRITERS, source.datapath.done, strict=True):
            if result is None:
                continue
            flight = source.flight(result["tag"])
            if flight.static.instruction.pdst == PT:
                continue
            lanes = source.defined[result["tag"]].result
            word = self._handles[f"done_{writer}__payload"].value.to_unsigned()
            actual = self.ports.codecs[f"done_{writer}__payload"].field(word, "pred")
            if (actual ^ result["pred"]) & lanes & result["lanes"]:
                raise Difference(self.cycle, f"{writer}_done_pred", result["pred"], actual)
            self.checks["predicates"] += 1
        writes = source.datapath.writes()
        if not writes:
            return
        words = self._handles["write_data"].value.to_unsigned()
        for write in writes:
            defined = source.defined[write.tag].result
            word = words >> WARP_BITS * WRITERS.index(write.writer) & (1 << WARP_BITS) - 1
            self._equal(f"{write.writer}_write_data", word, write.data, write.lanes & defined)
            place = write.bank, write.row
            self.known[place] = self.known.get(place, 0) & ~write.lanes | write.lanes & defined
            self.checks["writes"] += 1

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
                stimulus[f"result_{writer}__valid"] = 1
                stimulus[f"result_{writer}__payload"] = {**result, "data": data, "pred": pred}
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
        registers = Readback(ports.config, trace.program.registers, sm.datapath, lockstep.known)
        await lockstep.run(registers, sm.stride)
        outcome["registers"] = registers.compared
        _check_memory(outside, executed.execution, trace)
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
