"""Grammar rules to PTX data: one callback for each rule of ``ptx.lark``, called as the parser reduces it."""

from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from typing import Any

from lark import Token, Transformer

from warploom.arch.errors import PtxError
from warploom.compiler import constants, initialiser, ptx

MAX_DIMENSIONS = 8
MAX_ELEMENTS = 1 << 40
WARP_SIZE = ptx.Immediate("int", 32)
EXTENTS = (".maxntid", ".reqntid")

Parts = list[Any]
"""The parts of a rule: tokens, and results of the callbacks of other rules; Lark types neither."""


@dataclass(frozen=True)
class Alias:
    """``.alias name, target;``: another name of a function."""

    name: str
    target: str


class Builder(Transformer[Token, Parts]):
    """One method for each rule or terminal with a meaning, called with the list of its parts."""

    # -------- terminals, in upper case as Lark requires

    NAME = staticmethod(str)

    def INT(self, token: Token) -> ptx.Immediate:
        octal = token.startswith("0") and token.isdigit()
        value = int(token, 8 if octal else 0)
        if value >> 64:
            raise PtxError(f"integer {token} does not fit 64 bits", line=token.line or 0, column=token.column or 0)
        return ptx.Immediate("int", value)

    def UNSIGNED(self, token: Token) -> constants.Integer:
        return constants.Integer(self.INT(token.update(value=token[:-1])).value, signed=False)

    def WARP_SZ(self, _token: Token) -> ptx.Immediate:
        return WARP_SIZE

    def PLAIN(self, token: Token) -> ptx.Instruction:
        guard, text = None, token.rstrip().removesuffix(";")
        column = token.column or 0
        if text[0] == "@":
            predicate, text = text.split(maxsplit=1)
            register = ptx.Register(predicate.lstrip("@!"))
            guard = ptx.Not(register) if predicate[1] == "!" else register
            column += token.index(text)
        full_opcode, *operands = text.split(maxsplit=1)
        opcode, *modifiers = full_opcode.split(".")
        found = tuple([_plain_operand(operand.strip()) for operand in operands[0].split(",")]) if operands else ()
        return ptx.Instruction(opcode, tuple(modifiers), found, guard, token.line or 0, column)

    def INTEGERS(self, token: Token) -> tuple[ptx.Immediate, ...]:
        return tuple([ptx.Immediate("int", int(number, 0)) for number in token[1:-1].split(",")])

    def FLOAT(self, token: Token) -> ptx.Immediate:
        if token[1] in "fF":
            return ptx.Immediate("f32", int(token[2:], 16))
        if token[1] in "dD":
            return ptx.Immediate("f64", int(token[2:], 16))
        return ptx.Immediate("f64", initialiser.float_bits(float(token), "f64"))

    def TYPE(self, token: Token) -> Token:
        return token.update(value=token[1:])

    # -------- operands

    def name(self, parts: Parts) -> ptx.Symbol:
        return ptx.Symbol(*parts)

    callee = name

    def plus(self, parts: Parts) -> int:
        token, number = parts
        if number.kind != "int":
            raise PtxError("an offset has to be an integer", line=token.line or 0, column=token.column or 0)
        return number.value

    def minus(self, parts: Parts) -> int:
        return -parts[0].value

    def offset(self, _parts: Parts) -> int:
        return 0

    def literal(self, parts: Parts) -> ptx.Immediate:
        return constants.literal(parts)

    def parenthesised(self, parts: Parts) -> ptx.Immediate | constants.Value:
        return parts[0] if len(parts) == 1 else constants.evaluate(parts)

    def bracket(self, parts: Parts) -> ptx.Address | ptx.Vector:
        base = parts[0]
        if len(parts) > 1:  # a texture, surface or tensor with its coordinates
            return ptx.Vector(tuple(parts))
        if isinstance(base, ptx.Symbol):
            return ptx.Address(ptx.Symbol(base.name), base.offset)
        return ptx.Address(base)

    def vector(self, parts: Parts) -> ptx.Vector:
        return ptx.Vector(tuple(parts))

    def pair(self, parts: Parts) -> ptx.Pair:
        return ptx.Pair(ptx.Register(parts[0]), ptx.Register(parts[1]))

    def negated(self, parts: Parts) -> ptx.Not:
        return ptx.Not(ptx.Register(parts[0]))

    # -------- statements

    def predicate(self, parts: Parts) -> ptx.Register:
        return ptx.Register(parts[0])

    def guard(self, parts: Parts) -> ptx.Register | ptx.Not | None:
        return parts[0] if parts else None

    def instruction(self, parts: Parts) -> ptx.Instruction:
        guard, token, operands = parts
        opcode, *modifiers = token.split(".")
        return ptx.Instruction(opcode, tuple(modifiers), operands, guard, token.line, token.column)

    def call(self, parts: Parts) -> ptx.Instruction:
        guard, token, returns, callee, arguments, choice = parts
        modifiers = tuple(token.split(".")[1:])
        operands = (callee, ptx.Symbol(choice)) if choice else (callee,)
        lists = (returns or (), arguments or ())
        return ptx.Instruction("call", modifiers, operands, guard, token.line, token.column, lists)

    def label(self, parts: Parts) -> ptx.Label | ptx.Choice:
        token, more = parts
        name = token[:-1].rstrip()
        if isinstance(more, ptx.Choice):
            return replace(more, name=name, line=token.line)
        return ptx.Label(name, token.line, more or ())

    def call_targets(self, parts: Parts) -> ptx.Choice:
        return ptx.Choice(functions=tuple(parts))

    def prototype(self, parts: Parts) -> ptx.Choice:
        returns, _name, parameters, _directives = parts
        return ptx.Choice(returns=returns, parameters=parameters)

    def registers(self, parts: Parts) -> ptx.Registers:
        type_, *names = parts
        return ptx.Registers(str(type_), tuple(names), type_.line)

    def name_range(self, parts: Parts) -> tuple[str, int]:
        name, count = parts
        return name, count.value if count else 0

    def block(self, parts: Parts) -> ptx.Block:
        return ptx.Block(tuple(chain.from_iterable(part if isinstance(part, list) else (part,) for part in parts)))

    # -------- variables

    def linkage(self, parts: Parts) -> str:
        return parts[-1][1:] if parts else ""

    def align(self, parts: Parts) -> tuple[str, int]:
        return "align", parts[0].value

    def VECTOR(self, token: Token) -> tuple[str, int]:
        return "vector", int(token[2:])

    def extent(self, parts: Parts) -> int:
        return parts[0].value if parts else 0

    def plain_pointer(self, parts: Parts) -> initialiser.Pointer:
        name, offset = parts
        return initialiser.Pointer(ptx.Symbol(name, offset))

    def generic_pointer(self, parts: Parts) -> initialiser.Pointer:
        pointer, offset = parts
        symbol = ptx.Symbol(pointer.symbol.name, pointer.symbol.offset + offset)
        return initialiser.Pointer(symbol, generic=True)

    def masked_pointer(self, parts: Parts) -> initialiser.Pointer:
        mask, pointer = parts
        return replace(pointer, mask=mask.value)

    def variable(self, parts: Parts) -> list[ptx.Variable]:
        linkage, space, qualifiers, type_, *declarators = parts
        more = {"linkage": linkage, **dict(qualifiers)}
        return [
            _checked(ptx.Variable(space[1:], str(type_), name, space.line, dimensions=extents, **more), value, space)
            for name, extents, value in declarators
        ]

    def memory_parameter(self, parts: Parts) -> ptx.Variable:
        align, type_, _hint, name, extents = parts
        bytes_ = align[1] if align else 0
        variable = ptx.Variable("param", str(type_), name, type_.line, align=bytes_, dimensions=extents)
        return _checked(variable, None, type_)

    def register_parameter(self, parts: Parts) -> ptx.Variable:
        type_, name = parts
        if type_ in ("pred", "b8", "u8", "s8"):
            raise PtxError(f"register parameters of type .{type_} are not supported; they have 16, 32 or 64 bits",
                           line=type_.line or 0, column=type_.column or 0)
        return ptx.Variable("reg", str(type_), name, type_.line)

    # -------- functions and the file

    def directive(self, parts: Parts) -> tuple[str, tuple[int, ...]]:
        token, *values = parts
        if token in EXTENTS and not (0 < len(values) <= 3 and all(value.value for value in values)):
            raise PtxError(f"{token} takes the extents of a block, one to three positive numbers: {token} 128, 1, 1",
                           line=token.line or 0, column=token.column or 0)
        return str(token), tuple(value.value for value in values)

    def function(self, parts: Parts) -> ptx.Function:
        linkage, kind, returns, name, parameters, directives, *body = parts
        given = dict(directives)
        threads = prod(given[".maxntid"]) if ".maxntid" in given else 0
        block = (*given[".reqntid"], 1, 1)[:3] if ".reqntid" in given else ()
        return ptx.Function(name, kind == ".entry", parameters, returns, body[0] if body else None, kind.line, threads,
                            block, linkage)

    def alias(self, parts: Parts) -> Alias:
        return Alias(*parts)

    def VERSION(self, token: Token) -> dict[str, str]:
        return {"version": token.split()[1]}

    def TARGET(self, token: Token) -> dict[str, str]:
        return {"target": token.split(maxsplit=1)[1]}

    def ADDRESS_SIZE(self, token: Token) -> dict[str, str]:
        if token.split()[1] != "64":
            raise PtxError("only .address_size 64 is supported", line=token.line or 0, column=token.column or 0)
        return {}

    # -------- rules that only gather their parts

    operands = braces = dimensions = declarator = returns = parameters = targets = staticmethod(tuple)
    qualifiers = directives = file = staticmethod(lambda parts: parts)
    group = pointer_hint = staticmethod(lambda parts: parts[0] if parts else None)


