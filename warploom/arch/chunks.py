"""Chunks of adjacent blocks, which the host computes for each launch (docs/contract/locality.md, *Blocks*)."""

from dataclasses import dataclass

from warploom.arch.config import SmConfig
from warploom.arch.errors import GridTooLargeError
from warploom.arch.gpu import BlockOrder, GpuConfig
from warploom.arch.launch import Launch, Locality
from warploom.arch.layout import resident_warps
from warploom.arch.program import Program


@dataclass(frozen=True)
class Chunks:
    """`count` chunks of `size` blocks each, but the `last` one."""

    size: int
    count: int
    last: int


def divided(blocks: int, size: int) -> Chunks:
    """So many blocks in chunks of a size."""
    count = -(-blocks // size)
    return Chunks(size, count, blocks - (count - 1) * size)


def chunks_of(config: GpuConfig, program: Program, launch: Launch, blocks: int) -> Chunks:
    """The chunks of so many blocks of a launch that fits the SMs."""
    if config.block_scheduler is not BlockOrder.LOCALITY or launch.locality is Locality.NONE:
        return divided(blocks, 1)
    rounds = -(-blocks // (config.sms * resident_blocks(config.sm, program, launch)))
    return divided(blocks, -(-blocks // (config.sms * rounds)))


def check_at_once(config: SmConfig, sms: int, program: Program, launch: Launch) -> None:
    """Raise `GridTooLargeError` if so many SMs do not hold all blocks of a launch at once, of which each holds one."""
    most = sms * resident_blocks(config, program, launch)
    if launch.blocks > most:
        raise GridTooLargeError(f"{program.name}: its {launch.blocks} blocks have to run at once (grid.sync), and "
                                f"{config.name} holds {most}: use fewer or smaller blocks")


def most_warps(config: SmConfig, program: Program, launch: Launch) -> int:
    """The most warps that an SM holds at once: those of `resident_blocks`, or of all blocks if there are fewer."""
    return min(resident_blocks(config, program, launch), launch.blocks) * launch.warps_per_block


def resident_blocks(config: SmConfig, program: Program, launch: Launch) -> int:
    """Blocks that an SM holds at once, of a launch of which it holds one."""
    shared = program.shared_bytes + launch.dynamic_shared
    return min(config.blocks, resident_warps(config, program.registers) // launch.warps_per_block,
               config.shared_bytes // shared if shared else config.blocks)
