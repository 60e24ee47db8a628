"""What the control processor does with an instruction of a kernel (docs/contract/fg_simt.md, *Kernel mode*)."""

from enum import EnumType
from functools import cache
from itertools import product

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.encoding import modifier_fields
from warploom.arch.fg_simt.code import CONTROL, KERNEL, PREDICATING, TESTS, UNGUARDED, refusal
from warploom.arch.fg_simt.sizes import REGISTERS
from warploom.arch.isa import PT, RZ, Instruction, Op
from warploom.arch.modifiers import MODIFIER_KINDS
from warploom.rtl.fg_simt.instruction import INSTRUCTION, field, has_registers
from warploom.rtl.fg_simt.micro import one_of


class Role(enum.Enum, shape=3):
    """What an instruction is for the control processor: for the lanes, or one of those that it executes."""

    DATA, VOTE, BRANCH, EXIT, TRAP, BARRIER, FENCE, NOTHING = range(8)


ROLES = {Op.VOTE: Role.VOTE, Op.BRA: Role.BRANCH, Op.EXIT: Role.EXIT, Op.TRAP: Role.TRAP, Op.BAR: Role.BARRIER,
         Op.MEMBAR: Role.FENCE, Op.NOP: Role.NOTHING}
"""Operations that are not for the lanes."""


class KernelDecoder(wiring.Component):
    """Sorts an instruction. Combinational.

    Members
    -------
    instruction : the instruction.
    legal : a kernel may have it.
    role : what it is for the control processor, if it is legal.
    """

    instruction: In(INSTRUCTION)
    legal: Out(1)
    role: Out(Role)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        i, modifiers = self.instruction, Signal()  # modifiers: all have legal values
        guarded = (i.guard != PT) | i.guard_not
        registers = ((i.dst < REGISTERS) | (i.dst == RZ)) & ((i.op == Op.PLOP3.value) | has_registers(i))
        constant = (i.imm_slot == 0) & ~i.param
        result = (((i.pdst == PT) | one_of(i.op, tuple(PREDICATING | CONTROL)))
                  & ((i.dst == RZ) | ~one_of(i.op, tuple(TESTS))))
        m.d.comb += self.legal.eq(modifiers & registers & result & ~(guarded & one_of(i.op, tuple(UNGUARDED)))
                                  & ((i.op != Op.VOTE.value) | constant))
        with m.Switch(i.op):
            for op in sorted(KERNEL):
                with m.Case(op.value):
                    m.d.comb += [modifiers.eq(_has_legal_modifiers(i, op)), self.role.eq(ROLES.get(op, Role.DATA))]
        return m


def _has_legal_modifiers(i: data.View, op: Op) -> Value:
    above = i.modifiers[sum(bits for *_, bits in modifier_fields(op)) :]
    known = [Cat(field(i, op, name) == value for value in values).any() for name, values in legal_values(op).items()]
    if op is Op.SHF:  # the one operation with modifiers that depend on each other
        known.append(field(i, op, "right") | ~field(i, op, "signed"))
    return Cat(~above.any(), *known).all()


@cache
def legal_values(op: Op) -> dict[str, tuple[int, ...]]:
    """By the name of a modifier the values that it has in instructions of kernels, if other values have a place in the
    encoding. They do not depend on each other."""
    kinds = {name: MODIFIER_KINDS[name].value for name, *_ in modifier_fields(op)}
    listed = {name: kind for name, (_, kind) in kinds.items() if isinstance(kind, EnumType)}
    legal = [values for values in product(*listed.values())
             if not refusal(Instruction(op=op, imm_slot=0, **dict(zip(listed, values, strict=True))))]
    found = {name: tuple(sorted(set(column))) for name, column in zip(listed, zip(*legal, strict=True), strict=True)}
    return {name: values for name, values in found.items() if len(values) < 1 << kinds[name][0]}

