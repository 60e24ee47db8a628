# amaranth: UnusedElaboratable=no
"""The engine's L1: both caches and their bus (docs/contract/l1.md; [AFFINE], Fig. 3)."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.l1 import BEAT_BITS, FETCH_FIELDS, LANES, LINES, masters, response_fields
from warploom.rtl.l1.bank import CacheBank
from warploom.rtl.l1.bus import AxiMaster, axi_signature
from warploom.rtl.l1.data_cache import DataCache, connect_ports, data_ports
from warploom.rtl.l1.ports import assert_stable, request_stream
from warploom.rtl.shared import share


class L1(wiring.Component):
    """Instruction cache, data cache, and a master of AXI4.

    Parameters
    ----------
    lines : lines of the instruction cache, and of each bank of the data cache.
    lanes : lanes of the engine: the data cache has a bank for each.
    fetch_bits : width of an instruction word, as `word_bits` of `CacheBank`.
    beat_bits : width of a beat on the bus.
    probe : for benches, as in `CacheBank`.

    Members
    -------
    fetch, instruction : the streams of requests to the instruction cache, and of their answers.
    invalidate, invalidating : drop all lines of the instruction cache; that is to be done.
    axi : the bus.
    others : those of `DataCache`.
    """

    def __init__(self, *, lines: int = LINES, lanes: int = LANES, fetch_bits: int = 64,
                 beat_bits: int = BEAT_BITS, probe: bool = False) -> None:
        self._probe = probe
        self._data = DataCache(lines=lines, lanes=lanes, beat_bits=beat_bits, probe=probe)
        self._instructions = CacheBank(lines=lines, word_bits=fetch_bits, writable=False, beat_bits=beat_bits,
                                       probe=probe)
        self._bus = AxiMaster(banks=masters(lanes), beat_bits=beat_bits, probe=probe)
        super().__init__({
            **data_ports(lanes),
            "fetch": In(request_stream(FETCH_FIELDS)),
            "instruction": Out(request_stream(response_fields(fetch_bits))),
            "invalidate": In(1), "invalidating": Out(1),
            "axi": Out(axi_signature(beat_bits)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        data, instructions, bus = self._data, self._instructions, self._bus
        for name, part in (("data_cache", data), ("instruction_cache", instructions), ("axi_master", bus)):
            m.submodules[name] = share(platform, name, part)
        connect_ports(m, self, data)
        for master, of_bus in zip((*data.memory, instructions.memory), bus.banks, strict=True):
            wiring.connect(m, master, of_bus)
        wiring.connect(m, wiring.flipped(self.fetch), instructions.request)
        wiring.connect(m, instructions.response, wiring.flipped(self.instruction))
        wiring.connect(m, bus.axi, wiring.flipped(self.axi))
        m.d.comb += [
            data.flush.eq(self.flush), self.busy.eq(data.busy),
            self.failed.eq(data.failed), self.failed_line.eq(data.failed_line),
            instructions.flush.eq(self.invalidate), self.invalidating.eq(instructions.busy),
        ]
        if self._probe:
            assert_stable(m, self.fetch, "fetch")
            assert_stable(m, self.instruction, "instruction")
        return m
