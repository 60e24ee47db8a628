"""Bench of host mode: hardware against `warploom.golden_model.fg_simt.host`, with random instructions, a memory of any
latency, and kernels that end at any time."""

import random
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.encoding import decode, encode
from warploom.arch.fg_simt.code import HOST, host_refusal
from warploom.arch.fg_simt.image import LaunchBlock
from warploom.arch.fg_simt.sizes import Cause
from warploom.arch.isa import PT, RZ, Instruction, Op
from warploom.arch.l1 import Operation
from warploom.arch.modifiers import Access
from warploom.golden_model.fg_simt.fetch import Fetch, Fetched
from warploom.golden_model.fg_simt.host import Host, Port
from warploom.golden_model.fg_simt.memory import INSTRUCTION_BYTES, Answer, Request
from warploom.golden_model.fg_simt.steps import Steps
from warploom.rtl.fg_simt import host as hardware
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.fg_simt.eight_lanes import CP_PORT
from warploom.tb.fg_simt.host_code import ILLEGAL, NEAR, instruction, prepared, stored, wrong

BENCH = "warploom.tb.fg_simt.test_host"
RUNS, CYCLES = 200, 400
PREPARED = 18
"""Instructions at the start of a run that only compute."""

POINTS = (
    *(op.name for op in sorted(HOST)), *(f"illegal {name}" for name, _ in ILLEGAL),
    *(f"halted by {cause.name}" for cause in (Cause.ILLEGAL, Cause.FETCH, Cause.BUS, Cause.MISALIGNED)),
    "never executed", "carry in", "no carry", "carry out of a product", "request waits", "narrow store", "signed load",
    "bus error of a launch block", "misaligned launch block", "over in the first cycle",
)


class Outside:
    """Fetch queue and memory in one cycle, as the model sees them, and what it asks of them."""

    def __init__(self) -> None:
        self.queue: deque[Fetched] = deque()
        self.begin(None, ready=False)

    def begin(self, answer: Answer | None, *, ready: bool) -> None:
        """A cycle with this answer."""
        self._answer, self._ready, self.asks = answer, ready, False
        self.taken: Request | None = None
        self.redirected: int | None = None

    def redirect(self, pc: int, base: int | None = None) -> None:
        """See `Fetch`."""
        self.redirected = pc

    def ready(self, port: int) -> bool:
        """See `warploom.golden_model.fg_simt.memory.Ports`."""
        assert port == CP_PORT
        self.asks = True
        return self._ready

    def request(self, port: int, request: Request) -> None:
        """See `warploom.golden_model.fg_simt.memory.Ports`."""
        self.taken = request

    def answer(self, port: int) -> Answer | None:
        """See `warploom.golden_model.fg_simt.memory.Ports`."""
        return self._answer


