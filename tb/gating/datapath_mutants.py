"""Planted bugs in how the datapath reads what its register file does not hold."""

from amaranth import Module, Value
from amaranth.lib import wiring

from rtl import verilog
from tb.coalescing.mutants import altered
from tb.mutants import Mutant, Rewire, Tampered
from warploom.arch.config import SmConfig

BENCH = "tb.gating.test_register_file"


def _with_paths(config: SmConfig, rewire: Rewire) -> wiring.Component:
    datapath = verilog.datapath(config, probe=True)
    datapath.operand_paths = [Tampered(path, rewire) for path in datapath.operand_paths]
    return datapath


def _unmarked(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"zero": altered(m, outer.zero, zero=0)}


def _straight(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"zero": altered(m, outer.zero, reorder=0)}


MUTANTS = (
    Mutant("Datapath", BENCH, "shows what columns have that were not read", lambda c: _with_paths(c, _unmarked),
           ("gating=cross_lane",)),
    Mutant("Datapath", BENCH, "does not undo the order of bytes", lambda c: _with_paths(c, _straight),
           ("gating=cross_lane",)),
    Mutant("Datapath", BENCH, "takes zero lanes for narrow ones", lambda c: _with_paths(c, _unmarked),
           ("gating=in_lane", "coalescing=on")),
)  # fmt: skip
