# amaranth: UnusedElaboratable=no
"""Rename stage: gives each value a row, CMOS or TFET, between the issue port and the operand store ([TFET], 4.1.1)."""

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.isa import Pipe
from warploom.rtl import ports
from warploom.rtl.interfaces import REGISTERS, SLOTS, SOURCES, address_layout, issue_layout, unstoppable
from warploom.rtl.observation import Shown, gather, probe_port, show
from warploom.rtl.placement import STRIDE_BITS, Placer
from warploom.rtl.renaming.lists import CMOS, TFET, BankLists
from warploom.rtl.renaming.ownership import Ownership
from warploom.rtl.renaming.predictor import StallPredictor
from warploom.rtl.renaming.sweep import Sweep
from warploom.rtl.renaming.table import RowTable
from warploom.rtl.shared import share
from warploom.rtl.slow_arbiter import is_slow


def edges(config: SmConfig) -> dict[str, wiring.Member]:
    """The ports of the stage to the front end, which the datapath has too.

    powered : CMOS rows of each bank that may be used; static during a launch.
    retired, sweeping : slots whose block has ended, in one cycle; those of them whose registers are not yet unmapped.
    tfet_free : TFET rows in all lists.
    began, ended : with the stall predictor, slots whose warp makes its first request beyond the L1 cache of those
        outstanding, and whose last one is answered.
    stall : slots that have time for slow rows.
    """
    warps = config.warps
    predictor = {"began": In(warps), "ended": In(warps), "stall": Out(warps)}
    return {
        "powered": In(index_bits(config.cmos_rows + 1)), "retired": In(warps), "sweeping": Out(warps),
        "tfet_free": Out(index_bits(config.banks * config.tfet_rows + 1)),
        **(predictor if config.predicts_stalls else {}),
    }


