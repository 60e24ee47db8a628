"""`Placement`: where every warp register lies, remembered."""

from typing import NamedTuple

from warploom.arch.config import SmConfig
from warploom.arch.layout import address, left


class Address(NamedTuple):
    """Bank and row of a warp register, and whether its number puts it on the left."""

    bank: int
    row: int
    left: bool


class Placement(dict[int, Address]):
    """Places by ``warp << 8 | register``, for one `stride` (`warploom.arch.layout.rows_per_warp`)."""

    def __init__(self, config: SmConfig, stride: int) -> None:
        super().__init__()
        self.config, self.stride = config, stride

    def __missing__(self, key: int) -> Address:
        warp, register = key >> 8, key & 0xFF
        found = Address(*address(self.config, self.stride, warp, register), left(self.config, register))
        self[key] = found
        return found
