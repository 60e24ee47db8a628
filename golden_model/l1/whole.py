"""`L1`: both caches and their bus (docs/contract/l1.md)."""

from warploom.arch.l1 import BEAT_BITS, LANES, LINE_BITS, LINES, masters
from warploom.golden_model.l1.bank import Bank, Offer, Request, Response
from warploom.golden_model.l1.bus import AxiMaster, Slave
from warploom.golden_model.l1.data_cache import DataCache


class L1:
    """The data cache, the instruction cache, and the bus. `data`, `instructions` and `bus` show the outputs of this
    cycle; `request`, `fetch`, `take` and `take_instruction` set its inputs, and `clock` ends it.

    `lines` are those of the instruction cache and of each bank of the data cache; `lanes` are those of the
    engine; `word_bytes` are those of an instruction word.
    """

    def __init__(self, lines: int = LINES, *, lanes: int = LANES, word_bytes: int = 8,
                 beat_bits: int = BEAT_BITS) -> None:
        beats = LINE_BITS // beat_bits
        self.data = DataCache(lines, beats, lanes=lanes)
        self.instructions = Bank(lines, word_bytes=word_bytes, writable=False, beats=beats)
        self.bus = AxiMaster(beat_bits, masters(lanes))
        self._requests: dict[int, Request] = {}
        self._taken: set[int] = set()
        self._fetch: Request | None = None
        self._takes_instruction = False

    @property
    def offers(self) -> list[Offer | None]:
        """The requests of all banks to memory."""
        return [*(bank.offer for bank in self.data.banks), self.instructions.offer]

    def ready(self, port: int) -> bool:
        """Whether a request of a port is taken."""
        return self.data.ready(port)

    def response(self, port: int) -> Response | None:
        """The answer that a port shows."""
        return self.data.response(port)

    def request(self, port: int, request: Request) -> None:
        """A port offers a request."""
        self._requests[port] = request

    def take(self, port: int) -> None:
        """A port takes its answer."""
        self._taken.add(port)

    def fetch(self, address: int) -> None:
        """An instruction word is requested; it is taken if `instructions.ready`."""
        self._fetch = Request(address)

    def take_instruction(self) -> None:
        """The answer of the instruction cache, `instructions.response`, is taken."""
        self._takes_instruction = True

    def clock(self, slave: Slave, *, flush: bool = False, invalidate: bool = False) -> None:
        """The end of a cycle: what the other side of the bus does, and whether the data cache is to be flushed, and the
        instruction cache to be invalidated."""
        *of_data, of_instructions = self.bus.clock(self.offers, slave)
        self.data.clock(self._requests, self._taken, of_data, flush=flush)
        self.instructions.clock(self._fetch, taken=self._takes_instruction, accepted=of_instructions.accepted,
                                beat=of_instructions.beat, flush=invalidate)
        self._requests, self._taken = {}, set()
        self._fetch, self._takes_instruction = None, False
