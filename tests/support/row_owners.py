"""Claims about the rename stage, to be proven on its netlist: each row of its bank has one owner.

The machine is smaller than a legal one: a bank of six rows, two of them TFET, and two warps with three registers each.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from amaranth import Array, Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.rtl.interfaces import REGISTERS, SLOTS, SOURCES, issue_layout
from warploom.rtl.renaming.stage import RenameStage

ROWS, WARPS, STRIDE = 6, 2, 3
KINDS = {"cmos": range(4), "tfet": range(4, ROWS)}
"""The rows of each list."""

TABLE, LISTS = "row_table", "lists_0"
"""Parts of the stage, by name."""

ROW_BITS = 3
QUEUE = ("produce", "consume", "inner_level", "r_rdy", "r_data")


def small() -> SmConfig:
    """A machine with fewer rows than a configuration may have."""
    config = copy.copy(SmConfig.preset("small").with_settings([
        "banks=1", "rows=16", f"warps={WARPS}", "blocks=2", "collectors=1", f"tfet_rows={len(KINDS['tfet'])}",
        "renaming=mem_ra", "pipes.sp.result_queue=2"]))
    object.__setattr__(config, "rows", ROWS)
    return config


def state(config: SmConfig) -> dict[str, tuple[Any, str]]:
    """Registers of the netlist that the claims name: shapes, and names in the stage."""
    table, lists = f"{TABLE}.part_0", LISTS
    found: dict[str, tuple[Any, str]] = {
        "valid": (1, "valid"), "held": (issue_layout(config), "instruction"),
        "is_mapped": (ROWS, f"{table}.bits"),
        **{f"cell_{reader}_{row}": (ROW_BITS, f"{table}.reader_{reader}[{row}]")
           for reader in range(REGISTERS) for row in range(ROWS)},
        "kept_valid": (1, f"{lists}.kept.valid"), "kept_row": (ROW_BITS, f"{lists}.kept.row"),
        "stepped": (1, f"{TABLE}.stepped"), "stepped_row": (ROW_BITS, f"{TABLE}.stepped_row"),
        **{name: (1, f"sweep.{name}") for name in ("begun", "slot", "exists", "following")},
        "number": (8, "sweep.number"), "next_row": (ROW_BITS, "sweep.next_row"),
    }
    for kind, rows in KINDS.items():
        free, entry = f"{lists}.{kind}_list", range(rows.stop)
        shapes = dict(zip(QUEUE, (range(len(rows)), range(len(rows)), range(len(rows) + 1), 1, entry), strict=True))
        found |= {f"{kind}_{name}": (shape, f"{free}.queue_0.{name}") for name, shape in shapes.items()}
        found |= {f"{kind}_place_{n}": (entry, f"{free}.queue_0.storage[{n}]") for n in range(len(rows))}
        found |= {f"{kind}_used": (range(len(rows) + 1), f"{free}.used"), f"{kind}_unused": (1, f"{free}.unused")}
    return found


CLAIMS = ("owned", "queued", "copied", "read", "swept")
"""Claims that together are inductive."""


class Theorem(wiring.Component):
    """The stage with free inputs, the rows that wait for their last read, and claims about the state. The inputs of
    `state` are to be connected to registers of the netlist.

    Members
    -------
    legal : what the contract says of the front end, and that only rows that wait are released.
    owned : each row has one owner: the never used rows of a list, the queue of released ones with its first row in a
        register, a virtual row, a read that has left the stage and was not granted, or the row of the sweep that waits.
    queued : queues hold as many rows as their counters say, of their kind.
    copied : all readers of the table see the same.
    read : what was read for the instruction in the stage is in the table.
    swept : likewise for the sweep, which unmaps only registers of warps that have ended.
    """

    def __init__(self, stage: RenameStage, shapes: Mapping[str, Any]) -> None:
        self.stage, members = stage, stage.signature.members
        self._inputs = [name for name, member in members.items()
                        if member.flow is In and name not in ("stride", "powered")]
        self._waits = Signal(ROWS, name="waits")
        super().__init__({
            **{name: members[name] for name in self._inputs},
            **{name: In(shape) for name, shape in shapes.items()},
            **dict.fromkeys(("legal", *CLAIMS), Out(1)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.stage = stage = self.stage
        m.d.comb += [stage.issue.valid.eq(self.issue.valid), stage.issue.payload.eq(self.issue.payload)]
        m.d.comb += [getattr(stage, name).eq(getattr(self, name)) for name in self._inputs if name != "issue"]
        m.d.comb += [stage.stride.eq(STRIDE), stage.powered.eq(len(KINDS["cmos"]))]
        self._wait(m)
        for name in ("legal", *CLAIMS):
            m.d.comb += getattr(self, name).eq(Cat(getattr(self, f"_{name}")()).all())
        return m

    def _wait(self, m: Module) -> None:
        """Rows wait from when their instruction leaves until they enter a list."""
        left, entry = self.stage.renamed, self.released[0][0]
        rows = [(left.valid & left.payload.last[slot], self.stage.address[slot].row) for slot in range(SLOTS)]
        begins = Cat(Cat(valid & (row == which) for valid, row in rows).any() for which in range(ROWS))
        ends = Cat(entry.valid & (entry.row == which) for which in range(ROWS))
        m.d.sync += self._waits.eq((self._waits | begins) & ~ends)

    def _legal(self) -> Iterator[Value]:
        held, issue, entry, ended = self.held, self.issue.payload, self.released[0][0], self.stage.sweeping
        yield ~entry.valid | (self._waits.bit_select(entry.row, 1) & (entry.row < ROWS))
        yield ~(self.retired & ended).any() & ~(self.valid & self.retired.bit_select(held.warp, 1))
        yield ~(self.issue.valid & (ended | self.retired).bit_select(issue.warp, 1))
        yield from (register < STRIDE for register in _registers(issue))
        changed = [*((held.reads[slot] & held.last[slot], held[name]) for slot, name in enumerate(SOURCES)),
                   (held.writes, held.dst)]
        hazards = [names & changes & (one == other)
                   for names, one in zip(Cat(issue.reads, issue.writes), _registers(issue), strict=True)
                   for changes, other in changed]
        yield ~(self.issue.valid & self.valid & (issue.warp == held.warp) & Cat(hazards).any())

    # ------------------------------------------------------------------ claims

    def _owned(self) -> Iterator[Value]:
        mapped = [(self.kept_valid, self.kept_row), *zip(self.is_mapped, self._cells(0), strict=True)]
        yield from (~valid | (row < ROWS) for valid, row in mapped)
        for row in range(ROWS):
            owners = [self._waits[row], *(valid & (which == row) for valid, which in mapped)]
            for kind, rows in KINDS.items():
                owners += [valid & (place == row) for valid, place in self._places(kind)]
                owners += [row - rows.start >= self._of(kind, "used")] if row in rows else []
            yield sum(owners, Const(0)) == 1

    def _queued(self) -> Iterator[Value]:
        for kind, rows in KINDS.items():
            produce, consume, level, used = (self._of(kind, name) for name in (*QUEUE[:3], "used"))
            size = len(rows)
            yield (produce < size) & (consume < size) & (level <= size) & (used <= size)
            yield produce == Array(place % size for place in range(2 * size))[consume + level]
            yield self._of(kind, "unused") == (used != size)
            yield from (~valid | ((place >= rows.start) & (place < rows.stop)) for valid, place in self._places(kind))

    def _copied(self) -> Iterator[Value]:
        for virtual in range(ROWS):
            first, *others = (self._cells(reader)[virtual] for reader in range(REGISTERS))
            yield from (~self.is_mapped[virtual] | (first == other) for other in others)

    def _read(self) -> Iterator[Value]:
        held, table = self.held, self.stage.table
        yield ~(self.valid & self.stage.sweeping.bit_select(held.warp, 1))
        for register, name in enumerate(_registers(held)):
            named, virtual = self.valid & Cat(held.reads, held.writes)[register], held.warp * STRIDE + name
            is_mapped, row = self.is_mapped.bit_select(virtual, 1), Array(self._cells(0))[virtual]
            yield ~self.valid | ((name < STRIDE) & (table.held[register].row == virtual))
            yield ~named | (table.mapped[register] == is_mapped)
            yield ~(named & is_mapped) | (table.row[register] == row)

    def _swept(self) -> Iterator[Value]:
        begun, ended, table = self.begun, self.stage.sweeping, self.stage.table
        following = self.slot * STRIDE + self.number
        is_mapped, row = self.is_mapped.bit_select(self.stepped_row, 1), Array(self._cells(0))[self.stepped_row]
        yield begun == (self.number != 0)
        yield ~begun | ended.bit_select(self.slot, 1) & (self.number <= STRIDE) & (self.next_row == following)
        yield begun | ~self.exists | ended.bit_select(self.following, 1)
        yield ~self.stepped | begun & ~self.kept_valid & (self.stepped_row + 1 == following)
        yield ~self.stepped | (table.found[0] == is_mapped)
        yield ~table.found[0] | (table.found_row[0] == row)

    # ------------------------------------------------------------------ state

    def _of(self, kind: str, name: str) -> Any:
        return getattr(self, f"{kind}_{name}")

    def _cells(self, reader: int) -> list[Value]:
        """The rows of all virtual rows, for a reader."""
        return [getattr(self, f"cell_{reader}_{virtual}") for virtual in range(ROWS)]

    def _places(self, kind: str) -> Iterator[tuple[Value, Value]]:
        """The places of a queue: whether there is a row, and which."""
        yield self._of(kind, "r_rdy"), self._of(kind, "r_data")
        size, first, level = len(KINDS[kind]), self._of(kind, "consume"), self._of(kind, "inner_level")
        for place in range(size):
            behind = Array((place - start) % size for start in range(size))[first]
            yield behind < level, self._of(kind, f"place_{place}")


def _registers(instruction: Any) -> list[Value]:
    """The sources and the destination of an instruction."""
    return [*(instruction[name] for name in SOURCES), instruction.dst]
