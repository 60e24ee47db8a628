"""`SimtStack`: the reconvergence stack of one warp, which follows its trace (docs/functional.md)."""

from warploom.arch.isa import NO_RECONVERGENCE, Instruction, Op


class SimtStack:
    """The `pc` of a warp that starts with the lanes `active`, the active lanes, and its `reconverge` point. `waiting`
    are the entries below: pc, reconvergence point and lanes."""

    def __init__(self, active: int) -> None:
        self.pc = 0
        self.active = active
        self.reconverge = NO_RECONVERGENCE
        self._exited = 0
        self._waiting: list[tuple[int, int, int]] = []

    def step(self, instruction: Instruction, lanes: int) -> None:
        """The instruction at `pc` executes in these lanes of the active ones."""
        if instruction.op is Op.BRA and self.diverges(lanes):
            self._diverge(instruction, lanes)
        elif instruction.op is Op.BRA and lanes:
            self._advance(instruction.imm)
        elif instruction.op is Op.EXIT and lanes:
            self._exit(lanes)
        else:
            self._advance(self.pc + 1)

    def diverges(self, taken: int) -> bool:
        """Whether a branch that these lanes take divides the active ones."""
        return taken not in (0, self.active)

    def _advance(self, pc: int) -> None:
        self.pc = pc
        if pc == self.reconverge:
            self._pop()

    def _exit(self, lanes: int) -> None:
        self._exited |= lanes
        self.active &= ~lanes
        if self.active:
            self._advance(self.pc + 1)
        else:
            self._pop()

    def _diverge(self, branch: Instruction, taken: int) -> None:
        sides = [(branch.imm, taken), (self.pc + 1, self.active & ~taken)]
        if not branch.taken_first:
            sides.reverse()
        if self.reconverge != branch.reconverge:
            self._waiting.append((branch.reconverge, self.reconverge, self.active))
        self.reconverge = branch.reconverge
        (self.pc, self.active), *later = [side for side in sides if side[0] != branch.reconverge]
        self._waiting += [(pc, branch.reconverge, lanes) for pc, lanes in later]

    def _pop(self) -> None:
        """Go on with the topmost entry that has lanes left and is not at its own reconvergence point."""
        while self._waiting:
            self.pc, self.reconverge, active = self._waiting.pop()
            self.active = active & ~self._exited
            if self.active and self.pc != self.reconverge:
                return
