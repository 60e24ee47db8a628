# amaranth: UnusedElaboratable=no
"""The register file: banks, write-back, and the metadata of each register."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from warploom.arch.config import SmConfig
from warploom.arch.isa import Pipe
from warploom.rtl import ports
from warploom.rtl.interfaces import done_layout, unstoppable
from warploom.rtl.observation import Shown, gather, probe_port, show
from warploom.rtl.register_file.banks import Banks
from warploom.rtl.register_file.metadata import MetadataTable
from warploom.rtl.register_file.writeback import Writeback
from warploom.rtl.shared import module_name, share


class RegisterFile(wiring.Component):
    """Banks, the latches that write them in stored form, and the metadata table.

    The table is read for the registers of the instructions at the issue ports, and written when a result is.

    Parameters
    ----------
    config : the machine.
    probe : add the ports of a bench.

    Members
    -------
    lookup : for each issue input, with metadata, those of an instruction's registers (`warploom.rtl.ports.lookup`).
    read : the requests of each collector (`warploom.rtl.ports.read`).
    result_sp, ... : for each pipe except memory, its results (`warploom.rtl.ports.result`).
    memory : results of the memory pipe, and its completions.
    done_sp, ... : for each pipe except memory, completions, with the predicate result.
    delivery : with windows, results that collectors may take (`warploom.rtl.ports.delivery`).
    queued_sp, ... : for each pipe with a result queue, the results that wait in it.
    released : with renaming, rows that were released in the cycle before (`warploom.rtl.ports.released`).
    observed : with a probe, the writes and enabled columns of banks (`warploom.rtl.ports.observed_banks`).
    probe : with a probe, the state of banks and write latches.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        self._others = [pipe for pipe in config.pipes if pipe.kind is not Pipe.MEM]
        self.banks, self.writeback = Banks(config=config, probe=probe), Writeback(config=config)
        self.metadata_table = MetadataTable(config=config) if ports.metadata(config) else None
        done = unstoppable(done_layout(config))
        super().__init__({
            **({"lookup": In(ports.lookup(config)).array(config.issue_inputs)} if self.metadata_table else {}),
            "read": In(ports.read(config)).array(config.collectors),
            **{f"result_{pipe.name}": In(ports.result(config, pipe)) for pipe in self._others},
            "memory": In(ports.memory(config)),
            **{f"done_{pipe.name}": Out(done) for pipe in self._others},
            **({"delivery": Out(ports.delivery(config))} if config.has_window else {}),
            **{name: member.flip() for name, member in ports.queued(config).items()},
            **({"released": Out(ports.released(config))} if config.renames else {}),
            **({"observed": Out(ports.observed_banks(config))} | probe_port(self.observe()) if probe else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for part in filter(None, (self.banks, self.writeback, self.metadata_table)):
            name = module_name(type(part).__name__)
            m.submodules[name] = share(platform, name, part)
        for client, read in zip(self.read, self.banks.read, strict=True):
            connect(m, flipped(client), read)
        self._connect_writeback(m)
        if self._config.renames:
            m.d.comb += self.released.eq(self.banks.released)
        if self.metadata_table is not None:
            for asked, lookup in zip(self.lookup, self.metadata_table.lookup, strict=True):
                connect(m, flipped(asked), lookup)
            for told, renewal in zip(self.writeback.renewal, self.metadata_table.renewal, strict=True):
                connect(m, told, renewal)
        if self._with_probe:
            connect(m, self.banks.observed, flipped(self.observed))
            show(m, self)
        return m

    def observe(self) -> Shown:
        """The state of banks, write latches and metadata table."""
        return gather(self.banks, self.writeback, self.metadata_table)

    def _connect_writeback(self, m: Module) -> None:
        """Connect results to their latches, and these to the banks and, with windows, to the collectors."""
        writeback = self.writeback
        for pipe in self._others:
            result, done = f"result_{pipe.name}", f"done_{pipe.name}"
            connect(m, flipped(getattr(self, result)), getattr(writeback, result))
            connect(m, getattr(writeback, done), flipped(getattr(self, done)))
        m.d.comb += [getattr(self, name).eq(getattr(writeback, name)) for name in ports.queued(self._config)]
        memory = self._config.writers[-1]
        connect(m, flipped(self.memory.result), getattr(writeback, f"result_{memory}"))
        connect(m, getattr(writeback, f"done_{memory}"), flipped(self.memory.done))
        connect(m, writeback.write, self.banks.write)
        if self._config.has_window:
            connect(m, writeback.delivery, flipped(self.delivery))
