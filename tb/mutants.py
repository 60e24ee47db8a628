"""Planted bugs, at least one in each unit: every bench must catch its own."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring

from warploom.arch.config import LANES, SmConfig
from warploom.arch.isa import Pipe
from warploom.arch.mechanisms.baseline import FAST
from warploom.arch.pipes import PipeConfig
from warploom.rtl.ages import AgeMatrix
from warploom.rtl.arbiter import Arbiter
from warploom.rtl.bank import Bank
from warploom.rtl.crossbar import Crossbar
from warploom.rtl.datapath import Datapath
from warploom.rtl.dispatch import Dispatcher
from warploom.rtl.integer import IntegerUnit
from warploom.rtl.lane import Lane
from warploom.rtl.lane_stages import OPERANDS
from warploom.rtl.operands.collector import Collector
from warploom.rtl.placement import Placer
from warploom.rtl.register_file.result_queue import ResultQueue
from warploom.rtl.register_file.writeback import Writeback
from warploom.rtl.select import lowest
from warploom.rtl.subbank import BYTES, SubBank
from warploom.tb.pipes import PORTS, TWO_SP
from warploom.tb.test_dispatch import SHARED_PORT, TIMINGS

FEW_CYCLES, ALL_UNLIKE = (("collectors=4", *settings) for settings in TIMINGS.values())

Rewire = Callable[["Tampered", Module], dict[str, Value]]

Part = type[wiring.Component]


@dataclass(frozen=True)
class Mutant:
    """A unit with a bug, and the bench that must catch it, or one test of it: ``module::test``. `make` builds the unit
    from a configuration, which `settings` varies. The bug is in `part`, the class of one of its parts, if not in its
    own wires. With `fpga` the unit is as on an FPGA."""

    unit: str
    bench: str
    bug: str
    make: Callable[[SmConfig], wiring.Component]
    settings: tuple[str, ...] = ()
    part: Part | None = None
    fpga: bool = False


@dataclass(frozen=True)
class LockstepMutant:
    """A datapath with a bug, the kernel that must show it in lockstep, and the field that differs. `make` builds it
    from a configuration, which `settings` varies."""

    bug: str
    kernel: str
    symptom: str
    make: Callable[[SmConfig], wiring.Component]
    settings: tuple[str, ...]


class Tampered(wiring.Component):
    """A correct component with some ports replaced.

    `rewire` gives, by port name, the value that replaces an input of the component, or one of its outputs.
    """

    def __init__(self, inner: wiring.Component, rewire: Rewire) -> None:
        self.inner, self._rewire = inner, rewire
        super().__init__(inner.signature)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.inner = self.inner
        replaced = self._rewire(self, m)
        inside = {path: Value.cast(value) for path, _, value in self.inner.signature.flatten(self.inner)}
        for path, member, value in self.signature.flatten(self):
            outer, inner = Value.cast(value), inside[path]
            if isinstance(outer, Signal):
                target, source = (inner, outer) if member.flow is wiring.In else (outer, inner)
                m.d.comb += target.eq(replaced.get("__".join(map(str, path)), source))
        return m


class NeverRotating(Arbiter):
    """Diagonal 0 always has priority."""

    def _rotate(self, m: Module, name: str, rows: list[Value], direction: int) -> list[Signal]:
        return rows


def _near_sighted(outer: Tampered, m: Module) -> dict[str, Value]:
    """A slot sees only its neighbour, so the third does not repeat the first."""
    return {"plan": altered(m, outer.plan, repeats=outer.plan.repeats.as_value() & ~(1 << 6))}


class Stale(Collector):
    """What arrives does not pass the storage."""

    def _forwarded(self, slot: int, word: Value, arriving: Value) -> Value:
        return word


class Ageless(Dispatcher):
    """The lowest collector is first, regardless of age."""

    def _ages(self) -> list[Value]:
        count = self._config.collectors
        return [Const((1 << c) - 1, count) for c in range(count)]


class Slotless(Dispatcher):
    """Write-back slots are never taken."""

    def _slots(self, m: Module, pipe: PipeConfig, sent: Value, timing: Value) -> Value:
        return Const(-1, len(pipe.classes))


class Forgetful(Dispatcher):
    """MEM takes an instruction in every cycle."""

    def _pipe_free(self, m: Module, pipe: PipeConfig, sent: Value, timing: Value, part: str) -> Value:
        free = super()._pipe_free(m, pipe, sent, timing, part)
        return Const(1, 1) if pipe.kind is Pipe.MEM else free


class Crowded(Dispatcher):
    """The second pipe of SP ignores whether its queue has a free entry."""

    def _has_entry(self, m: Module, pipe: PipeConfig, sent: Value, arrives: Value) -> Value:
        has_entry = super()._has_entry(m, pipe, sent, arrives)
        return Const(1, 1) if pipe.name == "sp2" else has_entry


class Greedy(Dispatcher):
    """Port 0 takes the instructions of all pipes of SP."""

    def __init__(self, *, config: SmConfig) -> None:
        super().__init__(config=config)
        self._served |= {1: config.pipes[1]}


class Favouring(Dispatcher):
    """Schedulers never take turns: the lowest one is first."""

    def _turn(self, m: Module, requests: Value) -> Value:
        return lowest(requests)


class Undivided(Dispatcher):
    """A pipe that is shared evenly has one part for all schedulers."""

    def _parts(self, waiting: Value) -> dict[str, Value]:
        return {"": waiting}


class Unturned(Arbiter):
    """The first path is always the first."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        m.d.sync += self.first_path.eq(0)
        return m


