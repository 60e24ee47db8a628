"""Errors of a running kernel that name the thread, its block and the PTX line."""

from warploom.arch.errors import ExecutionError
from warploom.arch.launch import Launch
from warploom.arch.program import Program
from warploom.golden_model.functional.resident import Group
from warploom.golden_model.functional.special import coordinates


def thread_error(
    program: Program, launch: Launch, pc: int, group: Group, *, position: int, what: str,
    kind: type[ExecutionError] = ExecutionError,
) -> ExecutionError:
    """The error, of a `kind`, of the thread at `position` (warp of the group * 32 + lane) at `pc`."""
    state, warp = group.state, group.warps[position // 32]
    thread = coordinates(int(state.warps[warp]) * 32 + position % 32, launch.block)
    block = coordinates(int(state.blocks[warp]), launch.grid)
    return kind(f"{program.at(pc)}: thread {thread} of block {block}: {what}")
