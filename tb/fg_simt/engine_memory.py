"""The golden model's memory behind the ports of the engine's hardware."""

from typing import Any

from warploom.arch.fg_simt.sizes import EIGHT_LANES, LINE, Sizes
from warploom.arch.l1 import Operation
from warploom.arch.modifiers import Atom, DType
from warploom.golden_model.fg_simt.cached_memory import ATOMICS
from warploom.golden_model.fg_simt.memory import Answer, Memory, Request
from warploom.tb.bench import Ports, Stimulus

OPERATORS: dict[Operation, tuple[Atom, DType]] = {operation: key for key, operation in ATOMICS.items()}


class MemoryPorts:
    """Brings requests of the hardware, of some `sizes`, to a memory, and its answers back."""

    def __init__(self, ports: Ports, memory: Memory, sizes: Sizes = EIGHT_LANES) -> None:
        self._ports, self.memory, self._wide = ports, memory, sizes.wide_port
        narrow = (sizes.cp_port, *range(sizes.lanes))  # in the order in which requests of one cycle come
        self._requests = {**{port: f"narrow__{port}" for port in narrow}, self._wide: "wide"}
        self._answers = {**{port: f"narrow_response__{port}" for port in narrow}, self._wide: "wide_response"}

    def stimulus(self) -> Stimulus:
        """The inputs of a cycle: what is ready, and the answers."""
        memory = self.memory
        made: dict[str, Any] = {f"{name}__ready": int(memory.ready(port)) for port, name in self._requests.items()}
        made["fetch__ready"] = int(memory.fetch_ready)
        for port, name in self._answers.items():
            self._give(made, name, memory.answer(port))
        self._give(made, "instruction", memory.fetched())
        return made

    def step(self) -> None:
        """The end of a cycle: requests that are valid and were ready are taken."""
        ports, memory = self._ports, self.memory
        for port, name in self._requests.items():
            if ports.peek(f"{name}__valid") and memory.ready(port):
                payload = ports.codecs[f"{name}__payload"].unpack(ports.peek(f"{name}__payload"))
                memory.request(port, request_of(payload, wide=port == self._wide))
        if ports.peek("fetch__valid") and memory.fetch_ready:
            memory.fetch(ports.peek("fetch__payload"))
        memory.clock()

    @staticmethod
    def _give(made: dict[str, Any], name: str, answer: Answer | None) -> None:
        if answer is not None:
            made[f"{name}__valid"] = 1
            made[f"{name}__payload"] = {"data": int.from_bytes(answer.data, "little"), "error": int(answer.error)}


def request_of(payload: dict[str, Any], *, wide: bool) -> Request:
    """A request of the hardware."""
    operation, data = Operation(payload["operation"]), payload["data"].to_bytes(LINE if wide else 4, "little")
    if operation is Operation.READ:
        return Request(payload["address"], wide)
    if operation is Operation.WRITE:
        return Request(payload["address"], wide, data, payload["mask"])
    atom, kind = OPERATORS[operation]
    return Request(payload["address"], wide, data, atom=atom, kind=kind)
