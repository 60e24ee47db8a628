# amaranth: UnusedElaboratable=no
"""Loads with compact addresses: uniform loads and vector loads (docs/contract/fg_simt.md, *Affine execution*)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.micro import Source
from warploom.arch.isa import PT, Op
from warploom.arch.modifiers import Access, Space
from warploom.rtl.fg_simt.address import LAUNCH_WINDOWS, NAMES, PLACED, READ_ONLY, WINDOWS, AddressLane
from warploom.rtl.fg_simt.affine import LOADED
from warploom.rtl.fg_simt.affine_attempt import OPERANDS
from warploom.rtl.fg_simt.micro import HOLDS, modifier
from warploom.rtl.fg_simt.shared_loads import NUMBER_BITS
from warploom.rtl.interfaces import SLOTS

THREADS = 32
MOST = 2
"""The logarithm of the largest access."""

LOAD = data.StructLayout({"valid": 1, "access": Access, "log_size": 2, "space": Space, "wide": 1})
"""An LD, if `valid`: its access, the logarithm of its bytes, its space, and whether the high address word counts."""


def load_of(m: Module, op: Value, modifiers: Value) -> data.View:
    """What an operation loads."""
    load = Signal(LOAD, name="load")
    access, space, wide = (modifier(Op.LD, name, modifiers) for name in ("access", "space", "wide"))
    m.d.comb += [load.valid.eq(op == Op.LD), load.access.eq(access), load.log_size.eq(_log_size(m, access)),
                 load.space.eq(space), load.wide.eq(wide)]
    return load


class LoadRules(wiring.Component):
    """Decides whether an LD is a uniform or a vector load.

    Where a uniform load goes is known later: `late` says at once that it is one, `number` follows in the third cycle
    with the same inputs, `loaded` and `misses` in the fourth one, from what is found in the third.

    Members
    -------
    load, offset : what is loaded; what is added to the low address word.
    operands, guard : its operands (the low and the high address word, and one that does not count), compact registers
        as constants; its guard, resolved.
    uniform : the operands that are constants with the stride 0.
    windows : spaces of the launch.
    vector : it is an LD of global memory that can be a vector load.
    late : it is an LD of constants or parameters at a uniform address.
    number : the number of the word in the image.
    hit, word : whether the shared-load cache has it, and the word.
    loaded : the address is legal, and the word is there; its bytes, as the LD extends them.
    misses : the address is legal, but the word is not there.
    """

    load: In(LOAD)
    offset: In(32)
    operands: In(OPERANDS)
    guard: In(HOLDS)
    uniform: In(SLOTS)
    windows: In(LAUNCH_WINDOWS)
    vector: Out(1)
    late: Out(1)
    number: Out(NUMBER_BITS)
    hit: In(1)
    word: In(32)
    loaded: Out(LOADED)
    misses: Out(1)

    def __init__(self) -> None:
        super().__init__()
        self._found = Signal(LOADED, reset_less=True)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        load, (low, high, _) = self.load, self.operands
        compact = (low.source == Source.CONSTANT) & (high.source == Source.CONSTANT) & (high.stride == 0)
        address, legal = self._locate(m)
        found = self._found
        m.d.comb += [
            self.late.eq(load.valid & self.uniform[:2].all() & Cat(load.space == one for one in READ_ONLY).any()),
            self.number.eq(address[2:]),
            self.loaded.valid.eq(self.late & legal & found.valid),
            self.loaded.word.eq(self._extended(m, found.word >> (address[:2] << 3))),
            self.misses.eq(self.late & legal & ~found.valid),
            self.vector.eq(load.valid & compact & (low.stride == Const(1, 16) << load.log_size)
                           & (load.space == Space.GLOBAL) & (self.guard.number == PT) & ~self._wraps(m)),
        ]
        m.d.sync += [found.valid.eq(self.hit), found.word.eq(self.word)]
        return m

    def _locate(self, m: Module) -> tuple[Value, Value]:
        """The address, and whether it is legal, in the third cycle."""
        m.submodules.lane = lane = AddressLane()
        placed, address, legal = Signal(PLACED, reset_less=True), Signal(32, reset_less=True), Signal(reset_less=True)
        about, load, (low, high, _) = placed.about, self.load, self.operands
        for number, one in enumerate(WINDOWS):
            window = self.windows[NAMES[one]]
            m.d.sync += [placed.homes[number].eq(window.base),
                         about.last[number].eq(window.size - (Const(1, 3) << load.log_size))]
        m.d.sync += [
            about.space.eq(load.space), about.log_size.eq(load.log_size), about.wide.eq(load.wide), about.writes.eq(0),
            about.offset.eq(self.offset), placed.low.eq(low.base), placed.high.eq(high.base),
            address.eq(lane.address), legal.eq(lane.cause == 0),
        ]
        m.d.comb += lane.placed.eq(placed)
        return address, legal

    def _wraps(self, m: Module) -> Value:
        """Whether the address behind the last thread's element leaves 32 bits: the bytes of all elements are a power of
        two."""
        low, _, _ = self.operands
        first, wraps = (low.base + self.offset)[:32], Signal()
        with m.Switch(self.load.log_size):
            for size in range(MOST + 1):
                with m.Case(size):
                    m.d.comb += wraps.eq(first[THREADS.bit_length() - 1 + size :].all())
        return wraps

    def _extended(self, m: Module, word: Value) -> Value:
        """The first bytes of a word, extended."""
        shifted, access = Signal(32), self.load.access
        m.d.comb += shifted.eq(word)
        signed = Cat(access == one for one in (Access.S8, Access.S16)).any()
        byte = Cat(shifted[:8], (shifted[7] & signed).replicate(24))
        half = Cat(shifted[:16], (shifted[15] & signed).replicate(16))
        one, two = (Cat(access == kind for kind in kinds).any()
                    for kinds in ((Access.U8, Access.S8), (Access.U16, Access.S16)))
        return Mux(one, byte, Mux(two, half, shifted))


def _log_size(m: Module, access: Value) -> Value:
    """The size of an access as a logarithm."""
    log_size = Signal(2)
    with m.Switch(access):
        for kind in Access:
            with m.Case(kind.value):
                m.d.comb += log_size.eq(kind.size.bit_length() - 1)
    return log_size
