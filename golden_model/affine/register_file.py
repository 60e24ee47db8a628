"""`AffineRegisterFile`: tags and values of all warp registers (docs/contract/affine.md, *Compact registers*)."""

from collections import defaultdict
from collections.abc import Mapping
from functools import partial

from warploom.arch.compact import Tag
from warploom.arch.config import SmConfig
from warploom.arch.layout import affine_address
from warploom.golden_model.compact import Compact


class AffineRegisterFile:
    """A set of entries for each scheduler; after reset all registers are generic. `registers` is the number of a
    thread's registers; further ones, which have no row in the register file, are always generic. Raises `IndexError`
    for a warp slot beyond those whose registers fit."""

    def __init__(self, config: SmConfig, registers: int) -> None:
        self._registers = registers
        self._address, self._entries = partial(affine_address, config, registers), config.affine_entries
        self._compact: defaultdict[int, dict[int, Compact]] = defaultdict(dict)  # by warp, then by register

    def of_warp(self, warp: int) -> Mapping[int, Compact]:
        """The compact registers of a warp, and their values, until the next write."""
        return self._compact[warp]

    def read(self, warp: int, register: int) -> Compact | None:
        """The value of a register, None if it is generic."""
        return self._compact[warp].get(register)

    def tag(self, warp: int, register: int) -> Tag:
        """The tag of a register."""
        value = self.read(warp, register)
        return Tag.GENERIC if value is None else value.tag

    def write(self, warp: int, register: int, value: Compact) -> None:
        """The end of a cycle: the register is compact from the next one on."""
        assert register < self._registers, "a register that is always generic"
        _, entry = self._address(warp, register)
        if entry >= self._entries:
            raise IndexError(f"R{register} of warp {warp} has no entry")
        self._compact[warp][register] = value

    def make_generic(self, warp: int, register: int) -> None:
        """The end of a cycle: the value is in the register file from the next one on."""
        self._compact[warp].pop(register, None)
