"""Allocation of entries of a bypassing collector to the registers of an instruction."""

from collections.abc import Iterable
from functools import reduce
from operator import or_

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.rtl.bypass.order import AgeOrder
from warploom.rtl.interfaces import REGISTERS, SLOTS, SOURCES, issue_layout
from warploom.rtl.select import count, merge


class EntryAllocator(wiring.Component):
    """Finds the entry of each register that an instruction names, or takes over an available one.

    Combinational. Sources are served in the order of slots, then the destination, which may get none. An entry whose
    register the instruction names is not taken over, except that of the destination, by a source for which there is no
    other.

    Parameters
    ----------
    config : entries, the window, and whether instructions carry hints.

    Members
    -------
    issue : the instruction. If it is the `first` of its warp no entry counts as used, and all are available.
    used, available, age, number : the state of each entry.
    serves : for each register of the instruction, the entry (at most one) that serves it.
    emptied : the entries that are taken over.
    candidates, oldest : some of the used entries, whatever the instruction is; among these the one of the highest age,
        then of the lowest index.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        entries = config.entries
        super().__init__({
            "issue": In(issue_layout(config)),
            "used": In(entries),
            "available": In(entries),
            "age": In(data.ArrayLayout(index_bits(config.window), entries)),
            "number": In(data.ArrayLayout(8, entries)),
            "serves": Out(data.ArrayLayout(entries, REGISTERS)),
            "emptied": Out(entries),
            "candidates": In(entries),
            "oldest": Out(entries),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        used, available, free = (Signal.like(self.used, name=name) for name in ("used", "available", "free"))
        order = AgeOrder(m, list(self.age))
        m.d.comb += [
            used.eq(Mux(self.issue.first, 0, self.used)),
            available.eq(Mux(self.issue.first, -1, self.available)),
            self.oldest.eq(order.first(self.candidates)),
        ]
        named = [*self.issue.reads, self.issue.writes]
        equal = [Signal.like(used, name=f"equal_{k}") for k in range(REGISTERS)]
        found = [Signal.like(used, name=f"found_{k}") for k in range(REGISTERS)]
        for k, register in enumerate(self._registers()):
            m.d.comb += [
                equal[k].eq(Cat(named[k] & (number == register) for number in self.number)),
                found[k].eq(equal[k] & used),
            ]
        turns, in_all = order.turns(m, used, free, SLOTS), count(m, list(free), SLOTS, "free")
        spare = available & found[SLOTS] & ~self._union(found[:SLOTS])
        next_free = [free & Cat(turn[number] for turn in turns) for number in range(REGISTERS)]
        m.d.comb += free.eq(available & ~(used & self._union(equal)))  # which are used is known last
        m.d.comb += self.emptied.eq(self._serve(m, next_free, [Mux(none, spare, 0) for none in in_all], named, found))
        return m

    def _serve(self, m: Module, next_free: list[Value], spare: list[Value], named: list[Value],
               found: list[Signal]) -> Value:
        """Serve all registers at once; the entries that are taken over.

        The k-th register that takes over an entry takes the k-th of `next_free`, so all choices are made in parallel; a
        source takes that of `spare` if there is none.
        """
        registers = self._registers()
        taken: list[Signal] = []
        misses: list[Signal] = []
        for k in range(REGISTERS):
            same = [named[k] & named[i] & (registers[k] == registers[i]) for i in range(k)]
            miss, chosen = Signal(name=f"miss_{k}"), Signal.like(self.used, name=f"taken_{k}")
            takes = named[k] if k < SLOTS else named[k] & self._may_keep()
            before = count(m, misses, SLOTS, f"misses_{k}")
            last = merge(before, spare) if k < SLOTS else 0
            m.d.comb += [
                miss.eq(takes & ~found[k].any() & ~Cat(same).any()),
                chosen.eq(Mux(miss, merge(before, next_free) | last, 0)),
                self.serves[k].eq((found[k] & ~self._union(taken)) | chosen
                                  | self._union(Mux(again, one, 0) for again, one in zip(same, taken, strict=True))),
            ]
            taken.append(chosen)
            misses.append(miss)
        return self._union(taken)

    def _registers(self) -> list[Value]:
        """The registers that the instruction names."""
        return [self.issue[name] for name in (*SOURCES, "dst")]

    def _may_keep(self) -> Value:
        """Whether the result may take an entry."""
        return self.issue.to_collector if self._config.has_hints else Const(1)

    def _union(self, masks: Iterable[Value]) -> Value:
        """The entries that are in at least one of the masks."""
        return reduce(or_, masks, Const(0, self._config.entries))
