# amaranth: UnusedElaboratable=no
"""The banks of a register file, with their arbiter and crossbar."""

from functools import reduce
from itertools import product
from operator import or_
from typing import Any

from amaranth import Cat, Const, Module, Mux, ResetSignal, Value
from amaranth.hdl import Assert, Format
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import COLUMNS, SmConfig
from warploom.arch.interfaces import BANK_PORTS
from warploom.rtl import ports
from warploom.rtl.observation import Shown, gather, probe_port, show
from warploom.rtl.pipelined.reads import SelectedReads
from warploom.rtl.register_file.access import Access, SidedAccess, SingleAccess
from warploom.rtl.register_file.access_select import AccessSelect
from warploom.rtl.register_file.columns import columns_of, written_columns
from warploom.rtl.register_file.reads import Reads, ranges
from warploom.rtl.select import merge
from warploom.rtl.shared import module_name, share
from warploom.rtl.slow_arbiter import is_slow


class Banks(wiring.Component):
    """Banks whose accesses make the writes and reads that the arbiter grants. An access of a slow row is granted in its
    second cycle, in which the bank is enabled.

    Parameters
    ----------
    config : the machine.
    probe : add the port of a bench, and poison in unspecified outputs.

    Members
    -------
    write : requests and data of write latches (`warploom.rtl.ports.write`).
    read : requests of collectors (`warploom.rtl.ports.read`).
    released : with renaming, rows that were released in the cycle before (`warploom.rtl.ports.released`).
    observed : with a probe, `warploom.rtl.ports.observed_banks`.
    probe : with a probe, the priority, and the operation of each access of each bank; zero if it is idle.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        self._enables = ports.write_enables(config)
        self.access = (SidedAccess if config.has_sides else SingleAccess)(config, poison=probe)
        self.reads = (SelectedReads if config.selects_reads else Reads)(config, self.access.arbiter)
        banks, accesses = ranges(config)
        self.selects = [[AccessSelect(config=config, readers=self.reads.readers) for _ in accesses] for _ in banks]
        super().__init__({
            "write": In(ports.write(config)),
            "read": In(ports.read(config)).array(config.collectors),
            **({"released": Out(ports.released(config))} if config.renames else {}),
            **({"observed": Out(ports.observed_banks(config))} | probe_port(self.observe()) if probe else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        access = self.access
        units: dict[str, Any] = {"arbiter": access.arbiter, "crossbar": access.crossbar}
        units |= {f"bank_{b}": bank for b, bank in enumerate(access.banks)}
        for name, unit in units.items():
            m.submodules[name] = share(platform, module_name(type(unit).__name__), unit)
        self._connect_requests(m, platform)
        self._select(m, platform)
        for b, bank in enumerate(access.banks):
            self._connect_bank(m, b, bank)
        if self._config.renames:
            self._release(m)
        if self._with_probe:
            self._show_columns(m)
            show(m, self)
            if self._config.bank_ports == 2:
                self._assert_apart(m)
        return m

    def _connect_requests(self, m: Module, platform: object) -> None:
        """Connect requests to the arbiter, and its grants to the requesters and to the crossbar."""
        access, write = self.access, self.write
        m.d.comb += [
            access.arbiter.write_request.eq(write.request),
            access.arbiter.write_bank.eq(write.bank),
            write.grant.eq(access.arbiter.write_grant),
            *(getattr(write, name).eq(getattr(access.arbiter, name)) for name in ports.turns(self._config)),
            access.crossbar.grant.eq(self.reads.connections),
            *(read.word.eq(word) for read, word in zip(self.read, access.crossbar.operand, strict=True)),
        ]
        self.reads.connect(m, platform, self.read)
        if self._config.has_sides:
            m.d.comb += access.arbiter.write_mask.eq(write.mask)
        if self._config.yields_to_pending:
            m.d.comb += access.arbiter.write_pending.eq(write.pending)
        if self._config.tfet_rows:
            self._connect_slow_rows(m, access.arbiter)

    def _connect_slow_rows(self, m: Module, arbiter: Any) -> None:
        """Tell the arbiter which requests are for slow rows, and the writers which write is open."""
        write = self.write
        m.d.comb += [arbiter.write_slow.eq(write.slow), write.open.eq(arbiter.write_open)]
        if self._config.has_sides:
            m.d.comb += arbiter.write_left.eq(write.left)
        for (c, read), b, side in product(enumerate(self.read), *ranges(self._config)):
            slow = arbiter.read_slow[b][side] if self._config.has_sides else arbiter.read_slow[b]
            m.d.comb += slow[c].eq(is_slow(self._config, read.row[b][side]))

    def _select(self, m: Module, platform: object) -> None:
        """For each access of each bank, select its write or the read that is granted it."""
        for b, side in product(*ranges(self._config)):
            unit = self.selects[b][side]
            m.submodules[f"select_{b}_{side}"] = share(platform, "access_select", unit, clocked=False)
            self.reads.choose(m, unit, self.read, b, side)

    def _connect_bank(self, m: Module, b: int, bank: Any) -> None:
        for access in self.access.accesses[b]:
            self._connect_access(m, b, access)
        m.d.comb += [
            bank.data.eq(self.write.data[b]),
            getattr(bank, self._enables).eq(getattr(self.write, self._enables)[b]),
            self.access.crossbar.read_data[b].eq(bank.read_data),
        ]
        if self._config.gates_columns:
            m.d.comb += bank.columns.eq(reduce(or_, (select.selected["columns"] for select in self.selects[b])))

    def _connect_access(self, m: Module, b: int, access: Access) -> None:
        """Connect an access of a bank to its write, to the read that is granted it, or to the one of both that there
        is."""
        write, select = self.write.access[b][access.number], self.selects[b][access.number]
        granted = select.grant.any()
        if not access.reads:
            m.d.comb += [access.fields[name].eq(write[name]) for name, _ in write.shape()]
            return
        m.d.comb += [access.fields[name].eq(select.selected[name]) for name, _ in select.write.shape()]
        if access.writes:
            m.d.comb += [
                access.write.eq(write.enable),
                *(select.write[name].eq(write[name]) for name, _ in select.write.shape()),
            ]
        m.d.comb += access.enable.eq(granted | write.enable if access.writes else granted)

    def _release(self, m: Module) -> None:
        """Show in the next cycle the rows of granted reads that are their last ones."""
        for b, side in product(*ranges(self._config)):
            m.d.sync += [
                self.released[b][side].valid.eq(self.selects[b][side].selected["release"]),
                self.released[b][side].row.eq(self.selects[b][side].selected["row"]),
            ]

    # ------------------------------------------------------------------ for a bench

    def observe(self) -> Shown:
        """The priority, and the operation of each access of each bank; `who` is the reading collector, or the
        writer."""
        shown = gather(self.access.arbiter, self.access.crossbar, self.reads, bank=self.access.banks)
        shown["diagonal"] = self.access.arbiter.diagonal
        shown |= {name: getattr(self.access.arbiter, name) for name in ports.turns(self._config)}
        for b, accesses in enumerate(self.access.accesses):
            for access in accesses:
                shown |= {f"bank{b}{access.name}_{field}": value for field, value in access.fields.items()}
                shown[f"bank{b}{access.name}_who"] = self._who(b, access)
        if self._config.gates_columns:
            for b, bank in enumerate(self.access.banks):
                shown |= self._enabled_columns(b, bank)
        return shown

    def _enabled_columns(self, b: int, bank: Any) -> Shown:
        """The enabled columns of a bank; those of reads and writes together if they share ports."""
        read, written = self._read_columns(b, bank), self._written_columns(b, bank)
        if self._config.bank_ports == 1:
            return {f"bank{b}_columns": read | written}
        return {f"bank{b}_{port}_columns": value for port, value in zip(BANK_PORTS, (read, written), strict=True)}

    def _who(self, b: int, access: Access) -> Value:
        """The reading collector, or the writer. Each writer of a bank has different sub-banks."""
        arbiter, readers, who = self.access.arbiter, self.reads.granted[b][access.number], list[Value]()
        writers = arbiter.write_grant & Cat(bank == b for bank in arbiter.write_bank)
        if access.mask is not None:
            writers &= Cat(access.write & (mask == access.mask) for mask in arbiter.write_mask)
        who += [merge(readers, range(len(readers)))] if access.reads else []
        who += [merge(writers, range(len(writers)))] if access.writes else []
        return reduce(or_, who)

    def _assert_apart(self, m: Module) -> None:
        """Stop a simulation if a row is read in the cycle in which it is written."""
        for b, bank in enumerate(self.access.banks):
            with m.If(bank.read & bank.write & ~ResetSignal()):
                m.d.sync += Assert(bank.row != bank.write_row,
                                   Format("row {} of bank {} is read and written\n", bank.row, b))

    def _show_columns(self, m: Module) -> None:
        observed = self.observed
        for b, bank in enumerate(self.access.banks):
            written = Cat(access.write for access in self.access.accesses[b]).any()
            m.d.comb += [
                observed.stored_data[b].eq(Mux(written, bank.data, 0)),
                observed.stored_bytes[b].eq(Mux(written, self._bytes(bank), 0)),
                observed.read_columns[b].eq(self._read_columns(b, bank)),
                observed.written_columns[b].eq(self._written_columns(b, bank)),
            ]

    def _bytes(self, bank: Any) -> Value:
        """The bytes that a write to a bank stores."""
        return bank.byte_enable if self._enables == "byte_enable" else Cat(lane.replicate(4) for lane in bank.lanes)

    def _read_columns(self, b: int, bank: Any) -> Value:
        return bank.columns if self._config.gates_columns else self._used(b, writes=False)

    def _written_columns(self, b: int, bank: Any) -> Value:
        return written_columns(bank.byte_enable) if self._config.gates_columns else self._used(b, writes=True)

    def _used(self, b: int, *, writes: bool) -> Value:
        """The columns of the sub-banks of those accesses of a bank that write, or read."""
        used = []
        for access in self.access.accesses[b]:
            columns = columns_of(access.mask) if self._config.has_sides else Const(-1, COLUMNS)
            used.append(Mux(access.enable & (access.write == writes), columns, 0))
        return reduce(or_, used)
