"""The other side of the bus: the AXI4 slave of cocotbext-axi, which is not ours, with random waits."""

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Protocol

from cocotbext.axi import AxiBus, AxiResp, AxiSlave

from warploom.arch.l1 import LINE_BYTES
from warploom.golden_model.l1.bank import Beat, Offer
from warploom.golden_model.l1.bus import AxiMaster, Slave
from warploom.tb.bench import Observation


class RefusedError(Exception):
    """A line is not there: the slave answers SLVERR."""


class Target(Protocol):
    """What the slave reads and writes; a `RefusedError` is answered by an error."""

    async def read(self, address: int, length: int) -> bytes: ...
    async def write(self, address: int, data: bytes) -> None: ...


class Lines:
    """Lines by address, as the slave reads and writes them."""

    def __init__(self, image: dict[int, int], refused: Collection[int]) -> None:
        self.image, self._refused = image, refused

    async def read(self, address: int, length: int) -> bytes:
        """Some bytes of a line."""
        start = address % LINE_BYTES
        return self.image[self._line(address)].to_bytes(LINE_BYTES, "little")[start : start + length]

    async def write(self, address: int, data: bytes) -> None:
        """Store some bytes of a line."""
        line, start = self._line(address), address % LINE_BYTES
        stored = bytearray(self.image[line].to_bytes(LINE_BYTES, "little"))
        stored[start : start + len(data)] = data
        self.image[line] = int.from_bytes(stored, "little")

    def _line(self, address: int) -> int:
        line = address & ~(LINE_BYTES - 1)
        if line in self._refused:
            raise RefusedError(f"{line:#x}")
        return line


class Waits:
    """The pauses of a channel: at each time some share of the cycles."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.share = 0.5

    def __iter__(self) -> Iterator[bool]:
        while True:
            yield self._rng.random() < self.share


def attach(dut: Any, lines: Target, rng: random.Random) -> list[Waits]:
    """Attach the slave to the port `axi`. Returns the pauses of its five channels."""
    slave = AxiSlave(AxiBus.from_prefix(dut, "axi", bus_separator="__"), dut.clk, dut.rst, target=lines)
    channels = (slave.write_if.aw_channel, slave.write_if.w_channel, slave.write_if.b_channel,
                slave.read_if.ar_channel, slave.read_if.r_channel)
    _vary_errors(slave.write_if.b_channel, "bresp", rng)
    _vary_errors(slave.read_if.r_channel, "rresp", rng)
    slave.write_if.w_channel.queue_occupancy_limit = 8  # so that it may take all beats before their address
    waits = [Waits(rng) for _ in channels]
    for channel, each in zip(channels, waits, strict=True):
        channel.set_pause_generator(iter(each))
    return waits


def _vary_errors(channel: Any, field: str, rng: random.Random) -> None:
    """Some of a channel's errors become DECERR, which the slave never answers by itself."""
    send = channel.send

    async def sent(transaction: Any) -> None:
        if getattr(transaction, field) == AxiResp.SLVERR and rng.random() < 0.5:
            setattr(transaction, field, AxiResp.DECERR)
        await send(transaction)

    channel.send = sent


def slave_of(seen: Observation) -> Slave:
    """What the slave does in a cycle."""
    axi = {name.removeprefix("axi__"): value for name, value in seen.items() if name.startswith("axi__")}
    beat = (axi["rid"], Beat(axi["rdata"], axi["rresp"] > 1)) if axi["rvalid"] else None
    written = (axi["bid"], axi["bresp"] <= 1) if axi["bvalid"] else None
    return Slave(bool(axi["arready"]), bool(axi["awready"]), bool(axi["wready"]), beat, written)


def compare_master(
    seen: Observation, bus: AxiMaster, offers: Sequence[Offer | None], equal: Callable[[str, object, object], None]
) -> None:
    """The channels that the master drives in a cycle, with those of the model."""
    for channel, expected in (("ar", bus.reads), ("aw", bus.writes)):
        shown = (seen[f"axi__{channel}id"], seen[f"axi__{channel}addr"]) if seen[f"axi__{channel}valid"] else None
        equal(channel, shown, expected)
    data = (seen["axi__wdata"], bool(seen["axi__wlast"])) if seen["axi__wvalid"] else None
    equal("w", data, bus.data(offers))
