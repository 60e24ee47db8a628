"""One entry to a flat body: names made unique, device functions inlined.

A call's parameters stay variables of space ``param`` here, which are copied before and after the function's body.
`warploom.compiler.callparams` turns accesses and copies into moves. Recursive functions are not inlined into each
other: see `warploom.compiler.recursion`.
"""

from dataclasses import dataclass, replace
from itertools import count, pairwise

from warploom.arch.errors import PtxError
from warploom.compiler import branch_tables, callparams, passing, pointer_calls, ptx, runtime
from warploom.compiler.callees import Callees
from warploom.compiler.modules import Symbols
from warploom.compiler.names import SINK, Names
from warploom.compiler.passing import Actuals, Passed, Passing
from warploom.compiler.recursion import Components, Regions, branch, returning
from warploom.compiler.scopes import Meaning, Scope, parameter_symbol
from warploom.compiler.symbols import STACK

MAX_INSTRUCTIONS = 200_000
"""Limit of inlining: calls that fan out over many levels grow without bound."""

MAX_DEPTH = 100
"""Nested blocks and inlined calls together."""

FULL = "the stack is full at a call of '{}': give a thread more of it with --stack BYTES, stack=BYTES or "\
       "cudaDeviceSetLimit"
"""The message of a stop."""

POINTER_BYTES = 8
HEAP = ("malloc", "free")
DEVICE_RUNTIME = ("cuda", "__cudaCDP2")
"""What the names of functions in CUDA's device runtime begin with; they are not mangled, and PTX only declares them."""


class CallError(PtxError):
    """A function that cannot be called, as it is not there."""


@dataclass(frozen=True)
class _Frame:
    """A function that is being flattened: the calls that lead to it, entry first; the label that replaces its `ret`,
    None in the entry, where `ret` ends the thread; and the innermost recursive function among them."""

    calls: tuple[str, ...]
    end: str | None = None
    activation: ptx.Activation | None = None

    @property
    def own(self) -> ptx.Activation | None:
        """The function itself if it is recursive."""
        return self.activation if self.activation and self.activation.function == self.calls[-1] else None


