"""The guarantees of hints, for random front ends: values that no instruction may read any more."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from warploom.arch.config import SmConfig

Register = tuple[int, int]
"""Warp slot and register number."""


def sources(fields: Mapping[str, int], slots: int = 7) -> set[Register]:
    """The registers that an instruction reads, or those of some slots, given as a mask."""
    return {(fields["warp"], fields[f"src{slot}"]) for slot in range(3) if fields["reads"] & slots & 1 << slot}


class Promises:
    """Tracks the instructions that issue. A transient value (`to_file` = 0) may be lost as soon as no later instruction
    is in a window with the last one that named its register (docs/contract/operands.md, *Hints*). Hardware and model
    detect a front end that reads it later.
    """

    def __init__(self, config: SmConfig) -> None:
        self._last = config.window - 1
        self._lost: defaultdict[Register, int] = defaultdict(int)  # lanes
        self._transient: dict[Register, tuple[int, int]] = {}  # lanes, and instructions since one named the register

    def lost(self, warp: int, register: int) -> int:
        """The lanes of a register that the next instruction of its warp may not read."""
        return self._lost[warp, register]

    def without_rows(self, fields: dict[str, int], registers: int) -> None:
        """Change an instruction that is about to issue: registers from this number on have no row, so their values are
        transient, and it reads those that the collector surely has."""
        warp = fields["warp"]
        fields["to_collector"] |= not fields["to_file"]
        if fields["dst"] >= registers:
            fields["to_collector"], fields["to_file"] = 1, 0
        for slot in range(3):
            register = fields[f"src{slot}"]
            lanes, _ = self._transient.get((warp, register), (0, 0))
            if register >= registers and (fields["first"] or fields["lanes"] & ~lanes):
                fields["reads"] &= ~(1 << slot)

    def issued(self, fields: Mapping[str, int]) -> Iterable[Register]:
        """An instruction with these fields of the issue port issues. Returns the registers that lose lanes."""
        warp = fields["warp"]
        if fields["first"]:
            self._forget(warp)
        named = sources(fields)
        if fields["writes"]:
            named.add((warp, fields["dst"]))
            self._write((warp, fields["dst"]), fields["lanes"], fields.get("to_file", 1))
        return [key for key in list(self._transient) if key[0] == warp and self._grows_old(key, key in named)]

    def _forget(self, warp: int) -> None:
        for known in (self._lost, self._transient):
            for key in [key for key in known if key[0] == warp]:
                del known[key]

    def _write(self, key: Register, lanes: int, to_file: int) -> None:
        transient, _ = self._transient.get(key, (0, 0))
        self._transient[key] = (transient & ~lanes if to_file else transient | lanes), 0
        self._lost[key] &= ~lanes

    def _grows_old(self, key: Register, named: bool) -> bool:
        """Count one more instruction. Returns whether the transient lanes are lost."""
        lanes, age = self._transient[key]
        self._transient[key] = lanes, 0 if named else age + 1
        if named or age + 1 < self._last:
            return False
        del self._transient[key]
        self._lost[key] |= lanes
        return lanes != 0
