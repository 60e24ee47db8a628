"""`FixedPath`: the path to memory of fixed latency, for the load/store unit that waits (docs/contract/memory.md)."""

from collections import deque

from warploom.arch.config import SmConfig
from warploom.golden_model.gpu.packets import Kind, Request


class FixedPath:
    """A slot every `memory_interval` cycles, for which stores wait. See `Path`."""

    def __init__(self, config: SmConfig) -> None:
        self.arrivals: deque[tuple[int, Request]] = deque()
        self._config, self._slot = config, 0

    @property
    def place(self) -> int | None:
        """See `Path`, here and below."""
        return self._slot

    def takes(self, cycle: int, kind: Kind) -> bool:
        return kind is Kind.READ or self._slot <= cycle

    def send(self, cycle: int, kind: Kind, line: int, size: int) -> Request:
        config, request = self._config, Request(kind, line, size, cycle, 0)
        slot = max(cycle, self._slot)
        self._slot = slot + config.memory_interval
        self.arrivals.append((slot + config.l1_latency + config.memory_latency, request))
        return request
