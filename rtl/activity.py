"""Activity counters: columns enabled and registers loaded in the register file and the lanes, since reset."""

from functools import reduce
from operator import add

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import COLUMNS, LANES, SUB_BANKS, SmConfig
from warploom.rtl import ports
from warploom.rtl.interfaces import SLOTS, activity_layout, column_masks
from warploom.rtl.lane import STAGES


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
            "sub_bank_reads": [_sub_banks(columns) for columns in self.read_columns],
            "sub_bank_writes": [_sub_banks(columns) for columns in self.written_columns],
            "column_reads": self.read_columns,
            "column_writes": self.written_columns,
            "collector_columns": self.collector_columns,
            "operand_columns": self.operand_columns,
            "lane_loads": self.lane_loads,
            "bypass_loads": self.bypass_loads,
        }
        for name, masks in counted.items():
            total = Signal(self.activity[name].shape(), name=name)
            m.d.sync += total.eq(total + reduce(add, (ones(m, mask) for mask in masks)))
            m.d.comb += self.activity[name].eq(total)
        return m


def ones(m: Module, mask: Value) -> Value:
    """The number of ones in a mask of up to 32 bits: sums of neighbours, then of pairs, and so on, in one word, which a
    simulator adds in one step."""
    for distance in (1, 2, 4, 8, 16):
        places = Const(sum(((1 << distance) - 1) << start for start in range(0, 32, 2 * distance)), 32)
        level = Signal(32)
        m.d.comb += level.eq((mask & places) + ((mask >> distance) & places))
        mask = level
    return mask[:6]


def _sub_banks(columns: Value) -> Value:
    """The number of sub-banks with an enabled column."""
    each = COLUMNS // SUB_BANKS
    return Cat(columns[start : start + each].any() for start in range(0, COLUMNS, each))
