"""Which lanes of a warp are where (docs/contract/fg_simt.md, *Fragments*; [AFFINE], section 3.2)."""

from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES
from warploom.arch.fg_simt.moves import MOVE_BITS, Move
from warploom.arch.isa import PC_BITS
from warploom.rtl.fg_simt.forward_stack import ForwardStack, fragment
from warploom.rtl.observation import Shown, probe_port, show


class Fragments(wiring.Component):
    """The active fragment (AWFR), and those that wait (PWFB): the forward stack, and the lanes that have just taken a
    backward branch, which the next step makes active.

    `pc`, `mask`, its parts, `active`, `whole` and `changes` are functions of registers.

    Parameters
    ----------
    pc_bits, lanes : width of a PC, and number of lanes.
    probe : for benches: shows the observed values.

    Members
    -------
    start, launched : a warp with these lanes starts at PC 0, whatever was before. At the end of the cycle, as below.
    step : fragments join and change as the rules say, or, if none changes, the active one moves.
    move, lanes, target : how it goes on (`Move`); which of its lanes, and where they branch to.
    pc, mask : PC and lanes of the active fragment, with those that join it.
    own, joins, joining : what the mask is made of: its own lanes, and those of the top, if it joins.
    active : it has lanes.
    whole : no lanes wait.
    elsewhere : lanes that wait.
    changes : another fragment becomes active in a step: no instruction is executed.
    redirect, following : the next instruction is not the one behind; the PC of the next one.
    """

    def __init__(self, *, pc_bits: int = PC_BITS, lanes: int = LANES, probe: bool = False) -> None:
        self._layout, self._probe = fragment(pc_bits, lanes), probe
        self._pc, self._mask, self._live = Signal(pc_bits), Signal(lanes), Signal(lanes)  # live: have not exited
        self.backward = Signal(self._layout)
        """Lanes that have taken a backward branch."""
        self.forward = ForwardStack(pc_bits=pc_bits, lanes=lanes)
        super().__init__({
            "start": In(1), "launched": In(lanes), "step": In(1), "move": In(MOVE_BITS), "lanes": In(lanes),
            "target": In(pc_bits), "pc": Out(pc_bits), "mask": Out(lanes),
            "own": Out(lanes), "joins": Out(1), "joining": Out(lanes), "active": Out(1), "whole": Out(1),
            "elsewhere": Out(lanes), "changes": Out(1), "redirect": Out(1), "following": Out(pc_bits),
            **(probe_port(self.observe()) if probe else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.forward = forward = self.forward
        first, joins = Signal(self._layout), self.joins  # first: the lowest that does not join
        m.d.comb += [
            joins.eq(forward.top.valid & (forward.top.pc == self._pc)),
            self.own.eq(self._mask), self.joining.eq(forward.top.lanes),
            first.eq(Mux(joins, forward.second.as_value(), forward.top.as_value())),
            self.changes.eq(self.backward.valid | (forward.top.valid & (forward.top.pc < self._pc))),
            self.pc.eq(self._pc),
            self.mask.eq(self.own | Mux(joins, self.joining, 0)),
            self.elsewhere.eq(self._live & ~self.mask),
            self.active.eq(self._mask.any()),  # if it has none, none wait
            self.whole.eq(~self.backward.valid & (~forward.top.valid | (joins & ~forward.second.valid))),
            forward.own.eq(self.changes), forward.pc.eq(self._pc), forward.target.eq(self.target),
        ]
        with m.If(self.step & self.changes):
            self._change(m)
        with m.Elif(self.step):
            m.d.comb += forward.drop.eq(joins)
            self._move(m, first)
        with m.Else():
            self._go(m, self._pc, self._mask)
        with m.If(self.start):  # the last one, since it is known early
            m.d.comb += [forward.clear.eq(1), self.redirect.eq(1)]
            m.d.sync += [self.backward.eq(0), self._live.eq(self.launched)]
            self._go(m, 0, self.launched)
        m.d.sync += self._pc.eq(self.following)
        if self._probe:
            show(m, self)
        return m

    def _go(self, m: Module, pc: Any, mask: Any) -> None:
        """The active fragment at the end of the cycle."""
        m.d.comb += self.following.eq(pc)
        m.d.sync += self._mask.eq(mask)

    def _change(self, m: Module) -> None:
        """The active fragment waits. After a backward branch those that have taken it go on, otherwise the lowest."""
        top, back = self.forward.top, self.backward
        m.d.comb += [self.redirect.eq(1), self.forward.drop.eq(self.joins | ~back.valid), self.forward.push.eq(1),
                     self.forward.lanes.eq(self.mask)]
        m.d.sync += back.eq(0)
        self._go(m, Mux(back.valid, back.pc, top.pc), Mux(back.valid, back.lanes, top.lanes))

    def _move(self, m: Module, first: Any) -> None:
        """Lanes go on, branch or exit."""
        some, others = Signal(len(self.mask)), Signal(len(self.mask))
        any_goes, any_stays, ahead = Signal(), Signal(), Signal()
        following, joins, joining = Signal(len(self.pc)), self.joins, self.joining
        m.d.comb += [
            following.eq(self._pc + 1),
            some.eq(self.lanes & self.mask), others.eq(~self.lanes & self.mask), ahead.eq(self.target > self._pc),
            any_goes.eq((self.lanes & self._mask).any() | (joins & (self.lanes & joining).any())),
            any_stays.eq((~self.lanes & self._mask).any() | (joins & (~self.lanes & joining).any())),
        ]
        self._go(m, following, self.mask)
        with m.If((self.move & Move.BRANCH).any() & any_goes):
            with m.If(any_stays):
                m.d.comb += [self.forward.push.eq(ahead), self.forward.lanes.eq(some)]
                with m.If(~ahead):
                    m.d.sync += self.backward.eq(Cat(1, self.target, some))
                self._go(m, following, others)
            with m.Else():
                m.d.comb += self.redirect.eq(self.target != following)
                self._go(m, self.target, self.mask)
        with m.Elif((self.move & Move.LEAVE).any() & any_goes):
            self._go(m, following, others)
            m.d.sync += self._live.eq(self._live & ~some)
            with m.If(~any_stays):
                m.d.comb += [self.forward.pop.eq(first.valid), self.redirect.eq(1)]
                self._go(m, Mux(first.valid, first.pc, self._pc), first.lanes)
        with m.Elif(~self.move.any()):
            self._go(m, self._pc, self.mask)

    def observe(self) -> Shown:
        """See the contract."""
        entries, back = self.forward.entries, self.backward
        return {
            "awfr_pc": self._pc, "awfr_mask": self._mask,
            "forward": sum((entry.valid for entry in entries), start=Value.cast(0)),
            "forward_pc": Mux(entries[0].valid, entries[0].pc, 0),
            "backward": back.valid, "backward_pc": back.pc, "backward_end": Mux(back.valid, self._pc - 1, 0),
        }
