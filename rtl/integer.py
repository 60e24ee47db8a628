# amaranth: UnusedElaboratable=no
"""Integer unit: 32 lanes, and the delay line that gives each operation its latency."""

from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES, SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.interfaces import OUTCOME_BITS, result_fields, trivial_fields
from warploom.arch.isa import INTEGER_OPS, Instruction
from warploom.rtl.gating.lane import GatedLane, HoldingLane
from warploom.rtl.interfaces import dispatch_layout, result_layout, struct, unstoppable
from warploom.rtl.lane import STAGES, Lane
from warploom.rtl.lane_control import CONTROL
from warploom.rtl.shared import share

OPERANDS = "abc"

INTEGER_CLASSES = sorted({Instruction(op=op).timing_class for op in INTEGER_OPS})
"""Timing classes of the operations of the lanes."""


class IntegerUnit(wiring.Component):
    """Executes the integer operations of an SP pipe, on 32 lanes; it ignores all others.

    An operation that is dispatched in cycle d enters in d + 1, leaves the lanes in d + 4 and is offered in d + L, where
    L is the latency of its timing class: it enters a delay line at the remaining distance. The dispatcher gives each
    result a separate cycle, so two never collide, and nothing stalls. With gating the lanes hold their registers
    (docs/contract/pipes.md, *Integer lanes*). With compact slots a stage in front of the lanes holds operands, so that
    operations leave them in d + 5.

    Parameters
    ----------
    config : latencies and gating.
    number : the number of the pipe.
    probe : add the ports `loads` and, with gating, `bypass_loads`.

    Members
    -------
    dispatch : instructions with their operands; those that are not integer operations are ignored.
    control : control signals of the lanes (`warploom.rtl.lane_control.decode`), in the cycle of `dispatch`.
    trivial : with a zero mask, the `Outcome` of each lane, in the cycle of `dispatch`.
    result : the results; lanes that do not execute have a false predicate and an unspecified word.
    loads : for each stage the lanes whose registers load at the end of the cycle for an instruction.
    bypass_loads : for each of the first two stages the lanes whose bypass loads at the end of the cycle; none without a
        zero mask.
    """

    def __init__(self, *, config: SmConfig, number: int = 0, probe: bool = False) -> None:
        self._config = config
        pipe, self._before = config.timed_pipes[number], config.lane_stages - STAGES
        self._extra = {c: pipe.timing_of(c).latency - config.lane_stages - 1 for c in INTEGER_CLASSES
                       if c in pipe.timing_classes}
        self._longest = max(self._extra.values(), default=0)  # a pipe of SP may have no integer class
        self._extra_bits = index_bits(self._longest + 1)
        loads = self._load_masks()
        super().__init__(self._ports() | ({name: Out(masks) for name, masks in loads.items()} if probe else {}))
        if not probe:
            vars(self).update({name: Signal(masks, name=name) for name, masks in loads.items()})

    def _ports(self) -> dict[str, wiring.Member]:
        return {
            "dispatch": In(unstoppable(dispatch_layout(self._config))),
            "control": In(CONTROL),
            "result": Out(unstoppable(result_layout(self._config))),
            **{name: In(bits) for name, bits in trivial_fields(self._config)},
        }

    def _load_masks(self) -> dict[str, data.ArrayLayout]:
        """The signals that show which registers load: ports only with a probe."""
        beside = {} if not self._config.gates_columns else {"bypass_loads": data.ArrayLayout(LANES, STAGES - 1)}
        return {"loads": data.ArrayLayout(LANES, self._config.lane_stages), **beside}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        issued, control, enters, trivial = self._enter(m)
        tracked = [field for field in result_fields(self._config) if field[0] != "pred"]
        layout = struct([("extra", self._extra_bits), *tracked])
        track = Signal(data.ArrayLayout(layout, STAGES), reset_less=True)
        valid = Signal(STAGES)
        m.d.sync += valid.eq(Cat(enters, valid))
        m.d.sync += [track[stage].eq(track[stage - 1]) for stage in range(1, STAGES)]
        m.d.sync += [track[0][name].eq(issued[name]) for name, _ in tracked]
        with m.Switch(issued.timing):
            for timing, extra in self._extra.items():
                with m.Case(timing.value):
                    m.d.sync += track[0].extra.eq(extra)

        last = track[STAGES - 1]
        fresh = Signal(result_layout(self._config))
        m.d.comb += [fresh[name].eq(last[name]) for name, _ in tracked]
        lanes = [self._create_lane() for _ in range(LANES)]
        for i, lane in enumerate(lanes):
            m.submodules[f"lane_{i}"] = share(platform, "lane", lane)
            m.d.comb += [lane.operands[slot].eq(issued[slot].word_select(i, 32)) for slot in OPERANDS]
            m.d.comb += [
                lane.operands.control.eq(control),
                lane.operands.pred.eq(issued.pred[i]),
                fresh.data.word_select(i, 32).eq(lane.result),
                fresh.pred[i].eq(lane.verdict & last.lanes[i]),
            ]
        if not self._config.gates_columns:
            held = Cat(enters, valid)
            loads = [*self.loads][self._before :]
            m.d.comb += [load.eq(held[stage].replicate(LANES)) for stage, load in enumerate(loads)]
        else:
            self._tell(m, lanes, enters.replicate(LANES) & issued.lanes, trivial)
        self._offer(m, track, valid, fresh)
        return m

    def _create_lane(self) -> Lane | HoldingLane | GatedLane:
        if not self._config.gates_columns:
            return Lane()
        return GatedLane() if self._config.has_zero_mask else HoldingLane()

    def _enter(self, m: Module) -> tuple[Any, Value, Value, Value]:
        """The instruction that enters the lanes in this cycle, the control signals of its operation, whether there is
        one, and the outcomes of the lanes. It comes from the port or, with compact slots, from the stage in front."""
        payload, enters = self.dispatch.payload, Signal()
        trivial = self.trivial if self._config.has_zero_mask else Const(0, 1)
        m.d.comb += enters.eq(self.dispatch.valid & (payload.op <= max(INTEGER_OPS).value))
        if not self._before:
            return payload, self.control, enters, trivial
        held, entered = Signal.like(payload, name="held", reset_less=True), Signal(name="entered")
        control, outcomes = (Signal.like(value, name=f"held_{name}", reset_less=True)
                             for name, value in (("control", self.control), ("trivial", trivial)))
        executing = payload.lanes if self._config.gates_columns else Const(-1, LANES)
        m.d.comb += self.loads[0].eq(executing & enters.replicate(LANES))
        m.d.sync += [entered.eq(enters), control.eq(self.control), outcomes.eq(trivial)]
        m.d.sync += [held[name].eq(payload[name]) for name, _ in payload.shape() if name not in OPERANDS]
        for lane in range(LANES):
            with m.If(self.loads[0][lane]):
                m.d.sync += [held[slot].word_select(lane, 32).eq(payload[slot].word_select(lane, 32))
                             for slot in OPERANDS]
        return held, control, entered, outcomes

    def _tell(self, m: Module, lanes: list[HoldingLane | GatedLane], executing: Value, trivial: Value) -> None:
        """Drive which lanes execute the instruction that enters, and show which registers load."""
        m.d.comb += self.bypass_loads.eq(0)
        for i, lane in enumerate(lanes):
            m.d.comb += lane.executes.eq(executing[i])
            enabled = [*zip([*self.loads][self._before :], lane.loads, strict=True)]
            if isinstance(lane, GatedLane):
                m.d.comb += lane.outcome.eq(trivial.word_select(i, OUTCOME_BITS))
                enabled += zip(self.bypass_loads, lane.bypass_loads, strict=True)
            m.d.comb += [loads[i].eq(load) for loads, load in enabled]

    def _offer(self, m: Module, track: data.View, valid: Value, fresh: data.View) -> None:
        """Offer each result in its cycle. All but its words and predicates comes from registers, because look-ups
        follow it; so does what selects these thousand bits, which have more logic in this cycle."""
        coming, last = track[STAGES - 2], track[STAGES - 1]
        held, delayed, loaded = self._delay(m, valid[-1], last.extra, fresh)
        comes, at_once, offered = Signal(), Signal(), Signal(fresh.shape(), reset_less=True)
        m.d.comb += comes.eq(valid[-2] & (coming.extra == 0))
        m.d.sync += [at_once.eq(comes), self.result.valid.eq(comes | delayed)]
        for name, _ in fresh.shape():
            if name in ("data", "pred"):
                m.d.comb += self.result.payload[name].eq(Mux(at_once, fresh[name], held[name]))
                continue
            m.d.comb += self.result.payload[name].eq(offered[name])
            with m.If(comes):
                m.d.sync += offered[name].eq(coming[name])
            with m.Elif(delayed):
                m.d.sync += offered[name].eq(loaded[name])

    def _delay(self, m: Module, valid: Value, extra: Value, fresh: data.View) -> tuple[data.View, Value, data.View]:
        """A line of results that are offered later than they leave the lanes; stage i is i + 1 cycles from the end.
        Returns its last stage, whether that loads, and what."""
        held, occupied, loads, loaded = fresh, Const(0, 1), Const(0, 1), fresh
        for i in reversed(range(self._longest)):
            enters = valid & (extra == i + 1) if i + 1 in self._extra.values() else Const(0, 1)
            loads, loaded = enters | occupied, Signal(fresh.shape(), name=f"delayed_{i}")
            m.d.comb += loaded.eq(Mux(enters, fresh, held))
            held, occupied = Signal(fresh.shape(), name=f"delay_{i}", reset_less=True), Signal(name=f"delay_{i}_valid")
            m.d.sync += occupied.eq(loads)
            with m.If(loads):
                m.d.sync += held.eq(loaded)
        return held, loads, loaded
