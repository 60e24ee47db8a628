"""`Fragments`: which lanes of the warp are where: the active fragment, and those that wait.

The methods that go on return whether the next instruction is not the one behind: the fetch queue is redirected.
"""

from typing import NamedTuple

from warploom.arch.fg_simt.sizes import LAST_PC


class Backward(NamedTuple):
    """Lanes that have taken the backward branch at `end` to `pc`."""

    pc: int
    mask: int
    end: int


class Fragments:
    """The active warp fragment register (`pc`, `mask`), and the pending warp fragment buffer: `forward` holds (pc,
    mask), the lowest PC last, `backward` what the next step takes. The lanes `mask` start at PC 0. `live` are those of
    all fragments: they have not exited."""

    observed = ("awfr_pc", "awfr_mask", "forward", "forward_pc", "backward", "backward_pc", "backward_end")

    def __init__(self) -> None:
        self.pc, self.mask, self.live = 0, 0, 0
        self.forward: list[tuple[int, int]] = []
        self.backward: Backward | None = None

    @property
    def is_whole(self) -> bool:
        """Whether no lanes wait."""
        return not self.forward and self.backward is None

    def start(self, mask: int) -> None:
        """A new warp."""
        self.pc, self.mask, self.live = 0, mask, mask
        self.forward.clear()
        self.backward = None

    def merge(self) -> None:
        """Pending lanes at the PC of the active fragment join it."""
        if self.forward and self.forward[-1][0] == self.pc:
            self.mask |= self.forward.pop()[1]

    def change(self) -> bool:
        """Another fragment becomes active, if one has to."""
        if self.backward is not None:
            self._wait(self.pc, self.mask)
            self.pc, self.mask, _ = self.backward
            self.backward = None
            return True
        if self.forward and self.forward[-1][0] < self.pc:
            pc, mask = self.forward.pop()
            self._wait(self.pc, self.mask)
            self.pc, self.mask = pc, mask
            return True
        return False

    def advance(self) -> bool:
        """All lanes go to the next instruction."""
        self.pc = self.pc + 1 & LAST_PC
        return False

    def branch(self, taken: int, target: int) -> bool:
        """The lanes `taken` go to `target`, the others to the next instruction."""
        if not taken:
            return self.advance()
        if taken == self.mask:
            jumps = target != self.pc + 1 & LAST_PC
            self.pc = target
            return jumps
        if target > self.pc:
            self._wait(target, taken)
        else:
            self.backward = Backward(target, taken, self.pc)
        self.mask &= ~taken
        return self.advance()

    def leave(self, lanes: int) -> bool:
        """Lanes exit, and the others go on behind; without others the next fragment is active."""
        self.mask &= ~lanes
        self.live &= ~lanes
        if self.mask:
            return self.advance()
        if self.forward:
            self.pc, self.mask = self.forward.pop()
        return True

    def _wait(self, pc: int, mask: int) -> None:
        """A fragment enters the forward stack in its place."""
        place = len(self.forward)
        while place and self.forward[place - 1][0] < pc:
            place -= 1
        if place and self.forward[place - 1][0] == pc:
            self.forward[place - 1] = (pc, self.forward[place - 1][1] | mask)
        else:
            self.forward.insert(place, (pc, mask))

    def observe(self) -> list[int]:
        """See `warploom.golden_model.observation.Part`."""
        forward = self.forward[-1][0] if self.forward else 0
        pc, _, end = self.backward or Backward(0, 0, 0)
        return [self.pc, self.mask, len(self.forward), forward, int(self.backward is not None), pc, end]
