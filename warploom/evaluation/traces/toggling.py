"""Counts the bits that toggle on the wires of the register file, from the trace of a kernel, without timing.

Operands follow one another in the order of the program, warp by warp, on one set of wires for reads and one for
writes. A byte that a form does not move leaves its wires as they are. The cycle model, in which the instructions of
many warps alternate on the wires of a bank, toggles as many bits within a tenth
(tests/evaluation/test_evaluation_toggling.py).
"""

from collections import Counter
from dataclasses import dataclass, field

from warploom.arch.config import GROUP, LANES, SmConfig
from warploom.arch.mechanisms import Coalescing, Gating
from warploom.golden_model.register_file.width import detect
from warploom.golden_model.trace import NONE, Trace, WarpTrace
from warploom.golden_model.words import ALL_LANES, broadcast, merge, nonzero_lanes, spread

FORMS = [(narrow, gating) for narrow in (False, True) for gating in Gating]
"""What moves: with coalescing the bytes below the width of a register; with gating those of executing lanes that are
not zero, by lane or by granule."""

_BELOW = [broadcast((1 << 8 * size) - 1) for size in range(5)]
_ONES = broadcast(0xFFFFFFFF)
_LOW_BITS = broadcast(0x01010101)
_FIRST_LANES = sum(0xFFFFFFFF << 32 * GROUP * group for group in range(LANES // GROUP))


@dataclass
class Toggling:
    """Bits that a form moves, and those of them that toggle, by the form's name."""

    moved: dict[str, int] = field(default_factory=dict)
    toggled: dict[str, int] = field(default_factory=dict)

    def share(self, config: SmConfig) -> float:
        """The share of the moved bits that toggle; 0 if none moves. Raises `KeyError` if nothing was counted."""
        return self.shares()[form(config)]

    def shares(self) -> dict[str, float]:
        """The share of each form."""
        return {name: self.toggled[name] / moved if moved else 0.0 for name, moved in self.moved.items()}


def names() -> list[str]:
    """The names of all forms."""
    return [_name(*each) for each in FORMS]


def form(config: SmConfig) -> str:
    """The name of what a configuration moves."""
    return _name(config.coalescing is not Coalescing.OFF, config.gating)


def _name(narrow: bool, gating: Gating) -> str:
    return f"{'narrow' if narrow else 'whole'}_{gating}"


def toggling(*traces: Trace) -> Toggling:
    """All warps of traces, one trace after the other."""
    wires = Wires()
    for trace in traces:
        wires.add(trace)
    return wires.toggling


class Wires:
    """The words on the wires of reads and of writes, by form; `add` moves those of traces, one after the other."""

    def __init__(self) -> None:
        self._moved, self._toggled = [0] * len(FORMS), [0] * len(FORMS)
        self._held = [0] * len(FORMS), [0] * len(FORMS)

    @property
    def toggling(self) -> Toggling:
        """The bits so far."""
        return Toggling(*(dict(zip(names(), bits, strict=True)) for bits in (self._moved, self._toggled)))

    def add(self, trace: Trace) -> None:
        """Move all operands of a trace, or of a part of one."""
        for warp in trace.warps:
            self._move(trace, warp)

    def _move(self, trace: Trace, warp: WarpTrace) -> None:
        """Move all operands of a warp."""
        code, registers = trace.program.instructions, Counter[int]()
        for pc, lanes, row in zip(warp.pc.tolist(), warp.lanes.tolist(), warp.result.tolist(), strict=True):
            if not lanes:
                continue
            for source in code[pc].sources:
                self._operand(registers[source], lanes, is_write=False)
            if row != NONE:
                result = int.from_bytes(trace.results[row].tobytes(), "little")
                self._operand(result, lanes, is_write=True)
                registers[code[pc].dst] = merge(registers[code[pc].dst], result, lanes)

    def _operand(self, word: int, lanes: int, *, is_write: bool) -> None:
        """Move a word in every form."""
        below, gated = _BELOW[detect(word, ALL_LANES)[0]], _gated(word, lanes)
        held = self._held[is_write]
        for number, moved in enumerate((*gated, *(bits & below for bits in gated))):  # as in `FORMS`
            changed = (held[number] ^ word) & moved
            self._moved[number] += moved.bit_count()
            self._toggled[number] += changed.bit_count()
            held[number] ^= changed


def _gated(word: int, lanes: int) -> tuple[int, ...]:
    """The bits of a word that move under each setting of gating, in their order."""
    executing = spread(lanes)
    nonzero = executing & spread(nonzero_lanes(word))
    return _ONES, executing, nonzero, nonzero & _granules(word & executing)


def _granules(word: int) -> int:
    """All bits of the granules, a byte in each of a group of lanes, that are not zero."""
    bits = word | word >> 4
    bits |= bits >> 2
    bits |= bits >> 1
    bytes_used = bits & _LOW_BITS  # bit 0 of each byte; what is shifted in from the next byte falls on other bits
    pairs = bytes_used | bytes_used >> 32
    groups = (pairs | pairs >> 64) & _FIRST_LANES
    return sum((groups << 32 * lane) for lane in range(GROUP)) * 0xFF
