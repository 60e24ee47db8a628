"""Plain sequential execution of the PTX of `random_programs`: one thread after the other, one line at a time.

It does not model warps, registers or machine code, and shares no code with compiler and golden model.
"""

import itertools
import re
from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

import numpy as np

WORD, LONG = (1 << 32) - 1, (1 << 64) - 1
SHARED_BYTES, LOCAL_BYTES = 1 << 11, 32

_TOKEN = re.compile(r"%?\w+(?:\.[xyz])?|-\d+")


class Line(NamedTuple):
    """An instruction: guard (empty without one), whether it is inverted, opcode, operands (the destination first)."""

    guard: str
    inverted: bool
    opcode: str
    operands: list[str]


def parse(text: str) -> tuple[list[Line], dict[str, int]]:
    """The lines of the kernel's body, and the labels in it."""
    lines: list[Line] = []
    labels: dict[str, int] = {}
    for row in text[text.index("\n{") + 2 : text.rindex("}")].splitlines():
        statement = row.strip()
        if statement.endswith(":"):
            labels[statement[:-1]] = len(lines)
        elif statement and not statement.startswith("."):
            match = re.fullmatch(r"(?:@(!?)(%\w+) )?([\w.]+) ?(.*);", statement)
            assert match, f"{statement}: not in the subset that is interpreted"
            inverted, guard, opcode, operands = match.groups()
            lines.append(Line(guard or "", inverted == "!", opcode, _TOKEN.findall(operands)))
    return lines, labels


def _signed(value: int, bits: int = 32) -> int:
    return (value & (1 << bits) - 1) - (value >> bits - 1 & 1) * (1 << bits)


def _float(operation: Callable[..., float], kind: str, nan: int) -> Callable[..., int]:
    """An operation on IEEE 754 numbers as one on their bits."""
    number, bits = {"f": (np.float32, np.uint32), "d": (np.float64, np.uint64)}[kind]

    def on_bits(*operands: int) -> int:
        with np.errstate(all="ignore"):
            result = operation(*(np.array(operand, bits).view(number)[()] for operand in operands))
        return nan if np.isnan(result) else int(np.array(result, number).view(bits)[()])

    return on_bits


def _quotient(a: int, b: int) -> int:
    """Of signed 32-bit numbers, toward zero; all ones for a division by zero."""
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _lop3(a: int, b: int, c: int, table: int) -> int:
    return sum(((a & WORD if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)) & WORD
               for row in range(8) if table >> row & 1)


def _prmt(a: int, b: int, selectors: int) -> int:
    data, result = (b & WORD) << 32 | a & WORD, 0
    for byte in range(4):
        selector = selectors >> 4 * byte
        value = data >> 8 * (selector & 7) & 0xFF
        result |= (0xFF * (value >> 7) if selector & 8 else value) << 8 * byte
    return result


S = _signed
OPERATIONS: dict[str, Callable[..., int]] = {
    "mov.b32": lambda a: a, "mov.b64": lambda a: a, "not.b32": lambda a: ~a,
    "add.u32": lambda a, b: a + b, "sub.u32": lambda a, b: a - b, "mul.lo.u32": lambda a, b: a * b,
    "mul.hi.u32": lambda a, b: a * b >> 32, "mul.hi.s32": lambda a, b: S(a) * S(b) >> 32,
    "mad.lo.u32": lambda a, b, c: a * b + c, "and.b32": lambda a, b: a & b, "or.b32": lambda a, b: a | b,
    "xor.b32": lambda a, b: a ^ b, "min.s32": lambda a, b: min(S(a), S(b)), "max.s32": lambda a, b: max(S(a), S(b)),
    "min.u32": min, "max.u32": max, "shl.b32": lambda a, n: a << min(n, 32), "shr.u32": lambda a, n: a >> min(n, 32),
    "shr.s32": lambda a, n: S(a) >> min(n, 32), "lop3.b32": _lop3, "prmt.b32": _prmt,
    "popc.b32": int.bit_count, "clz.b32": lambda a: 32 - a.bit_length(),
    "brev.b32": lambda a: int(f"{a:032b}"[::-1], 2), "cvt.s32.s8": lambda a: S(a, 8),
    "cvt.u32.u16": lambda a: a & 0xFFFF, "selp.b32": lambda a, b, p: a if p else b,
    "div.u32": lambda a, b: a // b if b else WORD, "rem.u32": lambda a, b: a % b if b else a,
    "div.s32": lambda a, b: _quotient(S(a), S(b)),
    "rem.s32": lambda a, b: S(a) - _quotient(S(a), S(b)) * S(b) if b else a,
    "add.f32": _float(lambda a, b: a + b, "f", 0x7FFFFFFF), "mul.f32": _float(lambda a, b: a * b, "f", 0x7FFFFFFF),
    "sqrt.rn.f32": _float(np.sqrt, "f", 0x7FFFFFFF), "div.rn.f32": _float(lambda a, b: a / b, "f", 0x7FFFFFFF),
    "add.u64": lambda a, b: a + b, "sub.u64": lambda a, b: a - b, "mul.lo.u64": lambda a, b: a * b,
    "xor.b64": lambda a, b: a ^ b, "shl.b64": lambda a, n: a << min(n, 64), "shr.u64": lambda a, n: a >> min(n, 64),
    "mul.wide.u32": lambda a, b: a * b, "mad.wide.u32": lambda a, b, c: a * b + c,
    "cvt.u64.u32": lambda a: a, "cvt.s64.s32": S, "cvt.u32.u64": lambda a: a,
    "div.u64": lambda a, b: a // b if b else LONG, "rem.u64": lambda a, b: a % b if b else a,
    "add.f64": _float(lambda a, b: a + b, "d", 0xFFF8 << 48), "mul.f64": _float(lambda a, b: a * b, "d", 0xFFF8 << 48),
    "setp.lt.s32": lambda a, b: S(a) < S(b), "setp.ge.s32": lambda a, b: S(a) >= S(b),
    "setp.lt.u32": lambda a, b: a < b, "setp.eq.u32": lambda a, b: a == b, "setp.ne.u32": lambda a, b: a != b,
    "setp.lt.f32": _float(lambda a, b: float(a < b), "f", 0), "cvt.rn.f32.u32": lambda a: int(np.float32(a).view("u4")),
    "setp.lt.u64": lambda a, b: a < b, "and.pred": lambda a, b: a and b, "xor.pred": lambda a, b: a != b,
    "not.pred": lambda a: not a,
}
"""Results by opcode, before truncation to the size of the destination."""


