"""What a call passes: the values of parameters, and what takes the results.

Parameters of space ``param`` stay variables here; `warploom.compiler.callparams` turns them into registers.
"""

from dataclasses import replace

from warploom.compiler import callparams, ptx
from warploom.compiler.names import SINK, Names
from warploom.compiler.scopes import Scope

MAX_BYTES = 1 << 15
"""Limit of a call's parameter, which is copied; CUDA has a similar one for kernels."""

Formals = tuple[tuple[ptx.Variable, ...], tuple[ptx.Variable, ...]]
"""The results of a function, and its parameters."""

Actuals = tuple[list[ptx.Operand], list[ptx.Operand]]
"""What takes the results of a call, and what it passes."""

Passed = list[tuple[ptx.Variable, ptx.Operand]]
"""Parameters or results of a function, with unique names, and the operands of the call for them."""


class Passing:
    """Checks and declares what calls pass. `names` gets the declarations."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def declare(self, formals: tuple[ptx.Variable, ...], given: list[ptx.Operand], scope: Scope,
                call: ptx.Instruction) -> Passed:
        """The formal parameters, declared in the function's scope and with unique names, and what the call gives."""
        passed = []
        for formal, actual in zip(formals, given, strict=True):
            if formal.space == "reg":
                scope.declare_registers(ptx.Registers(formal.type, ((formal.name, 0),), formal.line))
            else:
                scope.declare_variable(formal)
            unique = scope.meanings[formal.name].name
            if formal.space == "reg":
                self._names.registers[unique] = formal.type
            else:
                self._names.record(unique, formal, call)
                self._names.own.add(unique)
            passed.append((replace(formal, name=unique), actual))
        return passed

    def check(self, name: str, formals: Formals, actuals: Actuals, call: ptx.Instruction) -> None:
        """Refuse what does not fit the results or parameters of the function or prototype `name`."""
        for each, given, what in zip(formals, actuals, ("results", "parameters"), strict=True):
            if len(each) != len(given):
                raise self._names.error(f"'{name}' has {len(each)} {what}, the call gives {len(given)}", call, name)
            for formal, actual in zip(each, given, strict=True):
                self._check_size(formal, actual, call, result=what == "results")

    def _check_size(self, formal: ptx.Variable, actual: ptx.Operand, call: ptx.Instruction, *, result: bool) -> None:
        if formal.type not in ptx.TYPE_BYTES:
            raise self._names.error(f"variables of type .{formal.type} are not supported", call, formal.name)
        size = self._size(actual, formal, call, result=result)
        if size != formal.size:
            message = f"parameter '{formal.name}' has {formal.size} bytes, the call gives {size}"
            raise self._names.error(message, call)
        if size > MAX_BYTES:
            message = f"parameter '{formal.name}' has {size} bytes, and {MAX_BYTES} is the limit"
            raise self._names.error(message, call)

    def _size(self, actual: ptx.Operand, formal: ptx.Variable, call: ptx.Instruction, *, result: bool) -> int:
        """The bytes that the call gives for a parameter, or takes as a result."""
        match actual:
            case ptx.Symbol(name, 0) if name in self._names.call_parameters:
                return self._names.call_parameters[name].size
            case ptx.Register(name) if name in self._names.registers and not formal.dimensions:
                return ptx.TYPE_BYTES.get(self._names.registers[name], 0)
            case ptx.Register(name) if name == SINK and result:
                return formal.size
            case ptx.Immediate() if not (result or formal.dimensions):
                return formal.size
        legal = f".param variables of its function, registers{' and _' if result else ' and constants'}"
        message = f"a call can only {'return to' if result else 'pass'} {legal}; for an array, variables"
        raise self._names.error(message, call)


def argument(formal: ptx.Variable, actual: ptx.Operand, call: ptx.Instruction) -> ptx.Instruction:
    """What gives a parameter its value, behind the branch that a guarded call begins with."""
    at = replace(call, guard=None, lists=None)
    if formal.space == "reg":
        return _set(ptx.Register(formal.name), actual, formal.type, at)
    if isinstance(actual, ptx.Symbol):
        return callparams.copy(formal.name, actual.name, at)
    operands = (ptx.Address(ptx.Symbol(formal.name)), actual)
    return replace(at, opcode="st", modifiers=("param", formal.type), operands=operands)


def result(formal: ptx.Variable, actual: ptx.Operand, call: ptx.Instruction) -> ptx.Instruction:
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
