"""Coalescing-aware operand collector: a port of four slices that store one by one ([RADAIDEH], Fig. 3.19)."""

from functools import reduce
from itertools import product
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from rtl.coalescing.alignment import SLICE_BITS, bytes_below, swap
from rtl.collector import SLOTS, Collector, choose
from rtl.interfaces import CODE, words
from warploom.arch.config import COLUMNS, LANES, SUB_BANKS
from warploom.arch.interfaces import SIDES, index_bits

NO_REGISTER = CODE.const({"size": SUB_BANKS - 1}).as_value()
"""The code of an operand that comes from no register: it passes as it is."""


class CoalescingCollector(Collector):
    """A collector that takes several operands in one cycle where their slices do not meet.

    It keeps how each of its sources is stored, and offers for each bank and side the lowest slot that waits there. An
    operand fills the slices of its mask; the others keep what they had. Timing is that of `Collector`.

    Parameters
    ----------
    config : sizes.
    probe : add the port `loads`.

    Members
    -------
    take, issue : take the instruction at the end of the cycle; only while not busy.
    source, destination : where its registers lie.
    code, destination_code : how the sources are stored, and how the destination is so far.
    request, row, mask : for each bank and side, whether a slot waits there, the row that the lowest such slot wants,
        and its sub-banks.
    grant : the requests that are granted in this cycle; their masks do not meet.
    operand : what was granted in the previous cycle, in sub-bank form, each slice from its own bank.
    busy, waiting, present : an instruction is held; slots still without a grant; slots with their operand.
    ready : all operands are present.
    loads : with a probe, for each slot the columns that take an operand or a constant at the end of the cycle.
    held, operands, codes : the instruction, its operands in sub-bank form, and how they are stored, for dispatch.
    dispatched : the instruction is dispatched; the collector is free in the next cycle.
    """

    def _bank_ports(self) -> dict[str, wiring.Member]:
        config, sides = self._config, len(SIDES)
        rows = data.ArrayLayout(index_bits(config.rows), sides)
        return {
            "code": In(data.ArrayLayout(CODE, SLOTS)),
            "destination_code": In(CODE),
            "request": Out(data.ArrayLayout(sides, config.banks)),
            "row": Out(data.ArrayLayout(rows, config.banks)),
            "mask": Out(data.ArrayLayout(data.ArrayLayout(SUB_BANKS, sides), config.banks)),
            "grant": In(data.ArrayLayout(sides, config.banks)),
            "codes": Out(data.ArrayLayout(CODE, SLOTS)),
        }

    def _hold(self, m: Module) -> None:
        super()._hold(m)
        codes = Signal(self.codes.shape(), name="held_codes", reset_less=True)
        m.d.comb += self.codes.eq(codes)
        for slot, held in enumerate(codes):
            with m.If(self.take):
                m.d.sync += held.eq(Mux(self.issue.reads[slot], self.code[slot].as_value(), NO_REGISTER))

    def _taken(self) -> dict[str, Value]:
        return super()._taken() | {name: self.destination_code[name] for name, _ in CODE}

    def _offer(self, m: Module) -> Value:
        """Request the lowest waiting slot of each bank and side; the mask of slots that are granted."""
        source = self._sources(m)
        wanted = self._wanted(source)
        taken_up: list[Value] = []
        for bank, side in product(range(self._config.banks), range(len(SIDES))):
            here = Cat((place.bank == bank) & (code.left == side)
                       for place, code in zip(source, self.codes, strict=True))
            lowest = self._lowest(m, f"bank_{bank}_{SIDES[side]}", here)
            m.d.comb += self.request[bank][side].eq(lowest.any())
            m.d.comb += [getattr(self, name)[bank][side].eq(choose(lowest, values)) for name, values in wanted.items()]
            taken_up.append(lowest & self.grant[bank][side].replicate(SLOTS))
        return reduce(or_, taken_up)

    def _wanted(self, source: data.View) -> dict[str, list[Value]]:
        return super()._wanted(source) | {"mask": [mask_of(code) for code in self.codes]}

    def _store(self, m: Module, arriving: Signal) -> None:
        """The operand registers: filled when the instruction is taken, or slice by slice when their bytes arrive."""
        stored = Signal(words(SLOTS), reset_less=True)
        m.d.comb += self.operands.eq(stored)
        constants = [self._constant_word(m, slot) for slot in range(SLOTS)]
        for slot, number in product(range(SLOTS), range(SUB_BANKS)):
            part, constant, operand = (word.word_select(number, SLICE_BITS)
                                       for word in (stored[slot], constants[slot], self.operand))
            arrives = arriving[slot] & mask_of(self.codes[slot])[number]
            columns = self.loads[slot].word_select(number, COLUMNS // SUB_BANKS)
            m.d.comb += columns.eq((arrives | self._takes_constant(slot)).replicate(len(columns)))
            with m.If(self.take):
                m.d.sync += part.eq(constant)
            with m.Elif(arrives):
                m.d.sync += part.eq(operand)

    def _form(self, constant: Value) -> Value:
        return Cat(constant.word_select(number, 8).replicate(LANES) for number in range(SUB_BANKS))


def mask_of(code: data.View) -> Value:
    """The sub-banks of a register, which are also the slices that it fills."""
    return swap(bytes_below(code.size), code.left)