class Hasty(IntegerUnit):
    """Results that should wait one cycle do not."""

    def __init__(self, *, config: SmConfig, probe: bool) -> None:
        super().__init__(config=config, probe=probe)
        self._extra = {timing: 0 if extra == 1 else extra for timing, extra in self._extra.items()}


def arbiter(kind: Callable[..., wiring.Component], config: SmConfig) -> wiring.Component:
    """An arbiter of a configuration."""
    return kind(banks=config.banks, collectors=config.collectors, paths=config.write_paths,
                rotating=config.rotating_paths)


def altered(m: Module, port: data.View, **fields: Value | int) -> Value:
    """A struct with other values in some of its fields."""
    changed = Signal(port.shape())
    m.d.comb += [changed.eq(port), *(changed[name].eq(value) for name, value in fields.items())]
    return changed.as_value()


def miswired(path: str, fault: Callable[[Any, Module], None], kind: Callable[..., wiring.Component] = Datapath
             ) -> Callable[[SmConfig], wiring.Component]:
    """Makes datapaths, or other units with a probe, in which a part (named by its dotted path) is rewired after it was
    wired correctly."""
    def make(config: SmConfig) -> wiring.Component:
        unit = kind(config=config, probe=True)
        part: Any = reduce(_part, filter(None, path.split(".")), unit)
        correct = part.elaborate

        def elaborate(platform: object) -> Module:
            m: Module = correct(platform)
            fault(part, m)
            return m

        part.elaborate = elaborate
        return unit

    return make


def _part(whole: Any, name: str) -> Any:
    """A part by its name, or by its number among several."""
    return whole[int(name)] if name.isdigit() else getattr(whole, name)


def crossed_grants(register_file: Any, m: Module) -> None:
    """SFU and MEM get each other's grants."""
    grant = register_file.banks.write.grant
    m.d.comb += register_file.writeback.write.grant.eq(Cat(grant[0], grant[2], grant[1]))


def _shallow(config: SmConfig) -> wiring.Component:
    """Queues have one entry less than configured."""
    unit = Writeback(config=config)
    for queue in unit.queues.values():
        queue._depth -= 1
    return unit


def _lost(slots: Any, m: Module) -> None:
    """Collector 1 listens to the port of collector 0."""
    m.d.comb += slots.collectors[1].read.word.eq(slots.read[0].word)


def _backwards(outer: Tampered, m: Module) -> dict[str, Value]:
    return {
        "write_request": outer.write_request[::-1],
        "write_bank": Cat(*reversed(list(outer.write_bank))),
        "write_grant": outer.inner.write_grant[::-1],
    }


def _swapped(outer: Tampered, m: Module) -> dict[str, Value]:
    first, second, *others = list(outer.inner.operand)
    return {"operand": Cat(second, first, *others)}


def _without_carry(outer: Tampered, m: Module) -> dict[str, Value]:
    operands = Signal(OPERANDS)
    m.d.comb += [operands.eq(outer.operands), operands.control.carry_in.eq(0)]
    return {"operands": operands.as_value()}


DATAPATH = "warploom.tb.test_datapath::random_stream"

