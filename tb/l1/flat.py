"""A memory without caches, which executes the requests of a bench: what answers and contents must be."""

from warploom.arch.l1 import LINE_BYTES, Operation
from warploom.golden_model.l1.bank import Request, Response
from warploom.golden_model.l1.operations import updated

WORD = 0xFFFFFFFF


class FlatMemory:
    """`image` has lines by address."""

    def __init__(self, image: dict[int, int]) -> None:
        self.image = dict(image)

    def execute(self, request: Request, word_bytes: int = 4) -> int:
        """The data of its answer."""
        old = self.image[request.line]
        if request.wide:
            if request.operation is Operation.READ:
                return old
            self._write(request.line, request.data, request.mask)
            return 0
        offset = request.address % LINE_BYTES
        word = old >> 8 * offset & (1 << 8 * word_bytes) - 1
        if request.operation is Operation.READ:
            return word
        if request.operation is Operation.WRITE:
            self._write(request.line, request.data << 8 * offset, request.mask << offset)
            return 0
        new = updated(request.operation, word, request.data, request.compare)
        self._write(request.line, new << 8 * offset, 0xF << offset)
        return word

    def answers(self, request: Request, response: Response, word_bytes: int = 4) -> bool:
        """Whether an answer is right; one with an error changes nothing."""
        return response.error or response.data == self.execute(request, word_bytes)

    def _write(self, line: int, data: int, mask: int) -> None:
        bits = sum(0xFF << 8 * byte for byte in range(LINE_BYTES) if mask >> byte & 1)
        self.image[line] = self.image[line] & ~bits | data & bits
