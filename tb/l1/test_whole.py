"""Bench of the L1: a memory image goes in, and a memory image comes out, over AXI4, in lockstep with
`warploom.golden_model.l1.whole`."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import cocotb
import pytest
from cocotbext.axi import AxiResp

from warploom.arch.config import SmConfig
from warploom.arch.l1 import BEAT_BITS, LINE_BYTES, OFFSET_BITS
from warploom.golden_model.l1.bank import Response
from warploom.golden_model.l1.bus import Slave
from warploom.golden_model.l1.whole import L1
from warploom.rtl.l1 import whole as hardware
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.l1.axi import Lines, Waits, attach, compare_master, slave_of
from warploom.tb.l1.requests import PORTS, contents
from warploom.tb.l1.traffic import PortTraffic, streams

BENCH = "warploom.tb.l1.test_whole"
CYCLES = 6000
LIMIT = 5000
"""Cycles in which requests are answered, or a cache is flushed."""

LINES = 2
FETCH_BYTES = 8

SMALL: dict[str, Any] = {"lines": LINES, "fetch_bits": 8 * FETCH_BYTES, "probe": True}

POINTS = ("AW before W", "W before AW", "read and write at once", "three reads at once", "error of data",
          "error of an instruction", "error of a flush", "SLVERR", "DECERR")


class Bench:
    """Traffic of all ports, the slave, and the checks of a cycle."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._ports, self._checker, self._coverage, rng = ports, checker, coverage, source()
        self._rng, self._traffic = rng, PortTraffic(ports, rng, LINES, checker)
        self._code = [(1 << 20) + (line << OFFSET_BITS) for line in range(3 * LINES)]
        self.image = {**self._traffic.image, **contents(rng, self._code)}
        self.refused: set[int] = {*rng.sample(self._code, 1), *rng.sample(self._traffic.shared_words, 3)}
        self.waits: list[Waits] = []
        self._model = L1(LINES, word_bytes=FETCH_BYTES, beat_bits=BEAT_BITS)
        self._fetches: deque[int] = deque()
        self._fetch: int | None = None
        self._asks, self._takes = busy(rng, 0.5), busy(rng, 0.7)
        self._reading: set[int] = set()

    def stimuli(self) -> Iterator[Stimulus]:
        """Traffic with few flushes; at the end a flush in which memory refuses every line, and one that succeeds."""
        for cycle in range(CYCLES):
            if cycle % 200 == 0:
                self._traffic.near = self._rng.choice((1, 4, 100))
                for wait in self.waits:
                    wait.share = self._rng.choice((0, 0.5, 0.9))
            yield self._inputs(asks=True, flush=self._rng.random() < 0.002, invalidate=self._rng.random() < 0.005)
        yield from self._until(lambda: self._traffic.is_idle and not self._fetches and not self._model.data.busy)
        self.refused.update(self._traffic.image)
        yield from self._flush()
        self.refused.clear()
        yield from self._flush()
        self._checker.equal("memory image", self.image, {**self.image, **self._traffic.flat.image})

    def check(self, seen: Observation) -> None:
        """Check one cycle."""
        model, equal, slave = self._model, self._checker.equal, slave_of(seen)
        for port, stream in enumerate(streams("narrow", "wide")):
            equal(f"{stream} ready", seen[f"{stream}__ready"], int(model.ready(port)))
        requests, shown, taken = self._traffic.observe(seen)
        for port in range(PORTS):
            equal(f"response {port}", shown.get(port), model.response(port))
        equal("busy", seen["busy"], int(model.data.busy))
        failed = model.data.failed_line
        equal("failed", (seen["failed"], seen["failed_line"] if seen["failed"] else None),
              (int(failed is not None), failed))
        self._check_instructions(seen)
        compare_master(seen, model.bus, model.offers, self._checker.equal)
        self._count(seen, slave)
        for port, request in requests.items():
            model.request(port, request)
        for port in taken:
            model.take(port)
        model.clock(slave, flush=bool(seen["flush"]), invalidate=bool(seen["invalidate"]))

    def _check_instructions(self, seen: Observation) -> None:
        """The ports of the instruction cache."""
        model, equal = self._model, self._checker.equal
        equal("fetch ready", seen["fetch__ready"], int(model.instructions.ready))
        equal("invalidating", seen["invalidating"], int(model.instructions.busy))
        fields = self._ports.codecs["instruction__payload"].unpack(seen["instruction__payload"])
        shown = Response(fields["data"], bool(fields["error"])) if seen["instruction__valid"] else None
        equal("instruction", shown, model.instructions.response)
        if seen["fetch__valid"]:
            model.fetch(seen["fetch__payload"])
            if seen["fetch__ready"]:
                self._fetches.append(seen["fetch__payload"])
                self._fetch = None
        if shown is not None and seen["instruction__ready"]:
            model.take_instruction()
            address = self._fetches.popleft()
            word = self.image[address & ~(LINE_BYTES - 1)] >> 8 * (address % LINE_BYTES) & (1 << 8 * FETCH_BYTES) - 1
            self._checker.holds("an instruction is that of memory", shown.error or shown.data == word)
            self._coverage.hit("error of an instruction", shown.error)

    def _count(self, seen: Observation, slave: Slave) -> None:
        hit = self._coverage.hit
        writing, sending = seen["axi__awvalid"], seen["axi__wvalid"]
        hit("AW before W", sending and not writing)
        hit("W before AW", writing and not sending)
        hit("read and write at once", seen["axi__arvalid"] and sending)
        if slave.ar and seen["axi__arvalid"]:
            self._reading.add(seen["axi__arid"])
        hit("three reads at once", len(self._reading) > 2)
        if slave.beat and seen["axi__rlast"]:
            self._reading.discard(slave.beat[0])
        hit("error of data", any((shown := self._model.response(port)) and shown.error for port in range(PORTS)))
        hit("error of a flush", seen["failed"])
        responses = [seen["axi__rresp"]] * seen["axi__rvalid"] + [seen["axi__bresp"]] * seen["axi__bvalid"]
        hit("SLVERR", AxiResp.SLVERR in responses)
        hit("DECERR", AxiResp.DECERR in responses)

    def _flush(self) -> Iterator[Stimulus]:
        yield self._inputs(asks=False, flush=True)
        yield self._inputs(asks=False)
        yield from self._until(lambda: not self._model.data.busy)

    def _until(self, done: Callable[[], bool]) -> Iterator[Stimulus]:
        """Cycles without new requests, until something holds."""
        for _ in range(LIMIT):
            if done():
                return
            yield self._inputs(asks=False)
        self._checker.fail("the L1 does not come to an end")

    def _inputs(self, *, asks: bool, flush: bool = False, invalidate: bool = False) -> Stimulus:
        if self._fetch is None and asks and next(self._asks):
            self._fetch = self._rng.choice(self._code) + FETCH_BYTES * self._rng.randrange(LINE_BYTES // FETCH_BYTES)
        fetch = {} if self._fetch is None else {"fetch__valid": 1, "fetch__payload": self._fetch}
        return {**self._traffic.stimulus(asks=asks), **fetch, "flush": int(flush), "invalidate": int(invalidate),
                "instruction__ready": int(next(self._takes))}


@cocotb.test()
async def random_traffic(dut: cocotb.handle.SimHandleBase) -> None:
    """All outputs of every cycle are the model's; answers and the image that comes out are those of a memory."""
    ports, checker, coverage = Ports(dut), Checker(minimum=20 * CYCLES), Coverage(*POINTS)
    bench = Bench(ports, checker, coverage)
    bench.waits = attach(dut, Lines(bench.image, bench.refused), source())
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@pytest.mark.long
@pytest.mark.rtl
def test_l1(seed: int) -> None:
    made = runner.build(SmConfig.preset("small"), "L1", component=hardware.L1(**SMALL))
    runner.run(made, BENCH, seed)
