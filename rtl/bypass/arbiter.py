"""Arbiters of collectors that request one bank at a time: each bank grants independently ([BOW], section IV)."""

from functools import reduce
from itertools import pairwise
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from warploom.arch.config import SUB_BANKS
from warploom.arch.interfaces import SIDES
from warploom.arch.pipes import WritePaths
from warploom.rtl.arbiter import advance, bank_ports, grant_writes
from warploom.rtl.coalescing.arbiter import grant_masked_writes, sub_bank_ports
from warploom.rtl.rotate import first_from, starts
from warploom.rtl.sizes import check_positive


class RotatingArbiter(wiring.Component):
    """`Arbiter` for collectors that request one bank at a time, so that no bank's grant depends on another's.

    A bank that no write takes grants the first request in the order of collectors p - b, p - b + 1, ... (mod N), with
    the priority diagonal p, by a parallel prefix. This is the wrapped wavefront for collectors with at most one
    request, in logarithmic time. A request is granted within N cycles in which no write takes its bank.

    Parameters
    ----------
    all : `Arbiter`.

    Members
    -------
    read_request : as in `Arbiter`, but each collector is in the mask of one bank at most.
    others : `Arbiter`.
    """

    def __init__(self, *, banks: int, collectors: int, paths: WritePaths, rotating: int = 1, ports: int = 1) -> None:
        check_positive(banks=banks, collectors=collectors)
        self._banks, self._collectors, self._paths, self._rotating = banks, collectors, paths, rotating
        self._size, self._ports = max(banks, collectors), ports
        super().__init__(bank_ports(banks, collectors, paths, rotating))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        advance(m, self.diagonal, self._size)
        closed = grant_writes(m, self, self._banks, self._paths, self._rotating, ports=self._ports)
        for bank, start in enumerate(self._starts(m)):
            requests = Signal(self._size, name=f"requests_{bank}")
            m.d.comb += [
                requests.eq(Mux(closed[bank], 0, self.read_request[bank])),
                self.read_grant[bank].eq(first_from(m, requests, start)),
            ]
        return m

    def _starts(self, m: Module) -> list[Value]:
        """For each bank, the collector that goes first."""
        return starts(m, self.diagonal, self._banks, self._size)


class RotatingCoalescingArbiter(wiring.Component):
    """`CoalescingArbiter` for collectors that request one bank and side at a time.

    In each bank the first request in the order of `RotatingArbiter` that conflicts with no write is granted, and then
    the next one that conflicts with neither. With the masks of registers these are a right and a left one, so there is
    no third. A request is granted within N cycles in which no write is granted in its bank; if it yields, in which none
    is pending in its bank.

    Parameters
    ----------
    yields : reads give way to all pending writes, which are known earlier than the granted ones.
    others : `CoalescingArbiter`.

    Members
    -------
    read_request : as in `CoalescingArbiter`, but each collector is in the mask of one bank and side at most.
    write_pending : with `yields`, the writers whose latches hold a write, those with a request among them.
    others : `CoalescingArbiter`.
    """

    def __init__(self, *, banks: int, collectors: int, paths: WritePaths, rotating: int = 1,
                 yields: bool = False) -> None:
        check_positive(banks=banks, collectors=collectors)
        self._banks, self._collectors, self._paths, self._rotating = banks, collectors, paths, rotating
        self._size, self._yields = max(banks, collectors), yields
        pending = {"write_pending": In(sum(map(len, paths)))} if yields else {}
        super().__init__({**sub_bank_ports(banks, collectors, paths, rotating), **pending})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        advance(m, self.diagonal, self._size)
        grant_masked_writes(m, self, self._paths, self._rotating)
        for bank, start in enumerate(self._starts(m)):
            self._grant_bank(m, bank, start)
        return m

    def _starts(self, m: Module) -> list[Value]:
        """For each bank, the collector that goes first."""
        return starts(m, self.diagonal, self._banks, self._size)

    def _grant_bank(self, m: Module, bank: int, start: Value) -> None:
        """The first request that does not conflict with a write, and the next one that conflicts with neither. That is
        one of the other side, which is found for every width of the first one before its width is known."""
        wants = self._wants(m, bank)
        free = [Signal(self._size, name=f"free_{bank}_{side}") for side in range(len(SIDES))]
        blocked = self._blocked(m, bank, wants)
        m.d.comb += [open_.eq(request & ~blocked) for open_, request in zip(free, self.read_request[bank], strict=True)]
        first = first_from(m, reduce(or_, free), start)
        granted = first
        for own, other, inwards in ((*free, wants), (*reversed(free), [*reversed(wants)])):
            for last, beyond in pairwise(inwards):
                is_first = (first & own & last & ~beyond).any()
                granted |= Mux(is_first, first_from(m, other & ~last, start), 0)
        for side in range(len(SIDES)):
            m.d.comb += self.read_grant[bank][side].eq(self.read_request[bank][side] & granted)
        for sub_bank, wanting in enumerate(wants):
            m.d.comb += self.slice_grant[sub_bank][bank].eq(wanting & granted)

    def _wants(self, m: Module, bank: int) -> list[Signal]:
        """For each sub-bank of a bank, the mask of collectors that request it."""
        wants = [Signal(self._collectors, name=f"wants_{bank}_{sub_bank}") for sub_bank in range(SUB_BANKS)]
        for sub_bank, wanting in enumerate(wants):
            of_sides = (request & Cat(mask[sub_bank] for mask in masks) for request, masks
                        in zip(self.read_request[bank], self.read_mask[bank], strict=True))
            m.d.comb += wanting.eq(reduce(or_, of_sides))
        return wants

    def _blocked(self, m: Module, bank: int, wants: list[Signal]) -> Value:
        """The collectors whose requests conflict with a write: conflicts are found beside the grants."""
        found, writes = [], self.write_pending if self._yields else self.write_grant
        for writer, (target, mask) in enumerate(zip(self.write_bank, self.write_mask, strict=True)):
            meets = Signal(self._collectors, name=f"meets_{bank}_{writer}")
            here = Mux(target == bank, mask, 0)
            m.d.comb += meets.eq(reduce(or_, (Mux(sub_bank, wanting, 0)
                                             for sub_bank, wanting in zip(here, wants, strict=True))))
            found.append(Mux(writes[writer], meets, 0))
        return reduce(or_, found)
