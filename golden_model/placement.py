"""`Placement`: bank and row of every warp register, remembered."""

from warploom.arch.config import SmConfig
from warploom.arch.layout import place


class Placement(dict[int, tuple[int, int]]):
    """(bank, row) by ``warp << 8 | register``, for one `stride` (`warploom.arch.layout.rows_per_warp`)."""

    def __init__(self, config: SmConfig, stride: int) -> None:
        super().__init__()
        self.config, self.stride = config, stride

    def __missing__(self, key: int) -> tuple[int, int]:
        self[key] = where = place(self.config, self.stride, key >> 8, key & 0xFF)
        return where
