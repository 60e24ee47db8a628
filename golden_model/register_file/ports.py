"""What passes between the register file and an operand store (docs/contract/register_file.md)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from warploom.golden_model.activity import ColumnMeter
from warploom.golden_model.placement import Address
from warploom.golden_model.traffic import Traffic
from warploom.golden_model.writeback import Latches, Result

Metadata = Any
"""How a register is stored, as the form of the register file says it; nobody else looks into it."""

Port = tuple[int, int]
"""A bank, and the side of it (0 where it has but one)."""


class Read(NamedTuple):
    """A read that a client requests: the client's own name for it (a slot, or an entry), where and how the register is
    stored, and the 32-bit mask of columns that it enables."""

    key: int
    address: Address
    metadata: Metadata
    columns: int


class Grant(NamedTuple):
    """A request that is granted, and the bytes that its bank reads, which the client has in the next cycle."""

    client: int
    read: Read
    word: int


class Written(NamedTuple):
    """A register write: the metadata that the register will have, the bytes written (1024 bits) and their mask (ones in
    each byte that is written), and the columns that it enables."""

    metadata: Metadata
    word: int
    byte_mask: int
    columns: int


class Write(NamedTuple):
    """A register write of this cycle: writer's name, address, executing lanes, the 1024-bit word as it is written, tag,
    whether it lies on the left, and the 1024-bit mask of the bits that are written."""

    writer: str
    bank: int
    row: int
    lanes: int
    data: int
    tag: int
    left: bool
    byte_mask: int


class Form(Protocol):
    """How a register file stores a warp register: the only place that knows what its bytes mean."""

    def lookup(self, fields: Mapping[str, Any], sources: Sequence[Address], destination: Address) -> Sequence[Metadata]:
        """Of the registers of an instruction: of each slot, also of one that reads none, and of the destination."""

    def fields(self, metadata: Metadata) -> Mapping[str, int]:
        """By the names of `interfaces.stored_fields` (and `left`, where that is not told by the number)."""

    def of(self, fields: Mapping[str, int]) -> Metadata:
        """The metadata that `fields` gave, among others maybe."""

    def ports(self, address: Address, metadata: Metadata) -> Sequence[Port]:
        """Where a client may request a register: at the first of these ports that it requests nothing else of."""

    def needed(self, lanes: int, metadata: Sequence[Metadata]) -> Sequence[int]:
        """The columns that reads of several registers enable for the executing lanes."""

    def restore(self, word: int, metadata: Metadata) -> int:
        """What the lanes read; `word` is what the bank put out."""

    def known_zero(self, metadata: Metadata) -> int:
        """The lanes that are known to be zero."""

    def renew(self, result: Result) -> Written:
        """The write of a result, which brings what is known of its register."""

    def write(self, result: Result, metadata: Metadata) -> None:
        """The end of the cycle in which the register of a result is written."""

    @property
    def shown(self) -> Sequence[str]:
        """Names of what a write latch shows a bench of the metadata that its register will have."""

    def show(self, metadata: Metadata) -> Sequence[int]:
        """A value for each of these names."""


class RegisterFile(Protocol):
    """What operand stores and pipes see of a register file.

    Within a cycle call `arbitrate`; `done` and `ready`, by writer, are wires then. At its end call `lookup` for what is
    issued, `grants` and `write`, and let the arbiter `advance`; clients `request` from the next cycle on.
    """

    @property
    def arbiter(self) -> Any:
        """Has a priority `diagonal`, which moves on at the end of every cycle."""

    @property
    def form(self) -> Any:
        """A `Form`; comparators have none."""

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

    @property
    def bank_conflicts(self) -> int:
        """Requests refused because their bank, or write path, was given away."""

    @property
    def port_conflicts(self) -> int:
        """Read requests refused because their client was given another bank."""

    @property
    def counts(self) -> Any:
        """A dataclass of further events, where there are any."""

    @property
    def done(self) -> list[Result | None]:
        """The results that complete in this cycle, by writer."""

    @property
    def ready(self) -> list[bool]:
        """Whether each latch takes a result in this cycle."""

    @property
    def quiet(self) -> bool:
        """Nothing is requested, and no latch holds anything."""

    def lookup(self, fields: Mapping[str, Any], sources: Sequence[Address], destination: Address) -> Sequence[Metadata]:
        """The metadata of an instruction that is issued: of its slots and, last, of its destination."""

    def arbitrate(self) -> None:
        """Work out grants, `done` and `ready`."""

    def request(self, client: int, reads: Mapping[Port, Read]) -> None:
        """What a client requests from the next cycle on."""

    def grants(self) -> Sequence[Grant]:
        """What is granted to clients, with the bytes that they get."""

    def write(self, results: Sequence[Result | None]) -> None:
        """Granted latches write; results enter."""

    def writes(self) -> list[Write]:
        """The register writes of this cycle."""

    def traffic(self) -> Traffic:
        """What went through so far."""
