# amaranth: UnusedElaboratable=no
"""Loads with compact addresses: uniform loads and vector loads (docs/contract/fg_simt.md, *Affine execution*)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.micro import LANE_MODIFIER_BITS, Source
from warploom.arch.isa import PT, Op
from warploom.arch.modifiers import Access, Space
from warploom.rtl.fg_simt.address import LAUNCH_WINDOWS, NAMES, READ_ONLY, WINDOWS, AddressLane
from warploom.rtl.fg_simt.affine_attempt import OPERANDS
from warploom.rtl.fg_simt.micro import HOLDS, modifier

THREADS = 32


class LoadRules(wiring.Component):
    """Decides whether an LD is a uniform or a vector load. Combinational.

    Members
    -------
    op, modifiers, offset : an instruction, its modifiers as they are encoded; what is added to the low address word.
    operands, guard : its operands (the low and the high address word, and one that does not count) and its guard,
        resolved.
    windows : spaces of the launch.
    uniform : it is an LD of constants or parameters at a legal uniform address.
    address : the byte address of a uniform load in the image.
    word : the word there.
    loaded : its bytes, as the LD extends them.
    vector : it is an LD of global memory that can be a vector load.
    """

    op: In(8)
    modifiers: In(LANE_MODIFIER_BITS)
    offset: In(32)
    operands: In(OPERANDS)
    guard: In(HOLDS)
    windows: In(LAUNCH_WINDOWS)
    uniform: Out(1)
    address: Out(32)
    word: In(32)
    loaded: Out(32)
    vector: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        access, space, _ = self._modifiers()
        low, high, _ = self.operands
        compact = (low.source == Source.CONSTANT) & (high.source == Source.CONSTANT) & (high.stride == 0)
        loads, log_size = self.op == Op.LD, _log_size(m, access)
        m.d.comb += [
            self.uniform.eq(loads & compact & (low.stride == 0) & Cat(space == one for one in READ_ONLY).any()
                            & self._locate(m, log_size)),
            self.loaded.eq(self._extended(m, access)),
            self.vector.eq(loads & compact & (low.stride == Const(1, 16) << log_size) & (space == Space.GLOBAL)
                           & (self.guard.number == PT) & ~self._wraps(log_size)),
        ]
        return m

    def _modifiers(self) -> tuple[Value, Value, Value]:
        access, space, wide = (modifier(Op.LD, name, self.modifiers) for name in ("access", "space", "wide"))
        return access, space, wide

    def _locate(self, m: Module, log_size: Value) -> Value:
        """Gives the address; whether it is legal."""
        _, space, wide = self._modifiers()
        m.submodules.lane = lane = AddressLane()
        placed, about = lane.placed, lane.placed.about
        low, high, _ = self.operands
        for number, one in enumerate(WINDOWS):
            window = self.windows[NAMES[one]]
            m.d.comb += [placed.homes[number].eq(window.base),
                         about.last[number].eq(window.size - (Const(1, 3) << log_size))]
        m.d.comb += [
            about.space.eq(space), about.log_size.eq(log_size), about.wide.eq(wide),
            about.offset.eq(self.offset), placed.low.eq(low.base), placed.high.eq(high.base),
            self.address.eq(lane.address),
        ]
        return lane.cause == 0

    def _wraps(self, log_size: Value) -> Value:
        """Whether the address behind the last thread's element leaves 32 bits."""
        low, _, _ = self.operands
        first = (low.base + self.offset)[:32]
        return (first + (Const(THREADS, 8) << log_size))[32]

    def _extended(self, m: Module, access: Value) -> Value:
        """The bytes of the word from the address on, extended."""
        shifted = Signal(32)
        m.d.comb += shifted.eq(self.word >> (self.address[:2] << 3))
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
