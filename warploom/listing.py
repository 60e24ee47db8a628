"""Machine code as text, for people."""

import os
from functools import cache
from pathlib import Path

from warploom.arch.isa import MEMORY_OPS, MODIFIERS, NO_RECONVERGENCE, NO_SLOT, PT, RZ, Instruction, Op, Pipe
from warploom.arch.order_hints import BranchHint, Hint
from warploom.arch.program import Program
from warploom.compiler.writeback_hints import Destination, destination

_SLOTS = {
    Op.S2R: 0, Op.HIGH: 0, Op.MOV: 1, Op.POPC: 1, Op.FLO: 1, Op.BREV: 1, Op.VOTE: 1, Op.CVT: 1, Op.TESTP: 1, Op.MUFU: 1,
    Op.FRCP: 1, Op.FSQRT: 1, Op.IMAD: 3, Op.LOP3: 3, Op.SHF: 3, Op.PRMT: 3, Op.FFMA: 3, Op.DP4A: 3, Op.MATCH: 3,
    Op.DFMA: 3, Op.SHFL: 3, Op.LATCH: 3,
}
"""The minimum number of operand slots shown for an operation, 2 if not listed; more if they are used."""


def source_lines(path: str | os.PathLike[str]) -> list[str]:
    """The lines of a source, which only a line feed ends, as the parser counts them; none if it is no file that can be
    read. A name in PTX may be that of a pipe or a device, which might never end."""
    if not os.path.isfile(path):
        return []
    try:
        return Path(path).read_text(encoding="utf-8-sig", errors="replace").split("\n")
    except OSError:
        return []


def listing(program: Program) -> str:
    """Every instruction of a program with its number, below its PTX line if that changes."""
    texts, lines, previous = cache(source_lines), [], (program.source, 0)
    for pc, instruction in enumerate(program.instructions):
        file, line = program.place(pc)
        if (file, line) != previous and 0 < line <= len(text := texts(file)):
            where = f"{file}:{line}" if program.files else f"{line:4}"
            lines.append(f"// {where}: {text[line - 1].strip()}")
        note = order_note(program, pc)
        lines.append(f"{pc:6}  {instruction_text(instruction)}" + (f"  // {note}" if note else ""))
        previous = file, line
    return "\n".join(lines)


def instruction_text(instruction: Instruction) -> str:
    """``@!P0 IMAD.high.signed R3, P1 = R1, R2, 0x10``: guard, operation with modifiers, results = operands."""
    i = instruction
    guard = "" if i.guard == PT and not i.guard_not else f"@{'!' * i.guard_not}{_predicate(i.guard)} "
    results = [f"R{i.dst}"] * (i.dst != RZ) + [f"P{i.pdst}"] * (i.pdst != PT)
    operands = _operands(i)
    if i.psrc != PT or i.psrc_not:
        operands.append(f"{'!' * i.psrc_not}{_predicate(i.psrc)}")
    text = guard + ".".join((i.op.name, *_modifiers(i)))
    text += f" {', '.join(results)} =" if results else ""
    return f"{text} {', '.join(operands)}".rstrip() + _meeting_point(i) + _destination(i)


def order_note(program: Program, pc: int) -> str:
    """``stall point, goes on at +2``, ``R9 to R20, then +4``: what the hint for order of an instruction says, with
    offsets from the stall point of its group; empty without one."""
    word = dict(program.order_hints).get(pc)
    if word is None:
        return ""
    instruction = program.instructions[pc]
    if instruction.op is Op.BRA:
        branch = BranchHint.decode(word)
        return f"hint: then {_offset(branch.taken)}" + ("" if branch.direct else f" or {_offset(branch.following)}")
    hint = Hint.decode(word)
    if hint.renamed and hint.dst == RZ:
        return f"hint: stall point, goes on at {_offset(hint.target)}"
    return "hint: " + f"R{instruction.dst} to R{hint.dst}, " * hint.renamed + f"then {_offset(hint.target)}"


def _offset(offset: int) -> str:
    """An offset from the stall point."""
    return f"{offset:+}" if offset else "back"


def _modifiers(i: Instruction) -> list[str]:
    """Flags by name if set, the rest by value; the reconvergence point is shown elsewhere."""
    words = []
    for name in MODIFIERS.get(i.op, ()):
        value = getattr(i, name)
        if isinstance(value, bool):
            words += [name] * value
        elif name == "lut":
            words.append(f"{value:#04x}")
        elif name != "reconverge":
            words.append(getattr(value, "name", str(value)).lower())
    return words


def _operands(i: Instruction) -> list[str]:
    if i.pipe is Pipe.CONTROL:
        if i.op is Op.PLOP3:
            return [_predicate(number) for number in i.src]
        return [str(i.imm)] if i.op in (Op.BRA, Op.BAR, Op.BARRED) else []
    slots = [f"c[{i.imm:#x}]" if slot == i.imm_slot and i.param else f"{i.imm:#x}" if slot == i.imm_slot
             else f"R{register}" if register != RZ else "RZ" for slot, register in enumerate(i.src)]
    if i.op in MEMORY_OPS and not i.latched:
        offset = (i.imm ^ 1 << 31) - (1 << 31) if i.imm_slot == NO_SLOT else 0
        base = f"{slots[1]}:{slots[0]}" if i.wide else slots[0]
        return [f"[{base}{f' {offset:+#x}' if offset else ''}]"] + [slots[2]] * (i.op is not Op.LD)
    used = max((number + 1 for number, text in enumerate(slots) if text != "RZ"), default=0)
    return slots[: max(used, _SLOTS.get(i.op, 2))]


def _meeting_point(i: Instruction) -> str:
    if i.op is not Op.BRA or i.guard == PT:
        return ""
    return "  // sides meet at " + ("the exit" if i.reconverge == NO_RECONVERGENCE else str(i.reconverge))


def _destination(i: Instruction) -> str:
    """The destination that the hints give a result; empty for both, as without hints."""
    place = destination(i)
    return "" if place in (None, Destination.BOTH) else f"  // {place}"


def _predicate(number: int) -> str:
    return "PT" if number == PT else f"P{number}"
