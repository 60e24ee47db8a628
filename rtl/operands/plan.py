"""What an instruction at an issue input needs of the slots of a collector. It is known before the collector that takes
the instruction, which depends on what is dispatched in the same cycle and so comes late."""

from typing import Any

from amaranth import Cat, Module, Mux
from amaranth.lib import data

from warploom.arch.config import SmConfig
from warploom.rtl.interfaces import SLOTS, SOURCES


def plan_layout(config: SmConfig) -> data.StructLayout:
    """For each slot, one bit of each mask.

    requests : it requests its register.
    repeats : for each slot, the lower ones that read the same register.
    constant : it reads no register.
    immediate : its constant is the immediate; otherwise zero.
    nonzero : with a zero mask, its constant is an immediate that is not zero.
    """
    return data.StructLayout({
        "requests": SLOTS,
        "repeats": data.ArrayLayout(SLOTS, SLOTS),
        "constant": SLOTS,
        "immediate": SLOTS,
        **({"nonzero": SLOTS} if config.has_zero_mask else {}),
    })


def plan(m: Module, planned: data.View, issue: Any) -> None:
    """Drive the plan of an instruction with these fields of the issue port."""
    source = [issue[each] for each in SOURCES]
    repeats = [Cat(issue.reads[lower] & issue.reads[slot] & (source[lower] == source[slot]) for lower in range(slot))
               for slot in range(SLOTS)]
    immediate = Cat(issue.imm_slot == slot for slot in range(SLOTS))
    m.d.comb += [
        *(shown.eq(repeat) for shown, repeat in zip(planned.repeats, repeats, strict=True)),
        planned.requests.eq(Cat(issue.reads[slot] & ~repeat.any() for slot, repeat in enumerate(repeats))),
        planned.constant.eq(~issue.reads),
        planned.immediate.eq(immediate),
    ]
    if "nonzero" in planned.shape().members:
        m.d.comb += planned.nonzero.eq(Mux(issue.imm != 0, immediate, 0))
