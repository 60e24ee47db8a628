"""The potential of instruction windows, counted in a kernel's trace ([BOW], Figs. 3 and 7), without timing.

A window of W counts the instructions of a warp that enter the datapath. A register stays in it for W - 1 instructions
after each one that names it. A read that does not find all of its lanes there brings in the whole register. Storage is
unlimited here, and instructions take effect one after the other.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from warploom.arch.isa import RZ, Instruction, Pipe
from warploom.arch.program import Program, successors
from warploom.compiler.unallocated import without_rows
from warploom.compiler.writeback_hints import Destination, annotate, destination, transient_registers
from warploom.golden_model.cached.last_use import live_after, overwritten
from warploom.golden_model.statistics import added
from warploom.golden_model.trace import Trace, WarpTrace
from warploom.golden_model.words import ALL_LANES

WINDOWS = range(2, 8)
"""Window sizes that are counted; lists by window are in this order."""

COUNTS = ("reads", "writes", "bypassed", "written", "needed", "classes")
"""Fields of `Reuse` that count operands."""

SOURCE_WINDOW = 3
"""The window of the source's design."""

Access = tuple[int, tuple[int, ...], int]
"""Executing lanes, registers read (each once), register written or RZ."""


def _none() -> list[int]:
    return [0] * len(WINDOWS)


@dataclass
class Reuse:
    """Warp operands, counted. Lists are by window. From `registers` on all is about one kernel: of several the one with
    the most operands.

    `reads` and `writes` are those of the baseline. `bypassed` reads find all executing lanes in the window. `written`
    are values that leave the window before they are overwritten, so that write-back writes them; `needed` are those of
    them that are read afterwards. `classes` are results by `Destination`, from the hints for a window of
    `SOURCE_WINDOW`. `registers` are those of a thread, `transient` is the number of them that hold transient values
    only. `live` is the maximum number of registers that simultaneously hold values that are read later; `kept` counts
    only values that are not transient, which is the least number of registers that need a row of the register file.
    `rows` are the registers that have one with `transient = on`: some transient values need one, too.
    """

    reads: int = 0
    writes: int = 0
    bypassed: list[int] = field(default_factory=_none)
    written: list[int] = field(default_factory=_none)
    needed: list[int] = field(default_factory=_none)
    classes: dict[str, int] = field(default_factory=dict)
    registers: int = 0
    transient: list[int] = field(default_factory=_none)
    live: int = 0
    kept: list[int] = field(default_factory=_none)
    rows: list[int] = field(default_factory=_none)


def reuse(*traces: Trace) -> Reuse:
    """All warps of traces, of one kernel or more."""
    by_kernel: dict[Program, Reuse] = {}
    for trace in traces:
        _count(trace, by_kernel.setdefault(trace.program, Reuse()))
    found = list(by_kernel.values())
    largest = max(by_kernel, key=lambda program: by_kernel[program].reads + by_kernel[program].writes)
    counts = {name: added([getattr(each, name) for each in found]) for name in COUNTS}
    return Reuse(**counts, **_registers(largest))


def _registers(program: Program) -> dict[str, Any]:
    """The fields of `Reuse` that count registers."""
    hinted = [annotate(program, window) for window in WINDOWS]
    return {
        "registers": program.registers, "transient": [len(transient_registers(program, w)) for w in WINDOWS],
        "live": most_live(program.instructions), "kept": [most_live(each.instructions) for each in hinted],
        "rows": [without_rows(each, compact=False).registers for each in hinted],
    }


def _count(trace: Trace, found: Reuse) -> None:
    """Add the operands of a trace."""
    code = trace.program.instructions
    executed: Counter[int] = Counter()
    for warp in trace.warps:
        accesses = _accesses(code, warp, executed)
        found.reads += sum(len(sources) for _, sources, _ in accesses)
        found.writes += sum(written != RZ for _, _, written in accesses)
        for index, window in enumerate(WINDOWS):
            _slide(accesses, window, index, found)
    places = [destination(instruction) for instruction in annotate(trace.program, SOURCE_WINDOW).instructions]
    classes: dict[str, int] = {
        place: sum(executed[pc] for pc, its in enumerate(places) if its is place) for place in Destination}
    found.classes = added([classes, found.classes]) if found.classes else classes


def _accesses(code: tuple[Instruction, ...], warp: WarpTrace, executed: Counter[int]) -> list[Access]:
    """The instructions of a warp that enter the datapath; `executed` counts them."""
    found = []
    for pc, lanes in zip(warp.pc.tolist(), warp.lanes.tolist(), strict=True):
        instruction = code[pc]
        if lanes and (instruction.pipe is not Pipe.CONTROL or instruction.dst != RZ):
            found.append((lanes, instruction.sources, instruction.dst))
            executed[pc] += 1
    return found


@dataclass
class _Register:
    """A register of a warp: when it was last named; lanes in the window, lanes only in the window, and for each value
    that was written when it left the window, and that nothing has read since, the lanes that still have it."""

    named: int
    valid: int = 0
    dirty: int = 0
    unread: list[int] = field(default_factory=list)

    def lose(self, lanes: int) -> None:
        """Values are overwritten in some lanes."""
        self.unread = [left for value in self.unread if (left := value & ~lanes)]

    def serve(self, lanes: int) -> int:
        """A read in some lanes: the number of values that had none before."""
        before = len(self.unread)
        self.unread = [value for value in self.unread if not value & lanes]
        return before - len(self.unread)


def _slide(accesses: list[Access], window: int, index: int, found: Reuse) -> None:
    """Slide a window over a warp's instructions."""
    registers: dict[int, _Register] = {}

    def leaves(register: _Register) -> None:
        if register.dirty:
            found.written[index] += 1
            register.unread.append(register.dirty)
        register.valid = register.dirty = 0

    def named(number: int, now: int) -> _Register:
        register = registers.setdefault(number, _Register(now))
        if now - register.named >= window:
            leaves(register)
        register.named = now
        return register

    for now, (lanes, sources, written) in enumerate(accesses):
        for source in sources:
            register = named(source, now)
            found.bypassed[index] += not lanes & ~register.valid
            found.needed[index] += register.serve(lanes)
            register.valid = ALL_LANES if lanes & ~register.valid else register.valid
        if written != RZ:
            register = named(written, now)
            register.valid |= lanes
            register.dirty |= lanes
            register.lose(lanes)
    for register in registers.values():
        if len(accesses) - register.named >= window:
            leaves(register)


def most_live(code: Sequence[Instruction]) -> int:
    """The maximum number of registers that, between two instructions, hold values that are read later and that the
    hints of `code` send to the register file (without hints: all)."""
    held, changed = [0] * len(code), True  # after each instruction: registers that may hold such a value
    following = successors(code)
    before = [0] * len(code)
    while changed:
        changed = False
        for pc, instruction in enumerate(code):
            written = 1 << instruction.dst if instruction.dst != RZ and instruction.to_file else 0
            held[pc] = before[pc] & ~overwritten(instruction) | written
            for successor in following[pc]:
                changed |= bool(held[pc] & ~before[successor])
                before[successor] |= held[pc]
    return max((live & holds).bit_count() for live, holds in zip(live_after(code), held, strict=True))
