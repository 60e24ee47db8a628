"""Traces made by hand, for tests of the cycle model that need no compiler: straight-line programs."""

import random
from collections.abc import Sequence

import numpy as np

from warploom.arch.config import LANES
from warploom.arch.encoding import encode_modifiers
from warploom.arch.isa import INTEGER_OPS, MEMORY_OPS, PT, RZ, Instruction, Op, Pipe
from warploom.arch.launch import Launch
from warploom.arch.modifiers import Access, Cond, Space, Special
from warploom.arch.program import Program
from warploom.golden_model.integer import evaluate
from warploom.golden_model.trace import NONE, Trace, WarpTrace
from warploom.golden_model.words import ALL_LANES, broadcast, join, merge, split

EXIT = Instruction(op=Op.EXIT)


class _Recorder:
    """Executes one warp after the other: integer operations and S2R of LANEID exactly, others with random results."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.results: list[tuple[int, ...]] = []
        self.addresses: list[list[int]] = []
        self.spaces: list[int] = []

    def warp(self, number: int, instructions: Sequence[Instruction], lanes: Sequence[int], per_block: int) -> WarpTrace:
        registers: dict[int, int] = {}
        columns: dict[str, list[int]] = {name: [] for name in ("lanes", "pred_in", "pred_out", "result", "address")}
        for instruction, mask in zip(instructions, lanes, strict=True):
            pred_in = self.random.getrandbits(32) if instruction.psrc != PT else 0
            word, pred_out = self._execute(instruction, registers, mask, pred_in)
            result = NONE
            if instruction.dst != RZ and mask:
                registers[instruction.dst] = merge(registers.get(instruction.dst, 0), word, mask)
                result = len(self.results)
                self.results.append(split(merge(0, word, mask)))
            for name, value in (("lanes", mask), ("pred_in", pred_in), ("pred_out", pred_out & mask),
                                ("result", result), ("address", self._address(instruction, mask))):
                columns[name].append(value)
        kinds = {"result": np.int32, "address": np.int32}
        arrays = {name: np.array(values, kinds.get(name, np.uint32)) for name, values in columns.items()}
        pc = np.arange(len(instructions), dtype=np.int32)
        return WarpTrace(block=number // per_block, warp=number % per_block, live=ALL_LANES, pc=pc, **arrays)

    def _execute(self, i: Instruction, registers: dict[int, int], lanes: int, pred_in: int) -> tuple[int, int]:
        if i.op is Op.S2R and i.special is Special.LANEID:
            return join(range(LANES)), 0
        if i.op not in INTEGER_OPS:
            return self._word(), self.random.getrandbits(32)
        operands = [broadcast(i.imm) if slot == i.imm_slot else registers.get(source, 0)
                    for slot, source in enumerate(i.src)]
        return evaluate({"op": i.op, "modifiers": encode_modifiers(i), "lanes": lanes, "pred": pred_in,
                         "operands": operands})

    def _word(self) -> int:
        """A warp register of a random width, in all lanes of one sign or each of its own."""
        bits = self.random.choice([8, 16, 24, 32])
        signs = self.random.choice([0, 0, ALL_LANES, self.random.getrandbits(32)])
        values = [self.random.getrandbits(bits) for _ in range(32)]
        return join(value ^ 0xFFFFFFFF * (signs >> lane & 1) for lane, value in enumerate(values))

    def _address(self, instruction: Instruction, lanes: int) -> int:
        if instruction.op not in MEMORY_OPS or not lanes:
            return NONE
        base, stride = self.random.randrange(64) * 128, self.random.choice([0, 4, 4, 4, 8, 128])
        row = [base + stride * lane if lanes >> lane & 1 else 0 for lane in range(32)]
        self.addresses.append(row)
        self.spaces.append(int(instruction.space))
        return len(self.addresses) - 1


def trace_of(
    instructions: Sequence[Instruction], *, warps: int = 1, per_block: int | None = None, seed: int = 0,
    lanes: Sequence[int] | None = None, registers: int = 16,
) -> Trace:
    """Every warp runs the instructions, then EXIT; `lanes` are the executing lanes of each instruction (default
    all)."""
    code = (*instructions, EXIT)
    masks = [*(lanes or [ALL_LANES] * len(instructions)), ALL_LANES]
    per_block = per_block or warps
    recorder = _Recorder(seed)
    walks = tuple(recorder.warp(number, code, masks, per_block) for number in range(warps))
    program = Program(name="test", source="test.ptx", instructions=code, lines=(0,) * len(code), registers=registers,
                      shared_bytes=256, local_bytes=64)
    launch = Launch(grid=(warps // per_block, 1, 1), block=(32 * per_block, 1, 1))
    return Trace(
        program, launch, walks, np.array(recorder.results or [[0] * 32], np.uint32).reshape(-1, 32),
        np.array(recorder.addresses or [[0] * 32], np.uint64).reshape(-1, 32), np.array(recorder.spaces, np.uint8),
    )


def random_instruction(rng: random.Random, registers: int = 8) -> Instruction:
    """Any mix of pipes over a few registers, so that hazards are frequent."""

    def register() -> int:
        return rng.choice([*range(registers), RZ])

    op = rng.choice([Op.IADD, Op.IMAD, Op.IMIN, Op.LOP3, Op.MOV, Op.ISETP, Op.FADD, Op.FMAX, Op.MUFU, Op.IDIV, Op.LD,
                     Op.ST, Op.SHFL, Op.ATOM, Op.RED, Op.S2R, Op.SEL, Op.BAR, Op.NOP])
    common: dict[str, object] = {"op": op}
    if op in (Op.BAR, Op.NOP):
        return Instruction(op=op)
    common["src"] = (register(), register(), register())
    if op not in (Op.ST, Op.RED, Op.ISETP):
        common["dst"] = register()
    if op is Op.ISETP:
        common |= {"pdst": rng.randrange(3), "cond": Cond(rng.randrange(6)), "psrc": rng.choice([0, 1, PT])}
    if op in MEMORY_OPS:
        common["space"] = rng.choice([Space.GLOBAL, Space.GLOBAL, Space.SHARED, Space.LOCAL])
    if op in (Op.LD, Op.ST):
        common["access"] = Access.B32
    elif op not in MEMORY_OPS and rng.random() < 0.2:
        common |= {"imm_slot": rng.randrange(3), "imm": rng.getrandbits(32)}
    return Instruction(**common)  # type: ignore[arg-type]


def random_trace(seed: int, *, length: int = 60, warps: int = 8, per_block: int = 4) -> Trace:
    """A straight-line program of random instructions, some of them partly masked."""
    rng = random.Random(seed)
    code = [random_instruction(rng) for _ in range(length)]
    lanes = [ALL_LANES if i.pipe is Pipe.CONTROL else rng.choice([ALL_LANES, ALL_LANES, rng.getrandbits(32), 0])
             for i in code]
    return trace_of(code, warps=warps, per_block=per_block, seed=seed, lanes=lanes)
