"""The kernel in lockstep, inside the simulator: golden front end, hardware datapath, and the golden model beside it.

`warploom.tb.lockstep` starts this module with the job in the environment. In every cycle the golden SM steps first;
what it feeds to its datapath goes to the hardware too, except that answers from outside are computed from the
hardware's own operands (`warploom.tb.outside`). All outputs are functions of registers, so they are sampled at the
falling edge, before the inputs of the cycle are put on the ports: one trigger a cycle.
"""

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import cocotb
from cocotb.triggers import FallingEdge

from warploom.arch.errors import ExecutionError
from warploom.arch.interfaces import (
    ACTIVITY_FIELDS,
    ENCODING_FIELDS,
    FREE_BITS,
    Outcome,
    hint_fields,
    issue_fields,
    result_fields,
    stored_fields,
    trivial_fields,
    unpack,
    zero_fields,
)
from warploom.arch.isa import PT, Op, Pipe
from warploom.arch.layout import rows_per_warp
from warploom.files import write_whole
from warploom.golden_model.check import Defined, Mismatch
from warploom.golden_model.datapath import Datapath
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.functional.executor import Execution
from warploom.golden_model.inputs import Inputs
from warploom.golden_model.operands.windows import WindowStore
from warploom.golden_model.register_file.zero_mask import Zero
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace
from warploom.golden_model.trivial import promised
from warploom.golden_model.words import ALL_LANES
from warploom.kernels.launchfile import LaunchFile, load
from warploom.running import run as run_kernel
from warploom.tb.affine.lockstep import AffinePorts
from warploom.tb.bench import Driver, Ports
from warploom.tb.codec import join
from warploom.tb.difference import Difference, fields_equal, lanes_equal
from warploom.tb.identity import identity
from warploom.tb.lockstep import JOB, RESULT
from warploom.tb.narrow_values import encoding_of
from warploom.tb.observation import Probe
from warploom.tb.outside import OutsideUnits
from warploom.tb.readback import Readback
from warploom.tb.replay import replay
from warploom.tb.shadow import Form, Shadow
from warploom.tb.zero_values import outcome_bits

CONTROL = ("warp", "op", "modifiers", "pipe", "timing", "dst", "writes", "lanes", "full", "pred")
"""Fields of the dispatch port that are compared."""

ADDRESS = ("bank", "row", "left")
"""Where the destination lies: these too, and how it is stored so far, but only if there is one."""

GATED_ONLY = ("bypass_loads",)
"""Activity that a kernel can do without; all other counters count in any run."""

SPARED = ("sub_bank_reads", "sub_bank_writes", "column_reads", "column_writes")
"""Activity that a kernel can do without if its registers are compact."""


class Source(Protocol):
    """What drives the two datapaths: the golden SM, then the read-back of the registers."""

    cycle: int
    inputs: Inputs
    datapath: Datapath

    @property
    def defined(self) -> Mapping[int, Defined]: ...
    @property
    def finished(self) -> bool: ...
    def step(self) -> None: ...
    def flight(self, tag: int) -> Flight | None: ...