class Thread:
    """One thread of a block. `spaces` are its memories by name; parameters are addresses in global memory."""

    def __init__(self, specials: dict[str, int], parameters: dict[str, int], spaces: dict[str, bytearray]) -> None:
        self.specials, self.parameters, self.spaces = specials, parameters, spaces
        self.registers: dict[str, int] = {}

    def run(self, lines: list[Line], labels: dict[str, int]) -> Generator[bool, int, None]:
        """Run from the first line to the end. At a barrier it yields the predicate to be counted, and receives the
        count."""
        pc = 0
        while True:
            line = lines[pc]
            pc += 1
            if line.guard and self.registers[line.guard] == line.inverted:
                continue
            if line.opcode == "exit":
                return
            if line.opcode == "bra":
                pc = labels[line.operands[0]]
            elif line.opcode == "bar.red.popc.u32":
                target, _, predicate = line.operands
                self._write(target, (yield bool(self.registers[predicate])))
            else:
                self._execute(line)

    def _execute(self, line: Line) -> None:
        name, operands = line.opcode, line.operands
        kind = name.partition(".")[0]
        if kind in ("ld", "st", "atom", "red"):
            self._access(*name.split("."), operands=operands)
        elif name == "mov.b64" and len(operands) == 3 and operands[0].startswith("%d"):
            self._write(operands[0], self._read(operands[2]) << 32 | self._read(operands[1]))
        elif name == "mov.b64" and len(operands) == 3:
            whole = self._read(operands[2])
            self._write(operands[0], whole)
            self._write(operands[1], whole >> 32)
        else:
            self._write(operands[0], OPERATIONS[name](*map(self._read, operands[1:])))

    def _access(self, kind: str, space: str, *form: str, operands: list[str]) -> None:
        """A load, a store or an atomic operation on an address, base and offset."""
        if space == "param":
            self._write(operands[0], self.parameters[operands[1]])
            return
        size, signed = int(form[-1][1:]) // 8, form[-1][0] == "s"
        memory, value = self.spaces[space], 0
        if kind in ("ld", "atom"):
            target, *operands = operands
        base, offset, *values = [self._read(operand) for operand in operands] + ([] if kind != "ld" else [0])
        place = slice(base + offset, base + offset + size)
        old = int.from_bytes(memory[place], "little", signed=signed)
        if kind in ("ld", "atom"):
            self._write(target, old)
        if kind != "ld":
            value = values[0] + (old if form[0] == "add" else 0)
            memory[place] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def _read(self, operand: str) -> int:
        if operand in self.registers:
            return self.registers[operand]
        return self.specials[operand] if operand in self.specials else int(operand, 0)

    def _write(self, register: str, value: int) -> None:
        if register[1] in "pq":
            self.registers[register] = bool(value)
        else:
            self.registers[register] = value & (LONG if register[1] in "da" else WORD)


def _to_the_end(threads: list[Generator[bool, int, None]]) -> None:
    """Run the threads of a block, one after the other from each barrier to the next."""
    votes = [next(thread, None) for thread in threads]
    while None not in votes:
        count, votes = sum(map(bool, votes)), []
        for thread in threads:
            try:
                votes.append(thread.send(count))
            except StopIteration:
                votes.append(None)


def run_sequentially(text: str, grid: int, block: Sequence[int], words: np.ndarray, out_bytes: int) -> bytes:
    """The final contents of the kernel's second buffer, of `out_bytes` zeros, with `words` in its first one."""
    lines, labels = parse(text)
    memory = bytearray(words.tobytes()) + bytearray(out_bytes)
    constants = bytearray(map(int, re.findall(r"\d+", re.findall(r"constants\[\d+\] = {(.*)}", text)[0])))
    parameters = {"input": 0, "output": words.nbytes}
    for number in range(grid):
        shared = bytearray(SHARED_BYTES)
        threads = []
        for z, y, x in itertools.product(*map(range, reversed(block))):
            axes = zip("xyz", (x, y, z), block, strict=True)
            specials = {name: value for axis, index, extent in axes
                        for name, value in ((f"%tid.{axis}", index), (f"%ntid.{axis}", extent))}
            specials |= {"%ctaid.x": number, "%laneid": len(threads) % 32, "slots": 0, "stack": 0,
                         "constants": 0}
            spaces = {"global": memory, "shared": shared, "local": bytearray(LOCAL_BYTES),
                      "const": constants}
            threads.append(Thread(specials, parameters, spaces).run(lines, labels))
        _to_the_end(threads)
    return bytes(memory[words.nbytes :])
