"""Collects the dynamic instructions of groups of warps, and sorts them into a `Trace` at the end."""

from typing import NamedTuple

import numpy as np

from warploom.arch.launch import Launch
from warploom.arch.program import Program
from warploom.golden_model.functional.operations.warp import to_masks
from warploom.golden_model.trace import NONE, Trace, WarpTrace

ALL, NOTHING = np.array(0xFFFFFFFF, np.uint32), np.array(0, np.uint32)


class Record(NamedTuple):
    """One instruction of a group of warps; lane masks are uint32, one for each warp or one for all of them."""

    pc: int
    warps: np.ndarray
    lanes: np.ndarray
    pred_in: np.ndarray
    pred_out: np.ndarray
    has_result: bool
    has_address: bool


def _masks(lanes: np.ndarray) -> np.ndarray:
    """Lane masks of bools (..., 32); a single bool stands for all lanes."""
    return to_masks(np.broadcast_to(lanes, (*lanes.shape[:-1], 32)))


class Recorder:
    """Warps are numbered linearly: block * warps per block + warp in the block."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._results: list[np.ndarray] = []
        self._addresses: list[np.ndarray] = []
        self._spaces: list[np.ndarray] = []

    def add(
        self, pc: int, warps: np.ndarray, lanes: np.ndarray | None, *, pred_in: np.ndarray | None = None,
        pred_out: np.ndarray | None = None, result: np.ndarray | None = None,
        address: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        """An instruction of the group `warps` (linear numbers). `lanes` are the executing lanes (bools (warps, 32),
        None for all); `pred_in` and `pred_out` are bools, and `result` words, that broadcast to that shape. `address`
        is (byte addresses (warps, 32), `Space` of each warp). Values of lanes that do not execute are zeroed here."""
        masks = ALL if lanes is None else to_masks(lanes)
        if result is not None:
            rows = np.empty((len(warps), 32), np.uint32)
            rows[...] = result if lanes is None else np.where(lanes, result, np.uint32(0))
            self._results.append(rows)
        if address is not None:
            self._addresses.append(address[0] if lanes is None else np.where(lanes, address[0], np.uint64(0)))
            self._spaces.append(address[1])
        self._records.append(Record(
            pc, warps, masks, ALL if pred_in is None else _masks(pred_in),
            NOTHING if pred_out is None else _masks(pred_out) & masks, result is not None, address is not None,
        ))

    @property
    def empty(self) -> bool:
        """Whether there is no instruction."""
        return not self._records

    def clear(self) -> None:
        """Forget all instructions."""
        for kept in (self._records, self._results, self._addresses, self._spaces):
            kept.clear()

    def trace(self, program: Program, launch: Launch, live: np.ndarray, blocks: range | None = None) -> Trace:
        """The trace of all recorded instructions, which are those of these blocks, or of all. `live` is the mask of
        launched lanes of each warp of a block."""
        blocks = range(launch.blocks) if blocks is None else blocks
        numbers = np.arange(blocks.start * launch.warps_per_block, blocks.stop * launch.warps_per_block)
        counts = [len(record.warps) for record in self._records]
        warps = _flat([record.warps for record in self._records], np.int64)
        order = np.argsort(warps, kind="stable")
        columns = {"pc": np.repeat(np.array([record.pc for record in self._records], np.int32), counts)}
        for name in ("lanes", "pred_in", "pred_out"):
            masks = [np.broadcast_to(getattr(record, name), len(record.warps)) for record in self._records]
            columns[name] = _flat(masks, np.uint32)
        for name, flag in (("result", "has_result"), ("address", "has_address")):
            present = np.repeat(np.array([getattr(record, flag) for record in self._records], bool), counts)
            columns[name] = np.where(present, np.cumsum(present) - 1, NONE).astype(np.int32)
        columns = {name: column[order] for name, column in columns.items()}
        ends = np.searchsorted(warps[order], numbers, side="right").tolist()
        traces, start = [], 0
        for number, end in zip(numbers.tolist(), ends, strict=True):
            block, warp = divmod(number, launch.warps_per_block)
            parts = {name: column[start:end] for name, column in columns.items()}
            traces.append(WarpTrace(block=block, warp=warp, live=int(live[warp]), **parts))
            start = end
        return Trace(program, launch, tuple(traces), _flat(self._results, np.uint32, 32),
                     _flat(self._addresses, np.uint64, 32), _flat(self._spaces, np.uint8))


def _flat(parts: list[np.ndarray], kind: type, *columns: int) -> np.ndarray:
    """The concatenation; empty for no parts."""
    return np.concatenate([np.zeros((0, *columns), kind), *parts], dtype=kind)
