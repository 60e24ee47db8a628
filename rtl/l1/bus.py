# amaranth: UnusedElaboratable=no
"""Master of AXI4 for the memory ports of several banks (docs/contract/l1.md, *Bus*)."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.l1 import ADDRESS_BITS, BEAT_BITS, ID_BITS, LANES, LINE_BITS, masters
from warploom.rtl.l1.ports import assert_held, memory_signature
from warploom.rtl.l1.round_robin import RoundRobin
from warploom.rtl.select import merge_many

INCREMENTING = 1
"""The burst of a line."""


def _address(prefix: str) -> dict[str, wiring.Member]:
    """The members of an address channel."""
    return {f"{prefix}id": Out(ID_BITS), f"{prefix}addr": Out(ADDRESS_BITS), f"{prefix}len": Out(8),
            f"{prefix}size": Out(3), f"{prefix}burst": Out(2), f"{prefix}valid": Out(1), f"{prefix}ready": In(1)}


def axi_signature(beat_bits: int) -> wiring.Signature:
    """AXI4, seen from the master, by the names of its specification."""
    return wiring.Signature({
        **_address("aw"), **_address("ar"),
        "wdata": Out(beat_bits), "wstrb": Out(beat_bits // 8), "wlast": Out(1), "wvalid": Out(1), "wready": In(1),
        "bid": In(ID_BITS), "bresp": In(2), "bvalid": In(1), "bready": Out(1),
        "rid": In(ID_BITS), "rdata": In(beat_bits), "rresp": In(2), "rlast": In(1), "rvalid": In(1), "rready": Out(1),
    })


class AxiMaster(wiring.Component):
    """Reads and writes lines for several banks: one transaction at a time for each.

    Parameters
    ----------
    banks : how many.
    beat_bits : data of a beat.
    probe : the rules of its channels are asserted.

    Members
    -------
    banks : the memory port of each bank; its number is the ID.
    axi : the bus.
    """

    def __init__(self, *, banks: int = masters(LANES), beat_bits: int = BEAT_BITS, probe: bool = False) -> None:
        self._beat_bits, self._probe = beat_bits, probe
        super().__init__({
            "banks": In(memory_signature(beat_bits)).array(banks),
            "axi": Out(axi_signature(beat_bits)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        read, self._written = Signal(), Signal()  # an offer is accepted
        reader = self._choose(m, "ar", read, self.axi.arvalid, Cat(~bank.offer.payload.write for bank in self.banks))
        writer = self._choose(m, "aw", self._written, self.axi.awvalid | self.axi.wvalid,
                              Cat(bank.offer.payload.write for bank in self.banks))
        m.d.comb += read.eq(self.axi.arvalid & self.axi.arready)
        with m.If(read):
            m.d.sync += self.axi.arvalid.eq(0)
        self._write(m, writer)
        for number, bank in enumerate(self.banks):
            m.d.comb += bank.offer.ready.eq(read & reader[number] | self._written & writer[number])
            self._answer(m, number, bank)
        m.d.comb += [self.axi.rready.eq(1), self.axi.bready.eq(1)]
        if self._probe:
            for channel in ("aw", "ar"):
                assert_held(m, getattr(self.axi, f"{channel}valid"), getattr(self.axi, f"{channel}ready"),
                            Cat(getattr(self.axi, f"{channel}{part}") for part in ("id", "addr", "len")), channel)
            assert_held(m, self.axi.wvalid, self.axi.wready, Cat(self.axi.wdata, self.axi.wlast), "w")
        return m

    def _choose(self, m: Module, channel: str, done: Value, busy: Value, asks: Value) -> Signal:
        """While a channel is free, choose a bank that asks; its address and number are on the channel until `done`.
        Returns the bank as a mask."""
        m.submodules[f"{channel}_choice"] = choice = RoundRobin(count=len(self.banks))
        owner = Signal(len(self.banks), name=f"{channel}_owner")
        port = {part: getattr(self.axi, f"{channel}{part}") for part in ("id", "addr", "len", "size", "burst", "valid")}
        m.d.comb += [
            choice.request.eq(Cat(bank.offer.valid for bank in self.banks) & asks),
            choice.served.eq(~busy),
            port["len"].eq(LINE_BITS // self._beat_bits - 1),
            port["size"].eq((self._beat_bits // 8 - 1).bit_length()),
            port["burst"].eq(INCREMENTING),
        ]
        with m.If(~busy):
            m.d.sync += [
                owner.eq(choice.grant),
                port["valid"].eq(choice.request.any()),
                port["id"].eq(merge_many(choice.grant, [Const(number, ID_BITS) for number in range(len(self.banks))])),
                port["addr"].eq(merge_many(choice.grant, [bank.offer.payload.address for bank in self.banks])),
            ]
        return owner

    def _write(self, m: Module, writer: Signal) -> None:
        """The beats of a line, beside its address."""
        axi, beats = self.axi, LINE_BITS // self._beat_bits
        beat = Signal(range(max(2, beats)))
        line = merge_many(writer, [bank.offer.payload.line.word_select(beat, self._beat_bits) for bank in self.banks])
        address_ends, data_ends = ~axi.awvalid | axi.awready, ~axi.wvalid | axi.wready & axi.wlast
        m.d.comb += [
            axi.wdata.eq(line), axi.wstrb.eq(-1), axi.wlast.eq(beat == beats - 1),
            self._written.eq((axi.awvalid | axi.wvalid) & address_ends & data_ends),
        ]
        with m.If(~axi.awvalid & ~axi.wvalid):
            m.d.sync += [axi.wvalid.eq(Cat(bank.offer.valid & bank.offer.payload.write for bank in self.banks).any()),
                         beat.eq(0)]
        with m.Else():
            m.d.sync += [axi.awvalid.eq(~address_ends), axi.wvalid.eq(~data_ends)]
            with m.If(axi.wvalid & axi.wready):
                m.d.sync += beat.eq(beat + 1)

    def _answer(self, m: Module, number: int, bank: wiring.PureInterface) -> None:
        """What comes for a bank."""
        axi = self.axi
        m.d.comb += [
            bank.beat.valid.eq(axi.rvalid & (axi.rid == number)),
            bank.beat.data.eq(axi.rdata), bank.beat.error.eq(axi.rresp[1]), bank.beat.last.eq(axi.rlast),
            bank.written.valid.eq(axi.bvalid & (axi.bid == number)),
            bank.written.error.eq(axi.bresp[1]),
        ]
