"""The functions to which a call through a pointer may lead."""

from functools import cached_property

from warploom.compiler import ptx
from warploom.compiler.modules import Symbols
from warploom.compiler.names import Names
from warploom.compiler.passing import Actuals, Formals, Passing
from warploom.compiler.scopes import Scope
from warploom.compiler.vtables import Reach


class Callees:
    """Finds the functions of calls through pointers among those of `symbols`."""

    def __init__(self, symbols: Symbols, names: Names, passing: Passing) -> None:
        self._symbols, self._passing, self._error = symbols, passing, names.error

    def of(self, call: ptx.Instruction, actuals: Actuals, scope: Scope, caller: str) -> list[ptx.Function]:
        """Those of a call in the function `caller`. Raises `PtxError` if it does not say what it may call."""
        name = getattr(call.operands[1], "name", "") if len(call.operands) > 1 else ""
        meaning = scope.find(name)
        if meaning and meaning.choice and not meaning.choice.functions:
            return self._fitting(call, meaning.choice, actuals, caller)
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
                 caller: str) -> list[ptx.Function]:
        """The functions that the pointer may reach and that have the sizes of a prototype."""
        formals = prototype.returns, prototype.parameters
        self._passing.check(prototype.name, formals, actuals, call)
        callee = call.operands[0]
        assert isinstance(callee, ptx.Symbol)
        return [function for function in self._reach.functions(caller, callee.name)
                if _sizes((function.returns, function.parameters)) == _sizes(formals)]

    @cached_property
    def _reach(self) -> Reach:
        return Reach(self._symbols)


def _sizes(formals: Formals) -> list[list[int]]:
    """The bytes of results and of parameters."""
    return [[variable.size for variable in each] for each in formals]
