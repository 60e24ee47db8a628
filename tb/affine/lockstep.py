"""The ports of the affine units in lockstep: attempts, outcomes, and the uniform unit behind them."""

from collections.abc import Mapping, Sequence
from typing import Any

from warploom.arch.interfaces import UNIFORM_CYCLES, attempt_fields
from warploom.golden_model.affine.uniform import UniformUnit
from warploom.golden_model.datapath import Datapath
from warploom.golden_model.trace import Trace
from warploom.tb.bench import Ports
from warploom.tb.difference import Difference, fields_equal


class AffinePorts:
    """Compares what the sets show with the golden unit; drives attempts, and what the uniform unit answers to the
    hardware's own operands. `checks` gets what was compared."""

    def __init__(self, ports: Ports, trace: Trace, checks: dict[str, int]) -> None:
        self._has_address_slot = ports.config.has_address_slot
        checks |= dict.fromkeys(("attempts", "accepted", "uniform_answers"), 0)
        self._checks, self._registers = checks, trace.program.registers
        self._uniform_unit = UniformUnit(trace)
        self._handles, self._codecs = ports.outputs, ports.codecs
        self._attempted = [name for name, _ in attempt_fields(ports.config)]
        self._answers: dict[int, dict[str, Any]] = {}  # by cycle: stimulus of its answers

    def compare(self, cycle: int, golden: Datapath) -> None:
        """Whether the address slot is free; outcomes and requests of every set."""
        if self._has_address_slot:
            fields_equal(cycle, "", {"address_ready": int(golden.operands.address_ready)},
                         {"address_ready": int(self._handles["address_ready"].value)})
        unit = golden.affine
        assert unit is not None
        for number, (outcome, request) in enumerate(zip(unit.outcomes, unit.requests, strict=True)):
            found = self._equal(cycle, f"outcome_{number}", outcome)
            if found is not None:
                self._checks["attempts"] += 1
                self._checks["accepted"] += found["accepted"]
            asked = self._equal(cycle, f"uniform_{number}", request)
            if asked is not None:
                value, holds = self._uniform_unit(**asked)
                port = f"uniform_result_{number}"
                answer = {f"{port}__valid": 1, f"{port}__payload": {"value": value, "holds": holds}}
                self._answers.setdefault(cycle + UNIFORM_CYCLES, {}).update(answer)
                self._checks["uniform_answers"] += 1

    def stimulus(self, cycle: int, attempts: Sequence[Mapping[str, Any] | None]) -> dict[str, Any]:
        """Inputs of a cycle."""
        stimulus: dict[str, Any] = {"registers": self._registers, **self._answers.pop(cycle, {})}
        for number, attempt in enumerate(attempts):
            if attempt is not None:
                fields = {name: attempt[name] for name in self._attempted}
                stimulus |= {f"attempt_{number}__valid": 1, f"attempt_{number}__payload": fields}
        return stimulus

    def _equal(self, cycle: int, port: str, expected: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """What a stream shows, None when it is not valid, after it was found to be what the model shows."""
        valid = int(self._handles[f"{port}__valid"].value)
        if valid != (expected is not None):
            raise Difference(cycle, f"{port}_valid", int(expected is not None), valid)
        if expected is None:
            return None
        actual = self._codecs[f"{port}__payload"].unpack(self._handles[f"{port}__payload"].value.to_unsigned())
        assert isinstance(actual, dict)
        fields_equal(cycle, f"{port}_", expected, actual)
        return actual
