"""Reads every register back through the datapath's own ports, after a kernel has ended."""

from collections.abc import Mapping

from golden_model.blocks import Flight
from golden_model.check import Defined
from golden_model.datapath import Datapath
from golden_model.sm import Inputs
from golden_model.words import ALL_LANES
from warploom.arch.config import SmConfig
from warploom.arch.interfaces import TAG_BITS
from warploom.arch.isa import NO_SLOT, Op, Pipe, TimingClass
from warploom.arch.layout import place, resident_warps, rows_per_warp

IDLE = Inputs(None, None, None, None, False, False)


class Readback:
    """Issues instructions of an outside unit that read up to three registers each and have no result, until every
    (bank, row) of `known` was read; the operands at the dispatch port show what the banks hold.

    Goes on with the golden datapath where the kernel left it. `compared` counts registers.
    """

    def __init__(
        self, config: SmConfig, registers: int, datapath: Datapath, known: Mapping[tuple[int, int], int]
    ) -> None:
        self.cycle, self.inputs, self.datapath = 0, IDLE, datapath
        self.defined: dict[int, Defined] = {}
        self.compared = 0
        stride = rows_per_warp(config, registers)
        self._pending: list[tuple[int, list[tuple[int, int]]]] = []  # warp, up to three (register, lanes)
        for warp in range(resident_warps(config, registers)):
            found = [(r, known.get(place(config, stride, warp, r), 0)) for r in range(registers)]
            read = [(register, lanes) for register, lanes in found if lanes]
            self._pending += [(warp, read[i : i + 3]) for i in range(0, len(read), 3)]
            self.compared += len(read)
        self._total, self._sent = len(self._pending), 0

    @property
    def finished(self) -> bool:
        """All operands have been at the dispatch port."""
        return self._sent == self._total

    def step(self) -> None:
        """The next cycle."""
        if self.cycle:
            self._sent += self.datapath.sent is not None
            self.datapath.clock(**self.inputs._asdict())
        self.cycle += 1
        self.datapath.settle()
        self.inputs = IDLE
        if self._pending and self.datapath.issue_ready:
            self.inputs = IDLE._replace(issue=self._fields(*self._pending.pop()))

    def _fields(self, warp: int, read: list[tuple[int, int]]) -> dict[str, int]:
        tag = len(self._pending) % (1 << TAG_BITS)
        lanes = [*(lanes for _, lanes in read), *(ALL_LANES,) * (3 - len(read))]
        self.defined[tag] = Defined(tuple(lanes), 0)
        sources = [*(register for register, _ in read), 0, 0, 0]
        return {
            "tag": tag, "warp": warp, "op": int(Op.FFMA), "modifiers": 0, "pipe": int(Pipe.SP),
            "timing": int(TimingClass.FP_MAD), "dst": 0, "writes": 0, "reads": (1 << len(read)) - 1,
            "src0": sources[0], "src1": sources[1], "src2": sources[2], "imm_slot": NO_SLOT, "imm": 0,
            "lanes": ALL_LANES, "full": 1, "pred": 0,
        }  # fmt: skip

    def flight(self, tag: int) -> Flight | None:
        """Nobody outside answers."""
        return None
