"""Assertion on the compiler's hints: no instruction reads a value that was dropped ([BOW], section IV-B)."""

from amaranth import Module, Mux, Signal, Value
from amaranth.hdl import Assert, Format
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In

from warploom.arch.config import LANES, SmConfig
from warploom.rtl.bypass.interfaces import drop_layout
from warploom.rtl.interfaces import SOURCES, issue_layout

REGISTERS = 256
"""Registers of a thread that an instruction can name."""


class LostLanes(wiring.Component):
    """Tracks the dropped lanes of one warp, and stops a simulation if an instruction reads one of them.

    A lane of a register is lost from when its only copy is dropped until an instruction that writes it, or the first
    one of another warp, is taken. For benches: a datapath has it only with a probe.

    Members
    -------
    take, issue : the collector takes this instruction at the end of the cycle.
    drop : the collector drops lanes of a register at the end of the cycle; it takes no instruction in that cycle.
    """

    def __init__(self, *, config: SmConfig) -> None:
        super().__init__({"take": In(1), "issue": In(issue_layout(config)), "drop": In(drop_layout())})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.lanes = lanes = Memory(shape=LANES, depth=REGISTERS, init=[])
        dropped = Signal(REGISTERS)  # registers with lanes that are or were lost; other rows are unspecified
        known = Signal(REGISTERS)
        m.d.comb += known.eq(Mux(self.take & self.issue.first, 0, dropped))
        m.d.sync += dropped.eq(known | self.drop.valid << self.drop.register)

        for slot, name in enumerate(SOURCES):
            register = self.issue[name]
            lost = Signal(LANES, name=f"lost_{slot}")
            m.d.comb += lost.eq(self._lost(m, lanes, known, register) & self.issue.lanes)
            with m.If(self.take & self.issue.reads[slot]):
                m.d.sync += Assert(lost == 0, Format("warp {} reads register {}, dropped in lanes 0x{:08x}\n",
                                                     self.issue.warp, register, lost))
        write = lanes.write_port()
        m.d.comb += write.addr.eq(Mux(self.take, self.issue.dst, self.drop.register))
        before = self._lost(m, lanes, known, write.addr)
        m.d.comb += [
            write.en.eq(Mux(self.take, self.issue.writes, self.drop.valid)),
            write.data.eq(Mux(self.take, before & ~self.issue.lanes, before | self.drop.lanes)),
        ]
        return m

    def _lost(self, m: Module, lanes: Memory, known: Value, register: Value) -> Value:
        """The lanes of a register that are lost."""
        read = lanes.read_port(domain="comb")
        m.d.comb += read.addr.eq(register)
        return Mux(known.bit_select(register, 1), read.data, 0)
