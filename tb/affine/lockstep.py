"""The ports of the affine units in lockstep: attempts, outcomes, and the uniform unit behind them."""

from collections.abc import Mapping, Sequence
from typing import Any

from warploom.arch.compact import UNIFORM_ANSWER_CYCLES
from warploom.arch.interfaces import attempt_fields
from warploom.golden_model.affine.uniform import UniformUnit
from warploom.golden_model.datapath import Datapath
from warploom.golden_model.trace import Traced
from warploom.tb.hardware import Hardware


class AffinePorts:
    """Compares the ports of the sets with the golden unit; drives attempts, and results of the uniform unit. `checks`
    counts comparisons."""

    def __init__(self, hardware: Hardware, trace: Traced, checks: dict[str, int]) -> None:
        self._hardware, self._has_address_slot = hardware, hardware.config.has_address_slot
        checks |= dict.fromkeys(("attempts", "accepted", "uniform_answers"), 0)
        self._checks, self._registers = checks, trace.program.registers
        self._uniform_unit = UniformUnit(trace)
        self._attempted = [name for name, _ in attempt_fields(hardware.config)]
        self._answers: dict[int, dict[str, Any]] = {}  # by cycle: stimulus of its results

    def compare(self, cycle: int, golden: Datapath) -> None:
        """Whether the address slot is free; outcomes and requests of every set."""
        if self._has_address_slot:
            self._hardware.expect(cycle, "address_ready", golden.operands.address_ready)
        unit = golden.affine
        assert unit is not None
        for number, (outcome, request) in enumerate(zip(unit.outcomes, unit.requests, strict=True)):
            self._expect(cycle, f"outcome_{number}", outcome)
            if outcome is not None:
                self._checks["attempts"] += 1
                self._checks["accepted"] += outcome["accepted"]
            self._expect(cycle, f"uniform_{number}", request)
            if request is not None:
                value, holds = self._uniform_unit(**request)
                port = f"uniform_result_{number}"
                answer = {f"{port}__valid": 1, f"{port}__payload": {"value": value, "holds": holds}}
                self._answers.setdefault(cycle + UNIFORM_ANSWER_CYCLES, {}).update(answer)
                self._checks["uniform_answers"] += 1

    def stimulus(self, cycle: int, attempts: Sequence[Mapping[str, Any] | None]) -> dict[str, Any]:
        """Inputs of a cycle."""
        stimulus: dict[str, Any] = {"registers": self._registers, **self._answers.pop(cycle, {})}
        for number, attempt in enumerate(attempts):
            if attempt is not None:
                fields = {name: attempt[name] for name in self._attempted}
                stimulus |= {f"attempt_{number}__valid": 1, f"attempt_{number}__payload": fields}
        return stimulus

    def _expect(self, cycle: int, port: str, fields: Mapping[str, Any] | None) -> None:
        """The expected value of a stream."""
        self._hardware.expect(cycle, f"{port}__valid", int(fields is not None))
        if fields is not None:
            payload = f"{port}__payload"
            self._hardware.expect(cycle, payload, self._hardware.codecs[payload].pack(fields))
