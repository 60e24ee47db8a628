"""What the engine shows in a cycle, hardware against model."""

import numpy as np

from warploom.arch.fg_simt.image import Image
from warploom.golden_model.fg_simt.engine import Engine
from warploom.tb.bench import Coverage, HardwareMismatch, Ports

COUNTS = ("instructions", "control", "memory", "float", "integer", "branches", "divergent", "shared_loads")
POINTS = (*COUNTS, "narrow requests", "wide requests", "a fault of the memory unit", "no room in the SIQ",
          "only stores are in flight")


class Shown:
    """Compares the observed values at the end of each cycle."""

    def __init__(self, ports: Ports, model: Engine) -> None:
        self._ports, self._codec, self._model = ports, ports.codecs["probe"], model

    def compare(self) -> None:
        """After the cycle of both. Raises `HardwareMismatch` for the first value that differs."""
        shown = self._codec.unpack(self._ports.peek("probe"))
        for name, value in zip(self._model.observed, self._model.observe(), strict=True):
            self.equal(name, shown[name], value)

    def same_memory(self, actual: Image, expected: Image) -> None:
        """What both have in memory."""
        for one, other in zip(actual, expected, strict=True):
            words = zip(*(np.frombuffer(part.contents, np.uint32).tolist() for part in (one, other)), strict=True)
            for number, (word, correct) in enumerate(words):
                self.equal(f"memory at {one.base + 4 * number:#x}", word, correct)

    def equal(self, name: str, actual: object, expected: object) -> None:
        """One value; the message has the cycle."""
        if actual != expected:
            raise HardwareMismatch(f"cycle {self._model.cycle - 1}: {name}: expected {expected}, actual {actual}")


class Reached:
    """What has happened in the model."""

    def __init__(self) -> None:
        self.coverage = Coverage(*POINTS)

    def count(self, model: Engine) -> None:
        """The state at the end of a cycle."""
        hit = self.coverage.hit
        hit("a fault of the memory unit", model.memory.fault is not None)
        hit("no room in the SIQ", not model.issue.has_room)
        hit("only stores are in flight", model.control.is_running and not model.control.fragments.mask
            and model.issue.is_quiet(model.cycle) and model.memory.in_flight)
        for name in COUNTS:
            hit(name, model.control.counts[name])
        hit("narrow requests", model.memory.requests[False])
        hit("wide requests", model.memory.requests[True])
