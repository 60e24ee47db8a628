"""What a datapath sees of its operand store (docs/contract/operands.md)."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from warploom.golden_model.dispatch import Chosen, Dispatcher
from warploom.golden_model.placement import Address
from warploom.golden_model.writeback import Result


class OperandStore(Protocol):
    """What a datapath sees of its operand store.

    Within a cycle call `hold_back` before the register file arbitrates, then `completed` and `choose`; at its end
    `issue`, `read`, `results`, `release` and `clock`, in this order.
    """

    @property
    def dispatcher(self) -> Dispatcher:
        """Which holder sends its instruction to its pipe."""

    @property
    def collectors(self) -> Sequence[Any]:
        """Where operands are collected."""

    @property
    def holders(self) -> Sequence[Any]:
        """Where instructions wait for their dispatch: the collectors, and whatever else there is."""

    @property
    def granted(self) -> Sequence[tuple[int, int]]:
        """The (warp, register) pairs granted in this cycle, where that lets others issue."""

    @property
    def free(self) -> Sequence[int]:
        """If there are `free_collectors`: masks of warps that may issue an instruction which reads 0, 1, 2 or 3
        registers."""

    @property
    def counts(self) -> Any:
        """A dataclass of further events, where there are any."""

    @property
    def free_collectors(self) -> int:
        """How many instructions may be issued into collectors."""

    @property
    def address_ready(self) -> int:
        """The mask of issue ports of which a load that reads no register of the register file may be issued, whatever
        collectors there are."""

    @property
    def quiet(self) -> bool:
        """No operand is on its way."""

    def takes(self, fields: Mapping[str, Any]) -> bool:
        """Whether an instruction on its issue port is taken, after those before it in claim order."""

    def hold_back(self) -> int:
        """The mask of write latches that wait for others."""

    def completed(self, done: list[Result | None]) -> list[Result | None]:
        """The completions that others are told of, by writer."""

    def choose(self) -> Chosen:
        """By dispatch port, the holder that dispatches in this cycle."""

    def issue(self, fields: Mapping[str, Any], sources: Sequence[Address], destination: Address) -> None:
        """An instruction is taken, with the addresses of its registers."""

    def read(self) -> None:
        """Words granted in the cycle before arrive; requests are granted."""

    def results(self, done: Sequence[Result | None], results: Sequence[Result | None]) -> Sequence[Result | None]:
        """Results complete, others come: those that enter their latches."""

    def release(self, index: int) -> None:
        """A holder's instruction is dispatched."""

    def clock(self) -> None:
        """The cycle ends."""
