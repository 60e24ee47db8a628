"""The units outside a datapath in a random test: they return random results, after their latency or later."""

import random
from collections import deque
from typing import Any

from warploom.arch.config import LANES
from warploom.arch.interfaces import result_fields
from warploom.arch.isa import Op, Pipe, TimingClass
from warploom.tb.bench import Ports, busy
from warploom.tb.narrow_values import narrow_word

BURST = 64
"""Results of SFU and MEM come from a multiple of this number of cycles on, so that they queue up."""

SILENT = (Op.ST, Op.LATCH)
"""Operations without a result."""

Result = dict[str, int]
"""Fields of a result."""


class OutsideUnits:
    """Operations of SP without hardware lanes, SFU and MEM. Narrow values are frequent."""

    def __init__(self, ports: Ports, rng: random.Random) -> None:
        self._ports, self._config, self._rng = ports, ports.config, rng
        self._sp: list[dict[int, Result]] = [{} for _ in ports.config.numbers(Pipe.SP)]  # by the cycle of the result
        self._sfu: dict[str, deque[tuple[int, Result | None]]] = {
            pipe.name: deque() for pipe in ports.config.pipes if pipe.kind is Pipe.SFU}
        self._mem: list[tuple[int, Result | None]] = []
        self._mem_offer: Result | None = None
        self._unread = 0  # memory instructions whose credit has not been returned
        self._credits = busy(rng, 0.4)

    @property
    def has_results(self) -> bool:
        """Whether results are still to come."""
        return any(self._sp) or any(self._sfu.values()) or bool(self._mem or self._mem_offer)

    def sent(self, cycle: int, sent: dict[str, int]) -> None:
        """An instruction is at a dispatch port in this cycle."""
        if sent["op"] <= Op.SEL:
            return
        answer = {name: sent[name] for name, _ in result_fields(self._config)}
        answer |= {"pred": self._rng.getrandbits(LANES), "data": narrow_word(self._rng, sent["lanes"])}
        pipe = self._config.timed_pipes[sent["pipe"]]
        due = cycle - 1 + pipe.timing_of(TimingClass(sent["timing"])).latency
        burst = -(-due // BURST) * BURST
        if pipe.kind is Pipe.SP:
            self._sp[sent["pipe"]][due] = answer
        elif pipe.kind is Pipe.SFU:
            self._sfu[pipe.name].append((burst, None if sent["op"] in SILENT else answer))
        else:
            self._unread += 1
            if sent["op"] not in SILENT:
                self._mem.append((burst, answer))

    def answers(self, cycle: int) -> dict[str, Any]:
        """Results and credits of this cycle. A result stays on its port until it is taken."""
        return {**self._of_sp(cycle), **self._of_sfu(cycle), **self._of_mem(cycle)}

    def _of_sp(self, cycle: int) -> dict[str, Any]:
        ports: dict[str, Any] = {}
        for writer, results in zip(self._config.writers, self._sp, strict=False):
            if (result := results.pop(cycle, None)) is not None:
                ports |= {f"result_{writer}__valid": 1, f"result_{writer}__payload": result}
        return ports

    def _of_sfu(self, cycle: int) -> dict[str, Any]:
        ports: dict[str, Any] = {}
        for writer, answers in self._sfu.items():
            if answers and answers[0][0] <= cycle:
                answer = answers[0][1]
                if answer is not None:
                    ports |= {f"result_{writer}__valid": 1, f"result_{writer}__payload": answer}
                if answer is None or self._ports.peek(f"result_{writer}__ready"):
                    answers.popleft()
                    ports[f"credit_{writer}"] = 1
        return ports

    def _of_mem(self, cycle: int) -> dict[str, Any]:
        ports: dict[str, Any] = {}
        writer = self._config.writers[-1]
        if self._mem_offer is None:
            due = [entry for entry in self._mem if entry[0] <= cycle]
            if due:
                self._mem.remove(due[0])
                self._mem_offer = due[0][1]
        if self._mem_offer is not None:
            ports |= {f"result_{writer}__valid": 1, f"result_{writer}__payload": self._mem_offer}
            if self._ports.peek(f"result_{writer}__ready"):
                self._mem_offer = None
        if self._unread and next(self._credits):
            self._unread -= 1
            ports[f"credit_{writer}"] = 1
        return ports
