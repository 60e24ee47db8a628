"""Activity counters: columns enabled and registers loaded in the register file and the lanes, since reset."""

from functools import reduce
from itertools import combinations
from operator import or_, xor
from typing import Any

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import COLUMNS, LANES, SUB_BANKS, SmConfig
from warploom.rtl import ports
from warploom.rtl.interfaces import SLOTS, activity_layout, column_masks
from warploom.rtl.lane import STAGES

WORD = 32
"""Bits of a word, which a simulator adds in a few steps."""


class ActivityCounters(wiring.Component):
    """Counts the work of each cycle (docs/contract/counting.md). For benches: a datapath has it only with a probe.

    A counter shows the events of all cycles before this one since reset.

    Parameters
    ----------
    config : numbers of banks, collectors, pipes and dispatch ports.

    Members
    -------
    read_columns, written_columns : for each bank, the columns that are enabled for reading and for writing.
    collector_columns : for each slot of each collector, the columns that take an operand or a constant; with windows
        the lanes of operands from the register file, and of delivered results.
    operand_columns : for each operand register of each dispatch port, the columns that take an operand.
    lane_loads, bypass_loads : for each stage of each pipe of SP, the lanes whose stage register or bypass loads.
    activity : the counters.
    """

    def __init__(self, *, config: SmConfig) -> None:
        sp_pipes = len(ports.sp_pipes(config))
        super().__init__({
            "read_columns": In(column_masks(config.banks)),
            "written_columns": In(column_masks(config.banks)),
            "collector_columns": In(column_masks((2 if config.has_window else SLOTS) * config.collectors)),
            "operand_columns": In(column_masks(SLOTS * len(config.dispatch_ports))),
            "lane_loads": In(data.ArrayLayout(LANES, config.lane_stages * sp_pipes)),
            "bypass_loads": In(data.ArrayLayout(LANES, (STAGES - 1) * sp_pipes)),
            "activity": Out(activity_layout()),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        counted = {
            "sub_bank_reads": _sub_banks(self.read_columns),
            "sub_bank_writes": _sub_banks(self.written_columns),
            "column_reads": self.read_columns,
            "column_writes": self.written_columns,
            "collector_columns": self.collector_columns,
            "operand_columns": self.operand_columns,
            "lane_loads": self.lane_loads,
            "bypass_loads": self.bypass_loads,
        }
        for name, events in counted.items():
            total = Signal(self.activity[name].shape(), name=name)
            m.d.sync += total.eq(total + ones(m, Value.cast(events)))
            m.d.comb += self.activity[name].eq(total)
        return m


def join(m: Module, counters: ActivityCounters, file: Any, operands: Any, pipes: Any) -> None:
    """Connect the counters to the parts of a datapath."""
    m.d.comb += [
        *(getattr(counters, name).eq(getattr(file.observed, name)) for name in ("read_columns", "written_columns")),
        *(getattr(counters, name).eq(getattr(operands, name)) for name in ("collector_columns", "operand_columns")),
        *(getattr(counters, name).eq(getattr(pipes, name)) for name in ("lane_loads", "bypass_loads")),
    ]


def ones(m: Module, bits: Value) -> Value:
    """The number of ones. Words are added as if each of their bits were a number of its own, in few operations on whole
    words: one word for each power of two remains. Then the halves of these words are added, their quarters, and so on;
    the last ones, of one bit, are the digits of the result."""
    powers = [[bits[start : start + WORD] for start in range(0, len(bits), WORD)]]
    _add(m, powers)
    width = WORD
    while width > 1:
        width //= 2
        powers = [[half for word in words for half in (word[:width], word[width:])] for words in powers]
        _add(m, powers)
    return Cat(powers)


def _add(m: Module, powers: list[list[Value]]) -> None:
    """Add the words of each power of two until one remains, by full adders, and a half adder for two words."""
    for power, words in enumerate(powers):  # grows
        while len(words) > 1:
            three, words[:] = words[:3], words[3:]
            digit, carry = (Signal(max(map(len, three)), name=name) for name in ("digit", "carry"))
            m.d.comb += digit.eq(reduce(xor, three))
            m.d.comb += carry.eq(reduce(or_, (one & other for one, other in combinations(three, 2))))
            words.append(digit)
            if power + 1 == len(powers):
                powers.append([])
            powers[power + 1].append(carry)


def _sub_banks(columns: data.View) -> Value:
    """The sub-banks with an enabled column."""
    each = COLUMNS // SUB_BANKS
    return Cat(mask[start : start + each].any() for mask in columns for start in range(0, COLUMNS, each))
