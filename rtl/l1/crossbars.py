# amaranth: UnusedElaboratable=no
"""Crossbars between the ports and the banks of the data cache (docs/contract/l1.md, *Crossbars*)."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from warploom.arch.l1 import (
    BANK_FIELDS,
    LANES,
    LINE_BITS,
    NARROW_FIELDS,
    OFFSET_BITS,
    REQUESTS,
    SLOT_BITS,
    WIDE_FIELDS,
    WORD_BITS,
    narrow_ports,
    response_fields,
    tag_bits,
    tag_fields,
    tagged,
)
from warploom.rtl.interfaces import struct
from warploom.rtl.l1.ports import assert_stable, request_stream
from warploom.rtl.l1.reorder import ReorderBuffer
from warploom.rtl.l1.round_robin import RoundRobin
from warploom.rtl.select import merge_many


def request_ports(lanes: int) -> dict[str, wiring.Member]:
    """The streams of requests."""
    return {"narrow": In(request_stream(NARROW_FIELDS)).array(narrow_ports(lanes)),
            "wide": In(request_stream(WIDE_FIELDS))}


def response_ports(lanes: int) -> dict[str, wiring.Member]:
    """The streams of their answers."""
    return {"narrow_response": Out(request_stream(response_fields(WORD_BITS))).array(narrow_ports(lanes)),
            "wide_response": Out(request_stream(response_fields(LINE_BITS)))}


def slot_ports(lanes: int) -> dict[str, wiring.Member]:
    """What the crossbar of requests gives that of answers: for each port that a request takes its slot. That of answers
    says whether its next slot is free, and its number."""
    ports = narrow_ports(lanes) + 1
    return {"free": In(ports), "slot": In(data.ArrayLayout(SLOT_BITS, ports)), "take": Out(ports)}


class RequestCrossbar(wiring.Component):
    """Request queues of the ports, and for each bank the choice among their first requests.

    Parameters
    ----------
    lanes : lanes of the engine: there is a bank for each.
    probe : the rule of the streams is asserted.

    Members
    -------
    narrow, wide : the streams of the ports.
    free, slot, take : for each port, whether its next slot is free, its number, and that a request takes it.
    banks : the stream of each bank. What it offers may change before it is taken.
    """

    def __init__(self, *, lanes: int = LANES, probe: bool = False) -> None:
        self._lanes, self._probe = lanes, probe
        self._request = struct(tagged(BANK_FIELDS, tag_bits(lanes)))
        super().__init__({
            **request_ports(lanes),
            **slot_ports(lanes),
            "banks": Out(stream.Signature(self._request)).array(lanes),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        asks, requests, sent = [], [], []
        ports, bank_bits = narrow_ports(self._lanes) + 1, (self._lanes - 1).bit_length()
        for port, source in enumerate([*self.narrow, self.wide]):
            m.submodules[f"queue_{port}"] = queue = SyncFIFO(width=len(source.payload.as_value()), depth=REQUESTS)
            first, ask = Signal(source.payload.shape(), name=f"first_{port}"), Signal(self._lanes, name=f"asks_{port}")
            m.d.comb += [
                queue.w_en.eq(source.valid), queue.w_data.eq(source.payload), source.ready.eq(queue.w_rdy),
                first.eq(queue.r_data), queue.r_en.eq(self.take[port]),
                ask.eq((queue.r_rdy & self.free[port]) << first.address[OFFSET_BITS:][:bank_bits]),
            ]
            asks.append(ask)
            requests.append(self._extended(m, port, first))
            if self._probe:
                assert_stable(m, source, f"request_{port}")
        for number, bank in enumerate(self.banks):
            m.submodules[f"choice_{number}"] = choice = RoundRobin(count=ports)
            m.d.comb += [
                choice.request.eq(Cat(ask[number] for ask in asks)),
                choice.served.eq(bank.ready),
                bank.valid.eq(choice.request.any()),
                bank.payload.as_value().eq(merge_many(choice.grant, requests)),
            ]
            sent.append(choice.grant & bank.ready.replicate(ports))
        m.d.comb += self.take.eq(reduce(or_, sent))
        return m

    def _extended(self, m: Module, port: int, first: data.View) -> Value:
        """The request of a port as that of a bank."""
        request = Signal(self._request, name=f"request_{port}")
        tag, is_wide = Signal(struct(tag_fields(self._lanes)), name=f"tag_{port}"), port == narrow_ports(self._lanes)
        m.d.comb += [
            tag.port.eq(port), tag.slot.eq(self.slot[port]),
            request.address.eq(first.address), request.operation.eq(first.operation), request.mask.eq(first.mask),
            request.data.eq(first.data if is_wide else Cat(first.data, first.compare)),
            request.wide.eq(is_wide), request.tag.eq(tag),
        ]
        return request.as_value()


class ResponseCrossbar(wiring.Component):
    """Reorder buffers of the ports, and for each the choice among the answers of the banks.

    Parameters
    ----------
    lanes : lanes of the engine: there is a bank for each.
    probe : the rule of the streams is asserted.

    Members
    -------
    banks : the stream of each bank.
    narrow_response, wide_response : the streams of the ports.
    free, slot, take : as in `RequestCrossbar`.
    """

    def __init__(self, *, lanes: int = LANES, probe: bool = False) -> None:
        self._lanes, self._probe = lanes, probe
        response = struct(tagged(response_fields(LINE_BITS), tag_bits(lanes)))
        super().__init__({
            "banks": In(stream.Signature(response)).array(lanes),
            **response_ports(lanes),
            **{name: member.flip() for name, member in slot_ports(lanes).items()},
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        tag_layout = struct(tag_fields(self._lanes))
        tags = [Signal(tag_layout, name=f"tag_{number}") for number in range(self._lanes)]
        m.d.comb += [tag.eq(bank.payload.tag) for tag, bank in zip(tags, self.banks, strict=True)]
        taken = []
        for port, out in enumerate([*self.narrow_response, self.wide_response]):
            bits = LINE_BITS if port == narrow_ports(self._lanes) else WORD_BITS
            m.submodules[f"choice_{port}"] = choice = RoundRobin(count=self._lanes)
            m.submodules[f"buffer_{port}"] = buffer = ReorderBuffer(bits=bits, probe=self._probe)
            wiring.connect(m, buffer.response, wiring.flipped(out))
            m.d.comb += [
                choice.request.eq(Cat(bank.valid & (tag.port == port)
                                      for bank, tag in zip(self.banks, tags, strict=True))),
                choice.served.eq(1),
                buffer.fill.eq(choice.request.any()),
                buffer.filled.eq(merge_many(choice.grant, [tag.slot for tag in tags])),
                buffer.answer.data.eq(merge_many(choice.grant, [bank.payload.data[:bits] for bank in self.banks])),
                buffer.answer.error.eq(merge_many(choice.grant, [bank.payload.error for bank in self.banks])),
                buffer.take.eq(self.take[port]),
                self.free[port].eq(buffer.free), self.slot[port].eq(buffer.slot),
            ]
            taken.append(choice.grant)
        m.d.comb += [bank.ready.eq(ready) for bank, ready in zip(self.banks, reduce(or_, taken), strict=True)]
        return m
