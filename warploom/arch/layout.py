"""Addresses of warp registers ([RADAIDEH], Figures 2.7 and 3.10). Pure functions of the configuration."""

from typing import TYPE_CHECKING

from warploom.arch.config import SmConfig
from warploom.arch.errors import LaunchError
from warploom.arch.isa import RZ
from warploom.arch.mechanisms import Alignment, Layout
from warploom.arch.program import Program

if TYPE_CHECKING:
    from warploom.arch.launch import Launch  # which loads numpy: benches of units do without

MOST_REGISTERS = RZ
"""Maximum registers of a thread: R0 to the one before RZ."""


def rows_per_warp(config: SmConfig, registers: int) -> int:
    """Rows that one warp occupies in each bank that holds it: the *stride* of the mapping.

    `registers` is the number of registers of a thread. With `wid` a warp is in one bank, with `wshift` in all.
    """
    return registers if config.layout is Layout.WID else -(-registers // config.banks)


def address(config: SmConfig, stride: int, warp: int, register: int) -> tuple[int, int]:
    """(bank, row) of a warp register; `stride` is `rows_per_warp`."""
    if config.layout is Layout.WID:
        return warp % config.banks, warp // config.banks * stride + register
    return (warp + register) % config.banks, warp * stride + register // config.banks


def metadata_address(config: SmConfig, stride: int, warp: int, register: int) -> tuple[int, int]:
    """(group, entry) of a warp register: the group whose part of its bank's metadata table it is in, and the entry."""
    group = warp % config.issue_ports
    if config.layout is Layout.WID:
        return group, warp // max(config.banks, config.issue_ports) * stride + register
    return group, warp // config.issue_ports * stride + register // config.banks


def metadata_banks(config: SmConfig) -> int:
    """Number of banks that the warps of one issue port use: with `wid` either one, or several that no other port
    uses."""
    return max(config.banks // config.issue_ports, 1) if config.layout is Layout.WID else config.banks


def metadata_rows(config: SmConfig) -> int:
    """Entries of one part of a metadata table: enough for its share of the warps that fit the register file, for every
    number of registers."""
    sharing = metadata_banks(config) * config.issue_ports // config.banks  # parts of one bank
    strides = range(1, min(rows_per_warp(config, MOST_REGISTERS), config.rows) + 1)
    return max(-(-(config.rows // stride) // sharing) * stride for stride in strides)


def left(config: SmConfig, register: int) -> bool:
    """Whether the number of a register puts it on the left side of its entry ([RADAIDEH], Fig. 3.14)."""
    if not config.has_sides or config.alignment not in (Alignment.REG, Alignment.PARITY):
        return False
    row = register // config.banks if config.alignment is Alignment.PARITY else 0
    return (register + row) % 2 == 1


def resident_warps(config: SmConfig, registers: int) -> int:
    """Warp slots whose registers fit the register file, and the affine one if there is one, at most `config.warps`."""
    return min(config.warps, fitting_warps(config, registers))


def fitting_warps(config: SmConfig, registers: int) -> int:
    """Warps whose registers fit, however many warp slots there are."""
    stride = max(rows_per_warp(config, registers), 1)
    fitting = config.rows // stride * (config.banks if config.layout is Layout.WID else 1)
    if config.has_compact_slots:
        fitting = min(fitting, config.affine_entries // max(registers, 1) * config.schedulers)
    return fitting


def powered_rows(config: SmConfig, registers: int, warps: int) -> int:
    """CMOS rows of each bank that are powered during a launch: those that so many warps need, scaled to the share of
    CMOS ([TFET], section 4.1.2). `registers` is the number of registers of a thread, `warps` the most that are resident
    at once."""
    stride = rows_per_warp(config, registers)
    needed = stride * (-(-warps // config.banks) if config.layout is Layout.WID else warps)
    return -(-needed * config.cmos_rows // config.rows)


def affine_address(config: SmConfig, registers: int, warp: int, register: int) -> tuple[int, int]:
    """(set, entry) of a warp register in the affine register file; `registers` is the number of a thread's registers.
    A set belongs to a scheduler ([AFFINE], section 4.2: odd and even warps)."""
    return warp % config.schedulers, warp // config.schedulers * registers + register


def check_fits(config: SmConfig, program: Program, launch: "Launch") -> None:
    """Raise `LaunchError` if not even one block fits the register file and shared memory."""
    registers, shared = program.registers, program.shared_bytes + launch.dynamic_shared
    room = resident_warps(config, registers)
    if launch.warps_per_block > room:
        raise LaunchError(f"{program.name}: a block of {launch.warps_per_block} warps with {registers} registers per "
                          f"thread does not fit: {config.name} has room for {room} such warps; use a smaller block, "
                          "a larger preset, or fewer registers (--max-registers)")
    if shared > config.shared_bytes:
        raise LaunchError(f"{program.name}: a block needs {shared} bytes of shared memory, {config.name} has "
                          f"{config.shared_bytes}: use less, or set shared_bytes")
