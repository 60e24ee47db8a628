"""The golden model's stimuli for the hardware, and its expected outputs, cycle by cycle.

In every cycle the golden SM steps first. The inputs of its datapath also go to the hardware, except that results from
outside are computed from the hardware's own operands (`warploom.tb.outside`). The hardware is a simulator
(`warploom.tb.lockstep_bench`), or the recorder of a tape (`warploom.tb.tape`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from warploom.arch.chunks import most_warps
from warploom.arch.fields import unpack
from warploom.arch.interfaces import (
    ENCODING_FIELDS,
    FREE_BITS,
    Outcome,
    address_fields,
    hint_fields,
    issue_fields,
    issue_names,
    result_fields,
    stored_fields,
    trivial_fields,
    zero_fields,
)
from warploom.arch.isa import PT, Op, Pipe
from warploom.arch.layout import powered_rows, rows_per_warp
from warploom.golden_model.check import Defined
from warploom.golden_model.datapath import Datapath
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.inputs import Inputs
from warploom.golden_model.operands.windows import WindowStore
from warploom.golden_model.register_file.zero_mask import Zero
from warploom.golden_model.trace import Trace
from warploom.golden_model.trivial import promised
from warploom.golden_model.words import ALL_LANES, spread
from warploom.tb import claims
from warploom.tb.affine.lockstep import AffinePorts
from warploom.tb.codec import join
from warploom.tb.difference import Difference, lanes_equal
from warploom.tb.hardware import Hardware
from warploom.tb.narrow_values import encoding_of
from warploom.tb.observation import Probe
from warploom.tb.outside import OutsideUnits
from warploom.tb.shadow import Form, Shadow
from warploom.tb.zero_values import outcome_bits

CONTROL = ("warp", "op", "modifiers", "pipe", "timing", "dst", "writes", "lanes", "full", "pred", "tag", "collector")
"""Fields of the dispatch port that are compared."""

OPERANDS = ("a", "b", "c")


class Source(Protocol):
    """The source of stimuli of the two datapaths: the golden SM, then the read-back of the registers."""

    cycle: int
    datapath: Datapath

    @property
    def inputs(self) -> Inputs: ...
    @property
    def defined(self) -> Mapping[int, Defined]: ...
    @property
    def finished(self) -> bool: ...
    def step(self) -> None: ...
    def flight(self, tag: int) -> Flight | None: ...


class Comparison:
    """Drives and compares. `checks` counts compared values by kind; `shadow` tracks the register file."""

    def __init__(self, hardware: Hardware, outside: OutsideUnits, trace: Trace) -> None:
        config, self._codecs = hardware.config, hardware.codecs
        self.config, self.hardware, self.outside = config, hardware, outside
        self.shadow = Shadow(config)
        self.checks = dict.fromkeys(("cycles", "dispatches", "operands", "writes", "predicates"), 0)
        self.cycle = 0
        self.activity: Mapping[str, int] = {}
        """The activity counters."""
        # Where the destination lies, and how it is stored so far: compared only if it has a row.
        tables = address_fields(config), stored_fields(config), hint_fields(config)
        self._destination = tuple(name for table in tables for name, _ in table)
        hints = tuple(name for name, _ in hint_fields(config))
        self._ports, self._sp = tuple(config.dispatch_ports), config.numbers(Pipe.SP)
        self._dispatch = self._codecs[f"{self._ports[0]}__payload"]
        self._silent, self._rowless, self._writing = (
            (names, self._dispatch.mask(names)) for names in (CONTROL, CONTROL + hints, CONTROL + self._destination))
        self._issue_ports, self._issued = issue_names(config), [name for name, _ in issue_fields(config)]
        self._shows_claims, self._has_order = config.shows_claims, config.shows_claims and config.issue_ports > 1
        self._returned = [name for name, _ in result_fields(config)]
        self._has_outcomes, self._zero_names = bool(trivial_fields(config)), dict(zero_fields(config))
        if self._has_outcomes:
            self.checks["outcomes"] = 0
        if config.writes_back:
            self.checks["evictions"] = 0
        self._affine = AffinePorts(hardware, trace, self.checks) if config.has_compact_slots else None
        self._stride, self._registers = rows_per_warp(config, trace.program.registers), trace.program.registers
        warps = most_warps(config, trace.program, trace.launch)
        self._powered = powered_rows(config, trace.program.registers, warps)
        self._probe: Probe | None = None

    def step(self, source: Source) -> bool:
        """One cycle, unless the source is finished. Returns whether there was one."""
        if self._probe is None:
            self._probe = Probe(self._codecs["probe"], source.datapath.observed)
        source.step()
        if source.finished:
            return False
        self._compare(source, self._probe)
        self._drive(source.inputs)
        self.cycle += 1
        return True

    def _compare(self, source: Source, probe: Probe) -> None:
        datapath = source.datapath
        shown = self._expect("probe", probe.pack(datapath.observe()))
        self.activity = datapath.activity()
        self._expect("activity", self._codecs["activity"].pack(self.activity))
        for port, sent in zip(self._ports, datapath.sent, strict=True):
            self._expect(f"{port}__valid", int(sent is not None))
        if isinstance(datapath.operands, WindowStore):
            self._expect("free_entries", join(datapath.operands.free_entries, FREE_BITS))
        if self._shows_claims:
            self._expect("free_collectors", claims.shown(self.config, datapath.operands.free_collectors))
        elif self.config.issue_inputs == 1:
            self._expect("issue__ready", int(datapath.operands.free_collectors[0] > 0))
        for pipe, ready in zip(self.config.pipes, datapath.ready, strict=True):
            if pipe.credits:
                self._expect(f"result_{pipe.name}__ready", int(ready))
        if self._affine is not None:
            self._affine.compare(self.cycle, datapath)
        if self.config.renames:
            self._expect("sweeping", datapath.sweeping)
            self._expect("tfet_free", datapath.tfet_free)
            if self.config.predicts_stalls:
                self._expect("stall", datapath.stall)
        self.checks["cycles"] += 1
        for port, sent in zip(self._ports, datapath.sent, strict=True):
            if sent is not None:
                self._sent(source, port, sent)
        if datapath.register_file.writeback.held:
            self._completed(source)
            self._written(datapath, shown)

    def _sent(self, source: Source, port: str, expected: Mapping[str, Any]) -> None:
        """Compare a dispatch port in the lanes with defined operands; the units outside take its instruction."""
        codec, lanes = self._dispatch, expected["lanes"]
        defined = source.defined[expected["tag"]].operands
        common = defined[0] & defined[1] & defined[2]
        names, mask = self._silent
        if expected["writes"]:
            names, mask = self._writing if expected["dst"] < self._registers else self._rowless
        values = {name: expected[name] for name in names}
        values |= zip(OPERANDS, expected["operands"], strict=True)
        mask |= codec.pack({slot: spread(known & lanes) for slot, known in zip(OPERANDS, defined, strict=True)})
        if self._has_outcomes:
            # Conditions look at operands, so that in a lane with an undefined one, where the hardware has what it found
            # at power-up, the model may know what the hardware does not, or the reverse.
            values["trivial"] = expected["trivial"]
            mask |= codec.pack({"trivial": outcome_bits(common | ALL_LANES & ~lanes)})
        word = self._expect(f"{port}__payload", codec.pack(values), mask)
        self.checks["dispatches"] += 1
        self.checks["operands"] += len(OPERANDS)
        operands = tuple(codec.field(word, slot) for slot in OPERANDS)
        flight = source.flight(expected["tag"])
        if flight is not None and expected["op"] > Op.SEL:
            self.outside.accept(flight, operands, expected["pred"], common)
            if self._has_outcomes and expected["pipe"] in self._sp:
                self._outcomes_hold(expected, codec.field(word, "trivial"), operands, common)

    def _outcomes_hold(self, sent: Mapping[str, Any], trivial: int, operands: Sequence[int], defined: int) -> None:
        """Check that outcomes equal the results of the unit outside for the same operands."""
        if not trivial:
            return
        result, pred = self.outside.answer(sent["tag"])
        for outcome, lanes in promised(trivial):
            promise = 0 if outcome is Outcome.ZERO else operands[outcome - Outcome.A]
            lanes_equal(self.cycle, f"dispatch_trivial_{outcome.name}", result, promise, lanes & defined)
            if pred & lanes & defined:
                raise Difference(self.cycle, "dispatch_trivial_pred", pred, 0)
            self.checks["outcomes"] += 1

    def _completed(self, source: Source) -> None:
        """Compare predicates of completions, and update the values of registers."""
        for writer, result in zip(self.config.writers, source.datapath.done, strict=True):
            if result is None:
                continue
            flight, lanes = source.flight(result["tag"]), source.defined[result["tag"]].result
            assert flight is not None, "nobody outside answers, yet something completes"
            if flight.static.instruction.pdst != PT:
                codec = self._codecs[f"done_{writer}__payload"]
                self._expect(codec.name, codec.pack({"pred": result["pred"]}),
                             codec.pack({"pred": lanes & result["lanes"]}))
                self.checks["predicates"] += 1
            if result["writes"] and result["dst"] < self._registers:
                address = result["bank"], result["row"]
                if result.get("given"):
                    self.shadow.renew(address)
                self.shadow.complete(flight.warp.slot, address, flight.word, result["lanes"], lanes)

    def _written(self, datapath: Datapath, shown: int) -> None:
        """Compare whole registers after the writes of this cycle."""
        latches = datapath.register_file.writeback.latches
        for write in datapath.writes():
            writer = self.config.writers.index(write.writer)
            latch = latches[writer]
            assert latch is not None
            address = write.bank, write.row
            self.shadow.assign(latch["warp"], address, write.lanes, bool(latch["full"]))
            self.hardware.expect_stored(self.cycle, address, self._form(write.writer, shown), self.shadow)
            self.checks["writes"] += 1
            if datapath.done[writer] is None:
                self.checks["evictions"] += 1

    def _form(self, writer: str, shown: int) -> Form:
        """The stored form of a register that is written in this cycle."""
        form, field = Form(), self._codecs["probe"].field
        if self.config.has_sides:
            packed = field(shown, f"{writer}_latch_encoding")
            form = form._replace(encoding=encoding_of(unpack(ENCODING_FIELDS, packed)))
        if self._zero_names:
            zero = Zero(*(field(shown, f"{writer}_latch_{name}") for name in self._zero_names))
            form = form._replace(zero=zero)
        return form

    def _expect(self, port: str, word: int, mask: int | None = None) -> int:
        return self.hardware.expect(self.cycle, port, word, mask)

    def _drive(self, inputs: Inputs) -> None:
        pipes = self.config.pipes
        stimulus: dict[str, Any] = {"stride": self._stride}
        if self.config.has_unallocated:
            stimulus["registers"] = self._registers
        stimulus |= {f"credit_{pipe.name}": inputs.credits >> i & 1 for i, pipe in enumerate(pipes) if pipe.credits}
        if self.config.renames:
            stimulus |= {"powered": self._powered, "retired": inputs.warps.retired}
        if self.config.predicts_stalls:
            stimulus |= {"began": inputs.warps.began, "ended": inputs.warps.ended}
        if self._affine is not None:
            stimulus |= self._affine.stimulus(self.cycle, inputs.attempts)
        if self._has_order:
            stimulus["first_port"] = inputs.first_port
        for port, issue in zip(self._issue_ports, inputs.issue, strict=bool(inputs.issue)):
            if issue is not None:
                stimulus |= {f"{port}__valid": 1, f"{port}__payload": _only(self._issued, issue)}
                if issue.get("first"):
                    self.shadow.restart(issue["warp"])
        for pipe, result in zip(pipes, inputs.results, strict=bool(inputs.results)):
            if result is not None:
                data, pred = self.outside.answer(result["tag"])
                fields = _only(self._returned, result)
                address = {} if result["writes"] else dict.fromkeys(self._destination, 0)
                stimulus[f"result_{pipe.name}__valid"] = 1
                stimulus[f"result_{pipe.name}__payload"] = {**fields, **address, "data": data, "pred": pred}
        self.hardware.drive(stimulus)


def _only(names: Sequence[str], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with these names."""
    return {name: fields[name] for name in names}