class Inliner:
    """Flattens one entry of a module; `run` once.

    After it, `body` is the flat body, `names` has the registers and variables that it refers to, `stops` are the
    messages of stops, with their numbers, and `regions` has the calls of recursive functions, those of `components`.
    """

    def __init__(self, symbols: Symbols, text: str, components: Components) -> None:
        self.names, self._symbols = Names(symbols, text), symbols
        self._error = self.names.error
        self._passing = Passing(self.names)
        self._callees = Callees(symbols, self.names, self._passing)
        self._components = components
        self.regions = Regions(self.names)
        self.body: list[ptx.Instruction | ptx.Label] = []
        self.stops: dict[str, int] = {}
        self.addresses = pointer_calls.addresses(symbols.functions.values())
        self._numbers = count(1)
        self._removed = 0  # instructions of functions that cannot be called: they take time, too

    def run(self, entry: ptx.Function) -> None:
        """Flatten `entry`. Raises `PtxError` (without a file) for undeclared names and calls that cannot be inlined,
        and `Recursion` for a component that is not known."""
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
                    self._variable(statement, scope, frame)
                case ptx.Block():
                    inner = self._scope(scope, f"{scope.variable_suffix}.{index}", scope.depth + 1)
                    self._block(statement, inner, frame)

    def _variable(self, variable: ptx.Variable, scope: Scope, frame: _Frame) -> None:
        """Declare a variable, in whose initialiser each name has the meaning that it has here."""
        pointers = tuple((position, self._pointed(symbol, variable, scope), generic, part)
                         for position, symbol, generic, part in variable.pointers)
        scope.declare_variable(replace(variable, pointers=pointers))
        if frame.own and variable.space in ("local", "param"):
            frame.own.variables.append(replace(variable, name=scope.meanings[variable.name].name))

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
        callees = self._callees.of(call, actuals, scope, frame.calls[-1])
        functions = {self.addresses[each.name]: each for each in callees}
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
        is not there, becomes a stop: the pointer need not be it. An error if that holds for all."""
        start, variables, regions = len(self.body), dict(self.names.variables), self.regions.state
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
                self.regions.reset(regions)
                self.body.append(self._stop(error.message, replace(call, line=error.line)))
            variables, regions = dict(self.names.variables), self.regions.state
        if functions and len(refused) == len(functions):
            raise refused[0]
        ranges = pairwise([*starts, len(self.body)])
        cases = [(address, self.body[low:high]) for address, (low, high) in zip(functions, ranges, strict=True)]
        del self.body[start:]
        return cases

    def _stop(self, message: str, at: ptx.Instruction) -> ptx.Instruction:
        """A stop with a message."""
        return pointer_calls.stop(self._stop_number(message), at)

    def _stop_number(self, message: str) -> int:
        return self.stops.setdefault(message, len(self.stops) + 1)

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
        self._passing.check(name, (function.returns, function.parameters), actuals, call)
        if self._components.is_recursive(name, frame.calls):
            self._recur(function, call, actuals, depth, frame)
            return
        scope = self._scope(self._symbols.scopes[name], f"@{name}", depth)
        returns = self._passing.declare(function.returns, actuals[0], scope, call)
        arguments = self._passing.declare(function.parameters, actuals[1], scope, call)
        end = f"{name}{scope.suffix}@end"  # no label of the function, which may have its name
        if call.guard:
            self.body.append(_unless(call.guard, end, call))
        self.body += [passing.argument(formal, actual, call) for formal, actual in arguments]
        self._function(function.body, scope, _Frame((*frame.calls, name), end, frame.activation), call.line)
        self._results(returns, call)

    def _function(self, body: ptx.Block, scope: Scope, frame: _Frame, line: int) -> None:
        """The body of a function, and the label where it ends."""
        assert frame.end
        self._block(body, scope, frame)
        last = self.body[-1] if self.body else None
        if isinstance(last, ptx.Instruction) and last.operands == (ptx.Symbol(frame.end),) and not last.guard:
            self.body.pop()  # the usual single `ret` at the end
        self.body.append(ptx.Label(frame.end, line))

    def _results(self, returns: Passed, call: ptx.Instruction) -> None:
        taken = [(formal, actual) for formal, actual in returns if actual != ptx.Register(SINK)]
        self.body += [passing.result(formal, actual, call) for formal, actual in taken]

    def _recur(self, function: ptx.Function, guarded: ptx.Instruction, actuals: Actuals, depth: int,
               frame: _Frame) -> None:
        """A call of a recursive function, whose code follows unless it already stands in the region of the call."""
        unique = f"({function.name})@{next(self._numbers)}"
        call = replace(guarded, guard=None)
        if guarded.guard:
            self.body.append(_unless(guarded.guard, f"{unique}@skipped", call))
        caller = frame.activation
        region = caller.region if caller and caller.function in self._components.of(function.name) else unique
        known = self.regions.find(function.name, region)
        callee = known or self.regions.add(function, region, unique, call)
        passed = zip(callee.arguments, actuals[1], strict=True)
        self.body += [passing.argument(formal, actual, call) for formal, actual in passed]
        made = self.regions.call(unique, caller, callee, self._stop_number(FULL.format(function.name)), call.line)
        self.body.append(ptx.Label(made.leaves, call.line))
        if known:
            self.body.append(branch(callee.start, call))
        else:
            self._activate(function, callee, call, depth, frame)
            self.body += self.regions.returns(region, call) if made.enters else [branch(returning(region), call)]
        self.body.append(ptx.Label(made.site, call.line))
        self._results(list(zip(callee.returns, actuals[0], strict=True)), call)
        if guarded.guard:
            self.body.append(ptx.Label(f"{unique}@skipped", call.line))

    def _activate(self, function: ptx.Function, activation: ptx.Activation, call: ptx.Instruction, depth: int,
                  frame: _Frame) -> None:
        """The code of a recursive function in a region."""
        assert function.body
        scope = self._scope(self._symbols.scopes[function.name], f"@{function.name}", depth)
        returns, arguments = (
            self._passing.declare(formals, [_operand(each) for each in passed], scope, call) for formals, passed in
            ((function.returns, activation.returns), (function.parameters, activation.arguments)))
        activation.variables += [formal for formal, _ in (*returns, *arguments) if formal.space == "param"]
        self.names.registers[STACK] = "u32"
        self.body.append(ptx.Label(activation.start, call.line))
        self.body += [passing.argument(formal, passed, call) for formal, passed in arguments]
        end = f"{function.name}{scope.suffix}@end"
        self._function(function.body, scope, _Frame((*frame.calls, function.name), end, activation), call.line)
        self.body += [passing.result(formal, passed, call) for formal, passed in returns]


def _operand(passed: ptx.Variable) -> ptx.Operand:
    """A parameter of a call as an operand."""
    return ptx.Register(passed.name) if passed.space == "reg" else ptx.Symbol(passed.name)


def _unless(guard: ptx.Register | ptx.Not, target: str, at: ptx.Instruction) -> ptx.Instruction:
    """A branch to `target` where a guard fails."""
    fails = guard.register if isinstance(guard, ptx.Not) else ptx.Not(guard)
    return replace(at, opcode="bra", modifiers=(), operands=(ptx.Symbol(target),), guard=fails, lists=None)


def _is_indirect(operand: ptx.Operand) -> bool:
    return isinstance(operand, ptx.Address) and isinstance(operand.base, ptx.Register)
