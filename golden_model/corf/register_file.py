"""`CorfFile`: the register file of CORF or CORF++ (docs/contract/register_file.md, *CORF*)."""

from collections.abc import Sequence

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.arch.program import Hints
from warploom.golden_model.arbiter import Arbiter
from warploom.golden_model.byte_order import from_sub_banks, to_sub_banks
from warploom.golden_model.corf import width
from warploom.golden_model.corf.allocation import NOWHERE, Location
from warploom.golden_model.corf.shifter import shift_down, shift_up
from warploom.golden_model.corf.storage import Storage
from warploom.golden_model.corf.writeback import PartialWrites
from warploom.golden_model.dual_bank import DualBank
from warploom.golden_model.operands.collector import SLOTS
from warploom.golden_model.placement import Address
from warploom.golden_model.records import IssueFields, Result
from warploom.golden_model.register_file.asked import Asked
from warploom.golden_model.register_file.ports import Grant, Write
from warploom.golden_model.traffic import Traffic
from warploom.golden_model.words import spread
from warploom.golden_model.writeback import Latches


class CorfFile:
    """Two reads of one instruction share a bank access and a collector write if their registers are packed in one entry
    or, with CORF++, are on opposite sides of two entries; nothing else is shared. There is no hardware, so nothing is
    observed.

    `copies` counts the registers that were read before they were written. The data is modelled: an entry holds the
    bytes of the registers packed in it, in sub-bank form.
    """

    form = None
    meter = None
    counts = None

    def __init__(self, config: SmConfig, stride: int, hints: Hints) -> None:
        self.storage = Storage(config, stride, hints, sides=config.packs_across)
        self.banks = [DualBank(config.rows) for _ in range(config.banks)]
        self.arbiter = Arbiter(config.banks, config.collectors, config.write_paths, config.rotating_paths)
        self.writeback: Latches[int] = Latches(config.writers, lambda _, result: result["bank"])
        self.partial = PartialWrites(self.writeback, self._grows)
        self.bank_reads, self.bank_writes = [0] * config.banks, [0] * config.banks  # requests granted
        self.bank_conflicts = self.port_conflicts = 0
        self.copies = 0
        self._operands = self._collector_writes = self._sub_bank_reads = self._sub_bank_writes = self._slices = 0
        self._asked = Asked()  # a client's requests would be read in one access
        self.request = self._asked.request
        self._none_done: list[Result | None] = [None] * len(config.writers)
        self._all_ready = [True] * len(config.writers)

    def lookup(self, fields: IssueFields, sources: tuple[Address, ...], destination: Address) -> tuple[Location, ...]:
        """The locations of an instruction's sources."""
        reads, locate = fields["reads"], self.storage.locate
        return tuple(locate(sources[slot]) if reads >> slot & 1 else NOWHERE for slot in SLOTS)

    def arbitrate(self) -> None:
        """Compute grants, `done` and `ready`."""
        writeback, requests = self.writeback, [0] * len(self.banks)
        writeback.held_back = self.partial.merging
        for client, reads in self._asked.reads.items():
            requests[reads[0].address.bank] |= 1 << client
        self.decision = self.arbiter.decide(writeback.requests(), requests)
        if writeback.held:
            writing = self.partial.writing(self.decision.writes)
            self.done, self.ready = writeback.done(writing), writeback.ready(writing)
        else:
            self.done, self.ready = self._none_done, self._all_ready

    @property
    def quiet(self) -> bool:
        """Whether nothing is requested, and all latches are empty."""
        return not self.writeback.held and not self._asked.reads

    def grants(self) -> Sequence[Grant]:
        """The grants of clients, with the words that they get. These requests end."""
        self.bank_conflicts += self.decision.bank_conflicts
        self.port_conflicts += self.decision.port_conflicts
        return [
            grant for bank, client in self.decision.reads
            for grant in self._read(bank, client)
        ]

    def _read(self, bank: int, client: int) -> list[Grant]:
        """One access of a bank, for one operand of a client or two."""
        reads = self._asked.reads.pop(client)
        sub_banks = sum(read.metadata.width for read in reads)
        self.bank_reads[bank] += len(reads)
        self._operands += len(reads)
        self._collector_writes += 1
        self._sub_bank_reads += sub_banks
        self._slices += sub_banks
        return [(client, read, self._word(bank, read.metadata)) for read in reads]

    def write(self, results: Sequence[Result | None]) -> None:
        """Granted latches write; results enter."""
        writeback, grants = self.writeback, self.decision.writes
        for writer, granted in enumerate(grants):
            latch = writeback.latches[writer]
            if granted and latch is not None:
                if self.partial.copies[writer]:
                    self.partial.merge(writer, self._copy(latch))
                else:
                    self._store(latch)
        if writeback.held or any(results):
            self.partial.step(results, grants)

    def _copy(self, latch: Result) -> int:
        """The register that a latch must read before it writes."""
        location = self.storage.locate(_address(latch))
        self.copies += 1
        self.bank_reads[latch["bank"]] += 1
        self._sub_bank_reads += location.width
        return self._word(latch["bank"], location)

    def _store(self, latch: Result) -> None:
        address = _address(latch)
        to = self._target(latch)
        self.banks[address.bank].write(to.row, _aligned(latch["data"], to), _aligned(_covered(latch, to), to))
        self.storage.move(address, to)
        self.bank_writes[address.bank] += 1
        self._sub_bank_writes += to.width

    def _target(self, latch: Result) -> Location:
        """The location to which a result is written: for a partial write the present one."""
        address = _address(latch)
        own = self.storage.locate(address)
        if own.mask and not latch["full"]:
            return own
        return self.storage.choose(address, width.detect(latch["data"], latch["lanes"]))

    def _grows(self, result: Result) -> bool:
        """Whether a result that does not write all of a stored register needs more bytes than it has."""
        own = self.storage.locate(_address(result))
        return bool(own.mask) and not result["full"] and width.detect(result["data"], result["lanes"]) > own.width

    def _word(self, bank: int, location: Location) -> int:
        """The register at a location, byte-interleaved."""
        form = shift_down(self.banks[bank].read(location.row), _positions(location))
        return width.extend(from_sub_banks(form, False), location.width)

    def traffic(self) -> Traffic:
        """The traffic so far."""
        writes = sum(self.bank_writes)
        return Traffic(
            bank_requests=self._operands + self.copies + writes,
            bank_accesses=self._collector_writes + self.copies + writes,
            coalesced={"read_read": self._operands - self._collector_writes, "write_write": 0, "read_write": 0},
            collector_writes=self._collector_writes, operands_stored=self._operands,
            sub_bank_reads=self._sub_bank_reads, sub_bank_writes=self._sub_bank_writes, slice_writes=self._slices,
        )

    def writes(self) -> list[Write]:
        """The register writes of this cycle."""
        found = []
        for writer, granted in enumerate(self.partial.writing(self.decision.writes)):
            latch = self.writeback.latches[writer]
            if granted and latch is not None:
                to, covered = self._target(latch), _covered(latch, self._target(latch))
                found.append(Write(self.writeback.writers[writer], latch["bank"], to.row, latch["lanes"],
                                   latch["data"] & covered, latch["tag"], to.left, covered))
        return found


def _address(result: Result) -> Address:
    """The address that names the register of a result."""
    return Address(result["bank"], result["row"], bool(result["left"]), result["group"], result["entry"])


def _positions(location: Location) -> int:
    """The distance by which a register is shifted up."""
    return SUB_BANKS - location.width if location.left else 0


def _covered(result: Result, to: Location) -> int:
    """Ones in the bytes of a byte-interleaved word that are written."""
    return spread(result["lanes"]) & width.BELOW[to.width]


def _aligned(word: int, to: Location) -> int:
    """A byte-interleaved word in sub-bank form, moved to the side where it is stored."""
    return shift_up(to_sub_banks(word, False), _positions(to))
