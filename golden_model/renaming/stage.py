"""`RenameStage`: gives each value a row, between the issue port and the operand store (docs/contract/renaming.md)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from warploom.arch.config import SmConfig
from warploom.arch.isa import Pipe
from warploom.golden_model.dispatch import Chosen
from warploom.golden_model.inputs import WarpEvents
from warploom.golden_model.observation import Gathered
from warploom.golden_model.operands.collector import SLOTS
from warploom.golden_model.operands.slots import SlotStore
from warploom.golden_model.placement import Address
from warploom.golden_model.records import SOURCES, IssueFields
from warploom.golden_model.register_file.ports import Form
from warploom.golden_model.renaming.counts import Counts
from warploom.golden_model.renaming.lists import Kind, Lists
from warploom.golden_model.renaming.ownership import Ownership
from warploom.golden_model.renaming.predictor import Predictor
from warploom.golden_model.renaming.sweep import Sweep
from warploom.golden_model.renaming.table import Table


class Held(NamedTuple):
    """An instruction in the stage, with the virtual addresses of its registers."""

    fields: IssueFields
    sources: tuple[Address, ...]
    destination: Address


class Row(NamedTuple):
    """The row of a destination: whether it is for a new value, the kind that is wanted, and the list that gives it
    (`None`: the register keeps its row)."""

    row: int
    is_new: bool
    wanted: Kind
    giver: Kind | None


class Renamed(NamedTuple):
    """An instruction that leaves in this cycle: the rows of its sources (`None` if not mapped), slots whose register is
    no longer mapped, slots whose row is released by its read, and the row of the destination, if it writes."""

    rows: Sequence[int | None]
    unmapped: Sequence[int]
    releases: int
    written: Row | None


class RenameStage:
    """An operand store with the stage in front of it; see `OperandStore`. The form of the register file tells the side
    of a read, `stride` and `powered` are those of the launch.

    `sweeping`, `stall` and `tfet_free` are outputs. Instructions leave with two fields more: `releases`, slots whose
    row is released by their read, and `given`, whether the destination has its row from a list.
    """

    address_ready = 0
    counts = None
    acts = True

    def __init__(self, config: SmConfig, operands: SlotStore, form: Form, stride: int, powered: int) -> None:
        self.operands, self._form = operands, form
        self.dispatcher, self.collectors, self.holders = operands.dispatcher, operands.collectors, operands.holders
        self.table, self.lists, self.ownership = Table(config), Lists(config, powered), Ownership(config)
        self.sweep = Sweep(config, stride, self.table, self.lists, self.ownership)
        self.predictor = Predictor(config.warps) if config.predicts_stalls else None
        self.renamings = Counts()
        self._cmos_rows = config.cmos_rows
        self._memory = config.numbers(Pipe.MEM)
        self._sets = [config.collector_set(pipe.kind) for pipe in config.pipes]
        self._held: Held | None = None
        self._leaving: Renamed | None = None
        self._entering: Held | None = None  # at the end of this cycle
        self._offered = False  # whether an instruction is at the issue port in this cycle
        self._granted: list[tuple[int, int, int]] = []  # bank, row and side of last reads of the cycle before
        self._released: set[int] = set()  # banks in which a row that was read enters a list in this cycle
        self._served = 0  # the mask of the slot with a served request
        self._cycle = 0
        self._parts = Gathered(operands, self.lists, self.sweep, self.predictor)
        self.observed = (*self._parts.observed, *(f"rename_{name}" for name in ("valid", "leaves", "tag", "row",
                                                                                "served")))

    # ------------------------------------------------------------------ wires

    @property
    def sweeping(self) -> int:
        """The mask of slots of ended warps that still have registers."""
        return self.sweep.sweeping

    @property
    def stall(self) -> int:
        """The mask of slots with time to spare."""
        return 0 if self.predictor is None else self.predictor.stall

    @property
    def tfet_free(self) -> int:
        """The number of TFET rows in all lists."""
        return self.lists.tfet_free

    @property
    def placed(self) -> tuple[IssueFields, Address] | None:
        """The fields of an instruction that leaves in this cycle, and the address of its destination, with its row;
        `None` if it writes nothing."""
        if self._held is None or self._leaving is None or self._leaving.written is None:
            return None
        return self._held.fields, self._held.destination._replace(row=self._leaving.written.row)

    @property
    def released(self) -> Sequence[tuple[int, int, int]]:
        """The rows whose last read was granted in the cycle before: bank, row and side of the read."""
        return self._granted

    @property
    def granted(self) -> Sequence[tuple[int, int]]:
        """See `OperandStore`, here and below."""
        return self.operands.granted

    @property
    def free(self) -> Sequence[int]:
        return self.operands.free

    @property
    def free_collectors(self) -> Sequence[int]:
        free = self.operands.free_collectors
        if self._held is None:
            return free
        if self._leaving is None:
            return [0] * len(free)
        needed = self._sets[self._held.fields["pipe"]]
        return [max(count - (number == needed), 0) for number, count in enumerate(free)]

    def takes(self, fields: IssueFields) -> bool:
        """See `OperandStore`. The instruction is offered, so the sweep makes no step, even if this is not taken."""
        self._offered = True
        return self.free_collectors[self._sets[fields["pipe"]]] > 0

    def hold_back(self) -> int:
        """The first call of a cycle: what is in the stage is renamed."""
        self._leaving = None if self._held is None else self._renamed(self._held)
        return self.operands.hold_back()

    def completed(self, done: list[Any]) -> list[Any]:
        return self.operands.completed(done)

    def choose(self) -> Chosen:
        return self.operands.choose()

    @property
    def quiet(self) -> bool:
        return (self._held is None and not self._granted and self.operands.quiet and self.lists.quiet
                and self.sweep.quiet and (self.predictor is None or self.predictor.quiet))

    def _renamed(self, held: Held) -> Renamed | None:
        """How an instruction leaves; `None` if it must stay."""
        fields, sources, _ = held
        rows = [self.table.row(source.bank, source.row) if fields["reads"] >> slot & 1 else None
                for slot, source in enumerate(sources)]
        ending = [slot for slot in SLOTS if fields["last"] >> slot & 1 and rows[slot] is not None]
        named = [slot for slot in ending if fields["writes"] and fields[SOURCES[slot]] == fields["dst"]]
        written = None
        if fields["writes"]:
            written = self._row(held, ends=bool(named))
            if written is None:
                return None
        moves = written is not None and written.giver is not None
        releases = [slot for slot in ending if slot not in named or moves]
        return Renamed(rows, [slot for slot in ending if slot not in named], sum(1 << slot for slot in releases),
                       written)

    def _row(self, held: Held, *, ends: bool) -> Row | None:
        """The row of the destination, whose present value ends with this instruction or not; `None` without one."""
        bank = held.destination.bank
        wanted, present = self._wanted(held.fields), self.table.row(bank, held.destination.row)
        shown = self.lists.shows(bank, wanted)
        if present is not None:
            if not ends or shown is None or self._kind(present) is wanted:
                return Row(present, ends, wanted, None)
            return Row(shown, True, wanted, wanted)
        giver = wanted if shown is not None else Kind(1 - wanted)
        row = self.lists.shows(bank, giver)
        return None if row is None else Row(row, True, wanted, giver)

    def _wanted(self, fields: IssueFields) -> Kind:
        """The kind of row that a new value is to have."""
        if self.predictor is None or fields["pipe"] in self._memory:
            return Kind.CMOS
        return Kind(self.predictor.wants >> fields["warp"] & 1)

    def _is_served(self, written: Row | None) -> bool:
        """Whether a TFET row is wanted for a new value, and given."""
        return (written is not None and written.is_new and written.wanted is Kind.TFET
                and self._kind(written.row) is Kind.TFET)

    def _kind(self, row: int) -> Kind:
        return Kind(row >= self._cmos_rows)

    # ------------------------------------------------------------------ the end of a cycle

    def issue(self, fields: IssueFields, sources: tuple[Address, ...], destination: Address) -> None:
        """An instruction enters the stage."""
        self._entering = Held(fields, sources, destination)

    def read(self) -> None:
        """Rows that were read enter their lists, the instruction in the stage leaves, and requests are granted."""
        skipped = self.dispatcher.cycle - self._cycle
        if skipped:
            self._pass(skipped)
        self._released = {bank for bank, _, _ in self._granted}
        for bank, row, side in self._granted:
            self.ownership.entered(bank, row)
            self.lists.release(bank, row, side)
        if self._held is not None:
            self._leave(self._held)
        self.operands.read()
        self._granted = [self._end(client, read) for client, read, _ in self.operands.arriving
                         if self.holders[client].fields["releases"] >> read.key & 1]

    def _end(self, client: int, read: Any) -> tuple[int, int, int]:
        """A last read is granted: bank and row, and the side of the read."""
        bank, side = self._form.ports(read.address, read.metadata)[0]
        return bank, read.address.row, side

    def _leave(self, held: Held) -> None:
        """The instruction leaves the stage, if it can."""
        leaving = self._leaving
        if leaving is None:
            self.renamings.stalls += 1
            return
        for slot in leaving.unmapped:
            self.table.unmap(held.sources[slot].bank, held.sources[slot].row)
        for row, bank in {(leaving.rows[slot], held.sources[slot].bank) for slot in SLOTS
                          if leaving.releases >> slot & 1}:
            assert row is not None
            self.ownership.dropped(bank, row)
        destination = held.destination
        if leaving.written is not None:
            destination = destination._replace(row=leaving.written.row)
            self._write(held, leaving.written)
        sources = tuple(source if row is None else source._replace(row=row)
                        for source, row in zip(held.sources, leaving.rows, strict=True))
        self._held = None
        given = leaving.written is not None and leaving.written.giver is not None
        self.operands.issue({**held.fields, "releases": leaving.releases, "given": given}, sources, destination)

    def _write(self, held: Held, written: Row) -> None:
        """The destination gets its row."""
        bank, virtual = held.destination.bank, held.destination.row
        if written.giver is not None:
            self.ownership.given(bank, written.row)
            self.lists.take(bank, written.giver)
        self.table.assign(bank, virtual, written.row)
        counts = self.renamings
        counts.values += written.is_new
        counts.requests += written.is_new and written.wanted is Kind.TFET
        if self._is_served(written):
            counts.served += 1
            self._served = 1 << held.fields["warp"]

    def results(self, done: Sequence[Any], results: Sequence[Any], refused: Sequence[Any]) -> Sequence[Any]:
        return self.operands.results(done, results, refused)

    def release(self, index: int) -> None:
        self.operands.release(index)

    def clock(self, warps: WarpEvents) -> None:
        began, ended, retired = warps
        self.operands.clock(warps)
        if self.predictor is not None:
            self.predictor.clock(began, ended, self._served)
        self.sweep.clock(retired=retired, offered=self._offered, released=self._released)
        self.lists.clock()
        self._cycle += 1
        self._served, self._offered = 0, False
        if self._entering is not None:
            assert self._held is None, "an instruction issues while the stage is full"
            self._held, self._entering = self._entering, None

    def _pass(self, cycles: int) -> None:
        """Cycles have passed in which nothing happened."""
        self._cycle += cycles
        self.lists.clock(cycles)
        if self.predictor is not None:
            self.predictor.advance(cycles)

    # ------------------------------------------------------------------ observation

    def observe(self) -> Sequence[int]:
        """The operand store, lists, sweep and predictor; and the instruction in the stage."""
        held, leaving, values = self._held, self._leaving, self._parts.observe()
        if held is None or leaving is None:
            return [*values, held is not None, 0, 0, 0, 0]
        written = leaving.written
        row = 0 if written is None else written.row
        return [*values, 1, 1, held.fields["tag"], row, self._is_served(written)]
