"""Module variables that a kernel reads although nothing in its file gives them a value.

Addresses are tracked from instruction to instruction regardless of order: a register may hold the address of any
variable that some instruction puts into it, and memory as a whole that of any variable whose address was stored. So the
analysis may report a write of a variable that is only read, but finds every write.
"""

from collections.abc import Iterable

from warploom.compiler.ptx import Address, Instruction, Kernel, Operand, Pair, Register, Symbol, Variable, Vector

LOADS = ("ld", "ldu")
STORES = ("st",)
UPDATES = ("atom", "red")
COPIES = ("cp",)
OPERANDS = {"ld": 2, "ldu": 2, "atom": 2}
"""The operands that these instructions have at least, and others that matter here one."""

GENERATED = ("$", "__unnamed_")
"""Prefix of the names that nvcc generates for string literals. An empty string has no initialiser."""


def unset(kernel: Kernel, module: Iterable[Variable]) -> set[str]:
    """The names of those variables of `module` that the kernel reads, that have no initialiser, and that the kernel
    does not write."""
    names = {v.name for v in module if not (v.initial or v.pointers) and not v.name.startswith(GENERATED)}
    if not names:
        return set()
    used = {symbol.name for item in kernel.body if isinstance(item, Instruction) for symbol in _symbols(item)}
    pointed = {symbol.name for v in kernel.variables.values() for _, symbol, *_ in v.pointers}
    if not names & (used | pointed):
        return set()
    uses = _Uses(names, names & pointed)
    while sum(uses.follow(item) for item in kernel.body if isinstance(item, Instruction)):
        pass
    return uses.read - uses.written


def _symbols(instruction: Instruction) -> list[Symbol]:
    bases = [operand.base if isinstance(operand, Address) else operand for operand in instruction.operands]
    return [base for base in bases if isinstance(base, Symbol)]


class _Uses:
    """Possible locations of the addresses of variables `names`, and the accesses at them."""

    def __init__(self, names: set[str], stored: set[str]) -> None:
        self._names = names
        self._places: dict[str, set[str]] = {}  # by register
        self._memory = stored
        self.read: set[str] = set()
        self.written: set[str] = set()

    def follow(self, instruction: Instruction) -> bool:
        """Record one instruction; returns whether it added anything."""
        opcode, operands = instruction.opcode, instruction.operands
        if len(operands) < OPERANDS.get(opcode, 1):
            return False  # lowering reports the missing ones
        if opcode in STORES:
            address, *values = operands
            return self._add(self.written, self._of(address)) | self._add(self._memory, self._of(*values))
        if opcode in LOADS:
            target, address = operands[:2]
            argument = any(part.startswith("param") for part in instruction.modifiers)  # then a buffer's address
            found = set() if argument else self._memory
            return self._add(self.read, self._of(address)) | self._reach(target, found)
        if opcode in COPIES:
            return self._add(self.read, self._of(*operands[1:2]))
        if opcode in UPDATES:
            first = 1 if opcode == "atom" else 0
            found = self._of(operands[first])
            new = self._add(self.written, found) | self._add(self._memory, self._of(*operands[first + 1 :]))
            return new | (bool(first) and self._reach(operands[0], self._memory))
        return self._reach(operands[0], self._of(*operands[1:]))

    def _of(self, *operands: Operand) -> set[str]:
        """The variables whose addresses operands may hold."""
        found: set[str] = set()
        for operand in operands:
            match operand:
                case Symbol(name):
                    found |= {name} & self._names
                case Register(name):
                    found |= self._places.get(name, set())
                case Address(base, _):
                    found |= self._of(base)
                case Vector(items):
                    found |= self._of(*items)
        return found

    def _reach(self, target: Operand, names: set[str]) -> bool:
        """A result operand may hold these addresses from now on."""
        parts = target.items if isinstance(target, Vector) else (target.first if isinstance(target, Pair) else target,)
        places = [self._places.setdefault(part.name, set()) for part in parts if isinstance(part, Register)]
        return bool(sum(self._add(place, names) for place in places))

    @staticmethod
    def _add(place: set[str], names: set[str]) -> bool:
        new = not names <= place
        place |= names
        return new
