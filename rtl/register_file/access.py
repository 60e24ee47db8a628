# amaranth: UnusedElaboratable=no
"""The parts of a register file whose banks take one access a cycle, a read and a write, or one on each side."""

from typing import Any, NamedTuple

from amaranth import Const, Value

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import BANK_PORTS, SIDES
from warploom.arch.mechanisms import ReadArbiter
from warploom.rtl.arbiter import Arbiter
from warploom.rtl.bank import Bank
from warploom.rtl.bypass.arbiter import RotatingArbiter, RotatingCoalescingArbiter
from warploom.rtl.coalescing.arbiter import CoalescingArbiter
from warploom.rtl.coalescing.crossbar import SlicedCrossbar
from warploom.rtl.coalescing.pipelined_arbiter import PipelinedCoalescingArbiter
from warploom.rtl.coalescing.separable_arbiter import SeparableCoalescingArbiter
from warploom.rtl.crossbar import Crossbar
from warploom.rtl.dual_bank import DualBank
from warploom.rtl.pipelined.arbiter import PipelinedArbiter
from warploom.rtl.separable.arbiter import SeparableArbiter
from warploom.rtl.slow_arbiter import SlowArbiter


class Access(NamedTuple):
    """An access of a bank: the end of its name, the bank's ports for it, whether it may read or write, and the number
    of the requests that it serves."""

    name: str
    enable: Value
    write: Value
    row: Value
    mask: Value | None = None
    reads: bool = True
    writes: bool = True
    number: int = 0

    @property
    def fields(self) -> dict[str, Value]:
        """The bank's ports by name."""
        ports = {"enable": self.enable, "write": self.write, "row": self.row}
        return ports if self.mask is None else {**ports, "mask": self.mask}


class SingleAccess:
    """Banks of one access a cycle, or of a read and a write, their arbiter and their crossbar ([RADAIDEH], section
    2.1.3).

    `accesses` are those of each bank.
    """

    def __init__(self, config: SmConfig, *, poison: bool) -> None:
        self.arbiter = arbiter_of(config)
        self.crossbar = Crossbar(banks=config.banks, collectors=config.collectors)
        self.banks = [Bank(rows=config.rows, gated=config.gates_columns, ports=config.bank_ports, poison=poison)
                      for _ in range(config.banks)]
        self.accesses = [_two_ports(bank) if config.bank_ports == 2 else [Access("", bank.enable, bank.write, bank.row)]
                         for bank in self.banks]


def arbiter_of(config: SmConfig) -> Any:
    """The arbiter of a configuration: of banks that are requested as a whole or, with sides, by sub-banks."""
    sizes: Any = {"banks": config.banks, "collectors": config.collectors, "paths": config.write_paths,
                  "rotating": config.rotating_paths}
    is_separable = config.read_arbiter is ReadArbiter.SEPARABLE
    if config.selects_reads:
        return (PipelinedCoalescingArbiter if config.has_sides else PipelinedArbiter)(**sizes)
    if config.has_sides and config.has_window:
        arbiter: Any = RotatingCoalescingArbiter(**sizes, yields=config.yields_to_pending)
    elif config.has_sides:
        arbiter = (SeparableCoalescingArbiter if is_separable else CoalescingArbiter)(**sizes)
    elif is_separable:
        arbiter = SeparableArbiter(**sizes)
    else:
        arbiter = (RotatingArbiter if config.has_window else Arbiter)(**sizes, ports=config.bank_ports)
    return SlowArbiter(config=config, arbiter=arbiter) if config.tfet_rows else arbiter


def _two_ports(bank: Bank) -> list[Access]:
    """The accesses of a bank that reads over one port and writes over the other."""
    read, write = (f"_{port}" for port in BANK_PORTS)
    return [Access(read, bank.read, Const(0, 1), bank.row, writes=False),
            Access(write, bank.write, bank.write, bank.write_row, reads=False)]


class SidedAccess:
    """Banks of a right and a left access a cycle, which requests share if their bytes do not overlap ([RADAIDEH], Fig.
    3.9). Members are those of `SingleAccess`."""

    def __init__(self, config: SmConfig, *, poison: bool) -> None:
        self.arbiter = arbiter_of(config)
        self.crossbar = SlicedCrossbar(banks=config.banks, collectors=config.collectors)
        self.banks = [DualBank(rows=config.rows, gated=config.gates_columns, poison=poison)
                      for _ in range(config.banks)]
        self.accesses = [[Access(f"_{side}", port.enable, port.write, port.row, port.mask, number=number)
                          for number, (side, port) in enumerate(zip(SIDES, (bank.right, bank.left), strict=True))]
                         for bank in self.banks]
