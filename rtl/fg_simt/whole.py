# amaranth: UnusedElaboratable=no
"""The FG-SIMT engine behind its caches: a memory image goes in over AXI4, and comes out ([AFFINE], Fig. 3)."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, Sizes
from warploom.arch.l1 import ADDRESS_BITS, BEAT_BITS, LINES
from warploom.arch.mechanisms import Affine
from warploom.rtl.fg_simt.engine import Engine, memory_ports
from warploom.rtl.fg_simt.fetch import INSTRUCTION_BITS
from warploom.rtl.l1.bus import axi_signature
from warploom.rtl.l1.whole import L1
from warploom.rtl.shared import share


class WholeEngine(wiring.Component):
    """Engine and L1. Results are in memory after a flush.

    Parameters
    ----------
    affine : the kind of affine execution.
    sizes : lanes of the engine.
    lines : lines of the instruction cache, and of each bank of the data cache.
    probe : for benches: shows the observed values of the engine.

    Members
    -------
    halted, status : the host part is over; its status.
    flush, busy, failed, failed_line : writes all lines back, as in `L1`.
    axi : the bus.
    """

    def __init__(self, *, affine: Affine = Affine.OFF, sizes: Sizes = EIGHT_LANES, lines: int = LINES,
                 probe: bool = False) -> None:
        self._engine, self._sizes, self._probe = Engine(affine=affine, sizes=sizes, probe=probe), sizes, probe
        self._l1 = L1(lines=lines, lanes=sizes.lanes, fetch_bits=INSTRUCTION_BITS, probe=probe)
        shown = {"probe": self._engine.signature.members["probe"]} if probe else {}
        super().__init__({
            "halted": Out(1), "status": Out(32), "flush": In(1), "busy": Out(1), "failed": Out(1),
            "failed_line": Out(ADDRESS_BITS), "axi": Out(axi_signature(BEAT_BITS)), **shown,
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        engine, l1 = self._engine, self._l1
        m.submodules.engine, m.submodules.l1 = share(platform, "engine", engine), share(platform, "l1", l1)
        for name in memory_ports(self._sizes):
            for own, other in zip(_each(getattr(engine, name)), _each(getattr(l1, name)), strict=True):
                wiring.connect(m, own, other)
        wiring.connect(m, l1.axi, wiring.flipped(self.axi))
        m.d.comb += [
            self.halted.eq(engine.halted), self.status.eq(engine.status), l1.flush.eq(self.flush),
            self.busy.eq(l1.busy), self.failed.eq(l1.failed), self.failed_line.eq(l1.failed_line),
        ]
        if self._probe:
            m.d.comb += self.probe.eq(engine.probe)
        return m


def _each(port: object) -> list[object]:
    return list(port) if isinstance(port, list | tuple) else [port]
