# amaranth: UnusedElaboratable=no
"""The parts of a register file whose banks take one access a cycle, or one on each side."""

from typing import Any

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import SIDES
from warploom.rtl.arbiter import Arbiter
from warploom.rtl.bank import Bank
from warploom.rtl.bypass.arbiter import RotatingArbiter, RotatingCoalescingArbiter
from warploom.rtl.coalescing.arbiter import CoalescingArbiter
from warploom.rtl.coalescing.crossbar import SlicedCrossbar
from warploom.rtl.crossbar import Crossbar
from warploom.rtl.dual_bank import DualBank


class SingleAccess:
    """Banks of one access a cycle, their arbiter and their crossbar ([RADAIDEH], section 2.1.3).

    `requests` and `grants` are ports of the arbiter, `accesses` those of the banks: for each bank and each access of
    it. `connections` are the arbiter's outputs to the crossbar.
    """

    def __init__(self, config: SmConfig, *, poison: bool) -> None:
        sizes: Any = {"banks": config.banks, "collectors": config.collectors}
        kind = RotatingArbiter if config.has_window else Arbiter
        self.arbiter = kind(**sizes, paths=config.write_paths, rotating=config.rotating_paths)
        self.crossbar = Crossbar(**sizes)
        self.banks = [Bank(rows=config.rows, gated=config.gates_columns, poison=poison) for _ in range(config.banks)]
        self.requests, self.grants = ([[collectors] for collectors in matrix]
                                      for matrix in (self.arbiter.read_request, self.arbiter.read_grant))
        self.accesses: list[list[Any]] = [[bank] for bank in self.banks]
        self.connections = self.arbiter.read_grant


class SidedAccess:
    """Banks of a right and a left access a cycle, which requests share if their bytes do not overlap ([RADAIDEH], Fig.
    3.9). Members are those of `SingleAccess`; `masks` is another port of the arbiter."""

    def __init__(self, config: SmConfig, *, poison: bool) -> None:
        sizes: Any = {"banks": config.banks, "collectors": config.collectors}
        kind = RotatingCoalescingArbiter if config.has_window else CoalescingArbiter
        self.arbiter = kind(**sizes, paths=config.write_paths, rotating=config.rotating_paths)
        self.crossbar = SlicedCrossbar(**sizes)
        self.banks = [DualBank(rows=config.rows, gated=config.gates_columns, poison=poison)
                      for _ in range(config.banks)]
        self.requests, self.grants, self.masks = (
            [list(of_sides) for of_sides in matrix]
            for matrix in (self.arbiter.read_request, self.arbiter.read_grant, self.arbiter.read_mask))
        self.accesses: list[list[Any]] = [[getattr(bank, side) for side in SIDES] for bank in self.banks]
        self.connections = self.arbiter.slice_grant
