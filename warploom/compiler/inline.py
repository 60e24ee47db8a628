"""One entry to a flat body: names made unique, device functions inlined.

A call's parameters stay variables of space ``param`` here, which are copied before and after the function's body.
`warploom.compiler.callparams` turns accesses and copies into moves.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, pairwise

from warploom.arch.errors import PtxError
from warploom.compiler import branch_tables, callparams, pointer_calls, ptx, runtime
from warploom.compiler.modules import Symbols
from warploom.compiler.names import SINK, Names
from warploom.compiler.scopes import Meaning, Scope, parameter_symbol
from warploom.compiler.vtables import Reach

MAX_INSTRUCTIONS = 200_000
"""Limit of inlining: calls that fan out over many levels grow without bound."""

MAX_DEPTH = 100
"""Nested blocks and inlined calls together."""

MAX_PARAMETER_BYTES = 1 << 15
"""Limit of a call's parameter, which is copied; CUDA has a similar one for kernels."""

POINTER_BYTES = 8
RESULTS = ("results", "parameters")
"""What a call takes and gives."""

HEAP = ("malloc", "free")
DEVICE_RUNTIME = ("cuda", "__cudaCDP2")
"""What the names of functions in CUDA's device runtime begin with; they are not mangled, and PTX only declares them."""

Actuals = tuple[list[ptx.Operand], list[ptx.Operand]]
"""What takes the results of a call, and what it passes."""


class CallError(PtxError):
    """A function that cannot be called: recursion, or one that is not there."""


@dataclass(frozen=True)
class _Frame:
    """A function that is being flattened: the calls that lead to it, entry first, and the label that replaces its
    `ret`; None in the entry, where `ret` ends the thread."""

    calls: tuple[str, ...]
    end: str | None = None


