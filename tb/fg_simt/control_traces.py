"""What happens at the ports of the control processor, in kernel mode, while the whole model runs."""

import random
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from warploom.arch.fg_simt.image import Image, LaunchBlock
from warploom.arch.fg_simt.sizes import Cause
from warploom.arch.mechanisms import Affine
from warploom.golden_model.fg_simt.engine import Engine
from warploom.golden_model.fg_simt.memory import Answer, IdealMemory, Memory, Request
from warploom.golden_model.fg_simt.memory_unit import Fault
from warploom.golden_model.fg_simt.micro import Micro
from warploom.golden_model.fg_simt.micro_bits import encoded
from warploom.golden_model.fg_simt.steps import Steps
from warploom.tb.fg_simt.eight_lanes import CP_PORT

OLD = 300
"""Cycles after which a kernel is old."""

PERIOD, SLOW = 100, 4
"""Cycles after which ports may become slow, or cease to be; then they are not ready so many times as often. Stores are
then still in flight at the end of a kernel."""


class Cycle(NamedTuple):
    """A cycle: inputs by port, outputs by name (what is missing does not happen), the observed values at its end, the
    bits of the first decoded instruction, and whether that is over."""

    inputs: dict[str, Any]
    outputs: dict[str, Any]
    observed: list[int]
    decoded: int | None = None
    is_over: bool = False


class Ports:
    """The ports to memory, of which some are not ready in some cycles; notes what happens at the port of the CP."""

    def __init__(self, memory: Memory, rng: random.Random, patience: float, asked: Callable[[int], None],
                 answered: Callable[[Answer], None]) -> None:
        self._memory, self._rng, self._patience = memory, rng, patience
        self._asked, self._answered = asked, answered
        self._closed = self._cycle = 0
        self._chance = patience

    @property
    def fetch_ready(self) -> bool:
        """See `Memory`, here and below."""
        return self._memory.fetch_ready and not self._closed & 1

    def ready(self, port: int) -> bool:
        return self._memory.ready(port) and not self._closed >> port + 1 & 1

    def request(self, port: int, request: Request) -> None:
        if port == CP_PORT:
            self._asked(request.address)
        self._memory.request(port, request)

    def answer(self, port: int) -> Answer | None:
        answer = self._memory.answer(port)
        if port == CP_PORT and answer is not None:
            self._answered(answer)
        return answer

    def fetch(self, address: int) -> None:
        self._memory.fetch(address)

    def fetched(self) -> Answer | None:
        return self._memory.fetched()

    def clock(self) -> None:
        self._cycle += 1
        if self._cycle % PERIOD == 0:
            self._chance = self._rng.choice((1, 1, SLOW)) * self._patience
        self._closed = sum((self._rng.random() < self._chance) << bit for bit in range(11))
        self._memory.clock()

    def image(self) -> Image:
        return self._memory.image()


class Noted(deque[Any]):
    """A queue that notes what enters at its end, and what is taken from its front."""

    def __init__(self, enters: Callable[[Any], None], leaves: Callable[[], None]) -> None:
        super().__init__()
        self._enters, self._leaves = enters, leaves

    def append(self, element: Any) -> None:
        """See `deque`, here and below."""
        self._enters(element)
        super().append(element)

    def popleft(self) -> Any:
        self._leaves()
        return super().popleft()


