"""The interface of an operand store to its datapath (docs/contract/operands.md)."""

from collections.abc import Sequence
from typing import Any, Protocol

from warploom.golden_model.dispatch import Chosen, Dispatcher
from warploom.golden_model.inputs import WarpEvents
from warploom.golden_model.placement import Address
from warploom.golden_model.records import IssueFields, Result


class OperandStore(Protocol):
    """The interface of an operand store to its datapath.

    Within a cycle call `hold_back` before the register file arbitrates, then `completed` and `choose`; at its end
    `issue`, `read`, `results`, `release` and `clock`, in this order.
    """

    @property
    def dispatcher(self) -> Dispatcher:
        """Selects the holders that dispatch."""

    @property
    def collectors(self) -> Sequence[Any]:
        """The collectors."""

    @property
    def holders(self) -> Sequence[Any]:
        """The holders in which instructions wait for dispatch: the collectors, and any others."""

    @property
    def granted(self) -> Sequence[tuple[int, int]]:
        """The (warp, register) pairs granted in this cycle, if this may let others issue."""

    @property
    def free(self) -> Sequence[int]:
        """Masks of warps that may issue an instruction which reads 0, 1, 2 or 3 registers, if there is a free collector
        for it."""

    @property
    def counts(self) -> Any:
        """A dataclass of further events, if there are any."""

    @property
    def acts(self) -> bool:
        """Whether it has work in every cycle. If not, no latch waits for others, completions and results pass as they
        are, and a cycle without an issue changes nothing."""

    @property
    def free_collectors(self) -> Sequence[int]:
        """How many instructions may be issued into the collectors of each set."""

    @property
    def address_ready(self) -> int:
        """The mask of issue ports of which a load that reads no register of the register file may be issued, whatever
        collectors there are."""

    @property
    def quiet(self) -> bool:
        """Whether no operand is requested or arriving."""

    def takes(self, fields: IssueFields) -> bool:
        """Whether an instruction on its issue port is taken, after those before it in claim order."""

    def hold_back(self) -> int:
        """The mask of write latches that wait for others."""

    def completed(self, done: list[Result | None]) -> list[Result | None]:
        """The completions of instructions, by writer."""

    def choose(self) -> Chosen:
        """What is dispatched in this cycle."""

    def issue(self, fields: IssueFields, sources: tuple[Address, ...], destination: Address) -> None:
        """An instruction is taken, with the addresses of its registers."""

    def read(self) -> None:
        """Words granted in the previous cycle arrive; requests are granted."""

    def results(
        self, done: Sequence[Result | None], results: Sequence[Result | None], refused: Sequence[Result]
    ) -> Sequence[Result | None]:
        """Results complete, others enter their latches, and others are refused by theirs."""

    def release(self, index: int) -> None:
        """A holder's instruction is dispatched."""

    def clock(self, warps: WarpEvents) -> None:
        """The end of the cycle, in which this happens to warps."""
