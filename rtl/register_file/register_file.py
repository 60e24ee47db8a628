# amaranth: UnusedElaboratable=no
"""The register file: banks, write-back, and what is known of each register."""

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import SIDES, WRITERS, bank_probe_fields, latch_probe_fields, zero_fields
from warploom.rtl import ports
from warploom.rtl.interfaces import done_layout, result_layout, struct, unstoppable
from warploom.rtl.register_file.banks import Banks
from warploom.rtl.register_file.metadata import MetadataTable
from warploom.rtl.register_file.writeback import Writeback
from warploom.rtl.select import merge
from warploom.rtl.shared import module_name, share


class RegisterFile(wiring.Component):
    """Banks, the latches that write them in stored form, and the metadata table.

    The table is read for the registers of the instruction at the issue port, and written when a result is.

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
        done = unstoppable(done_layout(config))
        super().__init__({
            **({"lookup": In(ports.lookup(config))} if ports.metadata(config) else {}),
            "read": In(ports.read(config)).array(config.collectors),
            "result_sp": In(unstoppable(result_layout(config))),
            "result_sfu": In(stream.Signature(result_layout(config))),
            "memory": In(ports.memory(config)),
            "done_sp": Out(done),
            "done_sfu": Out(done),
            **({"delivery": Out(ports.delivery(config))} if config.has_window else {}),
            **({"observed": Out(ports.observed_banks(config)), "probe": Out(self._probe_layout())} if probe else {}),
        })
        self.banks, self.writeback = Banks(config=config, probe=probe), Writeback(config=config)
        self.metadata_table = MetadataTable(config=config) if ports.metadata(config) else None

    def _probe_layout(self) -> data.StructLayout:
        return struct([*bank_probe_fields(self._config), *latch_probe_fields(self._config)])

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for part in filter(None, (self.banks, self.writeback, self.metadata_table)):
            name = module_name(type(part).__name__)
            m.submodules[name] = share(platform, name, part)
        for client, read in zip(self.read, self.banks.read, strict=True):
            connect(m, flipped(client), read)
        self._connect_writeback(m)
        if self.metadata_table is not None:
            connect(m, flipped(self.lookup), self.metadata_table.lookup)
            for told, renewal in zip(self.writeback.renewal, self.metadata_table.renewal, strict=True):
                connect(m, told, renewal)
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
        connect(m, writeback.write, self.banks.write)
        if self._config.has_window:
            connect(m, writeback.delivery, flipped(self.delivery))

    def _observe(self, m: Module) -> None:
        """The state of banks and latches."""
        probe, observed, latches = self.probe, self.banks.observed, self.writeback.latches
        m.d.comb += probe.diagonal.eq(observed.diagonal)
        for b, accesses in enumerate(observed.access):
            names = [f"bank{b}_{side}" for side in SIDES] if self._config.has_sides else [f"bank{b}"]
            for side, (name, access) in enumerate(zip(names, accesses, strict=True)):
                m.d.comb += [
                    *(probe[f"{name}_{field}"].eq(access[field]) for field, _ in access.shape() if field != "reader"),
                    probe[f"{name}_who"].eq(access.reader | merge(self._writers(b, side), range(len(WRITERS)))),
                ]
            if self._config.gates_columns:
                m.d.comb += probe[f"bank{b}_columns"].eq(observed.read_columns[b] | observed.written_columns[b])
        for i, writer in enumerate(WRITERS):
            valid = latches.valid[i]
            m.d.comb += [
                probe[f"{writer}_latch_valid"].eq(valid),
                probe[f"{writer}_latch_tag"].eq(Mux(valid, latches.tag[i], 0)),
                *([probe[f"{writer}_latch_code"].eq(latches.early[i])] if self._config.has_sides else []),
                *(probe[f"{writer}_latch_{name}"].eq(latches.late[i][name]) for name, _ in zero_fields(self._config)),
            ]

    def _writers(self, b: int, side: int) -> Value:
        """The writers that an access of a bank is granted to, at most one."""
        write, latches = self.writeback.write, self.writeback.latches
        here = write.grant & Cat(target == b for target in write.bank)
        return here & Cat(early.left == side for early in latches.early) if self._config.has_sides else here