class Lockstep:
    """Drives and compares. `checks` counts compared values by kind; `shadow` follows the register file."""

    def __init__(self, ports: Ports, outside: OutsideUnits, trace: Trace) -> None:
        self.ports, self.outside = ports, outside
        self.driver = Driver(ports)
        self.shadow = Shadow(ports.config)
        self.checks = dict.fromkeys(("cycles", "dispatches", "operands", "writes", "predicates"), 0)
        self.cycle = 0
        self._handles, self._codecs = ports.outputs, ports.codecs
        stored, hints = stored_fields(ports.config), hint_fields(ports.config)
        self._destination = (*ADDRESS, *(name for name, _ in (*stored, *hints)))
        self._issued = [name for name, _ in issue_fields(ports.config)]
        self._returned = [name for name, _ in result_fields(ports.config)]
        self._has_outcomes, self._zero_names = bool(trivial_fields(ports.config)), dict(zero_fields(ports.config))
        if self._has_outcomes:
            self.checks["outcomes"] = 0
        if ports.config.writes_back:
            self.checks["evictions"] = 0
        self._affine = AffinePorts(ports, trace, self.checks) if ports.config.has_compact_slots else None
        self._stride = rows_per_warp(ports.config, trace.program.registers)

    async def run(self, source: Source, cycles: int | None = None) -> None:
        """Until the source is finished, or for some cycles."""
        clock, self.probe = self.ports.clk, Probe(self._codecs["probe"], source.datapath.observed)
        assert clock is not None
        while self.cycle != cycles:
            source.step()
            if source.finished:
                return
            self._compare(source)
            self._drive(source.inputs)
            self.cycle += 1
            await FallingEdge(clock)

    @property
    def activity(self) -> dict[str, int]:
        """The hardware's activity counters."""
        return unpack(ACTIVITY_FIELDS, self._read("activity"))

    def _compare(self, source: Source) -> None:
        datapath, probe = source.datapath, self._read("probe")
        self.probe.equal(self.cycle, datapath.observe(), probe)
        self._fields_equal("activity_", datapath.activity(), self.activity)
        self._fields_equal("dispatch_", {"valid": int(datapath.sent is not None)},
                           {"valid": int(self._handles["dispatch__valid"].value)})
        if isinstance(datapath.operands, WindowStore):
            self._free_entries(datapath.operands.free_entries)
        if self._affine is not None:
            self._affine.compare(self.cycle, datapath)
        self.checks["cycles"] += 1
        if datapath.sent is not None:
            self._sent(source, datapath.sent)
        if datapath.register_file.writeback.held:
            self._completed(source)
            self._written(datapath, probe)

    def _free_entries(self, expected: list[int]) -> None:
        """What each warp may issue."""
        free = self._read("free_entries")
        if free != join(expected, FREE_BITS):
            actual = self._codecs["free_entries"].array(free)
            self._fields_equal("room_", *({str(warp): r for warp, r in enumerate(all_)} for all_ in (expected, actual)))

    def _sent(self, source: Source, expected: Mapping[str, Any]) -> None:
        """The dispatch port, in the lanes whose operands are defined; the units outside take what it shows."""
        codec, word = self._codecs["dispatch__payload"], self._read("dispatch__payload")
        names = CONTROL + self._destination if expected["writes"] else CONTROL
        self._fields_equal("dispatch_", {name: expected[name] for name in names},
                           {name: codec.field(word, name) for name in names})
        self.checks["dispatches"] += 1
        operands = tuple(codec.field(word, slot) for slot in "abc")
        common, defined = ALL_LANES, source.defined[expected["tag"]].operands
        for slot, lanes in enumerate(defined):
            name, lanes_used = f"dispatch_operand{slot}", lanes & expected["lanes"]
            self._equal(name, operands[slot], expected["operands"][slot], lanes_used)
            self.checks["operands"] += 1
            common &= lanes
        flight = source.flight(expected["tag"])
        served = flight if expected["op"] > Op.SEL else None
        if served is not None:
            self.outside.accept(served, operands, expected["pred"], common)
        if self._has_outcomes:
            self._outcomes(expected, codec.field(word, "trivial"), common)
            if served is not None and expected["pipe"] == Pipe.SP:
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

    def _completed(self, source: Source) -> None:
        """Predicates of completions, and what registers are from now on."""
        for writer, result in zip(self.ports.config.writers, source.datapath.done, strict=True):
            if result is None:
                continue
            flight, lanes = source.flight(result["tag"]), source.defined[result["tag"]].result
            assert flight is not None, "nobody outside answers, yet something completes"
            if flight.static.instruction.pdst != PT:
                port = f"done_{writer}__payload"
                actual = self._codecs[port].field(self._read(port), "pred")
                if (actual ^ result["pred"]) & lanes & result["lanes"]:
                    raise Difference(self.cycle, f"{writer}_done_pred", result["pred"], actual)
                self.checks["predicates"] += 1
            if result["writes"]:
                address = result["bank"], result["row"]
                self.shadow.complete(flight.warp.slot, address, flight.word, result["lanes"], lanes)

    def _written(self, datapath: Datapath, probe: int) -> None:
        """Whole registers, as the register file has them after the writes of this cycle."""
        latches = datapath.register_file.writeback.latches
        writes = datapath.writes()
        if not writes:
            return
        data, enables = self._read("stored_data"), self._read("stored_bytes")
        for write in writes:
            writer = self.ports.config.writers.index(write.writer)
            bank, form, latch = write.bank, self._form(write.writer, probe), latches[writer]
            address = bank, write.row
            self.shadow.store(address, form, *(self._codecs[name].field(all_banks, str(bank)) for name, all_banks in
                                             (("stored_data", data), ("stored_bytes", enables))))
            assert latch is not None
            self.shadow.assign(latch["warp"], address, write.lanes, bool(latch["full"]))
            self._equal(f"bank{bank}_row{address[1]}", self.shadow.stored(address, form), self.shadow.value(address),
                        self.shadow.known[address])
            self.checks["writes"] += 1
            if datapath.done[writer] is None:
                self.checks["evictions"] += 1

    def _form(self, writer: str, probe: int) -> Form:
        """How a register is stored that is written in this cycle."""
        form, field = Form(), self._codecs["probe"].field
        if self.ports.config.has_sides:
            packed = field(probe, f"{writer}_latch_encoding")
            form = form._replace(encoding=encoding_of(unpack(ENCODING_FIELDS, packed)))
        if self._zero_names:
            zero = Zero(*(field(probe, f"{writer}_latch_{name}") for name in self._zero_names))
            form = form._replace(zero=zero)
        return form

    def _read(self, port: str) -> int:
        return self._handles[port].value.to_unsigned()

    def _fields_equal(self, prefix: str, expected: Mapping[str, int], actual: Mapping[str, int]) -> None:
        fields_equal(self.cycle, prefix, expected, actual)

    def _equal(self, name: str, actual: int, expected: int, lanes: int) -> None:
        lanes_equal(self.cycle, name, expected, actual, lanes)

    def _drive(self, inputs: Inputs) -> None:
        pipes = self.ports.config.pipes
        stimulus: dict[str, Any] = {"stride": self._stride}
        stimulus |= {f"credit_{pipe.name}": inputs.credits >> i & 1 for i, pipe in enumerate(pipes) if pipe.credits}
        if self._affine is not None:
            stimulus |= self._affine.stimulus(self.cycle, inputs.attempts)
        if inputs.issue is not None:
            issued = {name: inputs.issue[name] for name in self._issued}
            stimulus |= {"issue__valid": 1, "issue__payload": issued}
            if inputs.issue.get("first"):
                self.shadow.restart(inputs.issue["warp"])
        for pipe, result in zip(pipes, inputs.results, strict=bool(inputs.results)):
            if result is not None:
                data, pred = self.outside.answer(result["tag"])
                fields = {name: result[name] for name in self._returned}
                address = {} if result["writes"] else dict.fromkeys(self._destination, 0)
                stimulus[f"result_{pipe.name}__valid"] = 1
                stimulus[f"result_{pipe.name}__payload"] = {**fields, **address, "data": data, "pred": pred}
        self.driver.drive(stimulus)


