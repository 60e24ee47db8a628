"""`Static`: the decoded instructions of a program."""

from collections.abc import Callable, Sequence
from typing import cast

from warploom.arch.encoding import encode_modifiers
from warploom.arch.isa import RZ, Instruction, Op, Pipe, TimingClass
from warploom.golden_model.front_end.hazards import READ, Hazards, has_wide_result
from warploom.golden_model.functional.memory import Memory
from warploom.golden_model.records import IssueFields
from warploom.golden_model.trace import Traced

_DYNAMIC = ("tag", "warp", "lanes", "full", "pred", "first", "bank", "row", "left", "group", "entry", "collector",
            "operands", "last")
"""Fields that an instruction gets when it issues, and on its way through the datapath."""

NEVER_RETURN = frozenset({Op.ST, Op.RED, Op.LATCH})
"""Operations without any result, which do not reach write-back."""


class Static:
    """A static instruction: `fields` are those of the issue port that do not change, `hazards` its scoreboard bits. The
    fields have the others as well, as 0: each dynamic instruction is a copy, which is fast if it need not grow. Beside
    them is `unit`, the class by which its pipe is chosen: if none is given, its own.

    `then` is the MOV that writes the register result of a BARRED to the register file; its immediate is set later.
    """

    def __init__(
        self, instruction: Instruction, parameter_word: Callable[[int], int], unit: TimingClass | None = None
    ) -> None:
        self.instruction = instruction
        self.op = instruction.op
        self.control = instruction.pipe is Pipe.CONTROL
        self.memory = instruction.pipe is Pipe.MEM
        self.is_barrier = instruction.op in (Op.BAR, Op.BARRED)
        self.returns = instruction.op not in NEVER_RETURN
        self.hazards = Hazards(instruction)
        self.needs = self.hazards.needs
        self.then: Static | None = None
        if self.op is Op.BARRED and instruction.dst != RZ:
            move = Instruction(op=Op.MOV, dst=instruction.dst, imm_slot=0, to_collector=instruction.to_collector,
                               to_file=instruction.to_file)
            self.then = Static(move, parameter_word)
        fields: dict[str, int] = {}
        if not self.control:
            chosen = instruction.timing_class if unit is None else unit
            fields = issue_fields(instruction, parameter_word) | dict.fromkeys(_DYNAMIC, 0) | {"unit": int(chosen)}
        self.fields = cast(IssueFields, fields)

    def ends(self, last: int) -> None:
        """Slots of the mask read their registers for the last time, after all other reads of them."""
        self.fields["last"] = last
        for slot, register in enumerate(self.instruction.src):
            if last >> slot & 1:
                self.needs |= 1 << READ + register


def issue_fields(instruction: Instruction, parameter_word: Callable[[int], int]) -> dict[str, int]:
    """The fields of the issue port that are the same each time the instruction issues.

    `parameter_word` gives the word at a byte offset of the parameter bank.
    """
    imm = parameter_word(instruction.imm) if instruction.param else instruction.imm
    reads = [slot for slot, s in enumerate(instruction.src) if s != RZ and slot != instruction.imm_slot]
    return {
        "op": int(instruction.op), "modifiers": encode_modifiers(instruction), "pipe": int(instruction.pipe),
        "timing": int(instruction.timing_class), "dst": instruction.dst, "writes": int(instruction.dst != RZ),
        "reads": sum(1 << slot for slot in reads), "src0": instruction.src[0], "src1": instruction.src[1],
        "src2": instruction.src[2], "imm_slot": instruction.imm_slot, "imm": imm,
        "to_collector": int(instruction.to_collector), "to_file": int(instruction.to_file),
    }


def decode(trace: Traced) -> list[Static]:
    """The instructions of a trace's program."""
    instructions = trace.program.instructions
    parameter_word: Callable[[int], int] = lambda offset: 0  # noqa: E731 - the one in the other case is a method
    if any(instruction.param for instruction in instructions):
        parameter_word = Memory(trace.program, trace.launch, 1).parameter_word
    statics = [Static(instruction, parameter_word, partner(instructions, at))
               for at, instruction in enumerate(instructions)]
    for static, last in zip(statics, trace.program.last_reads, strict=False):
        static.ends(last)
    return statics


def partner(instructions: Sequence[Instruction], at: int) -> TimingClass | None:
    """The class of the instruction that a LATCH or a HIGH belongs to: the next latched one, or the last one before with
    a 64-bit result. `None` for all others."""
    beat = instructions[at]
    if beat.op is Op.LATCH:
        found = (each for each in instructions[at + 1:] if each.latched and each.pipe is beat.pipe)
    elif beat.op is Op.HIGH:
        found = (each for each in reversed(instructions[:at]) if has_wide_result(each) and each.pipe is beat.pipe)
    else:
        return None
    return next((each.timing_class for each in found), None)
