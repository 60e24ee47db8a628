"""Names of operands to unique ones, which are recorded."""

import re

from warploom.arch.errors import PtxError
from warploom.compiler import ptx
from warploom.compiler.modules import Symbols
from warploom.compiler.scopes import SPECIAL_REGISTER, Scope
from warploom.compiler.symbols import GRID_BARRIER_WORDS

SINK = "_"

RESERVED = ptx.Variable("shared", "b8", "%reserved_smem_offset_1", 0, align=16, dimensions=(288,))
"""What CUDA reserves of a block's shared memory for cooperative groups: the special register has its address."""


class Names:
    """Replaces the names in operands by unique ones, and keeps what they stand for.

    `registers` has the type of every register that was named, `variables` the variables in memory and `call_parameters`
    those of space ``param`` that belong to calls, all by unique name; `own` are the parameters of functions among them.
    With a `grid_barrier` one of the names has its address.
    Raises `PtxError` (without a file) for undeclared names.
    """

    def __init__(self, symbols: Symbols, text: str) -> None:
        self.registers: dict[str, str] = {}
        self.variables: dict[str, ptx.Variable] = {}
        self.call_parameters: dict[str, ptx.Variable] = {}
        self.own: set[str] = set()
        self.grid_barrier = False
        self._symbols, self._lines = symbols, text.split("\n")

    def operand(self, operand: ptx.Operand, scope: Scope, at: ptx.Instruction) -> ptx.Operand:
        """The operand with every name replaced by its unique one, and recorded."""
        resolved: ptx.Operand
        match operand:
            case ptx.Symbol():
                resolved = self._symbol(operand, scope, at)
            case ptx.Immediate():
                resolved = operand
            case ptx.Register(name):
                resolved = self._register(name, scope, at)
            case ptx.Not(register):
                resolved = ptx.Not(self._register(register.name, scope, at))
            case ptx.Pair(first, second):
                resolved = ptx.Pair(self._register(first.name, scope, at), self._register(second.name, scope, at))
            case ptx.Vector(items):
                resolved = ptx.Vector(tuple(self.operand(item, scope, at) for item in items))
            case ptx.Address(base, offset):
                found = base if isinstance(base, ptx.Immediate) else self._symbol(ptx.Symbol(base.name), scope, at)
                resolved = ptx.Address(found, offset)
        return resolved

    def guard(
        self, guard: ptx.Register | ptx.Not | None, scope: Scope, at: ptx.Instruction
    ) -> ptx.Register | ptx.Not | None:
        if isinstance(guard, ptx.Not):
            return ptx.Not(self._register(guard.register.name, scope, at))
        return self._register(guard.name, scope, at) if guard else None

    def _register(self, name: str, scope: Scope, at: ptx.Instruction) -> ptx.Register:
        operand = self._symbol(ptx.Symbol(name), scope, at)
        if not isinstance(operand, ptx.Register):
            raise self.error(f"'{name}' is not a register", at, name)
        return operand

    def _symbol(self, symbol: ptx.Symbol, scope: Scope, at: ptx.Instruction) -> ptx.Register | ptx.Symbol:
        meaning = scope.find(symbol.name)
        special = not meaning and SPECIAL_REGISTER.fullmatch(symbol.name)
        if symbol.offset and (special or (meaning and meaning.kind == "register")):
            raise self.error("a register can have an offset only in an address", at, symbol.name)
        if special:
            if symbol.name == RESERVED.name:
                self.variables[symbol.name] = RESERVED
            self.grid_barrier |= symbol.name in GRID_BARRIER_WORDS
            return symbol
        if not meaning:
            if symbol.name == SINK:
                return ptx.Register(SINK)
            kind = "register" if symbol.name.startswith("%") else "variable"
            raise self.error(scope.undeclared(symbol.name, kind), at, symbol.name)
        if meaning.kind == "register":
            self.registers[meaning.name] = meaning.type
            return ptx.Register(meaning.name)
        if meaning.kind == "function" and self._symbols.functions[meaning.name].is_entry:
            message = f"'{symbol.name}' is a kernel, whose address is for launches by kernels: they are not supported"
            raise self.error(message, at, symbol.name)
        if meaning.kind == "function" and symbol.offset:
            raise self.error("the address of a function cannot have an offset", at, symbol.name)
        if meaning.kind in ("label", "table", "choice"):
            message = f"{meaning.kind} '{symbol.name}' cannot be an operand of '{at.full_opcode}'"
            raise self.error(message, at, symbol.name)
        if meaning.kind == "variable" and meaning.variable:
            self.record(meaning.name, meaning.variable, at)
        return ptx.Symbol(meaning.name, symbol.offset)

    def record(self, unique: str, variable: ptx.Variable, at: ptx.Instruction) -> None:
        if variable.type not in ptx.TYPE_BYTES:
            raise self.error(f"variables of type .{variable.type} are not supported", at, variable.name)
        if variable.extern and variable.space != "shared":
            raise self.error(self.undefined("variable", variable.name), at, variable.name)
        home = self.call_parameters if variable.space == "param" else self.variables
        home[unique] = variable

    def label(self, branch: ptx.Instruction, scope: Scope) -> ptx.Symbol:
        if len(branch.operands) != 1:
            raise self.error(f"{branch.full_opcode}: takes 1 operand, {len(branch.operands)} given", branch)
        (target,) = branch.operands
        if not isinstance(target, ptx.Symbol) or target.offset:
            raise self.error("a branch needs a label, without an offset", branch)
        name = target.name
        meaning = scope.find(name)
        if not meaning:
            raise self.error(scope.undeclared(name, "label"), branch, name)
        if meaning.kind != "label":
            raise self.error(f"a branch needs a label, and '{name}' is a {meaning.kind}", branch, name)
        return ptx.Symbol(meaning.name)

    def check_addresses(self, resolved: tuple[ptx.Operand, ...], at: ptx.Instruction) -> None:
        """Of space ``param`` only a function's own parameters have an address."""
        for operand in resolved:
            if isinstance(operand, ptx.Vector):
                self.check_addresses(operand.items, at)
            unique = operand.name if isinstance(operand, ptx.Symbol) else None
            if unique in self.call_parameters and unique not in self.own:
                name = self.call_parameters[unique].name
                raise self.error(f"the address of '{name}', a call's parameter, cannot be taken; copy it to a .local "
                                 "variable", at, name)

    def undefined(self, kind: str, name: str) -> str:
        """A message for what no file defines."""
        files = "this file" if self._symbols.files == 1 else "these files"
        hidden = self._symbols.hidden.get(name)
        other = f"{hidden} defines one without .visible" if hidden else "give the PTX file that defines it, too"
        return f"{kind} '{name}' is not defined in {files}: {other}"

    def error(self, message: str, at: ptx.Instruction, name: str = "", kind: type[PtxError] = PtxError) -> PtxError:
        """An error at `name` in the instruction's line, or else at the instruction itself."""
        line = self._lines[at.line - 1] if at.line <= len(self._lines) else ""
        word = re.compile(rf"(?<![\w$%]){re.escape(name)}(?![\w$])")
        found = name and (word.search(line, at.column - 1) or word.search(line))  # a guard stands before the opcode
        return kind(message, line=at.line, column=found.start() + 1 if found else at.column)