MUTANTS = (
    Mutant("SubBank", "warploom.tb.test_subbank", "ignores byte enables",
           lambda c: Tampered(SubBank(rows=c.rows), lambda o, m: {"byte_enable": Const(-1, BYTES)})),
    Mutant("Bank", "warploom.tb.test_bank", "ignores its enable",
           lambda c: Tampered(Bank(rows=c.rows), lambda o, m: {"enable": Const(1, 1)})),
    Mutant("Bank", "warploom.tb.test_bank", "always writes lane 5",
           lambda c: Tampered(Bank(rows=c.rows), lambda o, m: {"lanes": o.lanes | 1 << 5})),
    Mutant("Arbiter", "warploom.tb.test_arbiter::random_requests", "forgets to rotate",
           partial(arbiter, NeverRotating)),
    Mutant("Arbiter", "warploom.tb.test_arbiter::random_requests", "serves writers backwards",
           lambda c: Tampered(arbiter(Arbiter, c), _backwards)),
    Mutant("Arbiter", "warploom.tb.test_arbiter::random_requests", "always serves the same path first",
           partial(arbiter, Unturned), TWO_SP),
    Mutant("Crossbar", "warploom.tb.test_crossbar", "swaps two ports",
           lambda c: Tampered(Crossbar(banks=c.banks, collectors=c.collectors), _swapped)),
    Mutant("Collector", "warploom.tb.operands.test_collector", "does not see every repeat",
           lambda c: Tampered(Collector(config=c, probe=True), _near_sighted)),
    Mutant("Collector", "warploom.tb.operands.test_collector", "does not forward what arrives",
           lambda c: Stale(config=c, probe=True), FAST),
    Mutant("Lane", "warploom.tb.test_lane", "drops the carry", lambda c: Tampered(Lane(), _without_carry)),
    Mutant("IntegerUnit", "warploom.tb.test_integer", "is a cycle early", lambda c: Hasty(config=c, probe=True)),
    Mutant("AgeMatrix", "warploom.tb.test_ages", "does not see that collector 1 takes an instruction",
           lambda c: Tampered(AgeMatrix(holders=c.holders), lambda o, m: {"take": o.take & ~0b10}), ("collectors=5",)),
    Mutant("Dispatcher", "warploom.tb.test_dispatch", "ignores age", lambda c: Ageless(config=c), FEW_CYCLES),
    Mutant("Dispatcher", "warploom.tb.test_dispatch", "ignores write-back slots", lambda c: Slotless(config=c),
           FEW_CYCLES),
    Mutant("Dispatcher", "warploom.tb.test_dispatch", "forgets how long MEM is busy", lambda c: Forgetful(config=c),
           ALL_UNLIKE),
    Mutant("Dispatcher", "warploom.tb.test_dispatch", "forgets the queue of the second pipe of SP",
           lambda c: Crowded(config=c), (*FEW_CYCLES, *TWO_SP)),
    Mutant("Dispatcher", "warploom.tb.test_dispatch", "sends what is another port's", lambda c: Greedy(config=c),
           (*FEW_CYCLES, *TWO_SP, *PORTS["one each"])),
    Mutant("Dispatcher", "warploom.tb.test_dispatch", "never gives schedulers their turn",
           lambda c: Favouring(config=c), (*FEW_CYCLES, *SHARED_PORT, "sp.sharing=fair", "sfu.sharing=fair",
                                           "mem.sharing=fair")),
    Mutant("Dispatcher", "warploom.tb.test_dispatch", "does not divide a pipe that is shared evenly",
           lambda c: Undivided(config=c), (*FEW_CYCLES, *SHARED_PORT, "sp.sharing=even", "sfu.sharing=even",
                                           "mem.sharing=even")),
    Mutant("Placer", "warploom.tb.test_placement", "miscalculates rows",
           lambda c: Tampered(Placer(config=c), lambda o, m: {"stride": o.stride + 1})),
    Mutant("Writeback", "warploom.tb.register_file.test_writeback", "writes lanes that do not execute",
           lambda c: Tampered(Writeback(config=c), lambda o, m: {"write__lanes": Const(-1, c.banks * LANES)})),
    Mutant("Writeback", "warploom.tb.register_file.test_writeback", "is always ready for MEM",
           lambda c: Tampered(Writeback(config=c), lambda o, m: {"result_mem__ready": Const(1, 1)})),
    Mutant("ResultQueue", "warploom.tb.register_file.test_result_queue", "hides that a result waits",
           lambda c: Tampered(ResultQueue(config=c, depth=2), lambda o, m: {"count": Const(0, 2)}),
           ("sp.result_queue=2",)),
    Mutant("Writeback", "warploom.tb.register_file.test_writeback", "lets a queue overflow",
           _shallow, TWO_SP),
    Mutant("Datapath", DATAPATH, "crosses two grants", miswired("register_file", crossed_grants)),
    Mutant("Datapath", DATAPATH, "connects an operand wrongly", miswired("operands.collectors", _lost)),
)
