"""One entry to a flat body: names made unique, device functions inlined.

A call's parameters stay variables of space ``param`` here, which are copied before and after the function's body.
`warploom.compiler.callparams` turns accesses and copies into moves.
"""

import re
from dataclasses import dataclass, replace
from itertools import count

from warploom.arch.errors import PtxError
from warploom.compiler import branch_tables, callparams, ptx, runtime
from warploom.compiler.scopes import SPECIAL_REGISTER, Meaning, Scope, parameter_symbol

MAX_INSTRUCTIONS = 200_000
"""Limit of inlining: calls that fan out over many levels grow without bound."""

MAX_DEPTH = 100
"""Nested blocks and inlined calls together."""

MAX_PARAMETER_BYTES = 1 << 15
"""Limit of a call's parameter, which is copied; CUDA has a similar one for kernels."""

RESERVED = ptx.Variable("shared", "b8", "%reserved_smem_offset_1", 0, align=16, dimensions=(288,))
"""What CUDA reserves of a block's shared memory for cooperative groups: the special register has its address."""

SINK = "_"
HEAP = ("malloc", "free")
DEVICE_RUNTIME = ("cuda", "__cudaCDP2")
"""What the names of functions in CUDA's device runtime begin with; they are not mangled, and PTX only declares them."""



@dataclass(frozen=True)
class _Frame:
    """A function that is being flattened: the calls that lead to it, entry first, and the label that replaces its
    `ret`; None in the entry, where `ret` ends the thread."""

    calls: tuple[str, ...]
    end: str | None = None


