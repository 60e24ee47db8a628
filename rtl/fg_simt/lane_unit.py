# amaranth: UnusedElaboratable=no
"""Equal lanes (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from collections.abc import Callable
from typing import Any

from amaranth import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.micro import LANE_MODIFIER_BITS
from warploom.arch.fg_simt.sizes import Sizes
from warploom.rtl.fg_simt.memory_ports import words
from warploom.rtl.shared import share

SLOTS = ("a", "b", "c")

Decode = Callable[[Module, Value, Value, Any], None]
"""Drives the control fields of the struct `operands` of a lane from operation and modifiers."""


class LaneUnit(wiring.Component):
    """Executes operations on a group, a thread in each lane. What enters in cycle t is held in registers at the
    end of t: the control fields once, the operand words of each lane. The lanes execute from t + 1 on.

    Parameters
    ----------
    name : of the module of a lane.
    lane : makes a lane. It has the ports `operands`, `result` and maybe `verdict`. One that is not pipelined also has
        `valid` and `done`: an operation begins, or ends.
    decode : drives the control fields of `operands`.
    sizes : lanes of the engine.
    clocked : a lane has registers.

    Members
    -------
    enters : a group enters; the registers keep their values otherwise.
    op, modifiers : its operation.
    a, b, c, pred : operand words and predicate operand of each lane; those that the lanes have.
    result, verdict : words and, if lanes give them, predicates, in the cycle in which those of the lanes are there;
        unspecified if the operation has none.
    done : of lanes that are not pipelined, a group ends.
    """

    def __init__(self, *, name: str, lane: Callable[[], Any], decode: Decode, sizes: Sizes,
                 clocked: bool = True) -> None:
        self._name, self._lane, self._decode, self._sizes, self._clocked = name, lane, decode, sizes, clocked
        example = lane()
        self._layout, self._members = example.operands.shape(), {*example.signature.members}
        shapes = {**dict.fromkeys(SLOTS, words(sizes)), "pred": sizes.lanes}
        self._slots = [slot for slot in shapes if slot in self._layout.members]
        super().__init__({
            "enters": In(1), "op": In(8), "modifiers": In(LANE_MODIFIER_BITS),
            **{slot: In(shapes[slot]) for slot in self._slots},
            "result": Out(words(sizes)), **({"verdict": Out(sizes.lanes)} if "verdict" in self._members else {}),
            **({"done": Out(1)} if "done" in self._members else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        control, held = Signal(self._layout, name="control"), Signal(self._layout, name="held", reset_less=True)
        self._decode(m, self.op, self.modifiers, control)
        with m.If(self.enters):
            m.d.sync += held.eq(control)
        lanes = [self._lane() for _ in range(self._sizes.lanes)]
        for number, lane in enumerate(lanes):
            m.submodules[f"lane_{number}"] = share(platform, self._name, lane, clocked=self._clocked)
            m.d.comb += [lane.operands.eq(held), self.result[number].eq(lane.result)]
            for slot in self._slots:
                word = Signal(lane.operands[slot].shape(), name=f"{slot}_{number}", reset_less=True)
                with m.If(self.enters):
                    m.d.sync += word.eq(getattr(self, slot)[number])
                m.d.comb += lane.operands[slot].eq(word)
        if "verdict" in self._members:
            m.d.comb += [verdict.eq(lane.verdict) for verdict, lane in zip(self.verdict, lanes, strict=True)]
        if "done" in self._members:
            begins = Signal()
            m.d.sync += begins.eq(self.enters)
            m.d.comb += [*(lane.valid.eq(begins) for lane in lanes), self.done.eq(lanes[0].done)]
        return m
