"""`AffineRegisterFile`: tags and values of all warp registers (docs/contract/affine.md, *Compact registers*)."""

from functools import cache, partial

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import Tag
from warploom.arch.layout import affine_address
from warploom.golden_model.compact import Compact


class AffineRegisterFile:
    """A set of entries for each scheduler; after reset all registers are generic. `registers` is the number of a
    thread's registers; further ones, which have no row in the register file, are always generic. Raises `IndexError`
    for a warp slot beyond those whose registers fit."""

    def __init__(self, config: SmConfig, registers: int) -> None:
        self._registers = registers
        self._address = cache(partial(affine_address, config, registers))
        self._sets: list[list[Compact | None]] = [[None] * config.affine_entries for _ in range(config.schedulers)]

    def read(self, warp: int, register: int) -> Compact | None:
        """The value of a register, None if it is generic."""
        if register >= self._registers:
            return None
        number, entry = self._address(warp, register)
        return self._sets[number][entry]

    def tag(self, warp: int, register: int) -> Tag:
        """The tag of a register."""
        value = self.read(warp, register)
        return Tag.GENERIC if value is None else value.tag

    def write(self, warp: int, register: int, value: Compact) -> None:
        """The end of a cycle: the register is compact from the next one on."""
        self._set(warp, register, value)

    def make_generic(self, warp: int, register: int) -> None:
        """The end of a cycle: the value is in the register file from the next one on."""
        if register < self._registers:
            self._set(warp, register, None)

    def _set(self, warp: int, register: int, value: Compact | None) -> None:
        number, entry = self._address(warp, register)
        self._sets[number][entry] = value
