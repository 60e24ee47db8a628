# amaranth: UnusedElaboratable=no
"""The affine unit of one scheduler: registers, two lanes, and the rules ([AFFINE], section 4.2)."""

import itertools

from amaranth import Cat, Const, Module, Mux, ResetSignal, Signal, Value
from amaranth.hdl import Assert, Format
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.compact import ATTEMPT_CYCLES
from warploom.arch.config import LANES, SmConfig
from warploom.arch.isa import Op
from warploom.arch.modifiers import Combine
from warploom.rtl.affine.ends import EndLane, Ends
from warploom.rtl.affine.linear import LinearSum
from warploom.rtl.affine.register_file import AffineRegisterFile, entry_bits
from warploom.rtl.affine.rules import RULE, Rules, decode_rule
from warploom.rtl.affine.stride import StrideFinder
from warploom.rtl.interfaces import (
    COMPACT,
    SLOTS,
    SOURCES,
    UNIFORM,
    UNIFORM_RESULT,
    attempt_layout,
    lookup_layout,
    outcome_layout,
    unstoppable,
)
from warploom.rtl.lane_control import CONTROL, decode
from warploom.rtl.select import merge
from warploom.rtl.shared import share

SUM = data.StructLayout({"take_a": 1, "take_b": 1, "minus": 1, "carry": 1})
"""Inputs of `LinearSum` that depend on the operation alone."""

LANE_NAMES = ("first", "last")
"""The lanes that execute an attempt: those of the ends of the warp."""


