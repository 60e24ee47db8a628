"""What an instruction at an issue input needs of the slots of a collector. It is known before the collector that takes
the instruction, which depends on what is dispatched in the same cycle and so comes late."""

from itertools import product
from typing import Any

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import data

from warploom.arch.config import COLUMNS, SUB_BANKS, SmConfig
from warploom.rtl import ports
from warploom.rtl.interfaces import SLOTS, SOURCES
from warploom.rtl.register_file.forms import form_of


def plan_layout(config: SmConfig) -> data.StructLayout:
    """For each slot, one bit of each mask.

    requests : for each access of each bank, it requests its register there.
    parts : with sides, the sub-banks of its register.
    repeats : for each slot, the lower ones that read the same register.
    constant : it reads no register.
    immediate : its constant is the immediate; otherwise zero.
    nonzero : with a zero mask, its constant is an immediate that is not zero.
    fills : for each slot, if columns are enabled one by one, those that its constant fills: those that some executing
        lane reads, and with a zero mask none if it is zero.
    """
    array = data.ArrayLayout
    return data.StructLayout({
        "requests": array(array(SLOTS, ports.accesses(config)), config.banks),
        **({"parts": array(SUB_BANKS, SLOTS)} if config.has_sides else {}),
        "repeats": array(SLOTS, SLOTS),
        "constant": SLOTS,
        "immediate": SLOTS,
        **({"nonzero": SLOTS} if config.has_zero_mask else {}),
        **({"fills": array(COLUMNS, SLOTS)} if config.gates_columns else {}),
    })


def plan(m: Module, planned: data.View, config: SmConfig, instruction: Any) -> None:
    """Drive the plan of an instruction (`warploom.rtl.ports.instruction`)."""
    issue = instruction.issue
    source = [issue[each] for each in SOURCES]
    repeats = [Cat(issue.reads[lower] & issue.reads[slot] & (source[lower] == source[slot]) for lower in range(slot))
               for slot in range(SLOTS)]
    immediate = Cat(issue.imm_slot == slot for slot in range(SLOTS))
    requests = [issue.reads[slot] & ~repeat.any() for slot, repeat in enumerate(repeats)]
    _plan_requests(m, planned, config, instruction, requests)
    m.d.comb += [
        *(shown.eq(repeat) for shown, repeat in zip(planned.repeats, repeats, strict=True)),
        planned.constant.eq(~issue.reads),
        planned.immediate.eq(immediate),
    ]
    if config.has_zero_mask:
        m.d.comb += planned.nonzero.eq(Mux(issue.imm != 0, immediate, 0))
    if config.gates_columns:
        read = form_of(config).row.constant_columns(issue.lanes)
        filled = planned.nonzero if config.has_zero_mask else planned.constant
        m.d.comb += [fills.eq(Mux(filled[slot], read, 0)) for slot, fills in enumerate(planned.fills)]


def _plan_requests(m: Module, planned: data.View, config: SmConfig, instruction: Any, requests: list[Value]) -> None:
    """Divide the requests of slots by access, and decode the sub-banks of their registers."""
    row, addresses = form_of(config).row, list(instruction.address)[:SLOTS]
    early = list(instruction.early)[:SLOTS] if config.has_sides else [None] * SLOTS
    for bank, side in product(range(config.banks), range(ports.accesses(config))):
        m.d.comb += planned.requests[bank][side].eq(Cat(
            requested & (address.bank == bank) & row.is_on(side, known)
            for requested, address, known in zip(requests, addresses, early, strict=True)))
    if config.has_sides:
        m.d.comb += [parts.eq(row.parts(known)) for parts, known in zip(planned.parts, early, strict=True)]