@cocotb.test()
async def kernels(dut: cocotb.handle.SimHandleBase) -> None:
    """The kernels of the job, one after the other."""
    job, ports = json.loads(os.environ[JOB]), Ports(dut)
    outcomes: list[dict[str, Any]] = []
    try:
        for launch in job["launches"]:
            outcomes.append({"found": None})
            file = replace(load(launch["path"]), optimise=launch["optimise"])
            await _compare_kernel(ports, file, job["cycles"], outcomes[-1])
    finally:
        write_whole(Path(RESULT), json.dumps(outcomes).encode())


async def _compare_kernel(ports: Ports, file: LaunchFile, cycles: int | None, outcome: dict[str, Any]) -> None:
    """One kernel, from reset to the last write-back; then all registers, then all memory. Tells how it went."""
    outcome["identity"] = identity(ports.config, file, int(os.environ["COCOTB_RANDOM_SEED"]))
    executed = run_kernel(file, ports.config)
    trace = executed.execution.trace
    assert trace is not None
    sm, outside = Sm(ports.config, trace, check=True), OutsideUnits()
    registers = trace.program.registers
    lockstep = Lockstep(ports, outside, trace)
    await ports.reset()
    start = time.perf_counter()
    try:
        await lockstep.run(sm, cycles)
        outcome["cycles"] = lockstep.cycle
        outcome["seconds"] = time.perf_counter() - start
        if not sm.finished:
            return
        readback = Readback(ports.config, registers, sm.datapath, lockstep.shadow)
        await lockstep.run(readback)
        outcome["registers"] = readback.compared
        _check_memory(outside, executed.execution, trace)
        spared = (*GATED_ONLY, *(SPARED if ports.config.has_compact_slots else ()))
        idle = [name for name, count in lockstep.activity.items() if not count and name not in spared]
        assert not idle, f"the hardware counted no {', '.join(idle)}"
        checks = lockstep.checks
        assert min(checks["cycles"], checks["writes"] + checks.get("accepted", 0)) > 0, "nothing was compared"
    except Exception as error:
        outcome["found"] = _found(error, lockstep.cycle)
        raise
    finally:
        if sm.decisions.counts is not None:
            lockstep.checks["expansions"] = sm.decisions.counts.expansions
        outcome |= {"checks": lockstep.checks, "warp_instructions": trace.warp_instructions}


def _found(error: Exception, cycle: int) -> dict[str, Any]:
    """What ended a run in a cycle: a difference, or what else and its message, one line."""
    if isinstance(error, Difference):
        return error.report
    lines = str(error).splitlines() or ["no message"]
    if isinstance(error, Mismatch):
        return {"cycle": cycle, "what": "the golden model departs from functional execution", "message": lines[0]}
    if isinstance(error, AssertionError):
        return {"cycle": cycle, "what": "the run is not as it should be", "message": lines[0]}
    return {"cycle": cycle, "what": "the bench itself failed", "message": f"{type(error).__name__}: {lines[0]}"}


def _check_memory(outside: OutsideUnits, execution: Execution, trace: Trace) -> None:
    """Every access of the hardware, replayed, leaves the memory that functional execution left."""
    try:
        memory, printed, wrong = replay(trace, outside.accesses)
    except ExecutionError as error:
        raise AssertionError(f"the hardware sent an illegal address: {error}") from None
    assert not wrong, "\n".join(wrong[:5])
    for name, array in memory.buffers().items():
        assert array.tobytes() == execution.buffers[name].tobytes(), f"buffer {name} differs from functional execution"
    assert printed == execution.printed, "the hardware printed something else than functional execution"
    assert memory.globals() == execution.globals, "the module's .global variables differ from functional execution"
