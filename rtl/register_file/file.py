# amaranth: UnusedElaboratable=no
"""The register file: banks, write-back, and what is known of each register."""

from typing import Any

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import SIDES, WRITERS, bank_probe_fields, latch_probe_fields, zero_fields
from warploom.arch.mechanisms import Coalescing, Gating
from warploom.rtl import ports
from warploom.rtl.coalescing.mask_buffer import MaskBuffer
from warploom.rtl.gating.zero_buffer import ZeroBuffer
from warploom.rtl.interfaces import done_layout, result_layout, struct, unstoppable
from warploom.rtl.register_file.dual import DualBanks
from warploom.rtl.register_file.single import SingleBanks
from warploom.rtl.register_file.writeback import Writeback
from warploom.rtl.select import merge
from warploom.rtl.shared import module_name, share


class RegisterFile(wiring.Component):
    """Banks in the form that the configuration asks for, the latches that write them, and the metadata tables.

    A table is read for the registers of the instruction at the issue port, and written when a result is.

    Parameters
    ----------
    config : the machine.
    probe : add the ports of a bench.

    Members
    -------
    lookup : with metadata, those of the registers of an instruction (`warploom.rtl.ports.lookup`).
    read : for each collector, what it requests (`warploom.rtl.ports.read`).
    result_sp, result_sfu : results of these pipes; one of SP comes in exactly its write-back slot.
    memory : results of the memory pipe, and its completions.
    done_sp, done_sfu : completions, with the predicate result.
    delivery : with windows, results that collectors may take (`warploom.rtl.ports.delivery`).
    observed : with a probe, the banks (`warploom.rtl.ports.observed_banks`).
    probe : with a probe, the state of banks and write latches.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        self._coalescing, self._has_zeros = config.coalescing is Coalescing.ON, config.gating.has_zero_mask
        done = unstoppable(done_layout(config))
        super().__init__({
            **({"lookup": In(ports.lookup(config))} if ports.has_lookup(config) else {}),
            "read": In(ports.read(config)).array(config.collectors),
            "result_sp": In(unstoppable(result_layout(config))),
            "result_sfu": In(stream.Signature(result_layout(config))),
            "memory": In(ports.memory(config)),
            "done_sp": Out(done),
            "done_sfu": Out(done),
            **({"delivery": Out(ports.delivery(config))} if config.bypass.has_window else {}),
            **({"observed": Out(ports.observed_banks(config)), "probe": Out(self._probe_layout())} if probe else {}),
        })
        self.banks = (DualBanks if self._coalescing else SingleBanks)(config=config, probe=probe)
        self.writeback = Writeback(config=config)
        self.mask_buffer = MaskBuffer(config=config) if self._coalescing else None
        self.zero_buffer = ZeroBuffer(config=config) if self._has_zeros else None

    def _probe_layout(self) -> data.StructLayout:
        return struct([*bank_probe_fields(self._config), *latch_probe_fields(self._config)])

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.banks = share(platform, module_name(type(self.banks).__name__), self.banks)
        m.submodules.writeback = share(platform, module_name(type(self.writeback).__name__), self.writeback)
        for table in filter(None, (self.mask_buffer, self.zero_buffer)):
            name = module_name(type(table).__name__)
            m.submodules[name] = share(platform, name, table)
        for client, read in zip(self.read, self.banks.read, strict=True):
            connect(m, flipped(client), read)
        self._connect_writeback(m)
        if self.mask_buffer is not None:
            self._connect_codes(m, self.mask_buffer)
        if self.zero_buffer is not None:
            self._connect_zeros(m, self.zero_buffer)
        if self._with_probe:
            connect(m, self.banks.observed, flipped(self.observed))
            self._observe(m)
        return m

    def _connect_writeback(self, m: Module) -> None:
        """Results reach their latches, these the banks, and with windows the collectors."""
        writeback = self.writeback
        connect(m, flipped(self.result_sp), writeback.result_sp)
        connect(m, flipped(self.result_sfu), writeback.result_sfu)
        connect(m, flipped(self.memory.result), writeback.result_mem)
        connect(m, writeback.done_sp, flipped(self.done_sp))
        connect(m, writeback.done_sfu, flipped(self.done_sfu))
        connect(m, writeback.done_mem, flipped(self.memory.done))
        connect_members(m, ports.write(self._config), writeback, self.banks.write)
        if self._config.bypass.has_window:
            connect_members(m, ports.delivery(self._config), writeback, self.delivery)

    def _connect_codes(self, m: Module, buffer: MaskBuffer) -> None:
        *sources, destination = self.lookup.place
        m.d.comb += [
            *(place.eq(source) for place, source in zip(buffer.source, sources, strict=True)),
            buffer.destination.eq(destination),
            self.lookup.code.eq(Cat(buffer.source_code, buffer.destination_code)),
            buffer.write.eq(self.writeback.update),
        ]

    def _connect_zeros(self, m: Module, buffer: ZeroBuffer) -> None:
        """The side on which a register is stored is part of its place in the table."""
        for k, (asked, place) in enumerate(zip(buffer.lookup, self.lookup.place, strict=True)):
            m.d.comb += [
                asked.enable.eq(self.lookup.taken[k]),
                asked.place.eq(place),
                asked.place.left.eq(self.lookup.code[k].left if self._coalescing else place.left),
            ]
        m.d.comb += [self.lookup.zero.eq(buffer.found), buffer.write.eq(self.writeback.zero_update)]

    def _observe(self, m: Module) -> None:
        """The state of banks and latches."""
        probe, observed, writeback, coalescing = self.probe, self.banks.observed, self.writeback, self._coalescing
        m.d.comb += probe.diagonal.eq(observed.diagonal)
        for b, accesses in enumerate(observed.access):
            names = [f"bank{b}_{side}" for side in SIDES] if coalescing else [f"bank{b}"]
            for side, (name, access) in enumerate(zip(names, accesses, strict=True)):
                m.d.comb += [
                    *(probe[f"{name}_{field}"].eq(access[field]) for field, _ in access.shape() if field != "reader"),
                    probe[f"{name}_who"].eq(access.reader | merge(self._writers(b, side), range(len(WRITERS)))),
                ]
            if self._config.gating is not Gating.OFF:
                m.d.comb += probe[f"bank{b}_columns"].eq(observed.read_columns[b] | observed.written_columns[b])
        for i, writer in enumerate(WRITERS):
            valid = writeback.valid[i]
            m.d.comb += [
                probe[f"{writer}_latch_valid"].eq(valid),
                probe[f"{writer}_latch_tag"].eq(Mux(valid, writeback.tag[i], 0)),
                *([probe[f"{writer}_latch_code"].eq(writeback.code[i])] if coalescing else []),
                *(probe[f"{writer}_latch_{name}"].eq(writeback.zero[i][name]) for name, _ in zero_fields(self._config)),
            ]

    def _writers(self, b: int, side: int) -> Value:
        """The writers that an access of a bank is granted to, at most one."""
        here = self.writeback.grant & Cat(target == b for target in self.writeback.bank)
        return here & Cat(code.left == side for code in self.writeback.code) if self._coalescing else here


def connect_members(m: Module, edge: wiring.Signature, asks: wiring.Component, answers: Any) -> None:
    """Connect the members of a signature that one part has as ports of its own with those of an interface."""
    for name, member in edge.members.items():
        ours, theirs = getattr(asks, name), getattr(answers, name)
        m.d.comb += ours.eq(theirs) if member.flow is In else theirs.eq(ours)
