"""Bench of the cache bank: hardware against `warploom.golden_model.l1.bank`, and against a memory without a cache."""

from collections import deque
from collections.abc import Iterator
from typing import Any

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.l1 import LINE_BITS, OFFSET_BITS, Operation
from warploom.golden_model.l1.bank import Bank, Beat, Offer, Request, Response, State
from warploom.rtl.l1.bank import CacheBank
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.l1.flat import FlatMemory
from warploom.tb.l1.memory import Outside, Refused
from warploom.tb.l1.requests import contents, fetch, narrow, wide

BENCH = "warploom.tb.l1.test_bank"
CYCLES = 6000
LINES, BANKS = 8, 8
"""Few lines, so that each is replaced often."""

TAGS = (5, 4, 5 | 1 << 20, 5 ^ (1 << 21) - 1)
"""They differ in one bit, or in all."""

BANK: dict[str, Any] = {"lines": LINES, "banks": BANKS, "tag_bits": 7, "probe": True}
INSTRUCTIONS: dict[str, Any] = {"lines": LINES, "writable": False, "probe": True}
KINDS = {"data": BANK, "one bank": {**BANK, "banks": 1, "tag_bits": 0}, "beats of 256": {**BANK, "beat_bits": 256},
         "instructions": INSTRUCTIONS, "instructions of 64": {**INSTRUCTIONS, "word_bits": 64, "beat_bits": 32},
         "instructions of 128": {**INSTRUCTIONS, "word_bits": 128}}


