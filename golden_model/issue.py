"""What becomes of an instruction that issues: the decisions of a front end (docs/contract/front_end.md)."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from warploom.golden_model.blocks import Flight, Warp
from warploom.golden_model.decode import Static
from warploom.golden_model.trace import NONE, Trace

NO_PORT = 4
"""Demand of what does not enter the datapath and so needs no issue port, beside those of 0 to 3 registers."""

_ROW_BYTES = 128


class Issued(NamedTuple):
    """What an issue comes to: what enters the datapath (`None` for nothing), and the registers that it reads there.
    Then the warp goes on; or its instruction is there `again`, with that demand; or it `waits` for an answer."""

    entering: Static | None = None
    sources: Sequence[int] = ()
    again: int | None = None
    waits: bool = False


class Decisions(Protocol):
    """A plug-in of the front end."""

    def room(self, roomy: Sequence[int]) -> Sequence[int]:
        """The masks of warps that may issue an instruction which reads 0 to 3 registers, of those of the operand store.
        """

    def demand(self, warp: Warp, static: Static) -> int:
        """The warp comes to an instruction: what its issue demands of the datapath, registers that it reads there or
        `NO_PORT`."""

    def issued(self, warp: Warp) -> Issued:
        """The end of the cycle in which the warp's next instruction issued."""

    def fields(self, warp: Warp) -> dict[str, int]:
        """The fields of the issue port, but for the tag, of what issues next of the warp."""

    def flight(self, warp: Warp, tag: int, cycle: int) -> Flight:
        """What issues next of the warp enters the datapath in this cycle."""


class Instructions:
    """The instructions of a trace, as they are issued."""

    def __init__(self, trace: Trace, statics: Sequence[Static]) -> None:
        self._trace = trace
        self._words = trace.results.tobytes()
        self._counts = {pc for pc, static in enumerate(statics) if static.then is not None}

    def fields(self, warp: Warp) -> dict[str, int]:
        """The fields of the issue port, but for the tag, of the warp's next instruction."""
        index = warp.index
        fields = {**warp.next.fields, "warp": warp.slot, "lanes": warp.lanes[index], "full": warp.full[index],
                  "pred": warp.pred_in[index], "first": int(not warp.entered)}
        if warp.pc[index] in self._counts:
            lane = (fields["lanes"] & -fields["lanes"]).bit_length() - 1
            fields["imm"] = int(self._trace.results[warp.result[index], lane])
        return fields

    def flight(self, warp: Warp, tag: int, cycle: int) -> Flight:
        """The warp's next instruction enters the datapath in this cycle."""
        index = warp.index
        row = warp.result[index]
        return Flight(
            warp.next, warp, tag, warp.lanes[index], warp.pred_out[index], row, warp.address[index], cycle,
            self._word(row),
        )

    def _word(self, row: int) -> int:
        """A result of the trace as 1024 bits."""
        return 0 if row == NONE else int.from_bytes(self._words[row * _ROW_BYTES : (row + 1) * _ROW_BYTES], "little")


class Direct:
    """Whatever has executing lanes, and is not CONTROL, enters the datapath as it is."""

    def __init__(self, instructions: Instructions) -> None:
        self.fields, self.flight = instructions.fields, instructions.flight

    def room(self, roomy: Sequence[int]) -> Sequence[int]:
        """See `Decisions`, here and below."""
        return roomy

    def demand(self, warp: Warp, static: Static) -> int:
        enters = not static.control and warp.lanes[warp.index] != 0
        return len(static.hazards.sources) if enters else NO_PORT

    def issued(self, warp: Warp) -> Issued:
        return Issued(warp.next, warp.next.hazards.sources) if warp.enters else Issued()
