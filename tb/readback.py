"""Reads every register back through the datapath's own ports, after a kernel has ended."""

from typing import cast

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import TAG_BITS, issue_fields
from warploom.arch.isa import NO_SLOT, Op, TimingClass
from warploom.arch.layout import address, resident_warps, rows_per_warp
from warploom.golden_model.check import Defined
from warploom.golden_model.datapath import Datapath
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.inputs import NO_INPUTS
from warploom.golden_model.operands.windows import WindowStore
from warploom.golden_model.records import IssueFields
from warploom.golden_model.words import ALL_LANES
from warploom.tb.shadow import Address, Shadow


class Readback:
    """Issues instructions of an outside unit that read up to three registers each and have no result, until every
    register of the shadow was read, and every compact one. The operands at the dispatch port are the words of the
    banks, with windows of banks and collectors together, or the expansion of base and stride.

    Continues with the golden datapath in its state after the kernel. `compared` counts registers.
    """

    def __init__(self, config: SmConfig, registers: int, datapath: Datapath, shadow: Shadow) -> None:
        self.cycle, self.inputs, self.datapath = 0, NO_INPUTS, datapath
        self.defined: dict[int, Defined] = {}
        self.compared = 0
        self._config, self._shadow, self._stride = config, shadow, rows_per_warp(config, registers)
        # Dropped lanes may not be read: with hints an instruction executes in the remaining lanes of one register.
        self._by_one = config.has_hints
        count = 1 if self._by_one else 3
        self._affine = None if datapath.affine is None else datapath.affine.registers
        self._pending: list[tuple[int, list[int]]] = []  # warp, up to three registers
        for warp in range(resident_warps(config, registers)):
            read = [register for register in range(registers)
                    if self._is_compact(warp, register) or self._is_stored(warp, register)]
            self._pending += [(warp, read[i : i + count]) for i in range(0, len(read), count)]
        self._total, self._sent = len(self._pending), 0

    @property
    def finished(self) -> bool:
        """Whether all operands have been at the dispatch port."""
        return self._sent == self._total

    def step(self) -> None:
        """The next cycle."""
        if self.cycle:
            self._sent += sum(sent is not None for sent in self.datapath.sent)
            self.datapath.clock(self.inputs)
        self.cycle += 1
        self.datapath.settle()
        self.inputs = NO_INPUTS
        self._drop_swept()
        if self._pending and self._may_issue(*self._pending[-1]):
            warp, read = self._pending.pop()
            issue: list[IssueFields | None] = [None] * self._config.issue_inputs
            issue[warp % self._config.issue_ports * self._config.issue_per_warp] = self._fields(warp, read)
            self.inputs = NO_INPUTS._replace(issue=issue)

    def _drop_swept(self) -> None:
        """With renaming do not read the registers of a warp that is swept, or is next, nor those that have been."""
        if not self._config.renames:
            return
        swept = self.datapath.sweeping & -self.datapath.sweeping
        while self._pending:
            warp, read = self._pending[-1]
            if swept != 1 << warp and all(self._is_stored(warp, register) for register in read):
                return
            self._pending.pop()
            self._total -= 1

    def _may_issue(self, warp: int, read: list[int]) -> bool:
        """Whether there is a collector for the instruction, with enough free entries."""
        operands = self.datapath.operands
        if isinstance(operands, WindowStore):
            return operands.free_entries[warp] > sum(not self._is_compact(warp, register) for register in read)
        return operands.free_collectors[0] > 0

    def _is_compact(self, warp: int, register: int) -> bool:
        """Whether the register is compact, so that the register file does not have it."""
        return self._affine is not None and self._affine.read(warp, register) is not None

    def _is_stored(self, warp: int, register: int) -> bool:
        """Whether an instruction wrote the register, and with renaming its value is still in a row."""
        return self._address(warp, register) in self._shadow.last

    def _address(self, warp: int, register: int) -> Address | None:
        """The row of a register; with renaming that of the table, `None` if it is not mapped."""
        bank, row = address(self._config, self._stride, warp, register)
        renamed = self.datapath.row(bank, row)
        return None if renamed is None else (bank, renamed)

    def _current(self, warp: int, register: int) -> int:
        """The lanes of a register with a defined, present value."""
        if self._is_compact(warp, register):
            return ALL_LANES
        dirty = 0
        if self._config.writes_back:
            dirty = sum(entry.dirty for entry in self.datapath.operands.collectors[warp].entries
                        if entry.used and entry.register == register)
        kept = self._address(warp, register)
        assert kept is not None
        lost = self._shadow.behind(warp, kept) & ~dirty
        assert self._config.has_hints or not lost, f"warp {warp} has lost lanes {lost:#010x} of R{register}"
        return self._shadow.current(warp, kept, dirty)

    def _fields(self, warp: int, read: list[int]) -> IssueFields:
        tag, lanes = len(self._pending) % (1 << TAG_BITS), [self._current(warp, register) for register in read]
        self.compared += sum(map(bool, lanes))
        self.defined[tag] = Defined((*lanes, *(ALL_LANES,) * (3 - len(read))), 0)
        return cast(IssueFields, dict.fromkeys((name for name, _ in issue_fields(self._config)), 0) | {
            "tag": tag, "warp": warp, "op": int(Op.FFMA),
            "pipe": self._config.serving(TimingClass.FP_MAD, warp)[0], "timing": int(TimingClass.FP_MAD),
            "reads": (1 << len(read)) - 1, **{f"src{slot}": register for slot, register in enumerate(read)},
            "imm_slot": NO_SLOT, "lanes": lanes[0] if self._by_one else ALL_LANES, "full": 1,
            "compact": sum(self._is_compact(warp, register) << slot for slot, register in enumerate(read)),
        })

    def flight(self, tag: int) -> Flight | None:
        """None: the units outside return no results."""
        return None
