# amaranth: UnusedElaboratable=no
"""The data cache: banks, crossbars, and ports (docs/contract/l1.md, *Crossbars*; [AFFINE], section 3.2)."""

from typing import Any

from amaranth import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.l1 import ADDRESS_BITS, BEAT_BITS, LANES, LINES, tag_bits
from warploom.rtl.l1.bank import CacheBank
from warploom.rtl.l1.crossbars import RequestCrossbar, ResponseCrossbar, request_ports, response_ports
from warploom.rtl.l1.ports import memory_signature
from warploom.rtl.select import lowest, merge_many
from warploom.rtl.shared import share


def data_ports(lanes: int) -> dict[str, wiring.Member]:
    """The ports of the data cache but those to memory."""
    return {**request_ports(lanes), **response_ports(lanes),
            "flush": In(1), "busy": Out(1), "failed": Out(1), "failed_line": Out(ADDRESS_BITS)}


class DataCache(wiring.Component):
    """Banks behind narrow ports and a wide one. Latency of a hit: 5 cycles.

    Parameters
    ----------
    lines : lines of a bank.
    lanes : lanes of the engine: there is a bank for each.
    beat_bits : width of a beat from memory.
    probe : for benches, as in `CacheBank`.

    Members
    -------
    narrow, wide, narrow_response, wide_response : the streams of the ports.
    flush, busy : flush all banks; one of them is not ready.
    failed, failed_line : a line could not be written in the last flush, and its address.
    memory : the memory port of each bank.
    """

    def __init__(self, *, lines: int = LINES, lanes: int = LANES, beat_bits: int = BEAT_BITS,
                 probe: bool = False) -> None:
        self._lines, self._lanes, self._beat_bits, self._probe = lines, lanes, beat_bits, probe
        super().__init__({**data_ports(lanes), "memory": Out(memory_signature(beat_bits)).array(lanes)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.requests = requests = RequestCrossbar(lanes=self._lanes, probe=self._probe)
        m.submodules.responses = responses = ResponseCrossbar(lanes=self._lanes, probe=self._probe)
        banks = [CacheBank(lines=self._lines, banks=self._lanes, tag_bits=tag_bits(self._lanes),
                           beat_bits=self._beat_bits, probe=self._probe) for _ in range(self._lanes)]
        connect_requests(m, self, requests)
        connect_responses(m, self, responses)
        m.d.comb += [requests.free.eq(responses.free), requests.slot.eq(responses.slot),
                     responses.take.eq(requests.take)]
        for number, bank in enumerate(banks):
            m.submodules[f"bank_{number}"] = share(platform, "cache_bank", bank)
            wiring.connect(m, requests.banks[number], bank.request)
            wiring.connect(m, bank.response, responses.banks[number])
            wiring.connect(m, bank.memory, wiring.flipped(self.memory[number]))
            m.d.comb += bank.flush.eq(self.flush)
            if self._lanes > 1:
                m.d.comb += bank.number.eq(number)
        failed = Cat(bank.failed for bank in banks)
        m.d.comb += [
            self.busy.eq(Cat(bank.busy for bank in banks).any()),
            self.failed.eq(failed.any()),
            self.failed_line.eq(merge_many(lowest(failed), [bank.failed_line for bank in banks])),
        ]
        return m


def connect_ports(m: Module, outer: Any, inner: Any) -> None:
    """Connect the streams of the ports of a unit to those of a part."""
    connect_requests(m, outer, inner)
    connect_responses(m, outer, inner)


def connect_requests(m: Module, outer: Any, inner: Any) -> None:
    """Connect those of requests alone."""
    for own, of_part in zip([*outer.narrow, outer.wide], [*inner.narrow, inner.wide], strict=True):
        wiring.connect(m, wiring.flipped(own), of_part)


def connect_responses(m: Module, outer: Any, inner: Any) -> None:
    """Connect those of answers alone."""
    for own, of_part in zip([*outer.narrow_response, outer.wide_response],
                            [*inner.narrow_response, inner.wide_response], strict=True):
        wiring.connect(m, of_part, wiring.flipped(own))
