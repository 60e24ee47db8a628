"""Functions whose address is taken, and which of them a call through a pointer may reach.

A virtual function that calls another one would seem to call all functions with such parameters, itself included. So of
the functions that only vtables name a call reaches those at its place in a vtable. Compilers of C++ name a vtable
``_ZTV...`` (Itanium C++ ABI); an object has the address of a place in it, its address point, and a call loads the
function at a constant distance from there.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from warploom.compiler import ptx
from warploom.compiler.modules import Symbols, pointing
from warploom.compiler.scopes import Scope

VTABLE = "_ZTV"
COPIES = ("mov", "cvta")
CHOICES = (*COPIES, "selp")
"""Instructions whose result is one of their operands."""

USES = ("st", "ld", "setp")
"""Those that take an address as it is."""

OTHER_SPACES = {"const", "local", "shared", "param"}
"""State spaces without vtables."""

ELSEWHERE = -1
"""The distance of what is loaded from another space."""

MAX_STEPS = 64
"""Between a register and the load from which it comes: copies, and sums with constants."""

MAX_PLACES = 64
"""Of a register on average; with more, a loop adds to one."""

SIGN = 1 << 63
"""The sign bit of a constant."""

Place = tuple[str, int]
"""A variable and an offset in bytes."""


class Code:
    """The `instructions` of a function, the names in their operands but for what is called, with their unique names in
    `scope`, and the instructions that write each register."""

    def __init__(self, function: ptx.Function, scope: Scope) -> None:
        self.instructions = [each for each in function.statements if isinstance(each, ptx.Instruction)]
        named = {name for each in self.instructions if each.opcode != "call" for name in _names(*each.operands)}
        self.named = {name: scope.meanings[name].name for name in named if name in scope.meanings}
        self._given = {parameter.name for parameter in function.parameters if parameter.space == "reg"}
        self._writers: dict[str, list[ptx.Instruction]] = defaultdict(list)
        for instruction in self.instructions:
            for name in _written(instruction):
                self._writers[name].append(instruction)

    def distance(self, pointer: str) -> int | None:
        """The distance of the place from which a register is loaded to an address that is loaded, too. None for another
        value, or if it is not constant."""
        load = self._writer(pointer)
        if not load or load.opcode != "ld" or isinstance(load.operands[0], ptx.Vector):
            return None
        if not OTHER_SPACES.isdisjoint(load.modifiers):
            return ELSEWHERE
        address = load.operands[-1]
        assert isinstance(address, ptx.Address)
        (name, *_), distance = (*_names(address), ""), address.offset
        for _ in range(MAX_STEPS):
            writer = self._writer(name)
            step = _sum(writer) if writer else None
            if not step:
                return distance if writer and writer.opcode == "ld" else None
            name, distance = step[0], distance + step[1]
        return None

    def places(self, variables: Iterable[str]) -> Iterator[tuple[str, int | None]]:
        """The places in `variables` whose addresses are used as they are; None if they are not known."""
        start = {name: {(unique, 0)} for name, unique in self.named.items() if unique in variables}
        held: dict[str, set[Place]] = defaultdict(set, start)
        before, size = -1, 0
        while before < size:
            before = size
            for instruction in self.instructions:
                _pass_on(instruction, held)
            size = sum(map(len, held.values()))
            if size > MAX_PLACES * len(held):
                yield from ((self.named[name], None) for name in start)
                return
        for instruction in self.instructions:
            if _constant(instruction) is None:
                operands = [*instruction.operands, *(instruction.lists[1] if instruction.lists else ())]
                yield from ((name, at if instruction.opcode in USES else None) for name, at in _places(operands, held))

    def _writer(self, register: str) -> ptx.Instruction | None:
        """The only writer of a register, copies aside."""
        for _ in range(MAX_STEPS):
            writers = self._writers.get(register, [])
            if len(writers) != 1 or register in self._given:
                return None
            source = writers[0].operands[-1]
            if writers[0].opcode not in COPIES or not isinstance(source, ptx.Symbol):
                return writers[0]
            register = source.name
        return None


class Reach:
    """The functions whose address is anywhere in some files: another kernel may have stored it."""

    def __init__(self, symbols: Symbols) -> None:
        functions = symbols.functions
        self._code = {name: Code(function, symbols.scopes[name]) for name, function in functions.items()}
        self._slots: dict[str, set[Place]] = defaultdict(set)  # of each function in vtables
        self._points: dict[str, set[int | None]] = {}
        self._others = {name for code in self._code.values() for name in code.named.values()}
        own = (pointing(each, {key: meaning.name for key, meaning in symbols.scopes[name].meanings.items()})
               for name, function in functions.items()
               for each in function.statements if isinstance(each, ptx.Variable) and each.pointers)
        declared = [*symbols.variables.values(), *own]
        for variable in declared:
            if variable.name.startswith(VTABLE):
                self._points[variable.name] = set()
        for variable in declared:
            for position, symbol, *_ in variable.pointers:
                if variable.name not in self._points:
                    self._others.add(symbol.name)
                else:  # also of the further bytes of an address, which is loaded from its first one
                    self._slots[symbol.name].add((variable.name, position))
                if symbol.name in self._points:
                    self._points[symbol.name].add(symbol.offset)
        for code in self._code.values():
            for name, offset in code.places(self._points):
                self._points[name].add(offset)
        self._taken = [function for name, function in functions.items()
                       if not function.is_entry and (name in self._others or name in self._slots)]

    def functions(self, caller: str, pointer: str) -> list[ptx.Function]:
        """The functions that a register of `caller` may hold."""
        distance = self._code[caller].distance(pointer)
        return [function for function in self._taken
                if function.name in self._others or distance is None or self._at(function.name, distance)]

    def _at(self, function: str, distance: int) -> bool:
        """Whether a function is in a vtable at a distance from an address point."""
        return any(None in self._points[name] or position - distance in self._points[name]
                   for name, position in self._slots[function])


def _pass_on(instruction: ptx.Instruction, held: dict[str, set[Place]]) -> None:
    """Add to what the result of an instruction may hold."""
    constant = _constant(instruction)
    if constant is None:
        return
    places = {(name, at + constant) for name, at in _places(instruction.operands[1:], held)}
    for target in _written(instruction) if places else ():
        held[target] |= places


def _places(operands: Iterable[ptx.Operand], held: dict[str, set[Place]]) -> set[Place]:
    """What operands may hold. A symbol may have an offset."""
    offsets = [(name, operand.offset if isinstance(operand, ptx.Symbol) else 0)
               for operand in operands for name in _names(operand)]
    return {(variable, at + offset) for name, offset in offsets for variable, at in held.get(name, ())}


def _constant(instruction: ptx.Instruction) -> int | None:
    """The constant that an instruction adds to one of its operands; None if it does anything else."""
    step = _sum(instruction)
    return step[1] if step else 0 if instruction.opcode in CHOICES else None


def _sum(instruction: ptx.Instruction) -> tuple[str, int] | None:
    """The register and the constant that an instruction adds."""
    match instruction:
        case ptx.Instruction(opcode="add", operands=(_, ptx.Symbol(name, 0), ptx.Immediate("int", value))):
            return name, (value + SIGN) % (2 * SIGN) - SIGN
    return None


def _written(instruction: ptx.Instruction) -> Iterator[str]:
    """The registers that an instruction may write."""
    results = instruction.lists[0] if instruction.lists else instruction.operands[:1]
    return _names(*(operand for operand in results if not isinstance(operand, ptx.Address)))


def _names(*operands: ptx.Operand) -> Iterator[str]:
    """The names in operands."""
    for operand in operands:
        match operand:
            case ptx.Symbol(name) | ptx.Register(name) | ptx.Address(ptx.Symbol(name)):
                yield name
            case ptx.Vector(items):
                yield from _names(*items)
            case ptx.Pair(first, second):
                yield from (first.name, second.name)
