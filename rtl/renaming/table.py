# amaranth: UnusedElaboratable=no
"""Rename table: the row in which each register of a bank is."""

from functools import reduce
from operator import or_
from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.rtl.interfaces import REGISTERS, SLOTS, address_layout
from warploom.rtl.shared import share
from warploom.rtl.sizes import check_positive


class TablePart(wiring.Component):
    """The table of one bank: for each virtual row whether it is mapped, in flip-flops, and its row, in one SRAM for
    each reader. What is read is valid from the next cycle until the reader reads again.

    Parameters
    ----------
    rows : rows of the bank.

    Members
    -------
    read, place : the readers that read, and where.
    mapped, row : what was read; the row is unspecified if it is not mapped.
    unmap, unmapped : virtual rows that are no longer mapped from the next cycle on: for each source, and that of the
        sweep.
    write, written, new_row : a virtual row gets a row.

    Raises
    ------
    ValueError
        If `rows` is not positive.
    """

    def __init__(self, *, rows: int) -> None:
        check_positive(rows=rows)
        self._rows, row = rows, index_bits(rows)
        super().__init__({
            "read": In(REGISTERS), "place": In(data.ArrayLayout(row, REGISTERS)),
            "mapped": Out(REGISTERS), "row": Out(data.ArrayLayout(row, REGISTERS)),
            "unmap": In(SLOTS + 1), "unmapped": In(data.ArrayLayout(row, SLOTS + 1)),
            "write": In(1), "written": In(row), "new_row": In(row),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        mapped = Signal(self._rows, name="bits")
        cleared = reduce(or_, (self._only(where, is_) for is_, where in zip(self.unmap, self.unmapped, strict=True)))
        m.d.sync += mapped.eq(mapped & ~cleared | self._only(self.written, self.write))
        for reader, virtual in enumerate(self.place):
            m.submodules[f"reader_{reader}"] = cells = Memory(
                shape=unsigned(index_bits(self._rows)), depth=self._rows, init=())
            read_port, write_port = cells.read_port(), cells.write_port()
            m.d.comb += [
                read_port.addr.eq(virtual), read_port.en.eq(self.read[reader]), self.row[reader].eq(read_port.data),
                write_port.addr.eq(self.written), write_port.data.eq(self.new_row), write_port.en.eq(self.write),
            ]
            with m.If(self.read[reader]):
                m.d.sync += self.mapped[reader].eq(mapped.bit_select(virtual, 1))
        return m

    def _only(self, virtual: Value, enable: Value) -> Value:
        """The mask of one virtual row, or of none."""
        return Cat(enable & (virtual == row) for row in range(self._rows))


class RowTable(wiring.Component):
    """The rows of all registers. An instruction's registers are read when it issues, and its entries change when it
    leaves the stage; in between nothing else changes them, since the front end observes hazards.

    A sweep reads the same virtual row of several banks over the port of the destination, in a cycle without an
    instruction, and unmaps in the next one what it found. What the stage has read is kept meanwhile.

    Parameters
    ----------
    config : sizes.

    Members
    -------
    read, address : the registers of the instruction that issues, its sources and, last, its destination.
    held, mapped, row : those of the instruction in the stage; whether they are mapped, and their rows.
    unmap, write, new_row : as it leaves: its sources that are no longer mapped, and the row of its destination.
    step, step_row : banks that a sweep reads, and the virtual row.
    found, found_row : for each bank, whether the step in the cycle before found a mapped register, and its row.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config, row = config, index_bits(config.rows)
        addresses = data.ArrayLayout(address_layout(config), REGISTERS)
        super().__init__({
            "read": In(REGISTERS), "address": In(addresses),
            "held": In(addresses), "mapped": Out(REGISTERS), "row": Out(data.ArrayLayout(row, REGISTERS)),
            "unmap": In(SLOTS), "write": In(1), "new_row": In(row),
            "step": In(config.banks), "step_row": In(row),
            "found": Out(config.banks), "found_row": Out(data.ArrayLayout(row, config.banks)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        parts = [TablePart(rows=self._config.rows) for _ in range(self._config.banks)]
        stepped, stepped_row = Signal.like(self.step, name="stepped"), Signal.like(self.step_row, name="stepped_row")
        m.d.sync += [stepped.eq(self.step), stepped_row.eq(self.step_row)]
        for bank, part in enumerate(parts):
            m.submodules[f"part_{bank}"] = share(platform, "table_part", part)
            self._read(m, bank, part)
            self._write(m, bank, part)
            m.d.comb += [
                self.found[bank].eq(stepped[bank] & part.mapped[SLOTS]),
                self.found_row[bank].eq(part.row[SLOTS]),
                part.unmap[SLOTS].eq(self.found[bank]),
                part.unmapped[SLOTS].eq(stepped_row),
            ]
        self._show(m, parts)
        return m

    def _read(self, m: Module, bank: int, part: Any) -> None:
        """Read the registers that are in this bank, or for a sweep its virtual row."""
        here = Cat(address.bank == bank for address in self.address)
        m.d.comb += part.read.eq(self.read & here | self.step[bank] << SLOTS)
        m.d.comb += [part.place[slot].eq(address.row) for slot, address in enumerate(self.address)]
        with m.If(self.step[bank]):
            m.d.comb += part.place[SLOTS].eq(self.step_row)

    def _write(self, m: Module, bank: int, part: Any) -> None:
        """Change the entries of the instruction that leaves."""
        *sources, destination = self.held
        m.d.comb += [
            part.unmap[:SLOTS].eq(self.unmap & Cat(source.bank == bank for source in sources)),
            part.write.eq(self.write & (destination.bank == bank)),
            part.written.eq(destination.row),
            part.new_row.eq(self.new_row),
        ]
        m.d.comb += [part.unmapped[slot].eq(source.row) for slot, source in enumerate(sources)]

    def _show(self, m: Module, parts: list[TablePart]) -> None:
        """What was read for the instruction in the stage: that of the destination is kept for when a sweep reads."""
        for register, address in enumerate(self.held):
            mapped, row = (Signal.like(value[register], name=f"{name}_{register}")
                           for name, value in (("mapped", self.mapped), ("row", self.row)))
            with m.Switch(address.bank):
                for bank, part in enumerate(parts):
                    with m.Case(bank):
                        m.d.comb += [mapped.eq(part.mapped[register]), row.eq(part.row[register])]
            if register == SLOTS:
                fresh, kept_mapped, kept_row = Signal(), Signal(), Signal.like(row, name="kept_row")
                m.d.sync += [fresh.eq(self.read[SLOTS]), kept_mapped.eq(self.mapped[SLOTS]),
                             kept_row.eq(self.row[SLOTS])]
                mapped, row = Mux(fresh, mapped, kept_mapped), Mux(fresh, row, kept_row)
            m.d.comb += [self.mapped[register].eq(mapped), self.row[register].eq(row)]
