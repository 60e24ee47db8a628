# amaranth: UnusedElaboratable=no
"""Operand collector: holds one instruction while its operands are read ([RADAIDEH], section 2.1.4)."""

from functools import reduce
from itertools import product
from operator import or_

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import COLUMNS, SUB_BANKS, SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.rtl import ports
from warploom.rtl.interfaces import ENCODING, REGISTERS, SLOTS, column_masks, words
from warploom.rtl.observation import Shown
from warploom.rtl.operands.plan import plan_layout
from warploom.rtl.operands.requests import SlotRequests, of_lowest
from warploom.rtl.register_file.forms import form_of
from warploom.rtl.shared import share

NO_REGISTER = ENCODING.const({"size": SUB_BANKS - 1}).as_value()
"""The early metadata of an operand that comes from no register: it passes unchanged."""


class Collector(wiring.Component):
    """One warp instruction and its three operand slots.

    An instruction that is taken in cycle t requests from t + 1. An operand granted in cycle r is on `word` in r + 1 and
    present from r + 2, with `arrival_delay` = 0 already in r + 1, past the storage. A slot whose register a lower slot
    names too does not request: it gets what that slot gets. A slot that reads no register is present at once.

    Operands are held in their stored form. With sides several may come in one cycle if their slices do not overlap, and
    an operand fills the slices of its mask. If columns are enabled one by one, an operand or constant fills the needed
    columns: those that some executing lane reads and that are not known to be zero. Late metadata of an instruction
    that is taken in cycle t come in t + 1, are used at once, and stored from then on.

    Parameters
    ----------
    config : sizes, and the stored form.
    probe : add the ports `waiting`, `present` and `loads`.

    Members
    -------
    take : take the instruction at the end of the cycle; only while not busy, or in the cycle of its dispatch.
    instruction : the instruction at the issue port (`warploom.rtl.ports.instruction`).
    plan : what it needs of each slot (`warploom.rtl.operands.plan`); zero if no instruction is taken.
    read : requests (`warploom.rtl.ports.read`), for each access of each bank of the lowest slot that waits for it.
    offer : the held instruction, for dispatch (`warploom.rtl.ports.offer`); when it has left, the collector is free in
        the next cycle.
    waiting, present : with a probe, slots still without a grant; slots with their operand.
    loads : with a probe, for each slot the columns that take an operand or a constant at the end of the cycle.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._form, self._with_probe = config, form_of(config), probe
        self.requests = SlotRequests(config=config)
        super().__init__({
            "take": In(1),
            "instruction": In(ports.instruction(config)),
            "plan": In(plan_layout(config)),
            "read": Out(ports.read(config)),
            "offer": Out(ports.offer(config)),
            **({"waiting": Out(SLOTS), "present": Out(SLOTS), "loads": Out(column_masks(SLOTS))} if probe else {}),
        })
        self._issue = self.instruction.issue
        if not probe:
            self.loads = Signal(column_masks(SLOTS))

    def observe(self) -> Shown:
        """Whether an instruction is held; slots still without a grant, and with their operand, both 0 when free."""
        return {"busy": self.offer.busy, "waiting": self.waiting, "present": self.present}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.requests = share(platform, "slot_requests", self.requests)
        self._hold(m)
        self._offer(m)
        self._store(m)
        with m.If(self.offer.dispatched):
            m.d.sync += self.offer.busy.eq(0)
        with m.If(self.take):
            m.d.sync += self.offer.busy.eq(1)
        return m

    # ------------------------------------------------------------------ the held instruction

    def _hold(self, m: Module) -> None:
        """Store the instruction, the metadata of its operands, and its destination, for dispatch."""
        held = Signal(self.offer.held.shape(), name="held", reset_less=True)
        m.d.comb += self.offer.held.eq(held)
        with m.If(self.take):
            m.d.sync += [held[name].eq(value) for name, value in self._taken().items()]
        if self._config.has_sides:
            self._hold_early(m)
        if self._config.has_zero_mask:
            self._hold_late(m)
        if self._config.gates_columns:
            m.d.comb += [needed.eq(self._form.needed(self.offer.held.lanes, *self._metadata(slot)))
                         for slot, needed in enumerate(self.offer.needed)]

    def _taken(self) -> dict[str, Value]:
        """The stored values of the instruction at the port, by name: its fields, and the address and metadata of its
        destination, with the stored side."""
        kept = {name for name, _ in self.offer.held.shape()}
        early = [self.instruction.early[SLOTS]] if self._config.has_sides else []
        sources = (self._issue, self.instruction.address[SLOTS], *early)
        return {name: source[name] for source in sources for name, _ in source.shape() if name in kept}

    def _hold_early(self, m: Module) -> None:
        kept = Signal(self.offer.early.shape(), name="held_early", reset_less=True)
        m.d.comb += self.offer.early.eq(kept)
        for slot, held in enumerate(kept):
            with m.If(self.take):
                m.d.sync += held.eq(Mux(self.plan.constant[slot], NO_REGISTER, self.instruction.early[slot].as_value()))

    def _hold_late(self, m: Module) -> None:
        *sources, destination = self._zeros(m)
        m.d.comb += [self.offer.late[slot].eq(zero) for slot, zero in enumerate(sources)]
        m.d.comb += [self.offer.held[name].eq(destination[name]) for name, _ in destination.shape()]

    def _zeros(self, m: Module) -> data.View:
        """The zero masks of the registers: in the first cycle those that were looked up are at the port, and that of a
        constant is all ones or zero. No destination is a constant."""
        fresh, looked_up, nonzero = Signal(), Signal(REGISTERS), Signal(REGISTERS)
        found = self.instruction.late
        zeros, kept = Signal(found.shape()), Signal(found.shape(), name="kept_zeros", reset_less=True)
        m.d.sync += [
            fresh.eq(self.take),
            looked_up.eq(Mux(self.take, Cat(self._issue.reads, self._issue.writes), 0)),
            nonzero.eq(Cat(self.plan.nonzero, 1)),
            kept.eq(zeros),
        ]
        for register, zero in enumerate(zeros):
            constant = found.shape().elem_shape.const({"zero": -1}).as_value()
            known = Mux(fresh, Mux(nonzero[register], 0, constant), kept[register].as_value())
            m.d.comb += zero.eq(Mux(looked_up[register], found[register].as_value(), known))
        return zeros

    def _metadata(self, slot: int) -> tuple[data.View | None, data.View | None]:
        """The early and the late metadata of a slot's operand."""
        early = self.offer.early[slot] if self._config.has_sides else None
        return early, self.offer.late[slot] if self._config.has_zero_mask else None

    # ------------------------------------------------------------------ requests

    def _offer(self, m: Module) -> None:
        """Request the lowest waiting slot of each access of each bank; offer the instruction when no operand is
        missing."""
        requests = self.requests
        m.d.comb += [
            requests.take.eq(self.take),
            requests.plan.eq(self.plan),
            requests.dispatched.eq(self.offer.dispatched),
            requests.grant.eq(self.read.grant),
            self.read.request.eq(requests.request),
            self.offer.ready.eq(requests.ready),
        ]
        if self._config.has_sides:
            m.d.comb += self.read.mask.eq(requests.mask)
        wanted = self._wanted(m)
        for bank, side in product(range(self._config.banks), range(ports.accesses(self._config))):
            m.d.comb += [getattr(self.read, name)[bank][side].eq(of_lowest(requests.waiting[bank][side], values))
                         for name, values in wanted.items()]
        if self._with_probe:
            of_accesses = [waiting for of_sides in requests.waiting for waiting in of_sides]
            m.d.comb += [self.waiting.eq(reduce(or_, of_accesses)), self.present.eq(requests.present)]

    def _wanted(self, m: Module) -> dict[str, list[Value]]:
        """What each slot requests of its bank, by the name of the port."""
        return {
            "row": list(self._rows(m)),
            **({"columns": list(self.offer.needed)} if self._config.gates_columns else {}),
            **({"release": list(self._released(m))} if self._config.renames else {}),
        }

    def _released(self, m: Module) -> Signal:
        """The slots of the held instruction whose row is released."""
        held = Signal(SLOTS, name="held_last", reset_less=True)
        with m.If(self.take):
            m.d.sync += held.eq(self._issue.last)
        return held

    def _rows(self, m: Module) -> data.View:
        """The rows of the held instruction's sources."""
        *sources, _ = self.instruction.address
        held = Signal(data.ArrayLayout(sources[0].row.shape(), SLOTS), name="held_row", reset_less=True)
        with m.If(self.take):
            m.d.sync += [kept.eq(source.row) for kept, source in zip(held, sources, strict=True)]
        return held

    # ------------------------------------------------------------------ operand registers

    def _store(self, m: Module) -> None:
        """The operand registers: filled when the instruction is taken, or when their word arrives."""
        arriving = self.requests.arriving
        stored = Signal(words(SLOTS), reset_less=True)
        store = self._store_columns if self._config.gates_columns else self._store_parts
        for slot, word in enumerate(stored):
            constant = Signal(WARP_BITS, name=f"constant_{slot}")
            m.d.comb += constant.eq(self._form.row.constant(self._constant(slot)))
            store(m, slot, word, constant, arriving[slot])
            shown = word if self._config.arrival_delay else self._forwarded(slot, word, arriving[slot])
            m.d.comb += self.offer.operands[slot].eq(shown)

    def _store_parts(self, m: Module, slot: int, word: Value, constant: Value, arriving: Value) -> None:
        """A constant fills the whole word, an operand its parts of it."""
        used, loads = self._parts(slot), self.loads[slot]
        for number in range(len(used)):
            part, new, operand = (whole.word_select(number, WARP_BITS // len(used))
                                  for whole in (word, constant, self.read.word))
            arrives, columns = arriving & used[number], loads.word_select(number, COLUMNS // len(used))
            m.d.comb += columns.eq((arrives | self._takes_constant(slot)).replicate(len(columns)))
            with m.If(self._takes_constant(slot)):
                m.d.sync += part.eq(new)
            with m.Elif(arrives):
                m.d.sync += part.eq(operand)

    def _store_columns(self, m: Module, slot: int, word: Value, constant: Value, arriving: Value) -> None:
        """Only needed columns are filled."""
        loads, arrives = self.loads[slot], arriving
        if not self._config.turnaround:
            arrives = arriving & ~self._takes_constant(slot)
        m.d.comb += loads.eq(Mux(arrives, self.offer.needed[slot], 0) | self.plan.fills[slot])
        for column in range(COLUMNS):
            with m.If(loads[column]):
                new = Mux(self.plan.constant[slot], constant.word_select(column, 32),
                          self.read.word.word_select(column, 32))
                m.d.sync += word.word_select(column, 32).eq(new)

    def _forwarded(self, slot: int, word: Value, arriving: Value) -> Value:
        """The word of a slot with what arrives in this cycle, past the storage."""
        parts = self.offer.needed[slot] if self._config.gates_columns else self._parts(slot)
        size = WARP_BITS // len(parts)
        return Cat(Mux(arriving & used, self.read.word.word_select(number, size), word.word_select(number, size))
                   for number, used in enumerate(parts))

    def _parts(self, slot: int) -> Value:
        """The parts of a row, of equal size, that a slot's operand uses."""
        return self.requests.parts[slot] if self._config.has_sides else Const(1, 1)

    def _takes_constant(self, slot: int) -> Value:
        """Whether the slot takes a constant at the end of the cycle."""
        return self.plan.constant[slot]

    def _constant(self, slot: int) -> Value:
        """The value in each lane of a slot that reads no register: the immediate or zero."""
        return Mux(self.plan.immediate[slot], self._issue.imm, 0)
