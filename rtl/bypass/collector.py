# amaranth: UnusedElaboratable=no
"""Bypassing operand collector of one warp, with the registers of its last instructions ([BOW], Fig. 5)."""

from functools import reduce
from operator import or_

from amaranth import Cat, Const, Module, Mux, ResetSignal, Signal, Value, ValueLike
from amaranth.hdl import Assert, Format
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import FREE_BITS, WARP_BITS
from warploom.rtl import ports
from warploom.rtl.bypass.allocation import EntryAllocator
from warploom.rtl.bypass.entry import Entry
from warploom.rtl.bypass.fetch import OperandFetcher
from warploom.rtl.bypass.held import HeldInstructions
from warploom.rtl.bypass.interfaces import drop_layout, form_layout
from warploom.rtl.interfaces import REGISTERS, SLOTS, SOURCES
from warploom.rtl.observation import Shown
from warploom.rtl.select import count, merge
from warploom.rtl.shared import share


class BypassingCollector(wiring.Component):
    """The operand collector of one warp, which holds the registers that the warp's last instructions read and wrote.

    An instruction that is taken in cycle t finds its operands in entries, or requests them, one at a time, from t + 1
    on. An operand that a bank reads in cycle r is valid from r + 2 on. The plain word is restored before it enters the
    entry. The oldest held instruction is ready when all its operands are valid, with `arrival_delay` = 0 when the last
    one arrives. Without a dispatch delay it may then be dispatched at once, and what arrives goes past its entry.

    Outputs are functions of registers, except these, which depend on inputs: `forward.deliver` on `forward.coming`;
    `eviction.request` on `take`; `free_entries` on `eviction.blocked`, and with `turnaround` = 0 on `offer.dispatched`;
    where banks select reads `read.request` and `offer.ready` on `read.arrives`; with `arrival_delay` = 0
    `offer.operands` on `read.word`; with a zero mask `offer.held` and `read.columns` on `instruction.late`.

    Parameters
    ----------
    config : the machine: window and entries, stored forms, gating.
    probe : add the ports of a bench.

    Members
    -------
    take : an instruction of the warp is taken at the end of the cycle; only if `free_entries` allows it.
    instruction : the instruction at the issue port (`warploom.rtl.ports.instruction`).
    free_entries : 0, or one more than the number of registers that the next instruction may read.
    read : the request to the register file (`warploom.rtl.ports.single_read`).
    offer : the oldest instruction, for dispatch (`warploom.rtl.ports.offer`).
    forward : results at the inputs of latches, and results that are delivered (`warploom.rtl.ports.forward`).
    eviction : with write-back, an entry that leaves for the register file (`warploom.rtl.ports.eviction`).
    held_count : with a probe, the number of held instructions.
    used, wanted, dirty : with a probe, masks over the entries: in use; with wanted lanes; with dirty lanes.
    loads : with a probe, the lanes that entries load from arriving operands, and from delivered results.
    drop : with a probe and hints, a transient value that is dropped.
    registers : with a probe and registers without rows, the number of registers with a row.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        self.entries = [Entry(config=config) for _ in range(config.entries)]
        self.allocator, self.queue = EntryAllocator(config=config), HeldInstructions(config=config)
        self.fetcher = OperandFetcher(config=config)
        super().__init__({
            "take": In(1),
            "instruction": In(ports.instruction(config)),
            "free_entries": Out(FREE_BITS),
            "read": Out(ports.single_read(config)),
            "offer": Out(ports.offer(config)),
            "forward": In(ports.forward(config)),
            **({"eviction": Out(ports.eviction(config))} if config.writes_back else {}),
            **(self._probe_ports() if probe else {}),
        })
        self._issue = self.instruction.issue
        self._available = Signal(SLOTS + 1, name="available")  # the number of available entries, one-hot, 0 for more

    def _probe_ports(self) -> dict[str, wiring.Member]:
        config = self._config
        return {
            "held_count": Out(self.queue.count.shape()),
            **dict.fromkeys(("used", "wanted", "dirty"), Out(config.entries)),
            "loads": Out(data.ArrayLayout(LANES, 2)),
            **({"drop": Out(drop_layout())} if config.has_hints else {}),
            **({"registers": In(8)} if config.has_unallocated else {}),
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
        self._show_free(m)
        if self._config.writes_back:
            self._let_go(m)
        if self._with_probe:
            self._connect_probe(m)
            self._assert_rules(m)
            if self._config.has_unallocated:
                self._assert_rows(m)
        return m

    def _all(self, name: str) -> Value:
        """A bit, or a number, of each entry."""
        return Cat(getattr(entry, name) for entry in self.entries)

    def _of(self, select: Value, name: str) -> Value:
        """A value of the selected entry, zero if none is selected."""
        return merge(select, [getattr(entry, name) for entry in self.entries])

    def _connect_issue(self, m: Module) -> None:
        """Entries are found for the registers of an instruction, and the instruction joins the queue."""
        allocator, queue = self.allocator, self.queue
        forms = Signal(data.ArrayLayout(form_layout(self._config), REGISTERS))
        for form, known in zip(forms, self._registers(), strict=True):
            m.d.comb += [form[name].eq(port[name]) for port in known for name, _ in port.shape()]
        for e, entry in enumerate(self.entries):
            m.d.comb += [
                entry.take.eq(self.take),
                entry.issue.eq(self._issue),
                entry.forms.eq(forms),
                entry.serves.eq(Mux(self.take, Cat(entries[e] for entries in allocator.serves), 0)),
                entry.emptied.eq(self.take & allocator.emptied[e]),
                entry.pinned.eq(queue.pinned[e]),
                entry.kept.eq(queue.kept[e]),
                *([entry.zero.eq(self.instruction.late)] if self._config.has_zero_mask else []),
            ]
        m.d.comb += [
            allocator.issue.eq(self._issue),
            *(getattr(allocator, name).eq(self._all(name)) for name in ("used", "available", "age", "number")),
            queue.take.eq(self.take),
            queue.dispatched.eq(self.offer.dispatched),
            queue.instruction.imm_slot.eq(self._issue.imm_slot),
            queue.instruction.imm.eq(self._issue.imm),
            *(queue.sources[slot].eq(allocator.serves[slot]) for slot in range(SLOTS)),
            *([queue.zero.eq(self.instruction.late[SLOTS])] if self._config.has_zero_mask else []),
        ]
        kept = {name for name, _ in self.offer.held.shape()}
        for port in (self._issue, *self._registers()[SLOTS]):
            m.d.comb += [queue.instruction.held[name].eq(port[name]) for name, _ in port.shape() if name in kept]

    def _registers(self) -> list[tuple[data.View, ...]]:
        """Address and metadata of each register of the instruction at the port. A stored side comes last and so
        replaces the one from the number."""
        addresses = self.instruction.address
        early = [(encoding,) for encoding in self.instruction.early] if self._config.has_sides else [()] * REGISTERS
        return [(address, *encoding) for address, encoding in zip(addresses, early, strict=True)]

    def _connect_fetcher(self, m: Module) -> None:
        """Wanted lanes are requested, and operands that arrive go to their entry."""
        fetcher = self.fetcher
        for e, entry in enumerate(self.entries):
            m.d.comb += [
                fetcher.wanted[e].eq(entry.wanted),
                fetcher.form[e].eq(entry.form),
                entry.granted.eq(fetcher.granted[e]),
                entry.fetching.eq(fetcher.fetching[e]),
                entry.arrives.eq(fetcher.arrives[e]),
                entry.arriving.eq(fetcher.arriving),
                entry.operand.eq(fetcher.restored),
            ]
        m.d.comb += [
            fetcher.reads.eq(self.queue.reads),
            fetcher.wants.eq(self._all("wants")),
        ]
        connect(m, fetcher.read, flipped(self.read))

    def _connect_results(self, m: Module) -> None:
        """Every entry sees the results at the inputs of latches, and those that are delivered."""
        for entry in self.entries:
            m.d.comb += [entry.coming.eq(self.forward.coming), entry.delivery.eq(self.forward.delivery)]
        m.d.comb += self.forward.deliver.eq(reduce(or_, (entry.deliver for entry in self.entries)))

    def _offer(self, m: Module) -> None:
        """The oldest instruction, for dispatch."""
        queue, offer = self.queue, self.offer
        sources = queue.reads[0]
        fetching, arrives = self.fetcher.fetching, self.fetcher.arrives
        missing = self._all("wants") | (fetching if self._config.arrival_delay else fetching & ~arrives)
        m.d.comb += [
            offer.busy.eq(queue.count != 0),
            offer.ready.eq(offer.busy & ~(missing & reduce(or_, sources)).any()),
            offer.held.eq(queue.oldest.held),
        ]
        if self._config.gates_columns:
            m.d.comb += [needed.eq(offer.held.lanes) for needed in offer.needed]
        for slot, entries in enumerate(sources):
            constant = Mux(queue.oldest.imm_slot == slot, queue.oldest.imm, 0)
            if not self._config.passes_storage:
                self._read(m, offer.operands[slot], entries, constant.replicate(LANES))
            else:
                stored = Signal(WARP_BITS, name=f"stored_{slot}")
                self._read(m, stored, entries, constant.replicate(LANES))
                m.d.comb += offer.operands[slot].eq(self._forwarded(stored, entries))

    def _forwarded(self, word: Value, entries: Value) -> Value:
        """The word of an entry with the lanes that arrive in this cycle, past the storage."""
        lanes = Mux((entries & self.fetcher.arrives).any(), self.fetcher.arriving, 0)
        return Cat(Mux(arrives, self.fetcher.restored.word_select(lane, 32), word.word_select(lane, 32))
                   for lane, arrives in enumerate(lanes))

    def _read(self, m: Module, word: Value, select: Value, otherwise: ValueLike = 0) -> None:
        """The word of the selected entry."""
        m.d.comb += word.eq(otherwise)
        with m.Switch(select):
            for e, entry in enumerate(self.entries):
                with m.Case(1 << e):
                    m.d.comb += word.eq(entry.word)

    def _show_free(self, m: Module) -> None:
        """Drive `free_entries`."""
        closed = self.queue.full
        if self._config.writes_back:
            closed |= self.eviction.blocked
        free = [available + 1 - self._for_destination() for available in range(SLOTS + 1)]
        m.d.comb += [
            self._available.eq(count(m, [entry.available for entry in self.entries], SLOTS, "available")),
            self.free_entries.eq(Mux(closed, 0, Mux(self._available.any(), merge(self._available, free), SLOTS + 1))),
        ]

    def _for_destination(self) -> int:
        """How many entries an instruction needs for its result, which may have no row."""
        return int(self._config.has_unallocated)

    def _let_go(self, m: Module) -> None:
        """One dirty entry is dropped or requests its eviction, in a cycle in which no instruction is taken."""
        candidates, oldest = self.allocator.candidates, self.allocator.oldest
        over, crowded, leaves, dropped = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            candidates.eq(self._all("evictable")),
            over.eq((candidates & self._all("old")).any()),  # if any is, the oldest is
            crowded.eq(self._may_crowd() & (self.queue.count == 0) & self._available[:SLOTS].any()),
            leaves.eq(candidates.any() & (over | crowded) & ~self.take),
            dropped.eq(leaves & over & self._of(oldest, "transient") if self._config.has_hints else 0),
            self.eviction.request.eq(leaves & ~dropped),
            *(signal.eq(value) for e, entry in enumerate(self.entries) for signal, value in (
                (entry.leaves, oldest[e]), (entry.dropped, dropped), (entry.evicted, self.eviction.taken))),
        ]
        self._show_evicted(m, oldest)
        if self._with_probe and self._config.has_hints:
            m.d.comb += [
                self.drop.valid.eq(dropped),
                self.drop.register.eq(self._of(oldest, "number")),
                self.drop.lanes.eq(self._of(oldest, "dirty")),
            ]

    def _show_evicted(self, m: Module, leaving: Value) -> None:
        """Show an entry in the cycle after that in which it leaves: until its end nothing else is stored there."""
        shown, evicted = self.eviction.entry, Signal.like(leaving, name="evicted")
        form = Signal(form_layout(self._config), name="evicted_form")
        m.d.sync += evicted.eq(leaving)
        m.d.comb += [form.eq(self._of(evicted, "form")), *(shown[name].eq(form[name]) for name, _ in form.shape())]
        m.d.comb += [shown[name].eq(self._of(evicted, kept))
                     for name, kept in (("lanes", "dirty"), ("full", "full"), ("data", "word"))]

    def _may_crowd(self) -> Value:
        """Whether entries leave before their time; then each must have a row."""
        return Const(not self._config.has_unallocated)

    def observe(self) -> Shown:
        """The number of held instructions, and the states of entries."""
        return {"held": self.held_count, "used": self.used, "wanted": self.wanted, "dirty": self.dirty}

    def _connect_probe(self, m: Module) -> None:
        """The state, and the loads of entries, for a bench."""
        m.d.comb += [
            self.held_count.eq(self.queue.count),
            self.used.eq(self._all("used")),
            self.wanted.eq(self._all("wants")),
            self.dirty.eq(self._all("has_dirty")),
        ]
        delivery = self.forward.delivery
        taken = (self.fetcher.arrives.any(), self.fetcher.arriving), (delivery.valid, delivery.lanes)
        for loads, (valid, lanes) in zip(self.loads, taken, strict=True):
            m.d.comb += loads.eq(Mux(valid, lanes if self._config.gates_columns else Const(-1, LANES), 0))

    def _assert_rules(self, m: Module) -> None:
        """Stop a simulation if an instruction is taken without free entries, or if no entry takes a delivered
        result."""
        named = [(self._issue.reads[k], self._issue[name]) for k, name in enumerate(SOURCES)]
        different = sum((reads & ~Cat(again & (other == register) for again, other in named[:k]).any()
                         for k, (reads, register) in enumerate(named)), Const(0))
        with m.If(self.take):
            m.d.sync += Assert(self.free_entries > different, Format("warp {} reads {} registers with room {}\n",
                                                             self._issue.warp, different, self.free_entries))
        delivery = self.forward.delivery
        found = Cat(entry.used & (entry.number == delivery.register) for entry in self.entries).any()
        with m.If(delivery.valid & ~ResetSignal()):
            m.d.sync += Assert(found, Format("no entry takes the result of register {}\n", delivery.register))

    def _assert_rows(self, m: Module) -> None:
        """Stop a simulation at an access to a register that has no row: a read, an eviction, or the issue of an
        instruction whose result would be written."""
        oldest, issue = self.allocator.oldest, self._issue
        reads = merge(self.fetcher.granted, [entry.number for entry in self.entries])
        accesses = [
            (self.fetcher.granted.any(), reads), (self.eviction.taken, self._of(oldest, "number")),
            (self.take & issue.writes & (issue.to_file | ~issue.to_collector), issue.dst),
        ]
        for access, register in accesses:
            with m.If(access & ~ResetSignal()):
                m.d.sync += Assert(register < self.registers, Format("register {} has no row\n", register))
