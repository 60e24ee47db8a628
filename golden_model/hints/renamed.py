"""`RenamedInstructions`: instructions of a program with other registers than their own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from warploom.arch.isa import RZ, Instruction, Op
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.hints.collection import Entry
from warploom.golden_model.integer import COPY


class RenamedInstructions:
    """Instructions of a program, which are decoded once for each choice of registers. `short_copies` skip the execution
    stages."""

    def __init__(self, statics: Sequence[Static], *, short_copies: bool = False) -> None:
        self._statics, self._short_copies = statics, short_copies
        self._renamed = cache(self._rename)
        self._copied = cache(self._copy)

    def renamed(self, pc: int, names: Mapping[int, int], dst: int) -> Static:
        """An instruction that writes `dst`, and reads its registers under these names, those that have one."""
        static = self._statics[pc]
        if static.control:
            return static
        instruction = static.instruction
        sources = tuple(names.get(register, register) if slot != instruction.imm_slot else register
                        for slot, register in enumerate(instruction.src))
        return self._renamed(pc, sources, dst)

    def copy(self, entry: Entry) -> Static:
        """The MOV of a renamed result to its destination."""
        return self._copied(entry.dst, entry.renamed)

    def _rename(self, pc: int, sources: tuple[int, int, int], dst: int) -> Static:
        static = self._statics[pc]
        instruction = replace(static.instruction, src=sources, dst=dst)
        return static if instruction == static.instruction else Static(instruction, lambda _: static.fields["imm"])

    def _copy(self, dst: int, renamed: int) -> Static:
        static = Static(Instruction(op=Op.MOV, dst=dst, src=(renamed, RZ, RZ)), lambda _: 0)
        if self._short_copies:
            static.fields["timing"] = COPY
        return static
