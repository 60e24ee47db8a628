"""The requests of a collector: which slots wait for a grant, and which have their operand."""

from collections.abc import Sequence
from functools import reduce
from itertools import product
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.rtl import ports
from warploom.rtl.interfaces import SLOTS
from warploom.rtl.operands.plan import plan_layout
from warploom.rtl.select import lowest
from warploom.rtl.shared import share


class SlotRequests(wiring.Component):
    """The states of three operand slots, and the request to each access of each bank: that of its lowest waiting slot.

    Which slots wait is held by access, and the sub-banks of operands as masks, so that a request comes from registers
    with one selection behind them. A module of its own for synthesis: grants come late.

    Parameters
    ----------
    config : sizes, and delays.

    Members
    -------
    take, plan : an instruction is taken at the end of the cycle, and what it needs (`warploom.rtl.operands.plan`).
    dispatched : the held instruction leaves at the end of the cycle.
    request, mask, grant : those of `warploom.rtl.ports.read`.
    waiting : for each access of each bank, the slots that wait for it.
    parts : with sides, the sub-banks of each slot's operand.
    arriving : slots whose operand arrives in this cycle: it was granted in the previous one.
    present, ready : slots with their operand; all of them have it.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        requests, read = plan_layout(config)["requests"].shape, ports.read(config).members
        names = ("request", *(["mask"] if config.has_sides else []), "grant")
        super().__init__({
            "take": In(1),
            "plan": In(plan_layout(config)),
            "dispatched": In(1),
            **{name: read[name] for name in names},
            "waiting": Out(requests),
            **({"parts": Out(data.ArrayLayout(SUB_BANKS, SLOTS))} if config.has_sides else {}),
            "arriving": Out(SLOTS),
            "present": Out(SLOTS),
            "ready": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        filled = self._request(m, platform)
        present = Mux(self.take, self.plan.constant, Mux(self.dispatched, 0, self.present))
        m.d.comb += self.ready.eq(self.present.all())  # no slot of a free collector is present
        m.d.sync += [  # no slot is filled when an instruction leaves or is taken, so what comes late needs no priority
            self.arriving.eq(filled),
            self.present.eq(present | (self.arriving if self._config.arrival_delay else filled)),
        ]
        if self._config.has_sides:
            m.d.comb += self.parts.eq(self._held(m, "parts"))
        return m

    def _held(self, m: Module, name: str) -> Signal:
        """A part of the plan of the held instruction."""
        held = Signal(self.plan[name].shape(), name=f"held_{name}", reset_less=True)
        with m.If(self.take):
            m.d.sync += held.eq(self.plan[name])
        return held

    def _request(self, m: Module, platform: object) -> Value:
        """Make the requests; the slots that are granted stop waiting. Returns those that are filled: they and the slots
        that repeat their registers."""
        filling, repeats = FilledSlots(config=self._config), self._held(m, "repeats")
        m.submodules.filling = share(platform, "filled_slots", filling, clocked=False)
        m.d.comb += filling.grant.eq(self.grant)
        for bank, side in product(range(self._config.banks), range(ports.accesses(self._config))):
            waiting = self.waiting[bank][side]
            m.d.comb += self.request[bank][side].eq(waiting.any())
            if self._config.has_sides:
                m.d.comb += self.mask[bank][side].eq(of_lowest(waiting, list(self.parts)))
            granted, requested = self.grant[bank][side].replicate(SLOTS), lowest(waiting)
            repeating = Cat((repeats[slot] & requested).any() for slot in range(SLOTS))
            m.d.comb += filling.fills[bank][side].eq(requested | repeating)
            m.d.sync += waiting.eq(Mux(self.take, self.plan.requests[bank][side], waiting) & ~(requested & granted))
        return filling.filled


class FilledSlots(wiring.Component):
    """Combinational: the slots that grants fill. A module of its own for synthesis: what a grant fills is known early,
    and not to be mapped behind it.

    Members
    -------
    grant : those of `warploom.rtl.ports.read`.
    fills : for each access of each bank, the slots that its grant fills.
    filled : the slots that are filled.
    """

    def __init__(self, *, config: SmConfig) -> None:
        super().__init__({
            "grant": In(ports.read(config).members["grant"].shape),
            "fills": In(plan_layout(config)["requests"].shape),
            "filled": Out(SLOTS),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.filled.eq(reduce(or_, (
            Mux(self.grant[bank][side], fills, 0)
            for bank, of_bank in enumerate(self.fills) for side, fills in enumerate(of_bank))))
        return m


def of_lowest(slots: Value, values: Sequence[Value]) -> Value:
    """The value of the lowest slot whose bit is set; that of the last one if none is."""
    first, second, third = values
    return Mux(slots[0], first, Mux(slots[1], second, third))