class Recorder:
    """Runs an image. `faults` is the chance that a fault of the memory unit is invented in a cycle, which is larger in
    rare situations and when a kernel is old; `patience` that a port is not ready."""

    def __init__(self, image: Image, affine: Affine = Affine.OFF, *, rng: random.Random, faults: float = 0,
                 patience: float = 0, behind: Callable[[Image], Memory] = IdealMemory) -> None:
        self._rng, self._faults = rng, faults
        self._now: dict[str, Any] = {}
        self._ports = Ports(behind(image), rng, patience,
                            lambda address: self._note_own(request=address), lambda answer: self._note(response=answer))
        self.engine = engine = Engine(self._ports, affine)
        self._launch: dict[str, Any] = {}
        self._started = 0
        self._stops = False  # the CP has found a fault in the cycle before
        self._walk: deque[dict[str, Any]] = deque()
        self._first: dict[str, int] | int = 0  # what the fetch queue shows, also when it is empty again
        parts: Any = engine
        parts.fetch.queue = Noted(lambda entry: None, lambda: self._note_own(take=1))
        parts.issue.queue = Noted(self._note_sent, lambda: None)
        parts.control.decoded.popleft = self._noting(parts.control.decoded.popleft, is_over=True)
        parts.fetch.redirect, parts.fetch.stop = self._redirect(parts.fetch.redirect), self._stop(parts.fetch.stop)
        parts.issue.discard = self._noting(parts.issue.discard, discard=1)
        parts.memory.reset = self._noting(parts.memory.reset, memory_reset=1)
        parts.control.kernel = self._kernel(parts.control.kernel)
        parts.control.fragments.start = self._warp(parts.control.fragments.start)
        self._parts = (engine.control.fragments, engine.control.affine, engine.control.shared)
        self.observed = [name for part in self._parts for name in part.observed]

    def cycles(self, count: int) -> Iterator[Cycle]:
        """So many cycles, or fewer if the engine halts."""
        for _ in range(count):
            if self.engine.halted:
                return
            yield self._cycle()

    def _cycle(self) -> Cycle:
        engine, issue, memory = self.engine, self.engine.issue, self.engine.memory
        resolved = issue._mask_from == engine.cycle
        decoded = engine.control.decoded[0] if engine.control.decoded else None
        runs = engine.control.is_running
        if (runs or self._stops) and memory.fault is None and self._invents(resolved):
            memory.fault = Fault(Cause.BUS, self._rng.getrandbits(24))
        fault = memory.fault or Fault(Cause.NONE, 0)
        queue = engine.fetch.queue
        if queue:
            self._first = _payload(queue[0].answer)
        inputs = {
            "first__valid": int(bool(queue)), "first__payload": self._first,
            "room": int(issue.has_room), "quiet": int(issue.is_quiet(engine.cycle)),
            "in_flight": int(memory.in_flight > 0), "fault": {"cause": fault.cause, "pc": fault.pc},
            "memory_quiet": int(memory.is_quiet()), "request__ready": int(self._ports.ready(CP_PORT)),
            "branch__valid": int(resolved), "branch__mask": issue._mask,
        }
        walk = self._walk.popleft() if self._walk else None
        self._now = {} if walk is None else {"position": walk}
        engine.clock()
        now = self._now
        answer = now.pop("response", None)
        inputs |= {"start": now.pop("start", 0), **self._launch, "response__valid": int(answer is not None),
                   "response__payload": 0 if answer is None else _payload(answer)}
        if "over" in now:
            self._launch = {}
        self._stops = runs and not engine.control.is_running and not now.keys() & {"stop", "over"}
        return Cycle(inputs, now, [value for part in self._parts for value in part.observe()],
                     None if decoded is None else int.from_bytes(decoded.fetched.answer.data, "little"),
                     now.pop("is_over", False))

    def _invents(self, resolved: bool) -> bool:
        """Whether there is a fault now."""
        engine = self.engine
        if self._stops:
            factor = 100
        elif resolved or not engine.control.fragments.mask:
            factor = 20
        else:
            is_old = engine.cycle > self._started + OLD
            factor = 10 if engine.host._port.is_waiting else 6 if self._walk or is_old else 1
        return self._rng.random() < factor * self._faults

    # ------------------------------------------------------------ what is noted

    def _note(self, **what: Any) -> None:
        self._now |= what

    def _note_own(self, **what: Any) -> None:
        """What the host part does, too."""
        if self.engine.control.is_running:
            self._note(**what)

    def _note_sent(self, micro: Micro) -> None:
        self._note(sent=encoded(micro))

    def _noting(self, action: Callable[[], Any], **what: int) -> Callable[[], Any]:
        def noted() -> Any:
            self._note(**what)
            return action()

        return noted

    def _redirect(self, redirect: Callable[..., None]) -> Callable[..., None]:
        def noted(pc: int, base: int | None = None) -> None:
            self._note_own(redirect=pc)
            redirect(pc, base)

        return noted

    def _stop(self, stop: Callable[[], None]) -> Callable[[], None]:
        """A stop is made of a redirect. That at the start of a kernel has no effect."""
        def noted() -> None:
            before = dict(self._now)
            stop()
            self._now = before if "start" in before else before | {"stop": 1}

        return noted

    def _kernel(self, kernel: Callable[..., Steps[int]]) -> Callable[..., Steps[int]]:
        def noted(block: LaunchBlock, threads: int) -> Steps[int]:
            self._launch = {"block": block._asdict(), "count": threads}
            self._note(start=1)
            self._started = self.engine.cycle
            result = yield from kernel(block, threads)
            self._note(over=1, status=result)
            return result

        return noted

    def _warp(self, start: Callable[[int], None]) -> Callable[[int], None]:
        def noted(mask: int) -> None:
            threads: Any = self.engine.control._threads
            self._walk.clear()
            if threads.is_walked:
                points = threads.positions().T.tolist()
                self._walk.extend({"valid": 1, "thread": thread, "point": dict(zip("xyz", point, strict=True))}
                                  for thread, point in enumerate(points))
            start(mask)

        return noted


def _payload(answer: Answer) -> dict[str, int]:
    return {"data": int.from_bytes(answer.data, "little"), "error": int(answer.error)}
