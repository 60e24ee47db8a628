"""`SharedFile`: requests share a bank access if their sub-banks do not overlap (docs/contract/register_file.md)."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain, compress
from typing import Any, Final

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import SIDES
from warploom.golden_model.activity import ColumnMeter
from warploom.golden_model.coalescing import arbiter
from warploom.golden_model.coalescing.arbiter import CoalescingArbiter, side_in_turn
from warploom.golden_model.coalescing.meter import Meter
from warploom.golden_model.coalescing.separable_arbiter import sides_match_of
from warploom.golden_model.coalescing.slow_arbiter import SlowCoalescingArbiter
from warploom.golden_model.dual_bank import DualBank
from warploom.golden_model.observation import Gathered
from warploom.golden_model.records import Result
from warploom.golden_model.register_file.forms import Narrow, NarrowZeroMasked
from warploom.golden_model.register_file.observation import enabled_columns, names_of_accesses
from warploom.golden_model.register_file.ports import Grant, Port, Read, Write, Written
from warploom.golden_model.register_file.writeback import Writeback
from warploom.golden_model.traffic import Traffic

_request: Final = cache(arbiter.Read)  # few, and they recur

_ACCESS = ("enable", "write", "row", "who", "mask")
"""The observed values of a side of a bank: `who` is the client of a read, or the writer, `mask` the sub-banks."""

_IDLE = (0,) * len(_ACCESS)


class SharedFile:
    """Several requests share a bank access, and several operands a client's port. `meter` counts columns, with gating.

    With the bounds of `Alignment` there is no hardware, and the observed values have no meaning.
    """

    counts = None

    def __init__(self, config: SmConfig) -> None:
        gated = config.gates_columns
        self.form: Narrow | NarrowZeroMasked = NarrowZeroMasked(config) if gated else Narrow(config)
        self._slow = config.cmos_rows
        self.arbiter: CoalescingArbiter | SlowCoalescingArbiter
        self.arbiter = sided = CoalescingArbiter(
            config.banks, config.collectors, config.alignment, config.write_paths, config.rotating_paths,
            match=sides_match_of(config), turn=side_in_turn if config.selects_reads else None)
        if config.tfet_rows:
            self.arbiter = SlowCoalescingArbiter(sided, self._writes_slowly, self._reads_slowly)
        self._yielding = sided if config.yields_to_pending else None
        self.lookup = self.form.lookup
        self.writeback: Writeback[arbiter.Write] = Writeback(config.writers, self.form, self._requested)
        self.meter = ColumnMeter() if gated else None
        self.banks = [DualBank(config.rows) for _ in range(config.banks)]
        self.bank_reads, self.bank_writes = [0] * config.banks, [0] * config.banks  # requests granted
        self.bank_conflicts = self.port_conflicts = 0
        self._shared = Meter()
        banks = [f"bank{bank}" for bank in range(config.banks)]
        ports = [f"{bank}_{side}" for bank in banks for side in SIDES]
        self._parts = Gathered(self.arbiter, self.writeback)
        self.observed = (*self._parts.observed, *names_of_accesses(ports, _ACCESS, banks if gated else ()))
        self._asked: dict[arbiter.Read, Read] = {}
        self._of_client: list[Sequence[arbiter.Read]] = [()] * config.holders  # those that have ended among them
        self._left = [0] * config.holders  # of each client: how many have not ended
        self._writing: list[tuple[int, Result, Written]] = []  # of the latches that are granted
        self._numbers = range(len(config.writers))
        self._none_done: list[Result | None] = [None] * len(config.writers)
        self._all_ready = [True] * len(config.writers)
        self._idle = self.arbiter.decide([None] * len(config.writers), ())

    # ------------------------------------------------------------------ wires

    def arbitrate(self) -> None:
        """Compute grants, `done` and `ready`."""
        writeback = self.writeback
        if not self._asked and not writeback.held:
            self.decision, self._writing = self._idle, []
            self.done, self.ready = self._none_done, self._all_ready
            return
        if self._yielding is not None:
            decision = self._yielding.decide(writeback.requests(), [*self._asked], pending=writeback.pending)
        else:
            decision = self.arbiter.decide(writeback.requests(), [*self._asked])
        self.decision = decision
        if not writeback.held:
            self._writing, self.done, self.ready = [], self._none_done, self._all_ready
            return
        self._writing = self._granted_writes()
        if decision.bank_conflicts or decision.opened or writeback.held_back:
            self.done, self.ready = writeback.done(decision.writes), writeback.ready(decision.writes)
        else:  # every write is granted
            self.done, self.ready = list(writeback.latches), self._all_ready

    @property
    def quiet(self) -> bool:
        """Whether nothing is requested, and all latches are empty."""
        return not self.writeback.held and not self._asked

    def _writes_slowly(self, writer: int) -> bool:
        """Whether the latch of a writer requests a slow row."""
        latch = self.writeback.latches[writer]
        return latch is not None and latch["row"] >= self._slow

    def _reads_slowly(self, read: arbiter.Read) -> bool:
        """Whether a request is for a slow row."""
        return self._asked[read].address.row >= self._slow

    def _requested(self, result: Result, written: Written) -> arbiter.Write:
        """The request of a write to the arbiter."""
        metadata = written.metadata
        return result["bank"], metadata.left, metadata.width

    def _granted_writes(self) -> list[tuple[int, Result, Written]]:
        writeback = self.writeback
        held: Any = zip(self._numbers, writeback.latches, writeback.written, strict=False)  # faster than checked
        return [*compress(held, self.decision.writes)]

    def writes(self) -> list[Write]:
        """The register writes of this cycle."""
        return [
            Write(self.writeback.writers[writer], latch["bank"], latch["row"], latch["lanes"], written.word,
                  latch["tag"], self.form.encoding(written.metadata).left, written.byte_mask)
            for writer, latch, written in self._writing
        ]

    # ------------------------------------------------------------------ the end of a cycle

    def request(self, client: int, reads: Mapping[Port, Read]) -> None:
        """Set the requests of a client from the next cycle on."""
        asked = self._asked
        if self._left[client]:
            for request in self._of_client[client]:
                asked.pop(request, None)
        requests = self._of_client[client] = []
        for (bank, side), read in reads.items():
            request = _request(bank, side, client, read.metadata.width)
            asked[request] = read
            requests.append(request)
        self._left[client] = len(requests)

    def grants(self) -> Sequence[Grant]:
        """The grants of clients, with the bytes that they get. These requests end."""
        decision, writeback = self.decision, self.writeback
        if writeback.held_back:
            self.bank_conflicts += writeback.held_back.bit_count()
        if decision is self._idle:
            return ()
        self.bank_conflicts += decision.bank_conflicts
        self.port_conflicts += decision.port_conflicts
        reads = decision.reads
        if self._writing:
            writes: Any = [*compress(writeback.requests(), decision.writes)]
            self._shared.count(writes, reads)
        elif reads:
            self._shared.count((), reads)
        if not reads:
            return ()
        asked, left, banks, bank_reads, meter = self._asked, self._left, self.banks, self.bank_reads, self.meter
        found: list[Grant] = []
        for granted in reads:
            bank, client, read = granted.bank, granted.collector, asked.pop(granted)
            left[client] -= 1
            bank_reads[bank] += 1
            if meter is not None:
                meter.read(read.columns)
            found.append((client, read, banks[bank].data[read.address.row]))
        return found

    def write(self, results: Sequence[Result | None]) -> None:
        """Granted latches write; results enter."""
        writeback = self.writeback
        for _, latch, written in self._writing:
            self._store(latch, written)
        if writeback.held:
            writeback.leave(self.ready)
        if any(results):
            for writer, result in enumerate(results):
                if result is not None:
                    writeback.enter(writer, result)

    def _store(self, latch: Result, written: Written) -> None:
        bank = latch["bank"]
        self.banks[bank].write(latch["row"], written.word, written.byte_mask)
        self.form.write(latch, written.metadata)
        self.bank_writes[bank] += 1
        if self.meter is not None:
            self.meter.write(written.columns)

    # ------------------------------------------------------------------ observation

    def traffic(self) -> Traffic:
        """The traffic so far."""
        return self._shared.traffic

    def observe(self) -> Sequence[int]:
        """The values of arbiter and write latches, and the access of each side of each bank."""
        reads = [(read, self._asked[read]) for read in self.decision.reads]
        accesses = [_IDLE] * (len(SIDES) * len(self.banks))
        for read, asked in reads:
            accesses[len(SIDES) * read.bank + read.side] = (1, 0, asked.address.row, read.collector, read.mask)
        for writer, latch, written in self._writing:
            encoding = self.form.encoding(written.metadata)
            accesses[len(SIDES) * latch["bank"] + encoding.left] = (1, 1, latch["row"], writer, encoding.mask)
        columns: Sequence[int] = ()
        if self.meter is not None:
            columns = enabled_columns(len(self.banks), ((read.bank, asked.columns) for read, asked in reads),
                                      ((latch["bank"], written.columns) for _, latch, written in self._writing))
        return [*self._parts.observe(), *chain.from_iterable(accesses), *columns]
