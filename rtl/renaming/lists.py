# amaranth: UnusedElaboratable=no
"""Lists of the free rows of a bank, one of CMOS and one of TFET rows ([TFET], section 4.1.1)."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.rtl import ports
from warploom.rtl.select import pick
from warploom.rtl.sizes import check_positive
from warploom.rtl.slow_arbiter import is_slow

CMOS, TFET = range(2)
"""The kinds of rows."""

FEWEST_PLACES = 3
"""Of a queue: one of two places would address its SRAM, of one word, with no bits, which Verilog does not have."""


class FreeList(wiring.Component):
    """Free rows of one kind: first those that were never used, in order, then released ones, first in, first out.

    Each queue of released rows is an SRAM with its first row in a register: a row that enters in a cycle is shown two
    cycles later at the earliest. What a queue shows and whether any row was never used are registers, too, so that
    `shown` and `row` only select. After reset a row is shown for a cycle even if `limit` is 0: the stage is empty then.

    Parameters
    ----------
    first, rows : the first row of this kind, and how many there are.
    queues : rows that may enter in a cycle, one in each queue.

    Members
    -------
    limit : rows that may be used, those from the first one on; static during a launch.
    shown, row : there is one that can be taken in this cycle, and which: that of the first queue that has one.
    take : take it.
    enter, entering : for each queue, whether a row enters, and which.
    given : rows that were taken and have not entered again.

    Raises
    ------
    ValueError
        If `rows` or `queues` is not positive.
    """

    def __init__(self, *, first: int, rows: int, queues: int) -> None:
        check_positive(rows=rows, queues=queues)
        self._first, self._rows, row = first, rows, index_bits(first + rows)
        super().__init__({
            "limit": In(range(rows + 1)), "shown": Out(1), "row": Out(row), "take": In(1),
            "enter": In(queues), "entering": In(data.ArrayLayout(row, queues)), "given": Out(range(rows + 1)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        used, following = (Signal(range(self._rows + 1), name=name) for name in ("used", "following"))
        unused, takes_unused = Signal(init=1, name="unused"), Signal()
        queues = [SyncFIFOBuffered(width=len(self.row), depth=max(self._rows + 1, FEWEST_PLACES)) for _ in self.enter]
        m.d.comb += [following.eq(used + 1), takes_unused.eq(self.take & unused)]
        m.d.sync += [
            used.eq(Mux(takes_unused, following, used)),
            unused.eq(Mux(takes_unused, following != self.limit, used != self.limit)),
        ]
        shows, taken = [unused], unused
        for number, queue in enumerate(queues):
            m.submodules[f"queue_{number}"] = queue
            m.d.comb += [
                queue.w_en.eq(self.enter[number]),
                queue.w_data.eq(self.entering[number]),
                queue.r_en.eq(self.take & ~taken),
            ]
            shows, taken = [*shows, queue.r_rdy], taken | queue.r_rdy
        m.d.comb += [
            self.shown.eq(taken),
            self.row.eq(pick(Cat(shows), [self._first + used, *(queue.r_data for queue in queues)])),
            self.given.eq(used - sum(queue.level for queue in queues)),
        ]
        return m


class BankLists(wiring.Component):
    """The lists of one bank. Rows of a swept register wait until no row enters that a read has released.

    Parameters
    ----------
    config : rows of each kind; with sides, reads release two rows in a cycle.

    Members
    -------
    powered : CMOS rows that may be used; static during a launch.
    shown, row : for each kind, CMOS and TFET, whether a row can be taken, and which.
    take : take that row.
    released : rows that enter because of reads, on each side; they were granted in the cycle before.
    swept : a row whose register the sweep has unmapped; only while none waits.
    waits, left : there is one, or one from before that has not entered; it does not enter in this cycle either.
    entering : the rows that enter in this cycle.
    given : for each kind the rows that were taken and have not entered again.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config, row = config, index_bits(config.rows)
        super().__init__({
            "powered": In(index_bits(config.cmos_rows + 1)),
            "shown": Out(2), "row": Out(data.ArrayLayout(row, 2)), "take": In(2),
            "released": In(data.ArrayLayout(ports.row_entry(config), ports.accesses(config))),
            "swept": In(ports.row_entry(config)), "waits": Out(1), "left": Out(1),
            "entering": Out(data.ArrayLayout(ports.row_entry(config), ports.accesses(config))),
            "given": Out(data.ArrayLayout(range(config.rows + 1), 2)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        swept = self._wait(m)
        m.d.comb += self.entering.eq(self.released)
        with m.If(swept.valid):
            m.d.comb += self.entering[0].eq(swept)
        config = self._config
        for kind, (start, rows) in enumerate(((0, config.cmos_rows), (config.cmos_rows, config.tfet_rows))):
            if rows:
                free = FreeList(first=start, rows=rows, queues=len(self.entering))
                m.submodules["tfet_list" if kind else "cmos_list"] = free
                self._connect(m, kind, free)
        return m

    def _wait(self, m: Module) -> data.View:
        """The swept row that enters in this cycle, if one does."""
        kept, waiting, entering = (Signal(ports.row_entry(self._config), name=name) for name in
                                   ("kept", "waiting", "entering"))
        m.d.comb += [
            waiting.eq(Mux(kept.valid, kept, self.swept)),
            self.waits.eq(waiting.valid),
            entering.row.eq(waiting.row),
            entering.valid.eq(waiting.valid & ~Cat(released.valid for released in self.released).any()),
            self.left.eq(waiting.valid & ~entering.valid),
        ]
        m.d.sync += [kept.row.eq(waiting.row), kept.valid.eq(self.left)]
        return entering

    def _connect(self, m: Module, kind: int, free: FreeList) -> None:
        m.d.comb += [
            free.limit.eq(self._config.tfet_rows if kind == TFET else self.powered),
            free.take.eq(self.take[kind]),
            free.enter.eq(Cat(each.valid & (is_slow(self._config, each.row) == kind) for each in self.entering)),
            free.entering.eq(Cat(each.row[: len(free.row)] for each in self.entering)),
            self.shown[kind].eq(free.shown),
            self.row[kind].eq(free.row),
            self.given[kind].eq(free.given),
        ]
