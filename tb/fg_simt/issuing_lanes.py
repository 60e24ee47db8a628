# amaranth: UnusedElaboratable=no
"""Issue unit and lanes, connected as in the engine: the unit of the lanes' bench."""

from typing import Any

from amaranth import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, SLWQ_ENTRIES, THREADS
from warploom.rtl.fg_simt.control_ports import LAUNCH_BLOCK
from warploom.rtl.fg_simt.issue import IssueUnit
from warploom.rtl.fg_simt.lanes import Lanes
from warploom.rtl.fg_simt.memory_ports import arriving, place_bits, words
from warploom.rtl.fg_simt.micro import MICRO, PAYLOAD, MicroDecoder
from warploom.rtl.fg_simt.sau_ports import EXTENSION, result
from warploom.rtl.fg_simt.threads import POSITION


class IssuingLanes(wiring.Component):
    """Micro-operations go in, rows and branch masks come out. Ports are those of the two units.

    Parameters
    ----------
    lanes : other lanes than the correct ones, with their ports.
    """

    def __init__(self, lanes: wiring.Component | None = None) -> None:
        self._lanes: Any = lanes or Lanes(probe=True)
        super().__init__({
            "push": In(stream.Signature(MICRO)), "discard": In(1), "freed": In(1), "answered": In(SLWQ_ENTRIES),
            "block": In(LAUNCH_BLOCK), "position": In(POSITION), "words": In(words(EIGHT_LANES)),
            "accesses": Out(1), "mask": Out(THREADS), "resolved": Out(1), "quiet": Out(1),
            "arrive": Out(1), "arriving": Out(arriving(EIGHT_LANES)), "place": Out(place_bits(EIGHT_LANES)),
            "written": Out(data.ArrayLayout(result(EIGHT_LANES), 3)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.decoder = decoder = MicroDecoder()
        m.submodules.issue = issue = IssueUnit(payload=PAYLOAD, extension=EXTENSION)
        m.submodules.lanes = lanes = self._lanes
        for number, port in enumerate(issue.sau):
            wiring.connect(m, port, lanes.sau[number])
        wiring.connect(m, issue.sgu, lanes.sgu)
        wiring.connect(m, issue.slu, lanes.slu)
        m.d.comb += [
            decoder.micro.eq(self.push.payload), issue.push.payload.eq(decoder.issued),
            issue.push.valid.eq(self.push.valid), self.push.ready.eq(issue.push.ready), issue.holds.eq(lanes.holds),
            *(unit.discard.eq(self.discard) for unit in (issue, lanes)),
            *(getattr(issue, name).eq(getattr(self, name)) for name in ("freed", "answered")),
            *(getattr(self, name).eq(getattr(issue, name)) for name in ("accesses", "mask", "resolved", "quiet")),
            *(getattr(lanes, name).eq(getattr(self, name)) for name in ("block", "position", "words")),
            *(getattr(self, name).eq(getattr(lanes, name)) for name in ("arrive", "arriving", "place", "written")),
        ]
        return m
