"""The warps of a kernel, and where their threads are (docs/contract/fg_simt.md, *Geometry*; [AFFINE], section 3.2)."""

from typing import Any

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.config import LANES
from warploom.arch.l1 import WORD_BITS
from warploom.arch.modifiers import Special
from warploom.rtl.fg_simt.control_ports import LAUNCH_BLOCK

THREAD_BITS = (LANES - 1).bit_length()
SPECIAL_BITS = (max(Special)).bit_length()

POINT = data.StructLayout({"x": WORD_BITS, "y": WORD_BITS, "z": WORD_BITS})

POSITION = data.StructLayout({"valid": 1, "thread": THREAD_BITS, "point": POINT})
"""A thread of the current warp, and its x, y and z in its block."""


class Threads(wiring.Component):
    """The warp counter, and the special registers of the current warp. There is no divider: the points of blocks and
    threads are counters, which go on from warp to warp.

    The first warp begins with `start`, the next one with `advance`, both at the end of the cycle. Then a walk, where
    the geometry wants one, gives the threads one by one, in the next 32 cycles.

    Members
    -------
    block : a static input during a kernel, and in the cycle of its start.
    start, count : a kernel begins; its threads, 32 for each warp.
    advance : the current warp has ended.
    ends_block : the current warp is the last one of its block.
    begins, launched : with `start` or `advance`: whether a warp begins, and its threads.
    ready : the control processor may take its first step; from the cycle after the beginning on.
    position : a thread of the walk.
    special : a special register that a kernel may read.
    base, stride : its value in the current warp; the axis, if it is not compact.
    walked : it is not compact: the value is a coordinate of the walk.
    """

    def __init__(self) -> None:
        self._at, self._block_at = Signal(POINT), Signal(POINT)
        super().__init__({
            "block": In(LAUNCH_BLOCK), "start": In(1), "count": In(WORD_BITS), "advance": In(1),
            "ends_block": Out(1), "begins": Out(1), "launched": Out(LANES), "ready": Out(1), "position": Out(POSITION),
            "special": In(SPECIAL_BITS), "base": Out(WORD_BITS), "stride": Out(STRIDE_BITS), "walked": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        block, warp = self.block, Signal(WORD_BITS)
        last = Signal()  # the warp is the last one of its block; a register, since what ends a warp waits for it
        rows = Signal()  # warps are consecutive in x
        flat, one_plane = Signal(), Signal()  # all threads of a warp, or of the block, have one z
        thread = Signal(range(LANES + 1), init=LANES)  # the next one of the walk
        m.d.comb += self.ends_block.eq(last)
        self._count_warps(m, last)
        self._count_threads(m, rows, thread, last)
        with m.If(self.start | self.advance):
            m.d.sync += [warp.eq(Mux(self.start | last, 0, warp + 1)), thread.eq(0),
                         last.eq(Mux(self.start | last, block.warps == 1, warp + 2 == block.warps))]
        with m.If(self.start):
            plane = (block.block_x[:THREAD_BITS] * block.block_y[:THREAD_BITS])[:THREAD_BITS]
            m.d.sync += [
                rows.eq(((block.block_y == 1) & (block.block_z == 1)) | (block.block_x[:THREAD_BITS] == 0)),
                flat.eq((block.block_z == 1) | (plane == 0)), one_plane.eq(block.block_z == 1),
            ]
        with m.If(self.start | (self.advance & last)):
            m.d.sync += self._at.eq(0)
        with m.If(self.start):
            m.d.sync += self._block_at.eq(0)
        with m.Elif(self.advance & last):
            self._step(m, self._block_at, block.grid_x, block.grid_y, 1)
        self._show(m, warp, rows, flat, one_plane)
        return m

    def _count_warps(self, m: Module, last: Value) -> None:
        """How many warps are left, and how many threads of the block."""
        left, rest, following = Signal(WORD_BITS - THREAD_BITS), Signal(WORD_BITS), Signal(WORD_BITS)
        warps, whole = self.count[THREAD_BITS:], self.block.threads
        m.d.comb += [
            self.begins.eq(Mux(self.start, warps != 0, left != 1)),
            following.eq(Mux(self.start | last, whole, rest - LANES)),
            self.launched.eq(Mux(following[THREAD_BITS:].any(), Const(-1, LANES),
                                 (Const(1, LANES) << following[:THREAD_BITS]) - 1)),
        ]
        with m.If(self.start | self.advance):
            m.d.sync += [left.eq(Mux(self.start, warps, left - 1)), rest.eq(following)]

    def _count_threads(self, m: Module, rows: Value, thread: Value, last: Value) -> None:
        """The point of the current thread: the first of a warp in a row, the last one that a walk has reached."""
        walking = Signal()
        m.d.comb += [
            walking.eq(~rows & ~thread[-1]),
            self.ready.eq(rows | (thread >= LANES - 1)),
            self.position.valid.eq(walking), self.position.thread.eq(thread), self.position.point.eq(self._at),
        ]
        with m.If(walking):
            m.d.sync += thread.eq(thread + 1)
        with m.If((self.advance & ~last) | (walking & (thread != LANES - 1))):
            self._step(m, self._at, self.block.block_x, self.block.block_y, Mux(rows, LANES, 1))

    def _step(self, m: Module, point: Any, x: Value, y: Value, distance: Value | int) -> None:
        """The next point in a space of these extents, at a distance in x."""
        next_x, next_y = Signal(WORD_BITS), Signal(WORD_BITS)
        m.d.comb += [next_x.eq(point.x + distance), next_y.eq(point.y + 1)]
        m.d.sync += point.x.eq(next_x)
        with m.If(next_x == x):
            m.d.sync += [point.x.eq(0), point.y.eq(next_y)]
            with m.If(next_y == y):
                m.d.sync += [point.y.eq(0), point.z.eq(point.z + 1)]

    def _show(self, m: Module, warp: Value, rows: Value, flat: Value, one_plane: Value) -> None:
        """The special registers."""
        block, at = self.block, self._at
        values = {
            # the walk of a part of a warp goes on behind the block, and so to another z
            Special.TID_X: at.x, Special.TID_Y: at.y, Special.TID_Z: Mux(one_plane, 0, at.z),
            Special.CTAID_X: self._block_at.x, Special.CTAID_Y: self._block_at.y, Special.CTAID_Z: self._block_at.z,
            Special.NTID_X: block.block_x, Special.NTID_Y: block.block_y, Special.NTID_Z: block.block_z,
            Special.NCTAID_X: block.grid_x, Special.NCTAID_Y: block.grid_y, Special.NCTAID_Z: block.grid_z,
            Special.WARPID: warp, Special.NWARPID: block.warps, Special.NSMID: Const(1),
        }
        with m.Switch(self.special):
            for special, value in values.items():
                with m.Case(special):
                    m.d.comb += self.base.eq(value)
            with m.Case(Special.LANEID):
                m.d.comb += self.stride.eq(1)
        with m.Switch(self.special):
            with m.Case(Special.TID_X):
                m.d.comb += [self.walked.eq(~rows), self.stride.eq(rows)]
            with m.Case(Special.TID_Y):
                m.d.comb += self.walked.eq(~rows)
            with m.Case(Special.TID_Z):
                m.d.comb += self.walked.eq(~(rows | flat))
        with m.If(self.walked):
            m.d.comb += self.base.eq(self.special - Special.TID_X)