class Inliner:
    """Flattens one entry of a module; `run` once.

    After it, `body` is the flat body, `names` has the registers and variables that it refers to, and `stops` are the
    messages of stops, with their numbers.
    """

    def __init__(self, symbols: Symbols, text: str) -> None:
        self.names, self._symbols = Names(symbols, text), symbols
        self._error = self.names.error
        self.body: list[ptx.Instruction | ptx.Label] = []
        self.stops: dict[str, int] = {}
        self.addresses = pointer_calls.addresses(symbols.functions.values())
        self._numbers = count(1)
        self._removed = 0  # instructions of functions that cannot be called: they take time, too

    def run(self, entry: ptx.Function) -> None:
        """Flatten `entry`. Raises `PtxError` (without a file) for undeclared names and calls that cannot be inlined."""
        scope = Scope(self._symbols.scopes[entry.name], variable_suffix=f"@{entry.name}")
        for parameter in entry.parameters:
            if parameter.space == "reg":
                raise PtxError("a kernel has parameters in .param memory, and none in registers", line=parameter.line)
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
            self.names.variables[meaning.name] = meaning.variable
        return ptx.Symbol(meaning.name, symbol.offset)

    def _scope(self, parent: Scope, variable_suffix: str, depth: int) -> Scope:
        if depth > MAX_DEPTH:
            raise PtxError(f"blocks and calls are nested more than {MAX_DEPTH} deep")
        return Scope(parent, suffix=f"@{next(self._numbers)}", variable_suffix=variable_suffix, depth=depth)

    def _instruction(self, instruction: ptx.Instruction, scope: Scope, frame: _Frame) -> None:
        guard = self.names.guard(instruction.guard, scope, instruction)
        if instruction.opcode == "call":
            self._call(replace(instruction, guard=guard), scope, frame)
        elif instruction.opcode == "ret" and frame.end:
            self.body.append(
                replace(instruction, opcode="bra", modifiers=(), operands=(ptx.Symbol(frame.end),), guard=guard)
            )
        elif instruction.opcode == "bra":
            target = (self.names.label(instruction, scope),)
            self.body.append(replace(instruction, operands=target, guard=guard))
        elif instruction.opcode == "brx":
            self._branch_through_table(instruction, guard, scope)
        else:
            operands = tuple(self.names.operand(operand, scope, instruction) for operand in instruction.operands)
            self.names.check_addresses(operands, instruction)
            placed = replace(instruction, operands=operands, guard=guard)
            if frame.end and any(_is_indirect(operand) for operand in operands):
                # a pointer to the function's own parameter, which becomes a local variable
                placed = callparams.in_local_memory(placed)
            self.body.append(placed)

    def _branch_through_table(self, brx: ptx.Instruction, guard: ptx.Register | ptx.Not | None, scope: Scope) -> None:
        if brx.modifiers not in (("idx",), ("idx", "uni")) or len(brx.operands) != 2:
            raise self._error("supported is brx.idx (.uni) with an index and a table", brx)
        index, name = self.names.operand(brx.operands[0], scope, brx), getattr(brx.operands[1], "name", "")
        if not isinstance(index, ptx.Register) or ptx.TYPE_BYTES.get(self.names.registers.get(index.name, ""), 0) != 4:
            raise self._error("the index of a table must be a register of 32 bits", brx)
        table = scope.find(name)
        if not table or table.kind != "table":
            raise self._error(f"'{name}' is not a table: write '{name}: .branchtargets' with the labels", brx, name)
        unique = f"{table.name}@{next(self._numbers)}"
        self.names.registers[unique] = "pred"
        if guard:
            self.body.append(_unless(guard, f"{unique}@end", brx))
        self.body += branch_tables.branches(brx, index, table.targets, ptx.Register(unique))
        if guard:
            self.body.append(ptx.Label(f"{unique}@end", brx.line))

    # ------------------------------------------------------------ calls

    def _call(self, call: ptx.Instruction, scope: Scope, frame: _Frame) -> None:
        function = self._callee(call, scope)
        groups = call.lists or ((), ())
        returns, arguments = ([self.names.operand(part, scope, call) for part in group] for group in groups)
        if not function:
            self._call_pointer(call, (returns, arguments), scope, frame)
            return
        start = len(self.body)
        if function.body or function.name not in runtime.SOURCES:
            self._inline(function, call, (returns, arguments), scope.depth + 1, frame)
            return
        defined = runtime.function(function.name)
        if not (function.returns or returns):  # a declaration without the result: Taichi's of vprintf
            returns = [ptx.Register(SINK)] * len(defined.returns)
        self._inline(defined, call, (returns, arguments), scope.depth + 1, frame)
        self.body[start:] = [replace(item, line=call.line) for item in self.body[start:]]

    def _callee(self, call: ptx.Instruction, scope: Scope) -> ptx.Function | None:
        """The function that is called by its name, None for a pointer."""
        callee = call.operands[0]
        name = callee.name if isinstance(callee, ptx.Symbol) else ""
        meaning = scope.find(name)
        if not meaning:
            raise self._error(scope.undeclared(name, "function"), call, name)
        if meaning.kind == "register":
            return None
        if meaning.kind != "function":
            raise self._error(f"a call needs a function or a register, and '{name}' is a {meaning.kind}", call, name)
        return self._symbols.functions[meaning.name]

    def _call_pointer(self, call: ptx.Instruction, actuals: Actuals, scope: Scope, frame: _Frame) -> None:
        """A call through a pointer: each function that it may be is inlined."""
        pointer = self.names.operand(call.operands[0], scope, call)
        assert isinstance(pointer, ptx.Register)
        if ptx.TYPE_BYTES.get(self.names.registers[pointer.name]) != POINTER_BYTES:
            raise self._error("a pointer to a function must be a register of 64 bits", call, pointer.name)
        functions = {self.addresses[each.name]: each for each in self._choice(call, actuals, scope, frame)}
        cases = self._cases(call, dict(sorted(functions.items())), actuals, scope, frame)
        unique = f"(call)@{next(self._numbers)}"
        self.names.registers[unique] = "pred"
        if call.guard:
            self.body.append(_unless(call.guard, f"{unique}@skipped", call))
        otherwise = self._stop(pointer_calls.NO_FUNCTION, call)
        self.body += pointer_calls.choose(call, pointer, cases, ptx.Register(unique), otherwise)
        if call.guard:
            self.body.append(ptx.Label(f"{unique}@skipped", call.line))

    def _cases(self, call: ptx.Instruction, functions: dict[int, ptx.Function], actuals: Actuals, scope: Scope,
               frame: _Frame) -> list[tuple[int, pointer_calls.Body]]:
        """The address and the inlined body of each function. One that cannot be called, as it leads to a function that
        has not returned or is not there, becomes a stop: the pointer need not be it. An error if that holds for all."""
        start, variables = len(self.body), dict(self.names.variables)
        starts, refused = [], []
        for function in functions.values():
            starts.append(len(self.body))
            try:
                self._inline(function, replace(call, guard=None), actuals, scope.depth + 1, frame)
            except CallError as error:
                refused.append(error)
                self._removed += len(self.body) - starts[-1]
                del self.body[starts[-1] :]
                self.names.variables = dict(variables)
                self.body.append(self._stop(error.message, replace(call, line=error.line)))
            variables = dict(self.names.variables)
        if functions and len(refused) == len(functions):
            raise refused[0]
        ranges = pairwise([*starts, len(self.body)])
        cases = [(address, self.body[low:high]) for address, (low, high) in zip(functions, ranges, strict=True)]
        del self.body[start:]
        return cases

    def _stop(self, message: str, at: ptx.Instruction) -> ptx.Instruction:
        """A stop with a message."""
        return pointer_calls.stop(self.stops.setdefault(message, len(self.stops) + 1), at)

    def _choice(self, call: ptx.Instruction, actuals: Actuals, scope: Scope, frame: _Frame) -> list[ptx.Function]:
        """The functions to which a call through a pointer may lead."""
        name = getattr(call.operands[1], "name", "") if len(call.operands) > 1 else ""
        meaning = scope.find(name)
        if meaning and meaning.choice and not meaning.choice.functions:
            return self._fitting(call, meaning.choice, actuals, frame)
        if meaning and meaning.choice:
            found = [(each, scope.find(each)) for each in meaning.choice.functions]
            names = {target.name if target else each: each for each, target in found}
        elif meaning and meaning.variable:
            names = {symbol.name: symbol.name for _, symbol, *_ in meaning.variable.pointers}
        else:
            raise self._error("a call through a pointer ends in the name of a .callprototype, of .calltargets or of an "
                              "array of functions", call, name)
        functions = self._symbols.functions
        if wrong := [written for each, written in names.items() if each not in functions]:
            raise self._error(f"'{name}' has to name functions, and '{wrong[0]}' is none", call, name)
        return [functions[each] for each in names]

    def _fitting(self, call: ptx.Instruction, prototype: ptx.Choice, actuals: Actuals,
                 frame: _Frame) -> list[ptx.Function]:
        """The functions that the pointer may reach and that have the sizes of a prototype."""
        groups = (prototype.returns, prototype.parameters)
        for formals, given, what in zip(groups, actuals, RESULTS, strict=True):
            self._check_passed(prototype.name, formals, given, call, what)
        callee = call.operands[0]
        assert isinstance(callee, ptx.Symbol)
        return [function for function in self._reach.functions(frame.calls[-1], callee.name)
                if _sizes(function.returns, function.parameters) == _sizes(*groups)]

    @cached_property
    def _reach(self) -> Reach:
        return Reach(self._symbols)

    def _inline(
        self, function: ptx.Function, call: ptx.Instruction, actuals: Actuals, depth: int, frame: _Frame
    ) -> None:
        name = function.name
        if name in HEAP:
            raise self._error(f"'{name}' is not supported: there is no device heap", call, name, CallError)
        if not function.body and name.startswith(DEVICE_RUNTIME):
            message = (f"'{name}' is not supported: there is no device runtime, so a kernel cannot synchronise its grid"
                       " (grid.sync), nor launch kernels")
            raise self._error(message, call, name, CallError)
        if not function.body:
            raise self._error(self.names.undefined("function", name), call, name, CallError)
        if len(self.body) + self._removed > MAX_INSTRUCTIONS:
            raise self._error(f"inlining makes more than {MAX_INSTRUCTIONS} instructions", call, name)
        if name in frame.calls:
            chain = " -> ".join((*frame.calls[frame.calls.index(name) :], name))
            raise self._error(f"recursion is not supported: {chain}", call, name, CallError)
        scope = self._scope(self._symbols.scopes[name], f"@{name}", depth)
        self._check_passed(name, function.returns, actuals[0], call, "results")
        self._check_passed(name, function.parameters, actuals[1], call, "parameters")
        returns = self._passed(function.returns, actuals[0], scope, call)
        arguments = self._passed(function.parameters, actuals[1], scope, call)
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

    def _passed(self, formals: tuple[ptx.Variable, ...], given: list[ptx.Operand], scope: Scope,
                call: ptx.Instruction) -> list[tuple[ptx.Variable, ptx.Operand]]:
        """The formal parameters, declared in the function's scope and with unique names, and what the call gives."""
        passed = []
        for formal, actual in zip(formals, given, strict=True):
            if formal.space == "reg":
                scope.declare_registers(ptx.Registers(formal.type, ((formal.name, 0),), formal.line))
            else:
                scope.declare_variable(formal)
            unique = scope.meanings[formal.name].name
            if formal.space == "reg":
                self.names.registers[unique] = formal.type
            else:
                self.names.record(unique, formal, call)
                self.names.own.add(unique)
            passed.append((replace(formal, name=unique), actual))
        return passed

    def _check_passed(self, name: str, formals: tuple[ptx.Variable, ...], given: list[ptx.Operand],
                      call: ptx.Instruction, what: str) -> None:
        """Refuse what does not fit the parameters or results of the function or prototype `name`."""
        if len(formals) != len(given):
            raise self._error(f"'{name}' has {len(formals)} {what}, the call gives {len(given)}", call, name)
        for formal, actual in zip(formals, given, strict=True):
            if formal.type not in ptx.TYPE_BYTES:
                raise self._error(f"variables of type .{formal.type} are not supported", call, formal.name)
            size = self._size(actual, formal, call, result=what == "results")
            if size != formal.size:
                message = f"parameter '{formal.name}' has {formal.size} bytes, the call gives {size}"
                raise self._error(message, call)
            if size > MAX_PARAMETER_BYTES:
                message = f"parameter '{formal.name}' has {size} bytes, and {MAX_PARAMETER_BYTES} is the limit"
                raise self._error(message, call)

    def _size(self, actual: ptx.Operand, formal: ptx.Variable, call: ptx.Instruction, *, result: bool) -> int:
        """The bytes that the call gives for a parameter, or takes as a result."""
        match actual:
            case ptx.Symbol(name, 0) if name in self.names.call_parameters:
                return self.names.call_parameters[name].size
            case ptx.Register(name) if name in self.names.registers and not formal.dimensions:
                return ptx.TYPE_BYTES.get(self.names.registers[name], 0)
            case ptx.Register(name) if name == SINK and result:
                return formal.size
            case ptx.Immediate() if not (result or formal.dimensions):
                return formal.size
        legal = f".param variables of its function, registers{' and _' if result else ' and constants'}"
        raise self._error(f"a call can only {'return to' if result else 'pass'} {legal}; for an array, variables", call)


