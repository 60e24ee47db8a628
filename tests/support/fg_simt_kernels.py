"""Small kernels for the FG-SIMT engine, and their launch."""

from collections.abc import Callable

import numpy as np
from support.assembler import Assembler, Imm

from warploom.arch.isa import Op
from warploom.arch.launch import Buffer, Launch
from warploom.arch.modifiers import Special
from warploom.arch.program import Program

WORDS = np.arange(100, 260, dtype=np.uint32)


def launch(threads: int = 32, blocks: int = 1) -> Launch:
    """Of a kernel with an array to read and one to write."""
    return Launch((blocks, 1, 1), (threads, 1, 1), (Buffer("words", WORDS), Buffer("out", np.zeros(128, np.uint32))))


def kernel(body: Callable[[Assembler], None]) -> Program:
    """R0 is the thread's number, R4 its place in `words`, R8 that in `out`; the body leaves R12, which is stored."""
    code = Assembler()
    code.op(Op.S2R, 0, special=Special.TID_X)
    code.indexed(4, 0, 0)
    code.indexed(8, 8, 0)
    code.op(Op.MOV, 12, Imm(0))
    body(code)
    code.store(8, 12)
    code.op(Op.EXIT)
    return code.program((8, 8))


def loading(offset: int) -> Program:
    """Each thread loads its word of `words`, at an offset."""
    return kernel(lambda code: code.load(12, 4, imm=offset))
