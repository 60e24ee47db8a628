"""`Scoreboard`: the hazards that hold a warp's next instruction (docs/contract/front_end.md, *Hazards*)."""

from collections.abc import Sequence

from warploom.arch.isa import Pipe
from warploom.golden_model.front_end.hazards import BARRIER, LATCH, MEMORY, READ, READ_MASK, Hazards
from warploom.golden_model.front_end.stalls import HOLDS, READY

_REGISTERS = 256
_WAR, _SCOREBOARD, _MEMORY, _FENCE, _BARRIER = HOLDS

_AT_BARRIER = 1 << BARRIER

_MEMORY_LATCH = 1 << LATCH[Pipe.MEM]

_STILL_READ = [1 << READ + register for register in range(_REGISTERS)]
"""The hazard bit of each register that is still to be read."""


class Scoreboard:
    """Hazard bits of every warp slot, and those that its next instruction needs clear. Registers still to be read are
    hazards if it `tracks_reads`, which is not needed if the instructions of a warp leave in order."""

    def __init__(self, warps: int, *, tracks_reads: bool = True) -> None:
        self._pending = [0] * warps
        self._memory = [0] * warps  # bits of them that a memory instruction will clear
        self._needs = [0] * warps
        # For each warp: how many instructions hold a shared bit, and how many reads of each register are outstanding.
        self._shared = [[0] * READ for _ in range(warps)]
        self._reads = [[0] * _REGISTERS for _ in range(warps)]
        self._tracks_reads = tracks_reads

    def state(self, warp: int) -> int:
        """The `Stall` that holds the warp's next instruction, or `READY`."""
        blocked = self._pending[warp] & self._needs[warp]
        return self._cause(warp, blocked) if blocked else READY

    def _cause(self, warp: int, blocked: int) -> int:
        """The `Stall` of a warp whose next instruction needs these hazards clear."""
        if blocked & _AT_BARRIER:
            return _BARRIER
        if blocked & self._memory[warp]:
            return _MEMORY
        if blocked >> MEMORY & 1:
            return _FENCE
        return _SCOREBOARD if blocked & ~READ_MASK else _WAR

    def look(self, warp: int, needs: int) -> int:
        """Set the hazards that the warp's next instruction needs clear (0: no instruction yet). Returns the `state`."""
        self._needs[warp] = needs
        blocked = self._pending[warp] & needs
        return self._cause(warp, blocked) if blocked else READY

    def awaits_memory(self, warp: int, needs: int) -> bool:
        """Whether a memory instruction will clear one of these hazards of the warp."""
        return bool(self._pending[warp] & self._memory[warp] & needs)

    def permits(self, warp: int, needs: int) -> bool:
        """Whether the hazards that an instruction of the warp needs clear are clear."""
        return not self._pending[warp] & needs

    def issue(self, warp: int, hazards: Hazards, sources: Sequence[int], *, memory: bool) -> None:
        """An instruction enters the datapath, where it will read the registers `sources`."""
        pending = hazards.produces
        for bit in hazards.shared:
            self._shared[warp][bit] += 1
        if self._tracks_reads:
            reads = self._reads[warp]
            still_read = _STILL_READ
            for register in sources:
                reads[register] += 1
                pending |= still_read[register]
        self._pending[warp] |= pending
        if memory:
            self._memory[warp] |= hazards.own | hazards.produces & _MEMORY_LATCH

    def read(self, granted: Sequence[tuple[int, int]]) -> Sequence[int]:
        """Collectors were granted these registers, pairs of warp and register. Returns the warps of which this clears a
        hazard of the next instruction."""
        changed = []
        for warp, register in granted:
            reads = self._reads[warp]
            left = reads[register] = reads[register] - 1
            if not left:
                cleared = _STILL_READ[register]
                self._pending[warp] ^= cleared
                if self._needs[warp] & cleared:
                    changed.append(warp)
        return changed

    def done(self, warp: int, hazards: Hazards) -> bool:
        """An instruction is done. Returns whether this clears a hazard of the next instruction."""
        cleared = hazards.own
        for bit in hazards.shared:
            self._shared[warp][bit] -= 1
            if not self._shared[warp][bit]:
                cleared |= 1 << bit
        kept = ~cleared
        self._pending[warp] &= kept
        if self._memory[warp]:
            self._memory[warp] &= kept
        return bool(self._needs[warp] & cleared)

    def set_barrier(self, warp: int) -> None:
        """The warp waits at a barrier."""
        self.hold(warp, 1 << BARRIER)

    def clear_barrier(self, warp: int) -> None:
        """The warp goes on."""
        self.release(warp, 1 << BARRIER)

    def hold(self, warp: int, hazards: int) -> None:
        """These hazard bits are set."""
        self._pending[warp] |= hazards

    def release(self, warp: int, hazards: int) -> bool:
        """These hazard bits are clear. Returns whether the next instruction needs one of them clear."""
        self._pending[warp] &= ~hazards
        return bool(self._needs[warp] & hazards)
