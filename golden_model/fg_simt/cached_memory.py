"""`CachedMemory`: the L1 between the ports of the engine and memory (docs/contract/l1.md)."""

from collections.abc import Sequence
from typing import Protocol

from warploom.arch.fg_simt.image import Image
from warploom.arch.fg_simt.sizes import EIGHT_LANES, LINE, Sizes
from warploom.arch.l1 import LINES, Operation
from warploom.arch.modifiers import Atom, DType
from warploom.golden_model.fg_simt.memory import INSTRUCTION_BYTES, Answer, Request
from warploom.golden_model.fg_simt.segments import Segments
from warploom.golden_model.l1 import bank
from warploom.golden_model.l1.bank import Offer
from warploom.golden_model.l1.bus import AxiMaster, Slave
from warploom.golden_model.l1.memory import Memory
from warploom.golden_model.l1.whole import L1

ATOMICS = {
    **{(kind, type_): Operation[kind.name] for kind in (Atom.ADD, Atom.AND, Atom.OR, Atom.XOR, Atom.EXCH)
       for type_ in (DType.U32, DType.S32)},
    (Atom.MIN, DType.S32): Operation.MIN, (Atom.MAX, DType.S32): Operation.MAX,
    (Atom.MIN, DType.U32): Operation.UMIN, (Atom.MAX, DType.U32): Operation.UMAX,
}
"""The operation of a bank for each operator and type."""


class Bus(Protocol):
    """The other side of the bus."""

    def step(self, bus: AxiMaster, offers: Sequence[Offer | None]) -> Slave:
        """What it does in a cycle."""


class CachedMemory:
    """An L1 whose caches have so many `lines` a bank, and memory `latency` cycles behind it, for an engine of some
    `sizes`; see `warploom.golden_model.fg_simt.memory.Memory`. It takes requests once its lines are cleared, a cycle
    each. `bus`, if given, is in the place of that memory, and then the lines written back are not in `image`."""

    def __init__(self, image: Image, *, lines: int = LINES, latency: int = 20, bus: Bus | None = None,
                 sizes: Sizes = EIGHT_LANES) -> None:
        self._segments, self._wide_port = Segments(image), sizes.wide_port
        self._l1 = L1(lines, lanes=sizes.lanes, word_bytes=INSTRUCTION_BYTES)
        self._bus = bus or Memory(self._segments, latency)
        self._flush = False

    @property
    def busy(self) -> bool:
        """Whether a bank of the data cache is not ready."""
        return self._l1.data.busy

    def image(self) -> Image:
        """Writes back what is in the data cache."""
        self.flush()
        self.clock()
        while self.busy:
            self.clock()
        return self._segments.image()

    def ready(self, port: int) -> bool:
        """While the port's queue has room."""
        return self._l1.ready(port)

    def request(self, port: int, request: Request) -> None:
        """A request on a port that is ready."""
        self._l1.request(port, _of_bank(request))

    def answer(self, port: int) -> Answer | None:
        """The answer on a port in this cycle; it is taken."""
        response = self._l1.response(port)
        if response is None:
            return None
        self._l1.take(port)
        return _answer(response, LINE if port == self._wide_port else 4)

    @property
    def fetch_ready(self) -> bool:
        """While the instruction cache does not miss."""
        return self._l1.instructions.ready

    def fetch(self, address: int) -> None:
        """A request for an instruction, when that is ready."""
        self._l1.fetch(address)

    def fetched(self) -> Answer | None:
        """The instruction that comes in this cycle; it is taken."""
        response = self._l1.instructions.response
        if response is None:
            return None
        self._l1.take_instruction()
        return _answer(response, INSTRUCTION_BYTES)

    def flush(self) -> None:
        """The data cache is to be flushed in this cycle."""
        self._flush = True

    def clock(self) -> None:
        """The cycle ends."""
        self._l1.clock(self._bus.step(self._l1.bus, self._l1.offers), flush=self._flush)
        self._flush = False


def _of_bank(request: Request) -> bank.Request:
    """A request of the engine as the L1 has it."""
    operation = (ATOMICS[request.atom, request.kind] if request.atom is not None
                 else Operation.WRITE if request.enables else Operation.READ)
    return bank.Request(request.address, operation, int.from_bytes(request.data, "little"), request.enables,
                        wide=request.wide)


def _answer(response: bank.Response, size: int) -> Answer:
    """The data of a response; with an error they mean nothing."""
    return Answer(bytes(size), error=True) if response.error else Answer(response.data.to_bytes(size, "little"))
