"""`Flight`: a dynamic instruction in flight."""

from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.warps import Warp


class Flight:
    """A dynamic instruction in the datapath or a unit behind it. `result` and `address` are rows of the trace; `issued`
    and `dispatched` are the cycles of its issue and dispatch, `word` is the result as 1024 bits. `vector`: it is a load
    whose lines follow from the first and the last address (docs/contract/memory.md)."""

    def __init__(  # noqa: PLR0917 - what describes an instruction
        self, static: Static, warp: Warp, tag: int, lanes: int, pred_out: int, result: int, address: int, issued: int,
        word: int = 0,
    ) -> None:
        self.static, self.warp, self.tag, self.lanes = static, warp, tag, lanes
        self.pred_out, self.result, self.address = pred_out, result, address
        self.issued, self.dispatched, self.word, self.vector = issued, 0, word, False