class Inliner:
    """Flattens one entry of a module; `run` once.

    After it, `body` is the flat body, `registers` the type of every register in it, `variables` the variables that it
    refers to and `call_parameters` those of space ``param`` that belong to calls, all by unique name.
    """

    def __init__(self, functions: dict[str, ptx.Function], module_scope: Scope, text: str) -> None:
        self.body: list[ptx.Instruction | ptx.Label] = []
        self.registers: dict[str, str] = {}
        self.variables: dict[str, ptx.Variable] = {}
        self.call_parameters: dict[str, ptx.Variable] = {}
        self._own: set[str] = set()  # those of them that are a function's own
        self._functions, self._module_scope, self._lines = functions, module_scope, text.split("\n")
        self._numbers = count(1)

    def run(self, entry: ptx.Function) -> None:
        """Flatten `entry`. Raises `PtxError` (without a file) for undeclared names and calls that cannot be inlined."""
        scope = Scope(self._module_scope, variable_suffix=f"@{entry.name}")
        for parameter in entry.parameters:
            if parameter.type not in ptx.TYPE_BYTES:
                raise PtxError(f"parameters of type .{parameter.type} are not supported", line=parameter.line)
            unique = parameter_symbol(parameter.name)
            scope.bind(parameter.name, Meaning("parameter", unique, variable=parameter), parameter.line)
        if entry.body:
            self._block(entry.body, scope, _Frame((entry.name,)))

    # ------------------------------------------------------------ statements

    def _block(self, block: ptx.Block, scope: Scope, frame: _Frame) -> None:
        scope.declare_labels(block)
        for index, statement in enumerate(block.body):
            match statement:
                case ptx.Instruction():
                    self._instruction(statement, scope, frame)
                case ptx.Label(name):
                    self.body.append(ptx.Label(scope.meanings[name].name, statement.line))
                case ptx.Registers():
                    scope.declare_registers(statement)
                case ptx.Variable():
                    self._variable(statement, scope)
                case ptx.Block():
                    inner = self._scope(scope, f"{scope.variable_suffix}.{index}", scope.depth + 1)
                    self._block(statement, inner, frame)

    def _variable(self, variable: ptx.Variable, scope: Scope) -> None:
        """Declare a variable, in whose initialiser each name has the meaning that it has here."""
        pointers = tuple((position, self._pointed(symbol, variable, scope), generic, part)
                         for position, symbol, generic, part in variable.pointers)
        scope.declare_variable(replace(variable, pointers=pointers))

    def _pointed(self, symbol: ptx.Symbol, variable: ptx.Variable, scope: Scope) -> ptx.Symbol:
        """A symbol in the initialiser of `variable` with its unique name."""
        meaning = scope.find(symbol.name)
        if not meaning or meaning.kind not in ("variable", "function"):
            message = f"the initialiser of '{variable.name}' refers to '{symbol.name}', which is no variable here"
            raise PtxError(message, line=variable.line)
        if meaning.variable and not meaning.variable.extern:
            self.variables[meaning.name] = meaning.variable
        return ptx.Symbol(meaning.name, symbol.offset)

    def _scope(self, parent: Scope, variable_suffix: str, depth: int) -> Scope:
        if depth > MAX_DEPTH:
            raise PtxError(f"blocks and calls are nested more than {MAX_DEPTH} deep")
        return Scope(parent, suffix=f"@{next(self._numbers)}", variable_suffix=variable_suffix, depth=depth)

    def _instruction(self, instruction: ptx.Instruction, scope: Scope, frame: _Frame) -> None:
        guard = self._guard(instruction.guard, scope, instruction)
        if instruction.opcode == "call":
            self._call(replace(instruction, guard=guard), scope, frame)
        elif instruction.opcode == "ret" and frame.end:
            self.body.append(
                replace(instruction, opcode="bra", modifiers=(), operands=(ptx.Symbol(frame.end),), guard=guard)
            )
        elif instruction.opcode == "bra":
            target = (self._label(instruction, scope),)
            self.body.append(replace(instruction, operands=target, guard=guard))
        elif instruction.opcode == "brx":
            self._branch_through_table(instruction, guard, scope)
        else:
            operands = tuple(self._operand(operand, scope, instruction) for operand in instruction.operands)
            self._check_addresses(operands, instruction)
            placed = replace(instruction, operands=operands, guard=guard)
            if frame.end and any(_is_indirect(operand) for operand in operands):
                # a pointer to the function's own parameter, which becomes a local variable
                placed = callparams.in_local_memory(placed)
            self.body.append(placed)

    def _branch_through_table(self, brx: ptx.Instruction, guard: ptx.Register | ptx.Not | None, scope: Scope) -> None:
        if brx.modifiers not in (("idx",), ("idx", "uni")) or len(brx.operands) != 2:
            raise self._error("supported is brx.idx (.uni) with an index and a table", brx)
        index, name = self._operand(brx.operands[0], scope, brx), getattr(brx.operands[1], "name", "")
        if not isinstance(index, ptx.Register) or ptx.TYPE_BYTES.get(self.registers.get(index.name, ""), 0) != 4:
            raise self._error("the index of a table must be a register of 32 bits", brx)
        table = scope.find(name)
        if not table or table.kind != "table":
            raise self._error(f"'{name}' is not a table: write '{name}: .branchtargets' with the labels", brx, name)
        unique = f"{table.name}@{next(self._numbers)}"
        self.registers[unique] = "pred"
        if guard:
            self.body.append(_unless(guard, f"{unique}@end", brx))
        self.body += branch_tables.branches(brx, index, table.targets, ptx.Register(unique))
        if guard:
            self.body.append(ptx.Label(f"{unique}@end", brx.line))

    def _check_addresses(self, resolved: tuple[ptx.Operand, ...], at: ptx.Instruction) -> None:
        """Of space ``param`` only a function's own parameters have an address."""
        for operand in resolved:
            if isinstance(operand, ptx.Vector):
                self._check_addresses(operand.items, at)
            unique = operand.name if isinstance(operand, ptx.Symbol) else None
            if unique in self.call_parameters and unique not in self._own:
                name = self.call_parameters[unique].name
                raise self._error(f"the address of '{name}', a call's parameter, cannot be taken; copy it to a .local "
                                  "variable", at, name)

    def _error(self, message: str, at: ptx.Instruction, name: str = "") -> PtxError:
        """An error at `name` in the instruction's line, or else at the instruction itself."""
        line = self._lines[at.line - 1] if at.line <= len(self._lines) else ""
        word = re.compile(rf"(?<![\w$%]){re.escape(name)}(?![\w$])")
        found = name and (word.search(line, at.column - 1) or word.search(line))  # a guard stands before the opcode
        return PtxError(message, line=at.line, column=found.start() + 1 if found else at.column)

    # ------------------------------------------------------------ calls

    def _call(self, call: ptx.Instruction, scope: Scope, frame: _Frame) -> None:
        function = self._callee(call, scope)
        groups = call.lists or ((), ())
        returns, arguments = ([self._operand(part, scope, call) for part in group] for group in groups)
        start = len(self.body)
        if function.body or function.name not in runtime.SOURCES:
            self._inline(function, call, (returns, arguments), scope.depth + 1, frame)
            return
        defined = runtime.function(function.name)
        if not (function.returns or returns):  # a declaration without the result: Taichi's of vprintf
            returns = [ptx.Register(SINK)] * len(defined.returns)
        self._inline(defined, call, (returns, arguments), scope.depth + 1, frame)
        self.body[start:] = [replace(item, line=call.line) for item in self.body[start:]]

    def _callee(self, call: ptx.Instruction, scope: Scope) -> ptx.Function:
        callee = call.operands[0]
        name = callee.name if isinstance(callee, ptx.Symbol) else ""
        meaning = scope.find(name)
        if not meaning:
            raise self._error(scope.undeclared(name, "function"), call, name)
        if meaning.kind != "function":
            raise self._error("indirect calls (function pointers, virtual functions) are not supported", call, name)
        return self._functions[name]

    def _inline(
        self, function: ptx.Function, call: ptx.Instruction, actuals: tuple[list[ptx.Operand], list[ptx.Operand]],
        depth: int, frame: _Frame,
    ) -> None:
        name = function.name
        if name in HEAP:
            raise self._error(f"'{name}' is not supported: there is no device heap", call, name)
        if not function.body and name.startswith(DEVICE_RUNTIME):
            message = (f"'{name}' is not supported: there is no device runtime, so a kernel cannot synchronise its grid"
                       " (grid.sync), nor launch kernels")
            raise self._error(message, call, name)
        if not function.body:
            raise self._error(f"function '{name}' is not defined in this file; compile its source into it", call, name)
        if len(self.body) > MAX_INSTRUCTIONS:
            raise self._error(f"inlining makes more than {MAX_INSTRUCTIONS} instructions", call, name)
        if name in frame.calls:
            chain = " -> ".join((*frame.calls[frame.calls.index(name) :], name))
            raise self._error(f"recursion is not supported: {chain}", call, name)
        scope = self._scope(self._module_scope, f"@{name}", depth)
        returns = self._passed(function, actuals[0], scope, call, results=True)
        arguments = self._passed(function, actuals[1], scope, call, results=False)
        end = f"{name}{scope.suffix}@end"  # no label of the function, which may have its name
        if call.guard:
            self.body.append(_unless(call.guard, end, call))
        self.body += [_argument(formal, actual, call) for formal, actual in arguments]
        self._block(function.body, scope, _Frame((*frame.calls, name), end))
        last = self.body[-1] if self.body else None
        if isinstance(last, ptx.Instruction) and last.operands == (ptx.Symbol(end),) and not last.guard:
            self.body.pop()  # the usual single `ret` at the end
        self.body.append(ptx.Label(end, call.line))
        self.body += [_result(formal, actual, call) for formal, actual in returns if actual != ptx.Register(SINK)]

    def _passed(
        self, function: ptx.Function, given: list[ptx.Operand], scope: Scope, call: ptx.Instruction, *, results: bool
    ) -> list[tuple[ptx.Variable, ptx.Operand]]:
        """The formal parameters, declared in the function's scope and with unique names, and what the call gives."""
        formals = function.returns if results else function.parameters
        if len(formals) != len(given):
            what = "results" if results else "parameters"
            message = f"'{function.name}' has {len(formals)} {what}, the call gives {len(given)}"
            raise self._error(message, call, function.name)
        passed = []
        for formal, actual in zip(formals, given, strict=True):
            scope.declare_variable(formal)
            unique = scope.meanings[formal.name].name
            self._record(unique, formal, call)
            self._own.add(unique)
            size = self._size(actual, formal, call, result=results)
            if size != formal.size:
                message = f"parameter '{formal.name}' has {formal.size} bytes, the call gives {size}"
                raise self._error(message, call)
            if size > MAX_PARAMETER_BYTES:
                message = f"parameter '{formal.name}' has {size} bytes, and {MAX_PARAMETER_BYTES} is the limit"
                raise self._error(message, call)
            passed.append((replace(formal, name=unique), actual))
        return passed

    def _size(self, actual: ptx.Operand, formal: ptx.Variable, call: ptx.Instruction, *, result: bool) -> int:
        """The bytes that the call gives for a parameter, or takes as a result."""
        match actual:
            case ptx.Symbol(name, 0) if name in self.call_parameters:
                return self.call_parameters[name].size
            case ptx.Register(name) if name in self.registers and not formal.dimensions:
                return ptx.TYPE_BYTES.get(self.registers[name], 0)
            case ptx.Register(name) if name == SINK and result:
                return formal.size
            case ptx.Immediate() if not (result or formal.dimensions):
                return formal.size
        legal = f".param variables of its function, registers{' and _' if result else ' and constants'}"
        raise self._error(f"a call can only {'return to' if result else 'pass'} {legal}; for an array, variables", call)

    # ------------------------------------------------------------ operands

    def _operand(self, operand: ptx.Operand, scope: Scope, at: ptx.Instruction) -> ptx.Operand:
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
                resolved = ptx.Vector(tuple(self._operand(item, scope, at) for item in items))
            case ptx.Address(base, offset):
                found = base if isinstance(base, ptx.Immediate) else self._symbol(ptx.Symbol(base.name), scope, at)
                resolved = ptx.Address(found, offset)
        return resolved

    def _guard(
        self, guard: ptx.Register | ptx.Not | None, scope: Scope, at: ptx.Instruction
    ) -> ptx.Register | ptx.Not | None:
        if isinstance(guard, ptx.Not):
            return ptx.Not(self._register(guard.register.name, scope, at))
        return self._register(guard.name, scope, at) if guard else None

    def _register(self, name: str, scope: Scope, at: ptx.Instruction) -> ptx.Register:
        operand = self._symbol(ptx.Symbol(name), scope, at)
        if not isinstance(operand, ptx.Register):
            raise self._error(f"'{name}' is not a register", at, name)
        return operand

    def _symbol(self, symbol: ptx.Symbol, scope: Scope, at: ptx.Instruction) -> ptx.Register | ptx.Symbol:
        meaning = scope.find(symbol.name)
        special = not meaning and SPECIAL_REGISTER.fullmatch(symbol.name)
        if symbol.offset and (special or (meaning and meaning.kind == "register")):
            raise self._error("a register can have an offset only in an address", at, symbol.name)
        if special:
            if symbol.name == RESERVED.name:
                self.variables[symbol.name] = RESERVED
            return symbol
        if not meaning:
            if symbol.name == SINK:
                return ptx.Register(SINK)
            kind = "register" if symbol.name.startswith("%") else "variable"
            raise self._error(scope.undeclared(symbol.name, kind), at, symbol.name)
        if meaning.kind == "register":
            self.registers[meaning.name] = meaning.type
            return ptx.Register(meaning.name)
        if meaning.kind == "function":
            raise self._error(
                f"function pointers are not supported, and this one points to '{symbol.name}'", at, symbol.name
            )
        if meaning.kind in ("label", "table"):
            message = f"{meaning.kind} '{symbol.name}' cannot be an operand of '{at.full_opcode}'"
            raise self._error(message, at, symbol.name)
        if meaning.kind == "variable" and meaning.variable:
            self._record(meaning.name, meaning.variable, at)
        return ptx.Symbol(meaning.name, symbol.offset)

    def _record(self, unique: str, variable: ptx.Variable, at: ptx.Instruction) -> None:
        if variable.type not in ptx.TYPE_BYTES:
            raise self._error(f"variables of type .{variable.type} are not supported", at, variable.name)
        if variable.extern and variable.space != "shared":
            raise self._error(f"variable '{variable.name}' is not defined in this file", at, variable.name)
        home = self.call_parameters if variable.space == "param" else self.variables
        home[unique] = variable

    def _label(self, branch: ptx.Instruction, scope: Scope) -> ptx.Symbol:
        if len(branch.operands) != 1:
            raise self._error(f"{branch.full_opcode}: takes 1 operand, {len(branch.operands)} given", branch)
        (target,) = branch.operands
        name = target.name if isinstance(target, ptx.Symbol) else ""
        meaning = scope.find(name)
        if not meaning:
            raise self._error(scope.undeclared(name, "label"), branch, name)
        if meaning.kind != "label":
            raise self._error(f"a branch needs a label, and '{name}' is a {meaning.kind}", branch, name)
        return ptx.Symbol(meaning.name)