class AffineUnit(wiring.Component):
    """One set of the affine unit: executes attempts, and looks up the values of compact slots for the datapath.

    An attempt in cycle t: tags and decoding in t, values and their ends in t + 1, the lanes in t + 1 to t + 3, its
    outcome in t + 4, at the end of which an accepted result is written. One attempt or look-up a cycle, no stalls.

    Attempts that come before the outcome take its result from here: from t + 1 on of a linear operation, and in t + 4
    of any. If it is refused, those of its warp are squashed.

    Parameters
    ----------
    config : sizes, and which operations are eligible.
    probe : add assertions for a bench.

    Members
    -------
    attempt : an instruction that is to execute here.
    registers : registers of a thread, a static input that the launch sets.
    lookup : an instruction that issues into the datapath, never in the cycle of an attempt, and of a warp without
        attempts; its destination becomes generic.
    first : with pairs, the first of a pair, which may come with an attempt; `lookup` is then the second. Only one of
        the two, or of the first and the attempt, reads compact registers.
    values : base and stride of the compact slots, in the next cycle.
    outcome : of the attempt four cycles before.
    uniform, uniform_result : floating point or a load in the cycle after its attempt, and its result two cycles later.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        attempt, entry = attempt_layout(config), entry_bits(config)
        self._taken_layout = data.StructLayout({
            "attempt": attempt, "compact": SLOTS, "coming": data.ArrayLayout(ATTEMPT_CYCLES, SLOTS),
            "stored": SLOTS, "immediate": SLOTS, "entry": entry, "control": CONTROL, "rule": RULE, "special": 1,
            "some": 1, "all": 1, "sum": SUM,
        })
        self._held_layout = data.StructLayout({
            "entry": entry, **{name: attempt[name].shape for name in ("warp", "writes", "lanes", "pred")},
            **{name: RULE[name].shape for name in ("outside", "combined", "combine")},
        })
        super().__init__({
            "attempt": In(unstoppable(attempt_layout(config))),
            "registers": In(8),
            "lookup": In(unstoppable(lookup_layout(config))),
            "values": Out(data.ArrayLayout(COMPACT, SLOTS)),
            "outcome": Out(unstoppable(outcome_layout(config))),
            "uniform": Out(unstoppable(UNIFORM)),
            "uniform_result": In(unstoppable(UNIFORM_RESULT)),
            **({"first": In(unstoppable(lookup_layout(config)))} if config.has_pairs else {}),
        })
        self.register_file = AffineRegisterFile(config=config, probe=probe)
        self.rules, self.stride_finder, self.linear_sum = Rules(), StrideFinder(), LinearSum()
        self.lanes = [EndLane() for _ in LANE_NAMES]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.register_file = self.register_file
        m.submodules.rules = self.rules
        m.submodules.stride_finder = self.stride_finder
        m.submodules.linear_sum = self.linear_sum
        for end, lane in zip(LANE_NAMES, self.lanes, strict=True):
            m.submodules[f"{end}_lane"] = share(platform, "end_lane", lane)
        valid = Signal(ATTEMPT_CYCLES)
        self._name_registers(m)
        taken, held, results = self._stages()
        self._take(m, taken)
        self._find_coming(m, taken, held, valid)
        self._prepare(m, taken, results, valid[0])
        self._hold(m, taken, held, results)
        self._decide(m, held[-1], valid[-1])
        self._squash(m, [self.attempt.payload.warp, taken.attempt.warp, *(stage.warp for stage in held)], valid)
        return m

    def _stages(self) -> tuple[data.View, list[data.View], list[data.View]]:
        """The registers of an attempt's second cycle, of each later one, and with results that younger ones take."""
        later = range(ATTEMPT_CYCLES - 1)
        return (Signal(self._taken_layout, name="taken", reset_less=True),
                [Signal(self._held_layout, name=f"held_{stage}", reset_less=True) for stage in later],
                [Signal(COMPACT, name=f"result_{stage}", reset_less=True) for stage in (*later, "written")])

    def _name_registers(self, m: Module) -> None:
        """The registers of one instruction, an attempt or a look-up."""
        named = self.register_file.named
        attempt, lookup = self.attempt.payload, self.lookup.payload
        m.d.comb += [
            *(named[name].eq(Mux(self.attempt.valid, attempt[name], lookup[name])) for name in named.shape().members),
            self.register_file.registers.eq(self.registers),
            self.register_file.enable.eq(self.attempt.valid | self.lookup.valid),
            self.register_file.forget.eq(self.lookup.valid & lookup.writes),
            self.values.eq(self.register_file.values),
        ]
        if self._with_probe:
            with m.If(self.lookup.valid & ~ResetSignal()):
                m.d.sync += Assert(lookup.compact == lookup.reads & self.register_file.compact,
                                   Format("compact is {:03b} in a look-up\n", lookup.compact))
        if self._config.has_pairs:
            self._name_first(m, self.first.payload)

    def _name_first(self, m: Module, first: data.View) -> None:
        """The registers of the first of a pair."""
        file = self.register_file
        m.d.comb += [
            *(file.first[name].eq(first[name]) for name in file.first.shape().members),
            file.first_valid.eq(self.first.valid),
            file.first_forget.eq(self.first.valid & first.writes),
            file.first_compact.eq(first.compact),
        ]

    def _take(self, m: Module, taken: data.View) -> None:
        """Registers with the state of an attempt at the end of its first cycle."""
        attempt = self.attempt.payload
        executing = attempt.pred & attempt.lanes
        special = attempt.op == Op.S2R
        immediate = Cat(((attempt.imm_slot == slot) | (special if slot == 0 else 0)) & ~attempt.reads[slot]
                        for slot in range(SLOTS))
        m.d.sync += [
            taken.attempt.eq(attempt),
            taken.entry.eq(self.register_file.entry),
            taken.control.eq(decode(m, Mux(special, Op.MOV, attempt.op), attempt.modifiers)),
            taken.control.combine.eq(Combine.XOR),
            taken.rule.eq(decode_rule(m, self._config.affine, attempt.op, attempt.modifiers)),
            taken.special.eq(special),
            taken.immediate.eq(immediate),
            taken.some.eq(executing.any()),
            taken.all.eq(executing == attempt.lanes),
        ]
        self._prepare_sum(m, taken.sum, executing == attempt.lanes)

    def _prepare_sum(self, m: Module, taken: data.View, carry: Value) -> None:
        """How a linear operation adds its operands; `carry` is the predicate operand."""
        op = self.attempt.payload.op
        adds, subtracts, selects = (op == one for one in (Op.IADD, Op.ISUB, Op.SEL))
        m.d.sync += [
            taken.take_a.eq(~selects | carry), taken.take_b.eq(adds | subtracts | (selects & ~carry)),
            taken.minus.eq(subtracts), taken.carry.eq(((adds | subtracts) & carry) ^ subtracts),
        ]

    def _find_coming(self, m: Module, taken: data.View, held: list[data.View], valid: Value) -> None:
        """Where the value of each slot of an attempt comes from: from an older attempt without outcome, the youngest
        that writes it, or from the affine register file. What has no entry would have one of the next warp's."""
        file = self.register_file
        older = [(taken.entry, taken.attempt.writes), *((stage.entry, stage.writes) for stage in held)]
        for slot, source in enumerate(SOURCES):
            same, has_entry = Signal(ATTEMPT_CYCLES, name=f"same_{slot}"), file.has_entry(file.named[source])
            written = Cat(writes & (entry == file.entries[slot]) for entry, writes in older)
            m.d.comb += same.eq(Mux(has_entry, valid & written, 0))
            m.d.sync += [
                taken.coming[slot].eq(Mux(self.attempt.payload.reads[slot], same & -same, 0)),
                taken.stored[slot].eq(self.attempt.payload.reads[slot] & ~same.any()),
                taken.compact[slot].eq(file.compact[slot] | same.any()),
            ]

    def _prepare(self, m: Module, taken: data.View, results: list[data.View], valid: Value) -> None:
        """The second cycle: slots with their ends, for lanes and rules; operations for the uniform unit leave."""
        attempt, rule = taken.attempt, taken.rule
        compact = (taken.compact | ~attempt.reads).all()
        all_uniform = ~Cat(slot.affine for slot in self.rules.slots).any()
        agreed = ~rule.predicate | taken.all | ~taken.some
        possible = compact & agreed
        m.d.comb += [
            self.rules.rule.eq(rule),
            self.rules.possible.eq(possible),
            self.rules.writes_predicate.eq(attempt.writes_predicate),
            self.uniform.payload.op.eq(attempt.op),
            self.uniform.payload.modifiers.eq(attempt.modifiers),
            self.uniform.valid.eq(valid & possible & rule.outside & all_uniform),
        ]
        for lane in self.lanes:
            m.d.comb += [
                lane.operands.control.eq(taken.control),
                lane.operands.pred.eq(taken.all & ~rule.combined),
            ]
        for number, name in enumerate("abc"):
            m.submodules[f"ends_{name}"] = ends = Ends()
            self._give_operand(m, taken, results, number, ends.value)
            if name in ("a", "b"):
                m.d.comb += getattr(self.linear_sum, name).eq(ends.value)
            m.d.comb += [
                self.rules.slots[number].affine.eq(ends.value.stride.any()),
                self.rules.slots[number].stride.eq(ends.value.stride),
                *(self.rules.slots[number][word].eq(ends.ends[word]) for word in ("wraps", "wraps_signed")),
                *(lane.operands[name].eq(ends.ends[end]) for lane, end in zip(self.lanes, LANE_NAMES, strict=True)),
                self.uniform.payload[name].eq(ends.value.base),
            ]

    def _give_operand(
        self, m: Module, taken: data.View, results: list[data.View], slot: int, value: data.View
    ) -> None:
        """Give the value of a slot."""
        step = taken.attempt.step & taken.special if slot == 0 else Const(0, 1)
        constant = Signal(COMPACT, name=f"constant_{slot}")
        m.d.comb += [
            constant.base.eq(taken.attempt.imm), constant.stride.eq(step),
            value.eq(merge(Cat(taken.coming[slot], taken.stored[slot], taken.immediate[slot]),
                           [*results, self.register_file.values[slot], constant])),
        ]

    def _hold(self, m: Module, taken: data.View, held: list[data.View], results: list[data.View]) -> None:
        """The fields of the attempt that its later cycles need, and the outputs of the lanes for the rules."""
        m.d.comb += [getattr(self.linear_sum, name).eq(taken.sum[name]) for name in SUM.members]
        *linear, written = results
        m.d.sync += [
            *(after.eq(before) for before, after in zip([self.linear_sum.result, *linear], linear, strict=False)),
            written.eq(self.register_file.write.value),
            held[0].entry.eq(taken.entry),
            *(held[0][name].eq(taken.attempt[name]) for name in ("warp", "writes", "lanes", "pred")),
            *(held[0][name].eq(taken.rule[name]) for name in ("outside", "combined", "combine")),
            *(after.eq(before) for before, after in itertools.pairwise(held)),
        ]
        m.d.comb += [
            *(shown.eq(lane.conditioned) for shown, lane in zip(self.rules.conditioned, self.lanes, strict=True)),
            *(shown.eq(lane.computed) for shown, lane in zip(self.rules.computed, self.lanes, strict=True)),
            *(shown[name].eq(getattr(lane, name)) for shown, lane in zip(self.rules.answers, self.lanes, strict=True)
              for name in ("verdict", "high")),
        ]

    def _decide(self, m: Module, held: data.View, valid: Value) -> None:
        """The last cycle."""
        first, last = self.lanes
        answer = Signal(UNIFORM_RESULT, reset_less=True)
        accepted, verdict = Signal(), Signal()
        m.d.sync += answer.eq(self.uniform_result.payload)
        m.d.comb += [
            self.stride_finder.first.eq(first.result),
            self.stride_finder.last.eq(last.result),
            accepted.eq(self.rules.holds & self.stride_finder.fits),
            verdict.eq(Mux(held.outside, answer.holds, first.verdict)),
        ]
        write = self.register_file.write
        m.d.comb += [
            write.enable.eq(valid & accepted & held.writes),
            write.entry.eq(held.entry),
            write.value.base.eq(Mux(held.outside, answer.value, first.result)),
            write.value.stride.eq(self.stride_finder.stride),
            self.outcome.valid.eq(valid),
            self.outcome.payload.warp.eq(held.warp),
            self.outcome.payload.accepted.eq(accepted),
            self.outcome.payload.pred.eq(self._combine(m, held, verdict) & (held.lanes & accepted.replicate(LANES))),
        ]

    def _squash(self, m: Module, warps: list[Value], valid: Value) -> None:
        """Attempts go on to their next stage, except those that come after a refused one of the same warp."""
        refused = self.outcome.valid & ~self.outcome.payload.accepted
        younger = Cat(self.attempt.valid, valid[:-1])
        same = Cat(warp == self.outcome.payload.warp for warp in warps[:-1])
        m.d.sync += valid.eq(younger & ~(same & refused.replicate(ATTEMPT_CYCLES)))

    @staticmethod
    def _combine(m: Module, held: data.View, verdict: Value) -> Value:
        """The predicate result of all lanes."""
        pred, everywhere = Signal(LANES, name="combined"), verdict.replicate(LANES)
        m.d.comb += pred.eq(everywhere)
        with m.If(held.combined), m.Switch(held.combine):
            for combine, value in {
                Combine.AND: everywhere & held.pred, Combine.OR: everywhere | held.pred,
                Combine.XOR: everywhere ^ held.pred,
            }.items():
                with m.Case(combine.value):
                    m.d.comb += pred.eq(value)
        return pred
