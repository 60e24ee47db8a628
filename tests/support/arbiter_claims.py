"""Claims about arbiters, which a SAT solver proves on their netlists.

The bound follows from two lemmas. The *turn*: if its diagonal has priority and no write is granted in its bank, a
cell's right request is granted, and its left one unless the right one is granted and conflicts with it. The
*diagonals*: in any N consecutive cycles each has priority once. The *bound* itself is proven, too. For each claim there
is an arbiter that violates it. The rotating arbiters get one request of a collector at a time, so that no read loses to
one of its own collector.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out
from support.proofs import verdicts

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.arch.interfaces import SIDES
from warploom.golden_model.byte_order import sub_bank_mask
from warploom.rtl import verilog
from warploom.rtl.arbiter import Arbiter
from warploom.rtl.bypass.arbiter import RotatingArbiter, RotatingCoalescingArbiter
from warploom.rtl.coalescing.arbiter import CoalescingArbiter, Read
from warploom.rtl.coalescing.separable_arbiter import SeparableCoalescingArbiter
from warploom.rtl.separable.arbiter import SeparableArbiter
from warploom.synth import yosys

RIGHT, LEFT = range(len(SIDES))
MASKS = [[sub_bank_mask(width, side == LEFT) for width in range(1, SUB_BANKS + 1)] for side in (RIGHT, LEFT)]
"""The legal masks of each side."""


class Request(NamedTuple):
    """A request for a bank: whether it is made, the grant, and the sub-banks and slices that it uses."""

    made: Value
    granted: Value
    mask: Value

    def blocks(self, other: "Request") -> Value:
        """Whether it is granted, and uses a resource that the other one requests."""
        return self.granted & (self.mask & other.mask).any()


class YieldingArbiter(RotatingCoalescingArbiter):
    """Reads give way to pending writes."""

    def __init__(self, **sizes: Any) -> None:
        super().__init__(**sizes, yields=True)


ROTATING = (RotatingArbiter, RotatingCoalescingArbiter, YieldingArbiter)
SEPARABLE = (SeparableArbiter, SeparableCoalescingArbiter)
SLICED = (CoalescingArbiter, SeparableCoalescingArbiter, RotatingCoalescingArbiter, YieldingArbiter)
"""Arbiters that grant sub-banks and slices."""


class Theorem(wiring.Component):
    """An arbiter with free inputs, and claims about it, each one output.

    `legal` is the others' assumption about inputs and state. `diagonals`: each has had priority, and `bound`: no read
    has been refused unduly in every cycle, since the registers `diagonals_before` and `bound_before` were zero.
    """

    def __init__(self, arbiter: Any, banks: int, collectors: int, config: SmConfig) -> None:
        self.arbiter, self.banks, self.collectors = arbiter, banks, collectors
        self._paths, self._turning = config.write_paths, config.rotating_paths
        inputs = {name: member for name, member in arbiter.signature.members.items() if member.flow is wiring.In}
        super().__init__({**inputs, **dict.fromkeys(("legal", *CLAIMS, *LEMMAS, *PATH_LEMMAS), Out(1))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.arbiter = self.arbiter
        for name, member in self.arbiter.signature.members.items():
            if member.flow is wiring.In:
                m.d.comb += getattr(self.arbiter, name).eq(getattr(self, name))
        self._diagonal, self._size = self.arbiter.diagonal, max(self.banks, self.collectors)
        self._reads, self._writes = self._find_reads(), self._find_writes(self.arbiter.write_grant)
        self._before = self._find_writes(getattr(self.arbiter, "write_pending", self.arbiter.write_grant))
        for name in ("legal", *CLAIMS):
            m.d.comb += getattr(self, name).eq(Cat(getattr(self, f"_{name}")()).all())
        for name in (*LEMMAS, *PATH_LEMMAS):
            now = Cat(getattr(self, f"_{name}")())
            before = Signal(len(now), name=f"{name}_before")
            m.d.sync += before.eq(before | now)
            m.d.comb += getattr(self, name).eq((before | now).all())
        return m

    def _find_reads(self) -> dict[Read, Request]:
        request, grant = self.arbiter.read_request, self.arbiter.read_grant
        cells = product(range(self.banks), range(self.collectors))
        if not isinstance(self.arbiter, SLICED):
            whole = Const(-1, SUB_BANKS)
            return {Read(b, RIGHT, c): Request(request[b][c], grant[b][c], whole) for b, c in cells}
        mask = self.arbiter.read_mask
        return {Read(b, side, c): Request(request[b][side][c], grant[b][side][c], mask[b][side][c])
                for b, c in cells for side in (RIGHT, LEFT)}

    def _find_writes(self, granted: Value) -> list[list[Request]]:
        """For each bank, the requests of the writers for it; those that reads give way to count as granted."""
        arbiter, found = self.arbiter, []
        for b in range(self.banks):
            here = [bank == b for bank in arbiter.write_bank]
            masks = getattr(arbiter, "write_mask", [Const(-1, SUB_BANKS)] * len(arbiter.write_request))
            found.append([Request(arbiter.write_request[w] & here[w], granted[w] & here[w], masks[w])
                          for w in range(len(arbiter.write_request))])
        return found

    def _of(self, bank: int) -> list[Request]:
        """All reads of a bank."""
        return [request for read, request in self._reads.items() if read.bank == bank]

    def _at(self, collector: int) -> list[Request]:
        """All requests of a collector."""
        return [request for read, request in self._reads.items() if read.collector == collector]

    def _legal(self) -> Iterator[Value]:
        yield from self._stays_legal()
        yield from (bank < self.banks for bank in self.arbiter.write_bank)
        yield ~(self.arbiter.write_request & ~getattr(self.arbiter, "write_pending", self.arbiter.write_request)).any()
        if isinstance(self.arbiter, SLICED):
            yield from (mask.matches(*MASKS[RIGHT], *MASKS[LEFT]) for mask in self.arbiter.write_mask)
            yield from (~request.made | request.mask.matches(*MASKS[read.side])
                        for read, request in self._reads.items())
        if isinstance(self.arbiter, ROTATING):
            for collector in range(self.collectors):
                yield from (~(one.made & other.made) for one, other in combinations(self._at(collector), 2))

    def _stays_legal(self) -> Iterator[Value]:
        """The part of `legal` about the state: the inputs are free."""
        yield self._diagonal < self._size
        yield self._first_path() < self._turning

    def _first_path(self) -> Value:
        """The path that is served first."""
        return getattr(self.arbiter, "first_path", Const(0))

    def _earlier(self, other: int, path: int) -> Value:
        """Whether a path is served before another one: it takes fewer steps from the first one."""
        if max(other, path) >= self._turning:
            return Const(other < path)
        size = self._turning
        return Cat((self._first_path() == first) & ((other - first) % size < (path - first) % size)
                   for first in range(size)).any()

    def _only_requested(self) -> Iterator[Value]:
        yield from (made | ~granted for made, granted, _ in self._reads.values())
        yield ~(self.arbiter.write_grant & ~self.arbiter.write_request).any()

    def _disjoint(self) -> Iterator[Value]:
        """Granted requests share no sub-bank and no slice."""
        for group in [*self._writes, *map(self._of, range(self.banks)), *map(self._at, range(self.collectors))]:
            yield from (~(one.granted & other.blocks(one)) for one, other in combinations(group, 2))
        for bank, writes in enumerate(self._before):
            yield from (~(read.granted & write.blocks(read)) for read, write in product(self._of(bank), writes))

    def _slices_follow(self) -> Iterator[Value]:
        """Slices are granted by the masks of the granted requests."""
        for read, request in self._reads.items() if isinstance(self.arbiter, SLICED) else ():
            other = self._reads[read._replace(side=1 - read.side)]
            for k, slice_ in enumerate(self.arbiter.slice_grant):
                wanted = request.granted & request.mask[k] | other.granted & other.mask[k]
                yield slice_[read.bank][read.collector] == wanted

    def _writes_first(self) -> Iterator[Value]:
        """The first requesting writer of each path is granted, unless an earlier path writes its sub-banks."""
        request, grant = self.arbiter.write_request, self.arbiter.write_grant
        for number, path in enumerate(self._paths):
            for turn, writer in enumerate(path):
                behind = Cat(request[ahead] for ahead in path[:turn]).any() if turn else Const(0)
                yield ~(grant[writer] & behind)
                for here in self._writes:
                    blocked = [self._earlier(other, number) & here[theirs].blocks(here[writer])
                               for other, of_other in enumerate(self._paths) if other != number for theirs in of_other]
                    yield ~here[writer].made | behind | here[writer].granted ^ Cat(blocked).any()

    def _never_idle(self) -> Iterator[Value]:
        """A refused read conflicts with a granted read, or with a write that it gives way to."""
        for read, request in self._reads.items():
            others = [*self._before[read.bank], *self._of(read.bank), *self._at(read.collector)]
            yield ~request.made | request.granted | Cat(other.blocks(request) for other in others).any()

    def _turn(self) -> Iterator[Value]:
        for read, request in self._reads.items():
            priority = self._diagonal == (read.bank + read.collector) % self._size
            yield ~priority | ~self._refused(read) | (self._right(read).blocks(request) if read.side == LEFT else 0)

    def _diagonals(self) -> Iterator[Value]:
        """The diagonal that has priority."""
        yield from (self._diagonal == diagonal for diagonal in range(self._size))

    def _turns(self) -> Iterator[Value]:
        """The path, among those that take turns, that is first."""
        yield from (self._first_path() == path for path in range(self._turning))

    def _path_bound(self) -> Iterator[Value]:
        """Of the paths that take turns, those whose first writer is not refused."""
        request, grant = self.arbiter.write_request, self.arbiter.write_grant
        yield from (~(request[path[0]] & ~grant[path[0]]) for path in self._paths[: self._turning])

    def _bound(self) -> Iterator[Value]:
        """Reads that are served fairly: a left one may lose to the right one of its cell, once for each."""
        for read in self._reads:
            yield ~self._refused(read) | (self._right(read).granted if read.side == LEFT else 0)

    def _right(self, read: Read) -> Request:
        """The right request of the same cell."""
        return self._reads[read._replace(side=RIGHT)]

    def _refused(self, read: Read) -> Value:
        """Whether a read is refused although it gives way to no write in its bank."""
        written = Cat(write.granted for write in self._before[read.bank]).any()
        return self._reads[read].made & ~self._reads[read].granted & ~written


CLAIMS = ("only_requested", "disjoint", "slices_follow", "writes_first", "never_idle", "turn", "stays_legal")
"""Claims that hold in a cycle with legal inputs and state; `stays_legal` holds in the next one."""

PATH_LEMMAS = ("turns", "path_bound")
"""Claims about as many consecutive cycles as there are write paths that take turns."""

LEMMAS = ("diagonals", "bound")
"""Claims about N consecutive cycles."""

TWO_SP = ("schedulers=2", "sp.result_queue=2", "pipes.sp.copy=sp2", "sp2.write_path=1", "mem.write_path=2")
TURNS = {"two paths": TWO_SP, "three paths": (*TWO_SP, "sfu.write_path=2", "mem.write_path=3")}
"""Settings with write paths that take turns."""

ARBITERS = (Arbiter, CoalescingArbiter, *SEPARABLE, *ROTATING)
CLAIMED = [(arbiter, claim) for arbiter in ARBITERS for claim in CLAIMS
           if (claim != "slices_follow" or arbiter in SLICED)
           and (claim != "never_idle" or arbiter not in SEPARABLE)]


Maker = Callable[..., Any]
"""Makes an arbiter."""


class Prover:
    """The netlist of a theorem, from the generated Verilog. Scripts and logs stay in `folder`."""

    def __init__(self, folder: Path, arbiter: Maker, banks: int = 4, collectors: int = 4,
                 settings: Sequence[str] = ()) -> None:
        config = SmConfig().with_settings([*settings])
        self._folder, self._size, self._turning = folder, max(banks, collectors), config.rotating_paths
        made = arbiter(banks=banks, collectors=collectors, paths=config.write_paths, rotating=self._turning)
        theorem = Theorem(made, banks, collectors, config)
        (folder / "theorem.sv").write_text(verilog.to_verilog(theorem, "theorem"))
        yosys.run("read_verilog -sv theorem.sv; hierarchy -top theorem; proc; flatten; opt; write_rtlil theorem.il\n",
                  folder, "read")

    def holds(self, claim: str, fewer: int = 0) -> bool:
        """Whether a claim, or a lemma in N or `fewer` cycles, follows from legality."""
        if claim == "stays_legal":
            after_reset = self._sat("-seq 2 -prove-skip 1 -set-at 1 rst 1", claim)
            return after_reset and self._sat("-seq 2 -prove-skip 1 -set-at 1 legal 1 -set-at 1 rst 0", claim)
        if claim in CLAIMS:
            return self._sat("-seq 1 -set legal 1", claim)
        n = (self._turning if claim in PATH_LEMMAS else self._size) - fewer
        return self._sat(f"-seq {n} -prove-skip {n - 1} -set legal 1 -set rst 0 -set-at 1 {claim}_before 0", claim)

    def _sat(self, assumptions: str, claim: str) -> bool:
        """Run the solver: true for a proof, false for a counterexample, which the log shows."""
        yosys.run(f"read_rtlil theorem.il; sat {assumptions} -prove {claim} 1\n", self._folder, claim)
        (found,) = verdicts(self._folder / f"{claim}.log")
        return found
