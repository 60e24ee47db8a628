"""`Fragments`: which lanes of the warp are where: the active fragment, and two stacks of pending ones."""

from typing import NamedTuple


class Backward(NamedTuple):
    """Lanes that have taken the backward branch at `end` to `pc`."""

    pc: int
    mask: int
    end: int


class Fragments:
    """The active warp fragment register (`pc`, `mask`), and the pending warp fragment buffer: `forward` holds (pc,
    mask), the lowest PC last, `backward` the newest last. The lanes `mask` start at PC 0."""

    observed = ("awfr_pc", "awfr_mask", "forward", "forward_pc", "backward", "backward_pc", "backward_end")

    def __init__(self) -> None:
        self.pc, self.mask = 0, 0
        self.forward: list[tuple[int, int]] = []
        self.backward: list[Backward] = []

    @property
    def is_whole(self) -> bool:
        """Whether no lanes wait."""
        return not self.forward and not self.backward

    def start(self, mask: int) -> None:
        """A new warp."""
        self.pc, self.mask = 0, mask
        self.forward.clear()
        self.backward.clear()

    def merge(self) -> None:
        """Pending lanes at the PC of the active fragment join it."""
        if self.forward and self.forward[-1][0] == self.pc:
            self.mask |= self.forward.pop()[1]
        if self.backward and self.backward[-1].pc == self.pc:
            self.mask |= self.backward.pop().mask

    def change(self) -> bool:
        """Another fragment becomes active, if one has to. Whether that is so."""
        if self.backward and self.pc > self.backward[-1].end and self._loops():
            self._wait(self.pc, self.mask)
            self._resume()
            return True
        if self.forward and self.forward[-1][0] < self.pc:
            pc, mask = self.forward.pop()
            self._wait(self.pc, self.mask)
            self.pc, self.mask = pc, mask
            return True
        return False

    def branch(self, taken: int, target: int) -> None:
        """The lanes `taken`, some but not all, go to `target`, the others to the next instruction."""
        if target > self.pc:
            self._wait(target, taken)
        elif self.backward and self.backward[-1].pc == target:
            top = self.backward.pop()
            self.backward.append(Backward(target, top.mask | taken, max(top.end, self.pc)))
        else:
            self.backward.append(Backward(target, taken, self.pc))
        self.mask &= ~taken
        self.pc += 1

    def leave(self, lanes: int) -> bool:
        """Lanes exit. Whether the others of the active fragment go on behind; otherwise the next fragment is active."""
        self.mask &= ~lanes
        if self.mask:
            self.pc += 1
            return True
        self._resume()
        return False

    def _loops(self) -> bool:
        """Whether the top backward fragment goes before all forward ones."""
        return not self.forward or self.forward[-1][0] > self.backward[-1].end

    def _resume(self) -> None:
        if self.backward and self._loops():
            self.pc, self.mask, _ = self.backward.pop()
        elif self.forward:
            self.pc, self.mask = self.forward.pop()

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
        pc, _, end = self.backward[-1] if self.backward else Backward(0, 0, 0)
        return [self.pc, self.mask, len(self.forward), forward, len(self.backward), pc, end]