def _unless(guard: ptx.Register | ptx.Not, target: str, at: ptx.Instruction) -> ptx.Instruction:
    """A branch to `target` where a guard fails."""
    fails = guard.register if isinstance(guard, ptx.Not) else ptx.Not(guard)
    return replace(at, opcode="bra", modifiers=(), operands=(ptx.Symbol(target),), guard=fails, lists=None)


def _argument(formal: ptx.Variable, actual: ptx.Operand, call: ptx.Instruction) -> ptx.Instruction:
    """What gives a parameter its value, behind the branch that a guarded call begins with."""
    at = replace(call, guard=None, lists=None)
    if isinstance(actual, ptx.Symbol):
        return callparams.copy(formal.name, actual.name, at)
    operands = (ptx.Address(ptx.Symbol(formal.name)), actual)
    return replace(at, opcode="st", modifiers=("param", formal.type), operands=operands)


def _result(formal: ptx.Variable, actual: ptx.Operand, call: ptx.Instruction) -> ptx.Instruction:
    """What takes a result out of a parameter, with the guard of the call."""
    if isinstance(actual, ptx.Symbol):
        return callparams.copy(actual.name, formal.name, call)
    operands = (actual, ptx.Address(ptx.Symbol(formal.name)))
    return replace(call, opcode="ld", modifiers=("param", formal.type), operands=operands, lists=None)


def _is_indirect(operand: ptx.Operand) -> bool:
    return isinstance(operand, ptx.Address) and isinstance(operand.base, ptx.Register)