def _plain_operand(text: str) -> ptx.Operand:
    """An operand of a `PLAIN` instruction."""
    if text[0] == "[":
        name, _, offset = text[1:-1].partition("+")
        return ptx.Address(_named(name), int(offset, 0) if offset else 0)
    if text[:2] in ("0f", "0F"):
        return ptx.Immediate("f32", int(text[2:], 16))
    if text[:2] in ("0d", "0D"):
        return ptx.Immediate("f64", int(text[2:], 16))
    if text[0] == "-" or text[0].isdigit():
        return ptx.Immediate("int", int(text, 0))
    return _named(text)


def _named(name: str) -> ptx.Symbol | ptx.Immediate:
    return WARP_SIZE if name == "WARP_SZ" else ptx.Symbol(name)


def _checked(variable: ptx.Variable, value: initialiser.Value | None, place: Token) -> ptx.Variable:
    """The variable with its image. Raises `PtxError` at `place` for an impossible size or initialiser."""
    extents = variable.dimensions
    if extents and not extents[0] and isinstance(value, tuple):
        extents = (len(value), *extents[1:])
    try:
        if len(extents) > MAX_DIMENSIONS or prod(extents) > MAX_ELEMENTS:
            raise PtxError(f"variable '{variable.name}' is too large")
        if variable.align & (variable.align - 1):
            raise PtxError(f"the alignment of '{variable.name}' is {variable.align}, not a power of two")
        if value is None:
            return variable
        if variable.space not in ("global", "const"):
            raise PtxError(f"variable '{variable.name}' in .{variable.space} memory cannot have an initialiser")
        shape = (*extents, variable.vector) if variable.vector > 1 else extents
        image, pointers = initialiser.encode(value, variable.type, shape)
    except PtxError as error:
        raise PtxError(error.message, line=place.line or 0, column=place.column or 0) from None
    return replace(variable, dimensions=extents, initial=image, pointers=pointers)
