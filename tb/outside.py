"""The units outside the datapath, for benches: results computed from the hardware's own operand bits."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warploom.arch.config import LANES
from warploom.arch.isa import PT, Op, Pipe
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.functional.operations import BUILDERS, WARP_WIDE, Operands, evaluate
from warploom.golden_model.words import ALL_LANES, merge, spread

Word = int
"""A warp register as a 1024-bit integer."""


@dataclass(frozen=True)
class Access:
    """A memory instruction as the hardware sent it: its row in `Trace.addresses`, its warp and lanes, the operand words
    (those of the LATCH before a latched instruction first), and the word that was returned (None without result)."""

    address: int
    flight: Flight
    words: tuple[Word, ...]
    answer: Word | None


def to_lanes(word: Word) -> np.ndarray:
    """The lanes of a warp register as uint32 (1, 32)."""
    return np.frombuffer(word.to_bytes(LANES * 4, "little"), np.uint32).reshape(1, LANES)


def to_word(lanes: np.ndarray) -> Word:
    """The warp register of 32 lanes."""
    return int.from_bytes(np.ascontiguousarray(lanes, np.uint32).tobytes(), "little")


def to_bools(mask: int) -> np.ndarray:
    """A lane mask as bools (1, 32)."""
    return (mask >> np.arange(LANES) & 1).astype(bool).reshape(1, LANES)


def to_mask(bools: np.ndarray) -> int:
    """The lane mask of 32 bools."""
    return int(np.packbits(bools.reshape(LANES), bitorder="little").view(np.uint32)[0])


DEPENDED_ON = {Op.LATCH, *WARP_WIDE} - {Op.SHFL}
"""Instructions whose operands matter in other lanes, or for the next instruction, in addition to memory accesses and
SFU operations (whose high word a later instruction may read). For shuffles the lanes that matter are known."""


class OutsideUnits:
    """Floating point, special functions and memory behind the datapath.

    Functions of operands are computed from the bits that the hardware dispatched. Results of memory depend on the order
    of all warps' accesses, which functional execution has fixed. So they come from the trace, and every access is
    stored in `accesses` with the hardware's operands, to be replayed in that order (`warploom.tb.replay`). Only
    operands of executing lanes are used. In lanes whose operands are undefined in the kernel, the result is that of the
    trace.
    """

    def __init__(self) -> None:
        self.accesses: list[Access] = []
        self.guessed: str | None = None
        """A description of an instruction whose operands matter although they are undefined in the kernel."""
        self._answers: dict[int, tuple[Word, int]] = {}  # by tag: result and predicate
        self._latch: dict[tuple[Pipe, int], tuple[Word, ...]] = {}  # by pipe and warp slot
        self._high: dict[int, Word] = {}  # by warp slot: high word of the SFU's last 64-bit result

    def accept(self, flight: Flight, words: Sequence[Word], pred: int, defined: int) -> None:
        """An instruction with the operands that the hardware dispatched; `defined` are lanes with defined operands."""
        instruction, slot = flight.static.instruction, flight.warp.slot
        pipe = instruction.pipe
        if flight.lanes & ~defined and (
                flight.address >= 0 or pipe is Pipe.SFU or instruction.op in DEPENDED_ON):
            self.guessed = f"{instruction.op.name} of warp {flight.warp.number} gets an undefined operand"
        if instruction.op is Op.LATCH:
            self._latch[pipe, slot] = tuple(words)
            return
        latch = self._latch.get((pipe, slot)) if instruction.latched else None
        if flight.address >= 0:
            answer = flight.word if flight.result >= 0 else None
            self.accesses.append(Access(flight.address, flight, (*(latch or ()), *words), answer))
        if instruction.op in BUILDERS:
            result, verdict = self._evaluate(flight, words, pred, latch)
            defined &= flight.lanes
            if instruction.op is Op.SHFL:
                defined &= self._sources(flight, words, defined)
            self._answers[flight.tag] = (
                merge(flight.word, result, defined), (verdict & defined) | (flight.pred_out & ~defined),
            )
        elif instruction.op is Op.HIGH and pipe is Pipe.SFU:
            self._answers[flight.tag] = merge(flight.word, self._high[slot], defined & flight.lanes), 0
        elif flight.static.returns:
            self._answers[flight.tag] = flight.word, flight.pred_out

    def answer(self, tag: int) -> tuple[Word, int]:
        """Result word and predicate mask of an instruction that is offered to write-back."""
        return self._answers[tag]

    def _sources(self, flight: Flight, words: Sequence[Word], defined: int) -> int:
        """The lanes that read, in a shuffle, from a lane of the mask. PTX does not define the results of the others,
        and operands of lanes that do not execute are undefined in hardware."""
        served, _ = self._evaluate(flight, (spread(defined), *words[1:]), 0, None)
        return to_mask(to_lanes(served) != 0)

    def _evaluate(
        self, flight: Flight, words: Sequence[Word], pred: int, latch: tuple[Word, ...] | None
    ) -> tuple[Word, int]:
        instruction = flight.static.instruction
        a, b, c = map(to_lanes, words)
        always = instruction.psrc == PT and not instruction.psrc_not
        operands = Operands(a, b, c, to_bools(ALL_LANES if always else pred), to_bools(flight.lanes))
        if latch is not None:
            first, second, third = map(to_lanes, latch)
            operands = operands._replace(latch=(first, second, third))
        outcome = evaluate(instruction, operands)
        if outcome.high is not None:
            self._high[flight.warp.slot] = to_word(outcome.high)
        result = 0 if outcome.result is None else to_word(outcome.result)
        verdict = 0 if outcome.pred is None or instruction.pdst == PT else to_mask(outcome.pred)
        return result, verdict & flight.lanes & ALL_LANES
