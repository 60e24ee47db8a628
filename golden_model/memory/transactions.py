"""`Transactions`: the lines, sectors and passes of a memory instruction (docs/contract/memory.md, *Lines*)."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import compress

import numpy as np

from warploom.arch.config import LANES, SmConfig
from warploom.arch.isa import Op
from warploom.arch.memory_map import CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW
from warploom.arch.modifiers import Space
from warploom.arch.program import Program
from warploom.golden_model.front_end.flight import Flight

SECTOR_BYTES = 32
"""A write brings the sectors of a line that it touches."""

_WINDOW = {Space.GLOBAL: 0, Space.CONST: CONST_WINDOW, Space.PARAM: PARAM_WINDOW}
_SPACES, _LOCAL = list(Space), Space.LOCAL
_ATOMICS = (Op.ATOM, Op.RED)


class Transactions:
    """What the instructions of a program access; no timing is involved."""

    def __init__(self, config: SmConfig, program: Program) -> None:
        self._shared_banks = config.shared_banks
        self._line_shift = config.line_bytes.bit_length() - 1
        self._local_bytes = -(-program.local_bytes // 4) * 4 * LANES

    def space(self, flight: Flight) -> Space:
        """The space of an instruction with addresses."""
        return _SPACES[flight.warp.trace.spaces[flight.address]]

    def lines(self, flight: Flight) -> list[int]:
        """Distinct lines, in order of the lowest lane; for a vector request all lines from the first to the last."""
        touched, shift = self._touched(flight), self._line_shift
        if flight.vector:
            size = flight.static.instruction.access.size
            return list(range(touched[0] >> shift, (touched[-1] + size - 1 >> shift) + 1))
        return list(dict.fromkeys([address >> shift for address in touched]))

    def written(self, flight: Flight) -> dict[int, int]:
        """The `lines` of a store or an atomic, and the bytes of the sectors of each that it touches."""
        sectors = {address // SECTOR_BYTES for address in self._touched(flight)}
        count = Counter(sector * SECTOR_BYTES >> self._line_shift for sector in sectors)
        return {line: count[line] * SECTOR_BYTES for line in self.lines(flight)}

    def shared_passes(self, flight: Flight) -> int:
        """Passes of an instruction in shared memory."""
        addresses = flight.warp.trace.addresses[flight.address].tobytes()
        if flight.static.op in _ATOMICS:
            return _atomic_passes(addresses, flight.lanes)
        return _passes(addresses, flight.lanes, self._shared_banks)

    def _touched(self, flight: Flight) -> list[int]:
        """Byte addresses of the executing lanes, those of the spaces apart. An access is within a sector."""
        row, lanes = flight.warp.trace.addresses[flight.address].tolist(), _bits(flight.lanes)
        space = self.space(flight)
        if space is _LOCAL:  # word k of all lanes is contiguous
            base = LOCAL_WINDOW + flight.warp.number * self._local_bytes
            row = [base + (address >> 2) * 4 * LANES + 4 * lane for lane, address in enumerate(row)]
            return list(compress(row, lanes))
        window = _WINDOW[space]
        return [window + address for address in compress(row, lanes)]


@lru_cache(maxsize=1 << 14)
def _passes(addresses: bytes, lanes: int, banks: int) -> int:
    """How often the bank is accessed that has the most distinct words. Cached, since patterns recur."""
    return max(Counter([word % banks for word in set(_words(addresses, lanes))]).values())


@lru_cache(maxsize=1 << 14)
def _atomic_passes(addresses: bytes, lanes: int) -> int:
    """How often the word is accessed that has the most accesses."""
    return max(Counter(_words(addresses, lanes)).values())


def _words(addresses: bytes, lanes: int) -> list[int]:
    """The words that the executing lanes access; `addresses` is a row of `Trace.addresses`."""
    return [address >> 2 for address in compress(np.frombuffer(addresses, np.uint64).tolist(), _bits(lanes))]


@lru_cache(maxsize=1 << 12)
def _bits(lanes: int) -> Sequence[int]:
    """A lane mask as bits, lane 0 first."""
    return [lanes >> lane & 1 for lane in range(LANES)]
