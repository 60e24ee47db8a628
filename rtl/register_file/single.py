# amaranth: UnusedElaboratable=no
"""Banks of one access a cycle, their arbiter and their crossbar ([RADAIDEH], section 2.1.3)."""

from amaranth import Cat, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import COLUMNS, SmConfig
from warploom.arch.mechanisms import Gating
from warploom.rtl import ports
from warploom.rtl.arbiter import Arbiter
from warploom.rtl.bank import Bank
from warploom.rtl.bypass.arbiter import RotatingArbiter
from warploom.rtl.crossbar import Crossbar
from warploom.rtl.register_file.forms import written_columns
from warploom.rtl.select import merge
from warploom.rtl.shared import module_name, share


class SingleBanks(wiring.Component):
    """A bank does the write or the read that the arbiter granted it.

    Parameters
    ----------
    config : the machine.
    probe : add the port of a bench, and poison where nobody may look.

    Members
    -------
    write : what write latches request (`warploom.rtl.ports.write`).
    read : what collectors request (`warploom.rtl.ports.read`).
    observed : with a probe, `warploom.rtl.ports.observed_banks`.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        self._gated = config.gating is not Gating.OFF
        super().__init__({
            "write": In(ports.write(config)),
            "read": In(ports.read(config)).array(config.collectors),
            **({"observed": Out(ports.observed_banks(config))} if probe else {}),
        })
        kind = RotatingArbiter if config.bypass.has_window else Arbiter
        self.arbiter = kind(banks=config.banks, collectors=config.collectors)
        self.crossbar = Crossbar(banks=config.banks, collectors=config.collectors)
        self.banks = [Bank(rows=config.rows, gated=self._gated, poison=probe) for _ in range(config.banks)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.arbiter = share(platform, module_name(type(self.arbiter).__name__), self.arbiter)
        m.submodules.crossbar = share(platform, "crossbar", self.crossbar)
        for b, bank in enumerate(self.banks):
            m.submodules[f"bank_{b}"] = share(platform, "bank", bank)
            self._connect_bank(m, b, bank)
        self._connect_requests(m)
        if self._with_probe:
            self._observe(m)
        return m

    def _connect_requests(self, m: Module) -> None:
        """Requests go to the arbiter, grants come back and to the crossbar."""
        arbiter = self.arbiter
        m.d.comb += [
            arbiter.write_request.eq(self.write.request),
            arbiter.write_bank.eq(self.write.bank),
            self.write.grant.eq(arbiter.write_grant),
            self.crossbar.grant.eq(arbiter.read_grant),
        ]
        for c, read in enumerate(self.read):
            m.d.comb += read.word.eq(self.crossbar.operand[c])
            for b in range(self._config.banks):
                m.d.comb += [
                    arbiter.read_request[b][c].eq(read.request[b]), read.grant[b].eq(arbiter.read_grant[b][c]),
                ]

    def _connect_bank(self, m: Module, b: int, bank: Bank) -> None:
        grant, write = self.arbiter.read_grant[b], self.write
        m.d.comb += [
            bank.enable.eq(write.write[b] | grant.any()),
            bank.write.eq(write.write[b]),
            bank.row.eq(write.row[b] | merge(grant, self._asked("row", b))),
            bank.data.eq(write.data[b]),
            self.crossbar.read_data[b].eq(bank.read_data),
        ]
        if self._gated:
            m.d.comb += [
                bank.byte_enable.eq(write.byte_enable[b]), bank.columns.eq(merge(grant, self._asked("columns", b))),
            ]
        else:
            m.d.comb += bank.lanes.eq(write.lanes[b])

    def _asked(self, name: str, b: int) -> list[Value]:
        """What each collector asks of a bank."""
        return [getattr(read, name)[b][0] for read in self.read]

    def _observe(self, m: Module) -> None:
        observed = self.observed
        m.d.comb += observed.diagonal.eq(self.arbiter.diagonal)
        for b, bank in enumerate(self.banks):
            grant, access = self.arbiter.read_grant[b], observed.access[b][0]
            m.d.comb += [
                *(access[name].eq(getattr(bank, name)) for name in ("enable", "write", "row")),
                access.reader.eq(merge(grant, range(len(grant)))),
                observed.stored_data[b].eq(self.write.data[b]),
                observed.stored_bytes[b].eq(self._written_bytes(bank)),
                observed.read_columns[b].eq(
                    bank.columns if self._gated else (bank.enable & ~bank.write).replicate(COLUMNS)),
                observed.written_columns[b].eq(self._written_columns(bank)),
            ]

    def _written_bytes(self, bank: Bank) -> Value:
        return bank.byte_enable if self._gated else Cat(lane.replicate(4) for lane in bank.lanes)

    def _written_columns(self, bank: Bank) -> Value:
        return written_columns(bank.byte_enable) if self._gated else bank.write.replicate(COLUMNS)