class Traffic:
    """Random requests, flushes and a memory, and the checks of each cycle."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._ports, self._checker, self._coverage, self._rng = ports, checker, coverage, source()
        self._writable = "failed" in ports.codecs
        banks, number = (BANKS, self._rng.randrange(BANKS)) if "number" in ports.codecs else (1, 0)
        self._number = {"number": number} if banks > 1 else {}
        self._word_bytes = 4 if self._writable else ports.codecs["response__payload"].mask(["data"]).bit_length() // 8
        self._beats = LINE_BITS // ports.codecs["memory__beat__data"].width
        self._lines = [(tag * LINES + index) * banks + number << OFFSET_BITS
                       for tag in TAGS for index in range(LINES)]
        image = contents(self._rng, self._lines)
        refused = Refused(self._rng.sample(self._lines, 3), self._rng.sample(self._lines, 4) if self._writable else ())
        self._outside = Outside(self._rng, image, refused, LINE_BITS // self._beats)
        self._flat = FlatMemory(image)
        self._model = Bank(LINES, banks, number, word_bytes=self._word_bytes, writable=self._writable,
                           beats=self._beats)
        self._waiting: deque[Request] = deque()
        self._was_busy = True

    def stimuli(self) -> Iterator[Stimulus]:
        """The inputs of each cycle."""
        rng, asks, takes = self._rng, busy(self._rng, 0.5), busy(self._rng, 0.7)
        for cycle in range(CYCLES):
            if cycle % 500 == 0:
                self._outside.patience = rng.choice((0.1, 0.5, 1))
                near = rng.sample(self._lines, rng.choice((2, len(self._lines))))
            flush = rng.random() < 0.004
            yield {**self._number, "flush": int(flush), **self._outside.step(self._offer()),
                   "request__valid": int(next(asks)), "request__payload": self._packed(self._request(near)),
                   "response__ready": int(next(takes))}

    def check(self, seen: Observation) -> None:
        """Check one cycle."""
        model, equal = self._model, self._checker.equal
        equal("ready", seen["request__ready"], int(model.ready))
        equal("busy", seen["busy"], int(model.busy))
        shown = self._shown(seen)
        equal("response", shown, model.response)
        equal("offer", self._offered(seen), model.offer)
        if self._writable:
            equal("failed", seen["failed"], int(model.failed))
            equal("failed_line", seen["failed_line"] if seen["failed"] else 0, model.failed_line if model.failed else 0)
        request = self._unpacked(seen["request__payload"]) if seen["request__valid"] else None
        if seen["request__ready"] and request is not None:
            self._waiting.append(request)
        taken = bool(seen["response__ready"]) and shown is not None
        if taken:
            assert shown is not None
            first = self._waiting.popleft()
            self._checker.holds("an answer is that of a memory", self._flat.answers(first, shown, self._word_bytes))
            self._checker.equal("tag", shown.tag, first.tag)
            self._checker.holds("only refused lines are in error", not shown.error or shown.data in
                                {*self._outside.refused.reads, *self._outside.refused.writes})
        self._count(request, shown)
        if self._was_busy and not seen["busy"]:
            self._check_image()
        self._was_busy = bool(seen["busy"])
        beat = Beat(seen["memory__beat__data"], bool(seen["memory__beat__error"]))
        written = not seen["memory__written__error"] if seen["memory__written__valid"] else None
        model.clock(request, taken=taken, accepted=bool(seen["memory__offer__ready"]) and model.offer is not None,
                    beat=beat if seen["memory__beat__valid"] else None, written=written, flush=bool(seen["flush"]))

    def _check_image(self) -> None:
        """After a flush memory has everything, but refused lines."""
        image = self._outside.image
        wrong = [line for line in image if image[line] != self._flat.image[line]]
        self._checker.holds("memory has all data", set(wrong) <= set(self._outside.refused.writes))
        self._coverage.hit("flushed")

    def _count(self, request: Request | None, shown: Response | None) -> None:
        hit, state = self._coverage.hit, self._model.state
        hit("error", shown is not None and shown.error)
        hit("no room", state is State.RUN and not self._model.ready and not self._model.busy)
        if self._writable:
            hit("flush fails", self._model.failed)
            hit("refused victim", state is State.FAULT)
            for kind in (State.DIRTY, State.MODIFY):
                hit(f"state {kind.name}", state is kind)

    # ------------------------------------------------------------ ports as tuples

    def _request(self, lines: list[int]) -> Request:
        tag = self._rng.getrandbits(7) if "tag" in self._ports.codecs["request__payload"].spans else 0
        if not self._writable:
            return fetch(self._rng, lines, self._word_bytes, tag)
        return (wide if self._rng.random() < 0.3 else narrow)(self._rng, lines, tag)

    def _packed(self, request: Request) -> dict[str, int]:
        fields = {**request._asdict(), "data": request.data | request.compare << 32}
        return {name: int(value) for name, value in fields.items()
                if name in self._ports.codecs["request__payload"].spans}

    def _unpacked(self, word: int) -> Request:
        fields = self._ports.codecs["request__payload"].unpack(word)
        if not self._writable:
            return Request(fields["address"], tag=fields.get("tag", 0))
        is_wide, data = bool(fields["wide"]), fields["data"]
        low = data if is_wide else data & 0xFFFFFFFF
        return Request(fields["address"], Operation(fields["operation"]), low, fields["mask"],
                       0 if is_wide else data >> 32 & 0xFFFFFFFF, is_wide, fields.get("tag", 0))

    def _shown(self, seen: Observation) -> Response | None:
        fields = self._ports.codecs["response__payload"].unpack(seen["response__payload"])
        return Response(fields["data"], bool(fields["error"]), fields.get("tag", 0)) \
            if seen["response__valid"] else None

    def _offered(self, seen: Observation) -> Offer | None:
        if not seen["memory__offer__valid"]:
            return None
        fields = self._ports.codecs["memory__offer__payload"].unpack(seen["memory__offer__payload"])
        return Offer(bool(fields["write"]), fields["address"], fields["line"] if fields["write"] else 0)

    def _offer(self) -> Offer | None:
        names = ("memory__offer__valid", "memory__offer__payload")
        return self._offered({name: self._ports.peek(name) for name in names})


def points(ports: Ports) -> list[str]:
    """Coverage points of a bank."""
    written = ["flush fails", "refused victim", "state DIRTY", "state MODIFY"] if "failed" in ports.codecs else []
    return ["error", "no room", "flushed", *written]


@cocotb.test()
async def random_requests(dut: cocotb.handle.SimHandleBase) -> None:
    """All outputs of every cycle are the model's; answers and contents are those of a memory."""
    ports, checker = Ports(dut), Checker(minimum=4 * CYCLES)
    coverage = Coverage(*points(ports))
    traffic = Traffic(ports, checker, coverage)
    await exercise(ports, traffic.stimuli(), traffic.check, checker)
    coverage.finish()


@pytest.mark.sample(2)
@pytest.mark.rtl
@pytest.mark.parametrize("kind", KINDS)
def test_bank(kind: str, seed: int) -> None:
    component = CacheBank(**KINDS[kind])
    runner.run(runner.build(SmConfig.preset("small"), "CacheBank", component=component), BENCH, seed)
