"""Machine code of an allocated function: blocks in source order, without copies and branches that do nothing."""

from dataclasses import dataclass
from typing import Any

from warploom.arch.isa import NO_RECONVERGENCE, PT, RZ, Instruction, Op
from warploom.arch.program import Program
from warploom.compiler.allocate import Allocation
from warploom.compiler.cfg import EXIT_BLOCK, ControlFlow
from warploom.compiler.ir import Function, Imm, Node, Param, VirtualRegister


@dataclass(frozen=True)
class Emitted:
    """A program, and the instruction of each node of the allocated body; nodes without an instruction are absent."""

    program: Program
    index: dict[Node, int]


def emit(function: Function, allocation: Allocation) -> Emitted:
    """The program of a function with a finished allocation."""
    flow, place = allocation.flow, allocation.place
    kept = _kept(flow, place)
    starts: list[int] = []
    index: dict[Node, int] = {}
    for nodes in kept:
        starts.append(len(index))
        for node in nodes:
            index[node] = len(index)
    instructions = [_instruction(node, place, _branch_fields(flow, number, starts) if node.op is Op.BRA else {})
                    for number, nodes in enumerate(kept) for node in nodes]
    kernel = function.kernel
    program = Program(
        name=kernel.name, source=kernel.file, instructions=tuple(instructions), registers=allocation.registers,
        lines=tuple(node.line for node in index), parameters=function.parameters, shared_bytes=kernel.shared_bytes,
        local_bytes=allocation.local_bytes, constants=kernel.constants, globals=kernel.globals,
        globals_base=kernel.globals_base, module=kernel.module, max_threads=kernel.max_threads, block=kernel.block,
        stops=kernel.stops, files=tuple(kernel.files), grid_barrier=kernel.grid_barrier,
        alignments=tuple((pc, node.alignment) for node, pc in index.items() if node.alignment > 1),
    )
    return Emitted(program, index)


def _kept(flow: ControlFlow, place: dict[int, int]) -> list[list[Node]]:
    """The nodes of each block that become instructions."""
    kept: list[list[Node]] = []
    next_code = len(flow.blocks)  # the first block below that has any
    for number in reversed(range(len(flow.blocks))):
        block = flow.blocks[number]
        nodes = [node for node in block.nodes if not _copies_to_itself(node, place)]
        if block.branch is not None and number < block.successors[-1] <= next_code:
            nodes.pop()
        if nodes:
            next_code = number
        kept.append(nodes)
    return kept[::-1]


def _copies_to_itself(node: Node, place: dict[int, int]) -> bool:
    source = node.src[0]
    if node.op is not Op.MOV or node.dst is None or not isinstance(source, VirtualRegister):
        return False
    return place[source.number] == place[node.dst.number]


def _branch_fields(flow: ControlFlow, number: int, starts: list[int]) -> dict[str, int | bool]:
    """Target and, if the branch can diverge, the point where its sides join."""
    block = flow.blocks[number]
    fields: dict[str, int | bool] = {"imm": starts[block.successors[-1]]}
    if block.branch is not None and block.branch.guard is not None:
        meet = flow.postdominators.get(number, EXIT_BLOCK)
        fields["reconverge"] = NO_RECONVERGENCE if meet == EXIT_BLOCK else starts[meet]
        fields["taken_first"] = flow.taken_first(number)
    return fields


def _instruction(node: Node, place: dict[int, int], branch: dict[str, int | bool]) -> Instruction:
    assert node.dst is None or not node.dst.is_predicate, node
    assert node.pdst is None or node.pdst.is_predicate, node
    absent = PT if node.op is Op.PLOP3 else RZ
    registers: list[int] = []
    fields: dict[str, Any] = {"imm": node.imm & 0xFFFFFFFF}
    for slot, operand in enumerate(node.src):
        registers.append(place[operand.number] if isinstance(operand, VirtualRegister) else absent)
        if isinstance(operand, Imm):
            fields = {"imm": operand.value, "imm_slot": slot}
        elif isinstance(operand, Param):
            fields = {"imm": operand.offset, "imm_slot": slot, "param": True}
    return Instruction(
        op=node.op, dst=_register(node.dst, place, RZ), src=(registers[0], registers[1], registers[2]),
        guard=_register(node.guard, place, PT), guard_not=node.guard_not, pdst=_register(node.pdst, place, PT),
        psrc=_register(node.psrc, place, PT), psrc_not=node.psrc_not, **fields | branch, **node.modifiers)


def _register(register: VirtualRegister | None, place: dict[int, int], absent: int) -> int:
    """The physical register of a virtual one, which may be absent."""
    return absent if register is None else place[register.number]
