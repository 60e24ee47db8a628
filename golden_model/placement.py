"""`Placement`: the physical address of every warp register, cached; and `owners`, the register at each address."""

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

from warploom.arch.config import SmConfig
from warploom.arch.layout import address, left, metadata_address, metadata_rows, rows_per_warp
from warploom.golden_model.memo import Memo
from warploom.golden_model.records import Result


class Address(NamedTuple):
    """Bank and row of a warp register, and whether its number puts it on the left; then whose part of the metadata
    tables it is in, and where (`warploom.arch.layout.metadata_address`)."""

    bank: int
    row: int
    left: bool
    group: int = 0
    entry: int = 0


class Entries:
    """Finds the metadata of a register in its table: its part, counted by group and bank, and its entry there."""

    def __init__(self, config: SmConfig) -> None:
        self._banks, divided = config.banks, config.divides_metadata
        self.at: Callable[[Address], tuple[int, int, bool]] = (
            Memo(self._of_group).__getitem__ if divided
            else itemgetter(*map(Address._fields.index, ("bank", "row", "left"))))
        """Those of an address, and its side."""
        self.of: Callable[[Any], tuple[int, int]] = self._of_result if divided else itemgetter("bank", "row")
        """Those of the register that a result writes."""

    def _of_group(self, address: Address) -> tuple[int, int, bool]:
        return address.group * self._banks + address.bank, address.entry, address.left

    def _of_result(self, result: Result) -> tuple[int, int]:
        return result["group"] * self._banks + result["bank"], result["entry"]


class Placement(dict[int, Address]):
    """Addresses by ``warp << 8 | register``, for one `stride` (`warploom.arch.layout.rows_per_warp`). A number that is
    not that of a register with a row has some address, which nothing uses."""

    def __init__(self, config: SmConfig, stride: int) -> None:
        super().__init__()
        self.config, self.stride = config, stride
        self._entries = metadata_rows(config)

    def __missing__(self, key: int) -> Address:
        warp, register = key >> 8, key & 0xFF
        config, stride = self.config, self.stride
        bank, row = address(config, stride, warp, register)
        group, entry = metadata_address(config, stride, warp, register)
        found = Address(bank, row % config.rows, left(config, register), group, entry % self._entries)
        self[key] = found
        return found


def owners(config: SmConfig, registers: int) -> dict[tuple[int, int], tuple[int, int]]:
    """The warp slot and register of each bank and row, for a number of registers of a thread; none with renaming, which
    gives rows to registers as a program runs."""
    if config.renames:
        return {}
    placement = Placement(config, rows_per_warp(config, registers))
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for slot in range(config.warps):
        for register in range(registers):
            address = placement[slot << 8 | register]
            found.setdefault((address.bank, address.row), (slot, register))
    return found
