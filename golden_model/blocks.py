"""Warps and blocks that are resident on the SM, and the dispatch of blocks to it (docs/contract/front_end.md)."""

from dataclasses import dataclass

import numpy as np

from warploom.arch.config import LANES, SmConfig
from warploom.arch.isa import Op
from warploom.arch.layout import check_fits, resident_warps
from warploom.golden_model.decode import Static
from warploom.golden_model.trace import Trace, WarpTrace


class Block:
    """A resident block: its warps, how many still issue, its instructions in flight, and who waits at each barrier."""

    def __init__(self) -> None:
        self.warps: list[Warp] = []
        self.running = 0
        self.in_flight = 0
        self._barriers: dict[int, tuple[int, list[Warp]]] = {}  # by number: threads expected, warps that arrived

    @property
    def over(self) -> bool:
        """Nothing of the block is left to issue or to finish."""
        return not (self.running or self.in_flight)

    def arrive(self, warp: "Warp", barrier: int, threads: int) -> None:
        """A warp comes to a barrier of `threads` threads (0: all that have not exited)."""
        self._barriers.setdefault(barrier, (threads, []))[1].append(warp)

    def opened(self) -> list["Warp"]:
        """The warps whose barrier is complete; it is empty again."""
        free: list[Warp] = []
        for barrier, (threads, arrived) in list(self._barriers.items()):
            if len(arrived) >= (-(-threads // LANES) or self.running):
                free += arrived
                del self._barriers[barrier]
        return free


class Warp:
    """A resident warp: its dynamic instructions as lists, and where it stands. `number` counts the grid's warps; `full`
    says of each instruction that all lanes execute it that were launched and have not exited before."""

    def __init__(self, trace: WarpTrace, exits: np.ndarray, number: int, slot: int, block: Block) -> None:
        self.number, self.slot, self.block = number, slot, block
        self.pc: list[int] = trace.pc.tolist()
        self.lanes: list[int] = trace.lanes.tolist()
        self.full: list[int] = (~trace.lanes & _live(trace, exits) == 0).astype(int).tolist()
        self.pred_in: list[int] = trace.pred_in.tolist()
        self.pred_out: list[int] = trace.pred_out.tolist()
        self.result: list[int] = trace.result.tolist()
        self.address: list[int] = trace.address.tolist()
        self.index = 0
        self.next: Static  # the instruction at `index`
        self.enters = False  # it goes into the datapath
        self.entered = False  # an instruction of the warp has gone there
        self.demand: int | None = None  # registers that it reads there
        self.state: int | None = None  # what the front end thinks of it
        self.blocked = 0  # hazard bits that hold it


def _live(trace: WarpTrace, exits: np.ndarray) -> np.ndarray:
    """The lanes that are launched and have not exited, before each instruction; `exits` tells EXIT by pc."""
    exited = np.bitwise_or.accumulate(np.where(exits[trace.pc], trace.lanes, 0))
    return trace.live & ~np.concatenate([[np.uint32(0)], exited[:-1]])


@dataclass(slots=True)
class Flight:
    """A dynamic instruction in the datapath or a unit behind it. `result` and `address` are rows of the trace; `issued`
    is the cycle of its issue, `word` the result as 1024 bits. `vector` says that it is a load whose lines follow from
    the first and the last address (docs/contract/memory.md)."""

    static: Static
    warp: Warp
    tag: int
    lanes: int
    pred_out: int
    result: int
    address: int
    issued: int
    word: int = 0
    vector: bool = False


class Residency:
    """Hands out warp slots, block slots and shared memory to blocks in order of their linear index.

    Raises `LaunchError` when not even one block fits the SM.
    """

    def __init__(self, config: SmConfig, trace: Trace) -> None:
        program, launch = trace.program, trace.launch
        self._trace = trace
        self._warps = launch.warps_per_block
        self._shared = program.shared_bytes + launch.dynamic_shared
        check_fits(config, program, launch)
        self._exits = np.array([instruction.op is Op.EXIT for instruction in program.instructions])
        self._free_slots = list(range(resident_warps(config, program.registers)))
        self._free_blocks, self._free_shared = config.blocks, config.shared_bytes
        self._next = 0
        self._blocks = len(trace.warps) // self._warps
        self.warps = 0
        """Resident warps."""

    @property
    def pending(self) -> bool:
        """Blocks are still to come."""
        return self._next < self._blocks

    def dispatch(self) -> Block | None:
        """The next block, its warps in the lowest free slots, if there is one and it fits."""
        if not self.pending or self._warps > len(self._free_slots):
            return None
        if not self._free_blocks or self._shared > self._free_shared:
            return None
        block, first = Block(), self._next * self._warps
        for number in range(first, first + self._warps):
            block.warps.append(Warp(self._trace.warps[number], self._exits, number, self._free_slots.pop(0), block))
        block.running = self._warps
        self._free_blocks -= 1
        self._free_shared -= self._shared
        self._next += 1
        self.warps += self._warps
        return block

    def retire(self, block: Block) -> None:
        """The block is over: its resources are free."""
        self._free_slots = sorted(self._free_slots + [warp.slot for warp in block.warps])
        self._free_blocks += 1
        self._free_shared += self._shared
        self.warps -= self._warps
