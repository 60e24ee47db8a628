"""`SingleFile`: each bank serves one request a cycle (docs/contract/register_file.md)."""

from collections.abc import Mapping, Sequence
from itertools import chain

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import BANK_PORTS
from warploom.golden_model.activity import ColumnMeter
from warploom.golden_model.arbiter import Arbiter
from warploom.golden_model.bank import Bank
from warploom.golden_model.observation import Gathered
from warploom.golden_model.records import Result
from warploom.golden_model.register_file.forms import form_of
from warploom.golden_model.register_file.observation import enabled_columns, names_of_accesses
from warploom.golden_model.register_file.ports import Grant, Port, Read, Write, Written
from warploom.golden_model.register_file.writeback import Writeback
from warploom.golden_model.separable.arbiter import match_of
from warploom.golden_model.slow_arbiter import SlowArbiter
from warploom.golden_model.traffic import Traffic

_ACCESS = ("enable", "write", "row", "who")
"""The observed values of a bank: `who` is the client of a read, or the writer."""

_IDLE = (0,) * len(_ACCESS)


class SingleFile:
    """A bank access serves one request, or reads one operand of one client. With two ports a bank has an access of each
    kind. `meter` counts columns, with gating."""

    counts = None

    def __init__(self, config: SmConfig) -> None:
        self.form = form_of(config)
        self._ports, self._slow = config.bank_ports, config.cmos_rows
        self.arbiter: Arbiter | SlowArbiter
        if config.tfet_rows or config.bank_ports > 1:
            self.arbiter = SlowArbiter(config, self._writes_slowly, self._reads_slowly)
        else:
            self.arbiter = Arbiter(config.banks, config.collectors, config.write_paths, config.rotating_paths,
                                   match_of(config))
        self.lookup = self.form.lookup
        self.writeback: Writeback[int] = Writeback(config.writers, self.form, lambda result, _: result["bank"])
        self.meter = None if not config.gates_columns else ColumnMeter()
        self.banks = [Bank(config.rows) for _ in range(config.banks)]
        self.bank_reads, self.bank_writes = [0] * config.banks, [0] * config.banks  # requests granted
        self.bank_conflicts = self.port_conflicts = 0
        self._asked: list[dict[int, Read]] = [{} for _ in range(config.holders)]  # by client and bank
        self._requests = [0] * config.banks  # masks of clients
        self._asking = 0  # clients with a request
        self._none_done: list[Result | None] = [None] * len(config.writers)
        self._all_ready = [True] * len(config.writers)
        self._nothing = self.arbiter.decide([None] * len(config.writers), self._requests)
        ports = [f"bank{bank}{port}" for bank in range(config.banks)
                 for port in (("",) if config.bank_ports == 1 else [f"_{port}" for port in BANK_PORTS])]
        self._parts = Gathered(self.arbiter, self.writeback)
        self.observed = (*self._parts.observed, *names_of_accesses(ports, _ACCESS, ports if self.meter else ()))

    # ------------------------------------------------------------------ wires

    def arbitrate(self) -> None:
        """Compute grants, `done` and `ready`."""
        writeback = self.writeback
        if not writeback.held and not self._asking:
            self.decision, self.done, self.ready = self._nothing, self._none_done, self._all_ready
            return
        self.decision = self.arbiter.decide(writeback.requests(), self._requests)
        if not writeback.held:
            self.done, self.ready = self._none_done, self._all_ready
        elif self.decision.all_written and not writeback.held_back:
            self.done, self.ready = list(writeback.latches), self._all_ready
        else:
            self.done = writeback.done(self.decision.writes)
            self.ready = writeback.ready(self.decision.writes)

    @property
    def quiet(self) -> bool:
        """Whether nothing is requested, and all latches are empty."""
        return not self.writeback.held and not self._asking

    def _writes_slowly(self, writer: int) -> bool:
        """Whether the latch of a writer requests a slow row."""
        latch = self.writeback.latches[writer]
        return latch is not None and latch["row"] >= self._slow

    def _reads_slowly(self, bank: int, client: int) -> bool:
        """Whether a client requests a slow row of a bank."""
        return self._asked[client][bank].address.row >= self._slow

    def _granted(self) -> list[tuple[int, Read]]:
        """Clients and their grants."""
        return [(client, self._asked[client][bank]) for bank, client in self.decision.reads]

    def _writing(self) -> list[tuple[int, Result, Written]]:
        """Writer, result and write of each granted latch."""
        writeback = self.writeback
        return [
            (writer, latch, written)
            for writer, (latch, written) in enumerate(zip(writeback.latches, writeback.written, strict=True))
            if self.decision.writes[writer] and latch is not None and written is not None
        ]

    def writes(self) -> list[Write]:
        """The register writes of this cycle."""
        return [
            Write(self.writeback.writers[writer], latch["bank"], latch["row"], latch["lanes"], written.word,
                  latch["tag"], bool(latch["left"]), written.byte_mask)
            for writer, latch, written in self._writing()
        ]

    # ------------------------------------------------------------------ the end of a cycle

    def request(self, client: int, reads: Mapping[Port, Read]) -> None:
        """Set the requests of a client from the next cycle on."""
        requests, bit, asked = self._requests, 1 << client, self._asked[client]
        for bank in asked:
            requests[bank] ^= bit
        asked.clear()
        for (bank, _), read in reads.items():
            asked[bank] = read
            requests[bank] |= bit
        self._asking = self._asking | bit if asked else self._asking & ~bit

    def grants(self) -> Sequence[Grant]:
        """The grants of clients, with the bytes that they get. These requests end."""
        decision = self.decision
        if self.writeback.held_back:
            self.bank_conflicts += self.writeback.held_back.bit_count()
        if decision is self._nothing:
            return ()
        self.bank_conflicts += decision.bank_conflicts
        self.port_conflicts += decision.port_conflicts
        if not decision.reads:
            return ()
        requests, banks, bank_reads, meter = self._requests, self.banks, self.bank_reads, self.meter
        found: list[Grant] = []
        for bank, client in decision.reads:
            asked, bit = self._asked[client], 1 << client
            read = asked.pop(bank)
            requests[bank] ^= bit
            if not asked:
                self._asking ^= bit
            bank_reads[bank] += 1
            if meter is not None:
                meter.read(read.columns)
            found.append((client, read, banks[bank].data[read.address.row]))
        return found

    def write(self, results: Sequence[Result | None]) -> None:
        """Granted latches write; results enter."""
        writeback, decision = self.writeback, self.decision
        if writeback.held:
            if True in decision.writes:
                for writer, granted in enumerate(decision.writes):
                    if granted:
                        self._store(writer)
            writeback.leave(self.ready)
        if any(results):
            for writer, result in enumerate(results):
                if result is not None:
                    writeback.enter(writer, result)

    def _store(self, writer: int) -> None:
        latch, written = self.writeback.latches[writer], self.writeback.written[writer]
        assert latch is not None and written is not None
        bank = latch["bank"]
        self.banks[bank].write_bytes(latch["row"], written.word, written.byte_mask)
        if written.metadata is not None:
            self.form.write(latch, written.metadata)
        self.bank_writes[bank] += 1
        if self.meter is not None:
            self.meter.write(written.columns)

    # ------------------------------------------------------------------ observation

    def traffic(self) -> Traffic:
        """The traffic so far. Every read is a collector write."""
        reads = sum(self.bank_reads)
        return Traffic.of_words(reads, sum(self.bank_writes), reads)

    def observe(self) -> Sequence[int]:
        """The values of arbiter and write latches, and the access of each port of each bank."""
        reads, writes, ports = self._granted(), self._writing(), self._ports
        accesses = [_IDLE] * (ports * len(self.banks))
        for client, read in reads:
            accesses[ports * read.address.bank] = (1, 0, read.address.row, client)
        for writer, latch, _ in writes:
            accesses[ports * latch["bank"] + ports - 1] = (1, 1, latch["row"], writer)
        columns: Sequence[int] = ()
        if self.meter is not None:
            columns = enabled_columns(
                len(accesses), ((ports * read.address.bank, read.columns) for _, read in reads),
                ((ports * latch["bank"] + ports - 1, written.columns) for _, latch, written in writes))
        return [*self._parts.observe(), *chain.from_iterable(accesses), *columns]
