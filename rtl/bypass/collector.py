# amaranth: UnusedElaboratable=no
"""Bypassing operand collector: a warp's own, with the registers of its last instructions ([BOW], Fig. 5)."""

from functools import reduce
from operator import or_

from amaranth import Cat, Const, Module, Mux, ResetSignal, Signal, Value, ValueLike
from amaranth.hdl import Assert, Format
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import ROOM_BITS, WARP_BITS, window_fields
from warploom.arch.mechanisms import Coalescing, Gating
from warploom.rtl.bypass.allocation import EntryAllocator
from warploom.rtl.bypass.entry import Entry
from warploom.rtl.bypass.fetch import OperandFetcher, bank_ports
from warploom.rtl.bypass.held import HeldInstructions
from warploom.rtl.bypass.interfaces import coming_layout, delivery_layout, drop_layout, form_layout
from warploom.rtl.interfaces import (
    CODE,
    REGISTERS,
    SLOTS,
    SOURCES,
    eviction_layout,
    held_layout,
    issue_layout,
    place_layout,
    words,
    zero_layout,
)
from warploom.rtl.select import merge
from warploom.rtl.shared import share


class BypassingCollector(wiring.Component):
    """The operand collector of one warp, which keeps what the last instructions of the warp read and wrote.

    An instruction that is taken in cycle t finds its operands in entries, or requests them, one at a time, from t + 1
    on; what is granted in cycle r is there from r + 2 on. A register's stored form is undone on the way into its entry.
    The oldest instruction that is held may be dispatched when all its operands are there. Outputs are functions of
    registers but for `deliver`, which answers `coming` in the same cycle, and `evict`, which gives way to `take`.

    Parameters
    ----------
    config : the machine: its window and entries, how registers are stored, what is gated.
    probe : add the ports of a bench.

    Members
    -------
    take, issue : an instruction of the warp is taken at the end of the cycle; only where `room` allows it.
    source, destination : where its registers lie.
    code, destination_code : with coalescing, how its registers are stored.
    zero : with a zero mask, those of its sources and destination; in the cycle after `take`.
    room : 0, or one more than the registers that the next instruction may read.
    request, row : the bank (at most one) of which a row is wanted. With coalescing, the bank and side.
    mask : with coalescing, the sub-banks of that row.
    columns : with gating, the columns that are needed of it.
    grant : the request is granted.
    operand : what was granted in the previous cycle, in the register file's form.
    busy, ready : an instruction is held; the oldest one has all its operands.
    held, operands : the oldest instruction and its operands, for dispatch.
    dispatched : it is dispatched.
    coming, deliver : results that enter the latches of SP, SFU and MEM in this cycle; those that are to be delivered.
    delivery : a result that is delivered.
    blocked : with write-back, an eviction of the warp is on its way.
    evict, eviction, evicted : with write-back, an entry wants to leave for the register file; it leaves in this cycle.
    held_count, used, wanted, dirty : with a probe, the state, as in `window_fields`.
    loads : with a probe, the lanes that entries take of what arrives, and of what is delivered.
    drop : with a probe and hints, a transient value that goes nowhere.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        self._coalescing = config.coalescing is Coalescing.ON
        self.entries = [Entry(config=config) for _ in range(config.entries)]
        self.allocator, self.queue = EntryAllocator(config=config), HeldInstructions(config=config)
        self.fetcher = OperandFetcher(config=config)
        place = place_layout(config)
        super().__init__({
            "take": In(1),
            "issue": In(issue_layout(config)),
            "source": In(data.ArrayLayout(place, SLOTS)),
            "destination": In(place),
            "room": Out(ROOM_BITS),
            "grant": In(1),
            "operand": In(WARP_BITS),
            "busy": Out(1),
            "ready": Out(1),
            "held": Out(held_layout(config)),
            "operands": Out(words(SLOTS)),
            "dispatched": In(1),
            "coming": In(data.ArrayLayout(coming_layout(config), len(config.pipes))),
            "deliver": Out(len(config.pipes)),
            "delivery": In(delivery_layout()),
            **self._register_file_ports(),
            **(self._eviction_ports() if config.bypass.writes_back else {}),
            **(self._probe_ports() if probe else {}),
        })

    def _register_file_ports(self) -> dict[str, wiring.Member]:
        """The members that depend on how registers are stored."""
        config = self._config
        codes = {"code": In(data.ArrayLayout(CODE, SLOTS)), "destination_code": In(CODE)}
        zeros = {"zero": In(data.ArrayLayout(zero_layout(config), REGISTERS))}
        looked_up = {**(codes if self._coalescing else {}), **(zeros if config.gating.has_zero_mask else {})}
        return bank_ports(config) | looked_up

    def _eviction_ports(self) -> dict[str, wiring.Member]:
        return {
            "blocked": In(1), "evict": Out(1), "eviction": Out(eviction_layout(self._config)), "evicted": In(1),
        }

    def _probe_ports(self) -> dict[str, wiring.Member]:
        config = self._config
        count, *masks = window_fields(config)
        return {
            "held_count": Out(count[1]), **{name: Out(bits) for name, bits in masks},
            "loads": Out(data.ArrayLayout(LANES, 2)),
            **({"drop": Out(drop_layout())} if config.bypass.has_hints else {}),
        }

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.allocator, m.submodules.queue, m.submodules.fetcher = self.allocator, self.queue, self.fetcher
        for e, entry in enumerate(self.entries):
            m.submodules[f"entry_{e}"] = share(platform, "entry", entry)
        self._connect_issue(m)
        self._connect_results(m)
        self._connect_fetcher(m)
        self._offer(m)
        self._show_room(m)
        if self._config.bypass.writes_back:
            self._let_go(m)
        if self._with_probe:
            self._connect_probe(m)
            self._assert_rules(m)
        return m

    def _all(self, name: str) -> Value:
        """A bit, or a number, of each entry."""
        return Cat(getattr(entry, name) for entry in self.entries)

    def _of(self, select: Value, name: str) -> Value:
        """A value of the entry that is selected, zero if none is."""
        return merge(select, [getattr(entry, name) for entry in self.entries])

    def _connect_issue(self, m: Module) -> None:
        """Entries are found for the registers of an instruction, and the instruction joins the queue."""
        allocator, queue = self.allocator, self.queue
        forms = Signal(data.ArrayLayout(form_layout(self._config), REGISTERS))
        for form, ports in zip(forms, self._registers(), strict=True):
            m.d.comb += [form[name].eq(port[name]) for port in ports for name, _ in port.shape()]
        for e, entry in enumerate(self.entries):
            m.d.comb += [
                entry.take.eq(self.take),
                entry.issue.eq(self.issue),
                entry.forms.eq(forms),
                entry.serves.eq(Mux(self.take, Cat(entries[e] for entries in allocator.serves), 0)),
                entry.emptied.eq(self.take & allocator.emptied[e]),
                entry.pinned.eq(queue.pinned[e]),
                *([entry.zero.eq(self.zero)] if self._config.gating.has_zero_mask else []),
            ]
        m.d.comb += [
            allocator.issue.eq(self.issue),
            allocator.issue.first.eq(self.take & self.issue.first),  # the port may show one of another warp
            *(getattr(allocator, name).eq(self._all(name)) for name in ("used", "available", "age", "number")),
            queue.take.eq(self.take),
            queue.dispatched.eq(self.dispatched),
            queue.instruction.imm_slot.eq(self.issue.imm_slot),
            queue.instruction.imm.eq(self.issue.imm),
            *(queue.sources[slot].eq(allocator.serves[slot]) for slot in range(SLOTS)),
            *([queue.zero.eq(self.zero[SLOTS])] if self._config.gating.has_zero_mask else []),
        ]
        kept = {name for name, _ in self.held.shape()}
        for port in (self.issue, *self._registers()[SLOTS]):
            m.d.comb += [queue.instruction.held[name].eq(port[name]) for name, _ in port.shape() if name in kept]

    def _registers(self) -> list[tuple[data.View, ...]]:
        """Where each register of the instruction at the port lies and how it is stored: with coalescing the side as
        stored comes last, and counts."""
        places = [*self.source, self.destination]
        codes = [(code,) for code in (*self.code, self.destination_code)] if self._coalescing else [()] * REGISTERS
        return [(place, *code) for place, code in zip(places, codes, strict=True)]

    def _connect_fetcher(self, m: Module) -> None:
        """What is wanted is asked for; what comes goes to its entry."""
        fetcher = self.fetcher
        for e, entry in enumerate(self.entries):
            m.d.comb += [
                fetcher.wanted[e].eq(entry.wanted),
                fetcher.form[e].eq(entry.form),
                entry.granted.eq(fetcher.granted[e]),
                entry.arrives.eq(fetcher.arrives[e]),
                entry.arriving.eq(fetcher.arriving),
                entry.operand.eq(fetcher.restored),
            ]
        m.d.comb += [
            fetcher.reads.eq(self.queue.reads),
            fetcher.wants.eq(self._all("wants")),
            fetcher.grant.eq(self.grant),
            fetcher.operand.eq(self.operand),
            *(getattr(self, port).eq(getattr(fetcher, port)) for port in bank_ports(self._config)),
        ]

    def _connect_results(self, m: Module) -> None:
        """Every entry sees the results that come, and those that are delivered."""
        for entry in self.entries:
            m.d.comb += [entry.coming.eq(self.coming), entry.delivery.eq(self.delivery)]
        m.d.comb += self.deliver.eq(reduce(or_, (entry.deliver for entry in self.entries)))

    def _offer(self, m: Module) -> None:
        """The oldest instruction, for dispatch."""
        queue = self.queue
        sources = queue.reads[0]
        missing = self._all("wants") | self.fetcher.arrives
        m.d.comb += [
            self.busy.eq(queue.count != 0),
            self.ready.eq(self.busy & ~(missing & reduce(or_, sources)).any()),
            self.held.eq(queue.oldest.held),
        ]
        for slot, entries in enumerate(sources):
            constant = Mux(queue.oldest.imm_slot == slot, queue.oldest.imm, 0)
            self._read(m, self.operands[slot], entries, constant.replicate(LANES))

    def _read(self, m: Module, word: Value, select: Value, otherwise: ValueLike = 0) -> None:
        """The word of the entry that is selected."""
        m.d.comb += word.eq(otherwise)
        with m.Switch(select):
            for e, entry in enumerate(self.entries):
                with m.Case(1 << e):
                    m.d.comb += word.eq(entry.word)

    def _show_room(self, m: Module) -> None:
        """How many registers the next instruction may read."""
        closed = self.queue.count == self._config.window
        if self._config.bypass.writes_back:
            closed |= self.blocked
        available = self._available()
        m.d.comb += self.room.eq(Mux(closed, 0, Mux(available < SLOTS, available + 1, SLOTS + 1)))

    def _available(self) -> Value:
        """How many entries are available."""
        return sum((entry.available for entry in self.entries), Const(0))

    def _let_go(self, m: Module) -> None:
        """One entry with dirty lanes is dropped or wants to be evicted, in a cycle in which no instruction is taken."""
        config, oldest = self._config, self.allocator.oldest
        over, crowded, leaves, dropped = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            self.allocator.candidates.eq(self._all("evictable")),
            over.eq((oldest & self._all("old")).any()),
            crowded.eq((self.queue.count == 0) & (self._available() < SLOTS)),
            leaves.eq(oldest.any() & (over | crowded) & ~self.take),
            dropped.eq(leaves & over & self._of(oldest, "transient")),
            self.evict.eq(leaves & ~dropped),
            *(entry.goes.eq(oldest[e] & (dropped | self.evicted)) for e, entry in enumerate(self.entries)),
            self.eviction.lanes.eq(self._of(oldest, "dirty")),
            self.eviction.full.eq(self._of(oldest, "full")),
        ]
        form = Signal(form_layout(config), name="evicted_form")
        m.d.comb += form.eq(self._of(oldest, "form"))
        m.d.comb += [self.eviction[name].eq(form[name]) for name, _ in form.shape()]
        self._read(m, self.eviction.data, oldest)
        if self._with_probe and config.bypass.has_hints:
            m.d.comb += [
                self.drop.valid.eq(dropped),
                self.drop.register.eq(self._of(oldest, "number")),
                self.drop.lanes.eq(self.eviction.lanes),
            ]

    def _connect_probe(self, m: Module) -> None:
        """The state, and what is loaded, for a bench."""
        m.d.comb += [
            self.held_count.eq(self.queue.count),
            self.used.eq(self._all("used")),
            self.wanted.eq(self._all("wants")),
            self.dirty.eq(self._all("has_dirty")),
        ]
        ports = (self.fetcher.arrives.any(), self.fetcher.arriving), (self.delivery.valid, self.delivery.lanes)
        for loads, (valid, lanes) in zip(self.loads, ports, strict=True):
            m.d.comb += loads.eq(Mux(valid, lanes if self._config.gating is not Gating.OFF else Const(-1, LANES), 0))

    def _assert_rules(self, m: Module) -> None:
        """Stop a simulation in which an instruction is taken without room, or a result is delivered to no entry."""
        named = [(self.issue.reads[k], self.issue[name]) for k, name in enumerate(SOURCES)]
        different = sum((reads & ~Cat(again & (other == register) for again, other in named[:k]).any()
                         for k, (reads, register) in enumerate(named)), Const(0))
        with m.If(self.take):
            m.d.sync += Assert(self.room > different, Format("warp {} reads {} registers with room {}\n",
                                                             self.issue.warp, different, self.room))
        delivery = self.delivery
        found = Cat(entry.used & (entry.number == delivery.register) for entry in self.entries).any()
        with m.If(delivery.valid & ~ResetSignal()):
            m.d.sync += Assert(found, Format("no entry takes the result of register {}\n", delivery.register))