class RenameStage(wiring.Component):
    """Holds one instruction, whose registers were looked up as it issued. It leaves in the next cycle, or later if it
    needs a row and its bank has none.

    Parameters
    ----------
    config : the machine, with renaming.
    probe : add the port of a bench, and assertions.

    Members
    -------
    issue : decoded warp instructions; one is taken if a collector is shown for it.
    free, free_collectors : free collectors of each set, at most two, since one is for the instruction in the stage;
        the same for the issue port, at most one.
    renamed, address : the instruction as it leaves, and the addresses of its registers with their rows; an `entry` is
        that of the register. Bits of its `last` are the slots whose row is released when their read is granted.
    released : for each bank and side, the row whose last read was granted in the cycle before.
    stride : virtual rows of one warp in a bank that holds it; static during a launch.
    powered, retired, sweeping, tfet_free, began, ended, stall : `edges`.
    probe : with a probe, the state.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        sets, addresses = len(config.collector_sets), data.ArrayLayout(address_layout(config), REGISTERS)
        self.table, self.sweep, self.placer = RowTable(config=config), Sweep(config=config), Placer(config=config)
        self.lists = [BankLists(config=config) for _ in range(config.banks)]
        self.predictor = StallPredictor(slots=config.warps) if config.predicts_stalls else None
        self._valid, self._leaves, self._served = Signal(name="valid"), Signal(name="leaves"), Signal(name="served")
        self._held = Signal(issue_layout(config), name="instruction", reset_less=True)
        self._virtual = Signal(addresses, name="virtual_address", reset_less=True)
        self._moves, self._taken = Signal(name="moves"), Signal(2, name="taken")
        self._new_row = Signal(index_bits(config.rows), name="new_row")
        super().__init__({
            "issue": In(unstoppable(issue_layout(config))),
            "free": In(data.ArrayLayout(range(3), sets)), "free_collectors": Out(data.ArrayLayout(1, sets)),
            "renamed": Out(unstoppable(issue_layout(config))), "address": Out(addresses),
            "released": In(ports.released(config)),
            "stride": In(STRIDE_BITS),
            **edges(config),
            **(probe_port(self.observe()) if probe else {}),
        })

    def observe(self) -> Shown:
        """The instruction in the stage, and as it leaves; rows in use; the state of sweep and predictor."""
        leaves, held = self._leaves, self._held
        shown = {"rename_valid": self._valid, "rename_leaves": leaves, "rename_tag": Mux(leaves, held.tag, 0),
                 "rename_row": Mux(leaves & held.writes, self._new_row, 0), "rename_served": self._served}
        for bank, lists in enumerate(self.lists):
            shown |= {f"cmos_given_{bank}": lists.given[CMOS], f"tfet_given_{bank}": lists.given[TFET]}
        return shown | gather(self.sweep, self.predictor)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.placer = share(platform, "placer", self.placer, clocked=False)
        m.submodules.row_table = share(platform, "row_table", self.table)
        m.submodules.sweep = share(platform, "sweep", self.sweep)
        for bank, lists in enumerate(self.lists):
            m.submodules[f"lists_{bank}"] = share(platform, "bank_lists", lists)
        self._take(m)
        self._rename(m)
        self._connect_lists(m)
        self._connect_sweep(m)
        self._predict(m, platform)
        if self._with_probe:
            for bank, lists in enumerate(self.lists):
                m.submodules[f"ownership_{bank}"] = ownership = Ownership(config=self._config)
                self._watch(m, bank, lists, ownership)
            show(m, self)
        return m

    def _take(self, m: Module) -> None:
        """Take the instruction at the issue port, and read its registers.

        Whether a collector is free is known late. So unless the stage is stuck, the instruction is kept and its
        registers are read even if it is not taken: the stage is empty then.
        """
        placer, issue, takes, virtual = self.placer, self.issue, Signal(), self._virtual
        placed = Cat(placer.source, placer.destination)
        stuck, offered = Signal(), Signal()
        for free, shown, holds in zip(self.free, self.free_collectors, self._needed(self._held), strict=True):
            m.d.comb += shown.eq(~stuck & Mux(self._valid & holds, free[1], free.any()))
        m.d.comb += [
            stuck.eq(self._valid & ~self._leaves),
            offered.eq(issue.valid & ~stuck),
            takes.eq(issue.valid & (self.free_collectors.as_value() & self._needed(issue.payload)).any()),
            placer.issue.eq(issue.payload),
            placer.stride.eq(self.stride),
            self.table.address.eq(placed),
            self.table.read.eq(Mux(offered, Cat(issue.payload.reads, issue.payload.writes), 0)),
            self.table.held.eq(virtual),
        ]
        m.d.sync += self._valid.eq(takes | stuck)
        with m.If(offered):
            m.d.sync += [self._held.eq(issue.payload), virtual.as_value().eq(placed)]

    def _needed(self, issue: data.View) -> Value:
        """The set of collectors that an instruction needs, as a mask."""
        config = self._config
        sets = [[number for number, pipe in enumerate(config.pipes) if config.collector_set(pipe.kind) == each]
                for each in range(len(config.collector_sets))]
        return Cat(issue.pipe.matches(*pipes) for pipes in sets) if len(sets) > 1 else Const(1)

    # ------------------------------------------------------------------ the instruction in the stage

    def _rename(self, m: Module) -> None:
        """The row of the destination, and what changes in the table as the instruction leaves."""
        held, table, bank = self._held, self.table, self._virtual[SLOTS].bank
        named = Cat(held.reads[slot] & held.writes & (held[name] == held.dst) for slot, name in enumerate(SOURCES))
        ending, wanted = held.reads & held.last & table.mapped[:SLOTS], self._wanted()
        mapped, shown, is_new = table.mapped[SLOTS], Signal(2), Signal()
        choices = [self._choose(kind, shown, is_new) for kind in (CMOS, TFET)]
        m.d.comb += [
            shown.eq(Array(lists.shown for lists in self.lists)[bank]),
            is_new.eq(~mapped | (ending & named).any()),
            self._leaves.eq(self._valid & (~held.writes | mapped | shown.any())),
            Cat(self._moves, self._taken, self._new_row, self._served).eq(Mux(wanted, choices[TFET], choices[CMOS])),
            table.unmap.eq(Mux(self._leaves, ending & ~named, 0)),
            table.write.eq(self._leaves & held.writes),
            table.new_row.eq(self._new_row),
        ]
        self._send(m, ending & (~named | self._moves.replicate(SLOTS)))

    def _choose(self, wanted: int, shown: Value, is_new: Value) -> Value:
        """If this kind of row is wanted: whether the destination moves, the lists that give a row, its row, and whether
        a request is served. Which kind is wanted is known late, and only selects."""
        table, bank, other = self.table, self._virtual[SLOTS].bank, TFET - wanted
        mapped, row = table.mapped[SLOTS], table.row[SLOTS]
        rows = [Array(lists.row[kind] for lists in self.lists)[bank] for kind in (CMOS, TFET)]
        writes, slow = self._valid & self._held.writes, is_slow(self._config, row)
        moves = mapped & is_new & shown[wanted] & (slow != wanted)
        gives = [moves | ~mapped & shown[wanted], ~mapped & shown[other] & ~shown[wanted]]
        served = writes & is_new & (shown[TFET] | mapped & slow) if wanted == TFET else Const(0, 1)
        return Cat(moves, Cat(gives[kind != wanted] & writes for kind in (CMOS, TFET)),
                   Mux(mapped & ~moves, row, Mux(shown[wanted], rows[wanted], rows[other])), served)

    def _send(self, m: Module, released: Value) -> None:
        """The instruction as it leaves: with the rows of its registers, and the slots whose row is released."""
        table = self.table
        m.d.comb += [
            self.renamed.valid.eq(self._leaves),
            self.renamed.payload.eq(self._held),
            self.renamed.payload.last.eq(released),
            self.address.eq(self._virtual),
            self.address[SLOTS].row.eq(self._new_row),
        ]
        for slot in range(SLOTS):
            with m.If(table.mapped[slot]):
                m.d.comb += self.address[slot].row.eq(table.row[slot])

    def _wanted(self) -> Value:
        """Whether a TFET row is wanted for a new value."""
        if self.predictor is None:
            return Const(0, 1)
        memory = [number for number, pipe in enumerate(self._config.pipes) if pipe.kind is Pipe.MEM]
        return self.predictor.wants.bit_select(self._held.warp, 1) & ~self._held.pipe.matches(*memory)

    # ------------------------------------------------------------------ parts

    def _connect_lists(self, m: Module) -> None:
        """Connect the lists: the row that is taken, and those that enter."""
        for number, lists in enumerate(self.lists):
            m.d.comb += [
                lists.powered.eq(self.powered),
                lists.take.eq(Mux(self._virtual[SLOTS].bank == number, self._taken, 0)),
                lists.released.eq(self.released[number]),
                lists.swept.valid.eq(self.table.found[number]),
                lists.swept.row.eq(self.table.found_row[number]),
            ]
        rows = self._config.banks * self._config.tfet_rows
        m.d.comb += self.tfet_free.eq(rows - sum(lists.given[TFET] for lists in self.lists))

    def _connect_sweep(self, m: Module) -> None:
        sweep = self.sweep
        m.d.comb += [
            sweep.retired.eq(self.retired),
            sweep.stride.eq(self.stride),
            sweep.offered.eq(self.issue.valid),
            sweep.waits.eq(Cat(lists.waits for lists in self.lists).any()),
            sweep.left.eq(Cat(lists.left for lists in self.lists).any()),
            self.table.step.eq(sweep.step),
            self.table.step_row.eq(sweep.row),
            self.sweeping.eq(sweep.sweeping),
        ]

    def _predict(self, m: Module, platform: object) -> None:
        predictor = self.predictor
        if predictor is not None:
            m.submodules.predictor = share(platform, "stall_predictor", predictor)
            m.d.comb += [
                predictor.began.eq(self.began),
                predictor.ended.eq(self.ended),
                predictor.served.eq(self._served << self._held.warp),
                self.stall.eq(predictor.stall),
            ]

    def _watch(self, m: Module, bank: int, lists: BankLists, ownership: Ownership) -> None:
        """Connect the assertions about a bank: what its lists give and take, and what registers no longer have."""
        table = self.table
        dropped = [(table.unmap[slot], slot) for slot in range(SLOTS)] + [(self._leaves & self._moves, SLOTS)]
        for (valid, register), drop in zip(dropped, ownership.dropped, strict=False):
            m.d.comb += [
                drop.valid.eq(valid & (self._virtual[register].bank == bank)),
                drop.row.eq(table.row[register]),
            ]
        m.d.comb += [
            ownership.dropped[SLOTS + 1].valid.eq(table.found[bank]),
            ownership.dropped[SLOTS + 1].row.eq(table.found_row[bank]),
            ownership.entering.eq(lists.entering),
        ]
        for kind, given in enumerate(ownership.given):
            m.d.comb += [given.valid.eq(lists.take[kind]), given.row.eq(lists.row[kind])]
