"""The interface between register file and operand store (docs/contract/register_file.md)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from warploom.golden_model.activity import ColumnMeter
from warploom.golden_model.placement import Address
from warploom.golden_model.records import IssueFields, Result, StoredFields
from warploom.golden_model.register_file.sides import WarpSides
from warploom.golden_model.traffic import Traffic
from warploom.golden_model.writeback import Latches

Metadata = Any
"""The metadata of a register, in the format of the register file's form; opaque to all others."""

Port = tuple[int, int]
"""A bank, and its side (0 if it has only one)."""


class Read(NamedTuple):
    """A read that a client requests: the client's own name for it (a slot, or an entry), address and metadata of the
    register, and the 32-bit mask of columns that it enables."""

    key: int
    address: Address
    metadata: Metadata
    columns: int


Grant = tuple[int, Read, int]
"""A granted request: its client, the read, and the bytes that its bank reads, which the client gets in the next
cycle."""


class Written(NamedTuple):
    """A register write: the new metadata of the register, the bytes written (1024 bits) and their mask (ones in each
    written byte), and the columns that it enables."""

    metadata: Metadata
    word: int
    byte_mask: int
    columns: int


class Write(NamedTuple):
    """A register write of this cycle: writer's name, address, executing lanes, the 1024-bit word that is written, tag,
    whether it is on the left, and the 1024-bit mask of the written bits."""

    writer: str
    bank: int
    row: int
    lanes: int
    data: int
    tag: int
    left: bool
    byte_mask: int


class Form(Protocol):
    """A stored form of warp registers: the only code that depends on the meaning of the stored bytes."""

    @property
    def by_lanes(self) -> bool:
        """Whether `needed` depends on the executing lanes."""

    def lookup(self, fields: IssueFields, sources: tuple[Address, ...], destination: Address) -> tuple[Metadata, ...]:
        """The metadata of an instruction's registers: of each slot, also of one that reads none, and of the
        destination."""

    def fields(self, metadata: Metadata) -> StoredFields:
        """The metadata by their names."""

    def of(self, fields: StoredFields) -> Metadata:
        """The metadata in `fields`; other fields are ignored."""

    def ports(self, address: Address, metadata: Metadata) -> Sequence[Port]:
        """The ports at which a client may request a register: it uses the first one without another request."""

    def needed(self, lanes: int, metadata: Sequence[Metadata]) -> Sequence[int]:
        """The columns that reads of several registers enable for the executing lanes."""

    def restore(self, word: int, metadata: Metadata) -> int:
        """The word that the lanes read; `word` is the output of the bank."""

    def known_zero(self, metadata: Metadata) -> int:
        """The lanes that are known to be zero."""

    @property
    def sides(self) -> WarpSides | None:
        """The sides of full results, where they take turns."""

    def renew(self, result: Result) -> Written:
        """The write of a result, which carries the metadata of its register."""

    def write(self, result: Result, metadata: Metadata) -> None:
        """The end of the cycle in which the register of a result is written."""

    @property
    def shown(self) -> Sequence[str]:
        """The names of the observed new metadata of a write latch."""

    def show(self, metadata: Metadata) -> Sequence[int]:
        """A value for each of these names."""


class RegisterFile(Protocol):
    """The interface of a register file to operand stores and pipes.

    Within a cycle call `arbitrate`; then `done` and `ready`, by writer, are valid. At its end call `lookup` for issued
    instructions, `grants` and `write`, and let the arbiter `advance`; a `request` is for the next cycle on, until it is
    granted.
    """

    @property
    def arbiter(self) -> Any:
        """Has a priority `diagonal`, which moves on at the end of every cycle."""

    @property
    def form(self) -> Any:
        """A `Form`; not in register files that are only for comparison."""

    @property
    def writeback(self) -> Latches[Any]:
        """The write latches."""

    @property
    def meter(self) -> ColumnMeter | None:
        """Counts columns, with gating."""

    @property
    def bank_reads(self) -> list[int]:
        """Read requests granted, by bank."""

    @property
    def bank_writes(self) -> list[int]:
        """Write requests granted, by bank."""

    bank_conflicts: int
    """Requests refused because another one got their bank or write path."""

    @property
    def port_conflicts(self) -> int:
        """Read requests refused because their client got another bank."""

    @property
    def counts(self) -> Any:
        """A dataclass of further events, if there are any."""

    @property
    def done(self) -> list[Result | None]:
        """The results that complete in this cycle, by writer."""

    @property
    def ready(self) -> list[bool]:
        """Whether each latch takes a result in this cycle."""

    @property
    def quiet(self) -> bool:
        """Whether nothing is requested, and all latches are empty."""

    def lookup(self, fields: IssueFields, sources: tuple[Address, ...], destination: Address) -> tuple[Metadata, ...]:
        """The metadata of an issued instruction's registers: of its slots and, last, of its destination."""

    def arbitrate(self) -> None:
        """Compute grants, `done` and `ready`."""

    def request(self, client: int, reads: Mapping[Port, Read]) -> None:
        """Set the requests of a client from the next cycle on, in place of those that it has."""

    def grants(self) -> Sequence[Grant]:
        """The grants of clients, with the bytes that they get. These requests end."""

    def write(self, results: Sequence[Result | None]) -> None:
        """Granted latches write; results enter."""

    def writes(self) -> list[Write]:
        """The register writes of this cycle."""

    def traffic(self) -> Traffic:
        """The traffic so far."""
