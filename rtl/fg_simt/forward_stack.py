"""The fragments that wait at a PC ahead (docs/contract/fg_simt.md, *Fragments*)."""

from collections.abc import Callable
from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.rtl.shared import is_fpga


def fragment(pc_bits: int, lanes: int) -> data.StructLayout:
    """A fragment, if `valid`."""
    return data.StructLayout({"valid": 1, "pc": pc_bits, "lanes": lanes})


class ForwardStack(wiring.Component):
    """Entries in the order of their PCs, of which no two are equal: a shift register in which a fragment is inserted in
    its place. The tops are registers. There is an entry less than lanes, so it cannot overflow if entries are disjoint
    and one lane is elsewhere.

    Both fragments that may enter are compared with all entries: which one it is is known late.

    Parameters
    ----------
    pc_bits, lanes : width of a PC, and number of lanes.

    Members
    -------
    clear : the stack is empty at the end of the cycle.
    drop : the top leaves.
    pop : after that, the top leaves.
    push, lanes : after that, a fragment enters, or joins the entry with its PC. Never together with `pop`.
    own, pc, target : its PC is `pc` if `own`, otherwise `target`. If the top has the PC of what is pushed, it leaves if
        and only if that is `own`.
    top, second : the two lowest entries.
    """

    def __init__(self, *, pc_bits: int, lanes: int) -> None:
        self._layout = fragment(pc_bits, lanes)
        super().__init__({
            "clear": In(1), "drop": In(1), "pop": In(1), "push": In(1), "own": In(1), "pc": In(pc_bits),
            "target": In(pc_bits), "lanes": In(lanes), "top": Out(self._layout), "second": Out(self._layout),
        })
        self.entries = Signal(data.ArrayLayout(self._layout, lanes - 1))
        """The state, the lowest PC first."""
        self.joins = Signal()
        """What is pushed, if anything is, joins an entry."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        nothing, pushed = Const(0, self._layout.size), Signal(self._layout)
        held = [*(entry.as_value() for entry in self.entries), nothing]
        kept = [Signal(self._layout, name=f"kept_{number}") for number in range(len(self.entries))]
        left_of = self._left_of_one if is_fpga(platform) else self._left
        below, _ = left_of(m, "below", lambda entry, pc: entry.pc < pc)
        equal, joined_any = left_of(m, "equal", lambda entry, pc: entry.pc == pc)
        m.d.comb += [
            self.top.eq(held[0]), self.second.eq(held[1]), self.joins.eq(joined_any),
            pushed.valid.eq(1), pushed.pc.eq(Mux(self.own, self.pc, self.target)), pushed.lanes.eq(self.lanes),
            *(left.eq(Mux(self.drop, held[number + 1], held[number])) for number, left in enumerate(kept)),
        ]
        if is_fpga(platform):
            self._choose(m, held, pushed, below, equal)
            return m
        shown = [left.as_value() for left in kept]
        for number, entry in enumerate(self.entries):
            first = below[number - 1] if number else Const(1)
            inserted = Mux(first, pushed.as_value(), shown[number - 1]) if number else pushed.as_value()
            joined = Cat(Const(0, self._layout["lanes"].offset), Mux(equal[number], self.lanes, 0))
            entered = Mux(self.joins | below[number], shown[number] | joined, inserted)
            left = Mux(self.pop, [*shown, nothing][number + 1], shown[number])
            m.d.sync += entry.eq(Mux(self.push, entered, left))  # whether anything is pushed is known last
        with m.If(self.clear):
            m.d.sync += self.entries.eq(0)
        return m

    def _choose(self, m: Module, held: list[Value], pushed: Any, below: Value, equal: Value) -> None:
        """The next state of all entries, for an FPGA: what each one gets is chosen before its bits are multiplexed."""
        after = [held[0], *held, held[-1]]  # of entry n: the one below it, its own, and the next two
        for number, entry in enumerate(self.entries):
            stays = self.joins | below[number]
            is_first = below[number - 1] if number else Const(1)
            inserts, moves = self.push & ~stays & is_first, self.push & ~stays & ~is_first
            distance = Signal(2, name=f"distance_{number}")  # of the source, from the entry below
            m.d.comb += distance.eq(Mux(moves, 0, Mux(~self.push & self.pop, 2, 1)) + self.drop)
            source = Signal(self._layout, name=f"source_{number}")
            m.d.comb += source.eq(Mux(distance[1], Mux(distance[0], after[number + 3], after[number + 2]),
                                      Mux(distance[0], after[number + 1], after[number])))
            joined = self.push & self.joins & equal[number]
            m.d.sync += [
                entry.valid.eq(source.valid | inserts), entry.pc.eq(Mux(inserts, pushed.pc, source.pc)),
                entry.lanes.eq(Mux(inserts, 0, source.lanes) | Mux(inserts | joined, self.lanes, 0)),
            ]
        with m.If(self.clear):
            m.d.sync += self.entries.eq(0)

    def _left_of_one(self, m: Module, name: str, compare: Callable[[Any, Value], Value]) -> tuple[Value, Value]:
        """What `_left` makes, with one comparison for each entry."""
        chosen, left = (Signal(len(self.entries), name=f"{name}{end}") for end in ("_chosen", ""))
        pc = Mux(self.own, self.pc, self.target)
        m.d.comb += [chosen.eq(Cat(entry.valid & compare(entry, pc) for entry in self.entries)),
                     left.eq(Mux(self.drop, chosen >> 1, chosen))]
        return left, left.any()

    def _left(self, m: Module, name: str, compare: Callable[[Any, Value], Value]) -> tuple[Value, Value]:
        """For which entries that are left after `drop` a comparison with what is pushed holds; whether for any. A top
        that leaves has another PC than what is pushed, unless that is `own`."""
        own, other, left = (Signal(len(self.entries), name=f"{name}{end}") for end in ("_pc", "_target", ""))
        for result, pc in ((own, self.pc), (other, self.target)):
            m.d.comb += result.eq(Cat(entry.valid & compare(entry, pc) for entry in self.entries))
        chosen = Mux(self.own, own, other)
        m.d.comb += left.eq(Mux(self.drop, chosen >> 1, chosen))
        return left, Mux(self.own, own[1:].any(), other.any())
