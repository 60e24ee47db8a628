"""Slow rows: the arbiter of a register file in which some accesses take two cycles ([TFET], section 4)."""

from collections.abc import Callable
from functools import reduce
from itertools import product
from operator import or_
from typing import Any

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.rtl import ports
from warploom.rtl.arbiter import first_requests, grant_slices
from warploom.rtl.observation import Shown
from warploom.rtl.shared import module_name, share

WHOLE = Const(1, 1)
"""The mask of an access that has its bank and its collector to itself."""


def is_slow(config: SmConfig, row: Value) -> Value:
    """Whether an access of a row takes two cycles."""
    return row >= config.cmos_rows if config.cmos_rows else Const(1, 1)


class SlowArbiter(wiring.Component):
    """Opens the requests of slow rows that an arbiter grants, and grants them in the next cycle.

    In that cycle its bank, and its collector or its write path, still belong to the access that is open: the arbiter
    inside does not see requests that need one of them. With sides this holds for the sub-banks and slices of its mask
    alone. A requester keeps its request until it is granted.

    What is open is in registers, one bit for each requester of each access of a bank. Requests and grants pass in the
    same cycle, as without slow rows.

    Parameters
    ----------
    config : sizes, write paths, sides, and the number of ports of a bank.
    arbiter : decides about requests that need nothing that is open: `Arbiter` or, with sides, `CoalescingArbiter`.

    Members
    -------
    write_slow, read_slow : for each writer, and for each request to read, whether the row is slow; unspecified without
        a request.
    write_left : with sides, for each writer, the side of its row.
    write_open : the writers whose write was opened in the previous cycle. They are granted.
    open : for each access of each bank, whether it was opened in the previous cycle. With two ports of a bank
        `open_reads` and `open_writes` in its place.
    others : those of the arbiter.
    """

    def __init__(self, *, config: SmConfig, arbiter: Any) -> None:
        self.arbiter, self._config = arbiter, config
        self._paths, self._writers = config.write_paths, len(config.pipes)
        self._accesses = list(product(range(config.banks), range(ports.accesses(config))))
        members = dict(arbiter.signature.members.items())
        self._shown = ("open",) if config.bank_ports == 1 else ("open_reads", "open_writes")
        super().__init__({
            **members,
            "write_slow": In(self._writers),
            "read_slow": In(members["read_request"].shape),
            **({"write_left": In(self._writers)} if config.has_sides else {}),
            "write_open": Out(self._writers),
            **{name: Out(len(self._accesses)) for name in self._shown},
        })
        self._inputs = [name for name, member in members.items() if member.flow is In]

    def observe(self) -> Shown:
        """What is open."""
        return {name: getattr(self, name) for name in self._shown}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.arbiter = share(platform, module_name(type(self.arbiter).__name__), self.arbiter)
        reads = Signal(data.ArrayLayout(self._config.collectors, len(self._accesses)), name="reads")
        writes = Signal(data.ArrayLayout(self._writers, len(self._accesses)), name="writes")
        m.d.comb += [
            *(getattr(self.arbiter, name).eq(getattr(self, name))
              for name in self._inputs if not name.endswith("_request")),
            *(getattr(self, name).eq(getattr(self.arbiter, name)) for name in ("diagonal", *ports.turns(self._config))),
            self.write_open.eq(reduce(or_, writes)),
        ]
        self._request(m, reads, writes)
        self._grant(m, reads, writes)
        self._show(m, reads, writes)
        return m

    # ------------------------------------------------------------------ what is open

    def _request(self, m: Module, reads: data.View, writes: data.View) -> None:
        """The arbiter inside sees the requests that need nothing that is open."""
        read, written = self._banks("read", reads, self._read_mask), self._banks("written", writes, self._write_mask)
        for_reads, for_writes = read, written
        if self._config.bank_ports == 1:
            for_reads = for_writes = [one | other for one, other in zip(read, written, strict=True)]
        collectors = self._collectors(reads)
        for number, (bank, _) in enumerate(self._accesses):
            request, asked = self._of(self.arbiter.read_request, number), self._of(self.read_request, number)
            for c, slices in enumerate(collectors):
                needs = (self._read_mask(number, c) & (for_reads[bank] | slices)).any()
                m.d.comb += request[c].eq(asked[c] & ~needs)
        first = first_requests(self.write_request, self._paths)
        for writer in range(self._writers):
            needs = Cat((self.write_bank[writer] == bank) & (self._write_mask(0, writer) & used).any()
                        for bank, used in enumerate(for_writes)).any()
            m.d.comb += self.arbiter.write_request[writer].eq(first[writer] & ~self._path_open(writer) & ~needs)

    def _banks(self, kind: str, opened: data.View, mask: Callable[[int, int], Value]) -> list[Value]:
        """For each bank, the parts of it that accesses of a kind have open."""
        parts = [reduce(or_, (_masked(bit, mask(number, who)) for who, bit in enumerate(opened[number])))
                 for number in range(len(self._accesses))]
        return [reduce(or_, (used for (of, _), used in zip(self._accesses, parts, strict=True) if of == bank))
                for bank in range(self._config.banks)]

    def _collectors(self, opened: data.View) -> list[Value]:
        """For each collector, the slices of it for which a read is open."""
        accesses = range(len(self._accesses))
        return [reduce(or_, (_masked(opened[number][c], self._read_mask(number, c)) for number in accesses))
                for c in range(self._config.collectors)]

    def _path_open(self, writer: int) -> Value:
        """Whether a write on the path of a writer is open."""
        path = next(path for path in self._paths if writer in path)
        return Cat(self.write_open[other] for other in path).any()

    # ------------------------------------------------------------------ grants

    def _grant(self, m: Module, reads: data.View, writes: data.View) -> None:
        """Grant what is open and what takes one cycle; open what takes two."""
        accepted = self.arbiter.write_grant
        m.d.comb += self.write_grant.eq(self.write_open | (accepted & ~self.write_slow))
        for number, (bank, side) in enumerate(self._accesses):
            granted, slow = self._of(self.arbiter.read_grant, number), self._of(self.read_slow, number)
            here = Cat(target == bank for target in self.write_bank)
            if self._config.has_sides:
                here &= Cat(left == side for left in self.write_left)
            m.d.sync += [reads[number].eq(granted & slow), writes[number].eq(accepted & self.write_slow & here)]
            m.d.comb += self._of(self.read_grant, number).eq(reads[number] | (granted & ~slow))
        if self._config.has_sides:
            grant_slices(m, self, self._config.banks, self._config.collectors)

    def _show(self, m: Module, reads: data.View, writes: data.View) -> None:
        """Show what is open."""
        read, written = (Cat(opened.any() for opened in kind) for kind in (reads, writes))
        values = [read | written] if self._config.bank_ports == 1 else [read, written]
        m.d.comb += [getattr(self, name).eq(value) for name, value in zip(self._shown, values, strict=True)]

    # ------------------------------------------------------------------ ports

    def _of(self, matrix: data.View, number: int) -> Value:
        """The part of a matrix of reads for an access, by its number."""
        bank, side = self._accesses[number]
        return matrix[bank][side] if self._config.has_sides else matrix[bank]

    def _read_mask(self, number: int, collector: int) -> Value:
        """The sub-banks and slices of a read."""
        return self._of(self.read_mask, number)[collector] if self._config.has_sides else WHOLE

    def _write_mask(self, number: int, writer: int) -> Value:
        """The sub-banks of a write."""
        return self.write_mask[writer] if self._config.has_sides else WHOLE


def _masked(bit: Value, mask: Value) -> Value:
    """A mask, if a bit is set."""
    return mask & bit.replicate(len(mask))
