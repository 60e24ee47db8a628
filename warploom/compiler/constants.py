"""Constant expressions, as ptxas evaluates them: integers of 64 bits with or without a sign, and f64.

A literal is unsigned if it ends in U or needs 64 bits. Where two integers meet and one is unsigned, both are. Results
of `%` and `~` are always unsigned, those of comparisons and logic signed. Shifts keep the type of what they shift.
"""

import operator
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

from lark import Token

from warploom.arch.errors import PtxError
from warploom.compiler import initialiser, ptx

BITS = 64


class Integer(NamedTuple):
    """A value of 64 bits."""

    value: int
    signed: bool


Value = Integer | float
Part = Token | ptx.Immediate | Integer | float

LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"),
          ("*", "/", "%"))
"""Binary operators, those that bind least first."""

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
ARITHMETIC: dict[str, Callable[[float, float], float]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
LOGIC: dict[str, Callable[[int, int], int]] = {"&": operator.and_, "|": operator.or_, "^": operator.xor}


def literal(parts: Sequence[Part]) -> ptx.Immediate:
    """An expression of operands and operators as a literal. Raises `PtxError` at an operator that is wrong."""
    first, *more = parts
    if isinstance(first, ptx.Immediate) and not more:
        return first
    if first == "-" and len(more) == 1 and isinstance(more[0], ptx.Immediate) and more[0].kind != "int":
        return ptx.Immediate(more[0].kind, more[0].value ^ 1 << (31 if more[0].kind == "f32" else 63))
    result = evaluate(parts)
    if isinstance(result, Integer):
        return ptx.Immediate("int", result.value)
    return ptx.Immediate("f64", initialiser.float_bits(result, "f64"))


def evaluate(parts: Sequence[Part]) -> Value:
    """The value of an expression."""
    try:
        return _Reader(parts).whole()
    except RecursionError:  # thousands of signs, casts or conditions, each for what follows it
        sign = next(part for part in parts if isinstance(part, Token))
        raise _error(sign, "begins an expression that is nested too deeply") from None


class _Reader:
    """Reads an expression from left to right."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = [*reversed(parts)]
        sign = next((part for part in parts if isinstance(part, Token)), None)
        if sign and any(isinstance(part, ptx.Immediate) and part.kind == "f32" for part in parts):
            _fail(sign, "takes decimal numbers and 0d..., no 0f...")

    def whole(self) -> Value:
        """All of it. What a choice leaves begins with a ``:`` of none."""
        value = self._choice()
        if colon := self._take(":"):
            _fail(colon, "has no '?'")
        return value

    def _choice(self) -> Value:
        """``a ? b : c``, or anything that binds more."""
        condition = self._level(0)
        if not (mark := self._take("?")):
            return condition
        chosen = self._choice()
        colon = self._take(":")
        if not colon:
            _fail(mark, "has no ':'")
        other = self._choice()
        if not (isinstance(condition, Integer) and isinstance(chosen, Integer) and isinstance(other, Integer)):
            _fail(mark, "takes integers")
        return chosen if condition.value else other

    def _level(self, level: int) -> Value:
        if level == len(LEVELS):
            return self._operand()
        value = self._level(level + 1)
        while sign := self._take(*LEVELS[level]):
            value = _binary(sign, value, self._level(level + 1))
        return value

    def _operand(self) -> Value:
        part = self._parts.pop()
        if isinstance(part, Token):
            return _unary(part, self._operand())
        if not isinstance(part, ptx.Immediate):
            return part
        if part.kind == "int":
            return Integer(part.value, part.value < 1 << BITS - 1)
        return initialiser.literal_value(part)

    def _take(self, *signs: str) -> Token | None:
        """The next part, if it is one of these operators."""
        if not self._parts or not isinstance(self._parts[-1], Token) or self._parts[-1] not in signs:
            return None
        part = self._parts.pop()
        assert isinstance(part, Token)
        return part


def _unary(sign: Token, value: Value) -> Value:
    if isinstance(value, float):
        return -value if sign == "-" else value if sign == "+" else _fail(sign, "takes an integer")
    number = value.value
    if sign.type == "CAST":
        return _wrapped(number, signed="s" in sign)
    if sign == "!":
        return Integer(int(not number), True)
    if sign == "~":
        return _wrapped(~number, signed=False)
    return _wrapped(-number if sign == "-" else number, value.signed)


def _binary(sign: Token, a: Value, b: Value) -> Value:
    if isinstance(a, Integer) and isinstance(b, Integer):
        return _integers(sign, a, b)
    if isinstance(a, Integer) or isinstance(b, Integer):
        return _fail(sign, "takes two integers or two floating-point numbers")
    if sign in COMPARISONS:
        return Integer(int(COMPARISONS[sign](a, b)), True)
    if sign in ARITHMETIC:
        return float(ARITHMETIC[sign](a, b))
    if sign != "/":
        return _fail(sign, "takes integers")
    return a / b if b else _fail(sign, "divides by zero")


def _integers(sign: Token, a: Integer, b: Integer) -> Integer:
    if sign in ("&&", "||"):
        return Integer(int(bool(a.value and b.value) if sign == "&&" else bool(a.value or b.value)), True)
    if sign in ("<<", ">>"):
        count = b.value % BITS
        return _wrapped(a.value << count if sign == "<<" else a.value >> count, a.signed)
    signed = a.signed and b.signed and sign != "%"
    x, y = (_wrapped(each.value, signed).value for each in (a, b))
    if sign in COMPARISONS:
        return Integer(int(COMPARISONS[sign](x, y)), True)
    if sign in LOGIC:
        return _wrapped(LOGIC[sign](x, y), signed)
    if sign in ARITHMETIC:
        return _wrapped(int(ARITHMETIC[sign](x, y)), signed)
    if not y:
        _fail(sign, "divides by zero")
    quotient = abs(x) // abs(y) * (-1 if (x < 0) != (y < 0) else 1)
    return _wrapped(quotient if sign == "/" else x - quotient * y, signed)


def _wrapped(value: int, signed: bool) -> Integer:
    value %= 1 << BITS
    return Integer(value - (1 << BITS) if signed and value >> BITS - 1 else value, signed)


def _fail(sign: Token, what: str) -> NoReturn:
    raise _error(sign, what)


def _error(sign: Token, what: str) -> PtxError:
    return PtxError(f"constant expression: '{sign}' {what}", line=sign.line or 0, column=sign.column or 0)