def _unless(guard: ptx.Register | ptx.Not, target: str, at: ptx.Instruction) -> ptx.Instruction:
    """A branch to `target` where a guard fails."""
    fails = guard.register if isinstance(guard, ptx.Not) else ptx.Not(guard)
    return replace(at, opcode="bra", modifiers=(), operands=(ptx.Symbol(target),), guard=fails, lists=None)


def _argument(formal: ptx.Variable, actual: ptx.Operand, call: ptx.Instruction) -> ptx.Instruction:
    """What gives a parameter its value, behind the branch that a guarded call begins with."""
    at = replace(call, guard=None, lists=None)
    if formal.space == "reg":
        return _set(ptx.Register(formal.name), actual, formal.type, at)
    if isinstance(actual, ptx.Symbol):
        return callparams.copy(formal.name, actual.name, at)
    operands = (ptx.Address(ptx.Symbol(formal.name)), actual)
    return replace(at, opcode="st", modifiers=("param", formal.type), operands=operands)


def _result(formal: ptx.Variable, actual: ptx.Operand, call: ptx.Instruction) -> ptx.Instruction:
    """What takes a result out of a parameter, with the guard of the call."""
    at = replace(call, lists=None)
    if formal.space == "reg" and isinstance(actual, ptx.Symbol):
        operands: tuple[ptx.Operand, ...] = (ptx.Address(actual), ptx.Register(formal.name))
        return replace(at, opcode="st", modifiers=("param", formal.type), operands=operands)
    if isinstance(actual, ptx.Symbol):
        return callparams.copy(actual.name, formal.name, call)
    value = ptx.Register(formal.name) if formal.space == "reg" else ptx.Symbol(formal.name)
    return _set(actual, value, formal.type, at)


def _set(register: ptx.Operand, value: ptx.Operand, type_: str, at: ptx.Instruction) -> ptx.Instruction:
    """What gives a register a value, or that of a parameter."""
    if isinstance(value, ptx.Symbol):
        return replace(at, opcode="ld", modifiers=("param", type_), operands=(register, ptx.Address(value)))
    bits = f"b{8 * ptx.TYPE_BYTES[type_]}"
    plain = isinstance(value, ptx.Immediate) and type_ in ("f32", "f64")
    return replace(at, opcode="mov", modifiers=(type_ if plain else bits,), operands=(register, value))


def _is_indirect(operand: ptx.Operand) -> bool:
    return isinstance(operand, ptx.Address) and isinstance(operand.base, ptx.Register)


def _sizes(*groups: tuple[ptx.Variable, ...]) -> list[list[int]]:
    """The bytes of results and of parameters."""
    return [[variable.size for variable in group] for group in groups]
