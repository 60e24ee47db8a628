"""Where a warp register lives: bank and row ([RADAIDEH], Figures 2.7 and 3.10). Pure functions of the configuration."""

from warploom.arch.config import SmConfig
from warploom.arch.errors import LaunchError
from warploom.arch.launch import Launch
from warploom.arch.mechanisms import Alignment, Layout
from warploom.arch.program import Program


def rows_per_warp(config: SmConfig, registers: int) -> int:
    """Rows that one warp occupies in each bank that holds it: the *stride* of the mapping.

    `registers` is the number of registers of a thread. With `wid` a warp lives in one bank, with `wshift` in all.
    """
    return registers if config.layout is Layout.WID else -(-registers // config.banks)


def address(config: SmConfig, stride: int, warp: int, register: int) -> tuple[int, int]:
    """(bank, row) of a warp register; `stride` is `rows_per_warp`."""
    if config.layout is Layout.WID:
        return warp % config.banks, warp // config.banks * stride + register
    return (warp + register) % config.banks, warp * stride + register // config.banks


def left(config: SmConfig, register: int) -> bool:
    """Whether the number of a register puts it on the left side of its entry ([RADAIDEH], Fig. 3.14)."""
    return config.has_sides and config.alignment is Alignment.REG and register % 2 == 1


def resident_warps(config: SmConfig, registers: int) -> int:
    """Warp slots whose registers fit the register file, and the affine one if there is one, at most `config.warps`."""
    stride = max(rows_per_warp(config, registers), 1)
    fitting = config.rows // stride * (config.banks if config.layout is Layout.WID else 1)
    if config.has_compact_slots:
        fitting = min(fitting, config.affine_entries // max(registers, 1) * config.schedulers)
    return min(config.warps, fitting)


def affine_address(config: SmConfig, registers: int, warp: int, register: int) -> tuple[int, int]:
    """(set, entry) of a warp register in the affine register file; `registers` is the number of a thread's registers.
    A set belongs to a scheduler ([AFFINE], section 4.2: odd and even warps)."""
    return warp % config.schedulers, warp // config.schedulers * registers + register


def check_fits(config: SmConfig, program: Program, launch: Launch) -> None:
    """Raise `LaunchError` when not even one block fits the register file and shared memory."""
    registers, shared = program.registers, program.shared_bytes + launch.dynamic_shared
    room = resident_warps(config, registers)
    if launch.warps_per_block > room:
        raise LaunchError(f"{program.name}: a block of {launch.warps_per_block} warps with {registers} registers per "
                          f"thread does not fit: {config.name} has room for {room} such warps; use a smaller block or "
                          "a larger preset")
    if shared > config.shared_bytes:
        raise LaunchError(f"{program.name}: a block needs {shared} bytes of shared memory, {config.name} has "
                          f"{config.shared_bytes}: use less, or set shared_bytes")