class Bench:
    """One run, from reset until it halts."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage, rng: random.Random) -> None:
        self._codecs, self._checker, self._coverage, self._rng = ports.codecs, checker, coverage, rng
        self._outside = Outside()
        self._model = Host(cast(Fetch, self._outside), Port(self._outside, CP_PORT))
        self._steps = self._model.run(self._kernel)
        self._launched: tuple[LaunchBlock, int] | None = None
        self._current: Instruction | None = None
        self._over = self._awaits = self._halted = False
        self._status = self._fetched = self._next = 0
        self._written, self._tested = RZ, PT

    def _kernel(self, block: LaunchBlock, threads: int) -> Steps[int]:
        """A kernel that is over when the bench says so."""
        self._launched = block, threads
        self._coverage.hit("over in the first cycle", self._over)
        while not self._over:
            yield
        return self._status

    def stimuli(self) -> Iterator[Stimulus]:
        """The inputs of each cycle, until some cycles after the end."""
        rng, ready, queue = self._rng, busy(self._rng, 0.5), self._outside.queue
        left = 5
        for _ in range(CYCLES):
            left -= self._model.status is not None
            if not left:
                return
            if not queue and rng.random() < 0.7:
                queue.append(Fetched(self._next, self._fetch()))
                self._next += 1
            first = queue[0].answer if queue else Answer(bytes(INSTRUCTION_BYTES))
            yield {
                "first__valid": int(bool(queue)),
                "first__payload": {"data": int.from_bytes(first.data, "little"), "error": int(first.error)},
                "request__ready": int(next(ready)), "response__valid": int(self._awaits and rng.random() < 0.3),
                "response__payload": {"data": rng.getrandbits(32), "error": int(rng.random() < 0.01)},
                "over": int(rng.random() < 0.2), "status": rng.getrandbits(32),
            }

    def _fetch(self) -> Answer:
        """The next instruction."""
        rng, self._fetched = self._rng, self._fetched + 1
        if self._fetched > PREPARED and rng.random() < 0.02:
            name, word = wrong(rng)
            self._coverage.hit(f"illegal {name}")
        else:
            word = encode(self._legal())
        return Answer(word.to_bytes(INSTRUCTION_BYTES, "little"), rng.random() < 0.005)

    def _legal(self) -> Instruction:
        """A legal instruction; often it stores the word of the one before, or its guard is what that one has tested."""
        number = self._fetched - 1
        made = prepared(self._rng, number) if number < PREPARED else instruction(self._rng, ())
        if number > NEAR and self._rng.random() < 0.5:
            made = stored(self._rng, self._written)
        if self._tested != PT and self._rng.random() < 0.7:
            made = replace(made, guard=self._tested)
        self._written, self._tested = made.dst, made.pdst
        return made

    def check(self, seen: Observation) -> None:
        """Check one cycle."""
        equal, model, outside = self._checker.equal, self._model, self._outside
        probe = self._codecs["probe"].unpack(seen["probe"])
        equal("observed", [probe[name] for name in Host.observed], model.observe())
        equal("result", seen["result"] if seen["halted"] else None, model.status)
        equal("answers are taken at once", seen["response__ready"], 1)
        response = self._codecs["response__payload"].unpack(seen["response__payload"])
        outside.begin(Answer(response["data"].to_bytes(4, "little"), bool(response["error"]))
                      if seen["response__valid"] else None, ready=bool(seen["request__ready"]))
        self._over, self._status = bool(seen["over"]), seen["status"]
        held, launched = outside.queue[0] if outside.queue else None, self._launched
        next(self._steps, None)
        taken = held if held is not None and not outside.queue else None
        equal("take", seen["take"], int(taken is not None))
        equal("redirect", seen["target"] if seen["redirect"] else None, outside.redirected)
        if outside.redirected is not None:
            outside.queue.clear()
            self._next = outside.redirected
        equal("start", seen["start"], int(self._launched is not launched))
        if seen["start"]:
            block = self._codecs["block"].unpack(seen["block"])
            equal("launched", (LaunchBlock(**block), seen["count"]), self._launched)
        self._check_request(seen)
        self._count(taken)

    def _check_request(self, seen: Observation) -> None:
        """The request, in the cycle in which it is taken."""
        outside, equal, request = self._outside, self._checker.equal, self._outside.taken
        equal("request", seen["request__valid"], int(outside.asks))
        self._coverage.hit("request waits", outside.asks and not seen["request__ready"])
        self._awaits = (self._awaits and not seen["response__valid"]) or request is not None
        if request is None or not seen["request__valid"]:
            return
        payload = self._codecs["request__payload"].unpack(seen["request__payload"])
        equal("address", payload["address"], request.address)
        writes = bool(request.enables)
        equal("operation", payload["operation"], int(Operation.WRITE if writes else Operation.READ))
        if writes:
            bits = sum(0xFF << 8 * byte for byte in range(4) if request.enables >> byte & 1)
            equal("mask", payload["mask"], request.enables)
            equal("data", payload["data"] & bits, int.from_bytes(request.data, "little") & bits)

    def _count(self, taken: Fetched | None) -> None:
        """What happens in a cycle in which an instruction is taken, or none."""
        hit, status = self._coverage.hit, self._model.status
        if taken is not None and not taken.answer.error:
            self._current = _decoded(taken.answer)
            if self._current is not None:
                self._count_instruction(self._current)
        ends, self._halted = status is not None and not self._halted, status is not None
        op = Op.NOP if self._current is None else self._current.op
        if ends and status is not None and op is not Op.EXIT:
            cause = Cause(status >> 24)
            hit(f"halted by {cause.name}")
            hit("misaligned launch block", cause is Cause.MISALIGNED and op is Op.LAUNCH)
            hit("bus error of a launch block", cause is Cause.BUS and op is Op.LAUNCH)

    def _count_instruction(self, i: Instruction) -> None:
        hit, always = self._coverage.hit, i.guard == PT and not i.guard_not
        hit(i.op.name, always)
        hit("never executed", i.guard == PT and i.guard_not)
        hit("carry in", always and i.op is Op.IADD and i.psrc != PT)
        hit("no carry", always and i.op is Op.ISUB and i.psrc == PT and not i.psrc_not)
        hit("carry out of a product", always and i.op is Op.IMAD and i.pdst != PT)
        hit("signed load", always and i.op is Op.LD and i.access in (Access.S8, Access.S16))
        hit("narrow store", always and i.op is Op.ST and i.access.size < 4)


def _decoded(answer: Answer) -> Instruction | None:
    """An instruction, None if it is illegal."""
    try:
        i = decode(int.from_bytes(answer.data, "little"))
    except ValueError:
        return None
    return None if host_refusal(i) else i


@cocotb.test()
async def random_instructions(dut: cocotb.handle.SimHandleBase) -> None:
    """All outputs of every cycle are the model's."""
    ports, checker, coverage, rng = Ports(dut), Checker(minimum=5 * 8), Coverage(*POINTS), source()
    for run in reversed(range(RUNS)):
        bench = Bench(ports, checker, coverage, rng)
        await exercise(ports, bench.stimuli(), bench.check, checker, partial=run > 0)
    coverage.finish()


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("fpga", [False, True])
def test_host(seed: int, fpga: bool) -> None:
    unit = hardware.Host(probe=True)
    runner.run(runner.build(SmConfig.preset("small"), "Host", component=unit, fpga=fpga), BENCH, seed)
