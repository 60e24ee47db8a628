"""What the SMs and the L2 cache say to each other."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple


class Kind(Enum):
    """What a request is for."""

    READ = auto()
    WRITE = auto()
    ATOMIC = auto()


@dataclass(slots=True, eq=False)
class Request:
    """A request of an SM for one line, which is answered exactly once. `size` are the bytes that a write or an atomic
    brings, `sent` is the cycle of the SM in which it was sent."""

    kind: Kind
    line: int
    size: int
    sent: int
    sm: int


class Packet(NamedTuple):
    """A request or its answer on a network: its output, and its length in flits."""

    output: int
    flits: int
    request: Request
