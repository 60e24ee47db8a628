# amaranth: UnusedElaboratable=no
"""SGU and SSU: rows of addresses and data for the memory unit (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.code import ATOMICS
from warploom.arch.fg_simt.sizes import EIGHT_LANES, Sizes
from warploom.arch.isa import Op
from warploom.arch.l1 import Operation
from warploom.arch.modifiers import Atom, DType, Space
from warploom.rtl.fg_simt.address import NAMES, WINDOWS, AddressUnit
from warploom.rtl.fg_simt.control_ports import LAUNCH_BLOCK
from warploom.rtl.fg_simt.issue_ports import access, reading
from warploom.rtl.fg_simt.memory_ports import arriving, instruction, words
from warploom.rtl.fg_simt.micro import ATOMIC_OPS, PAYLOAD, modifier, one_of, size_of

UNSIGNED = {Atom.MIN: Operation.UMIN, Atom.MAX: Operation.UMAX}
"""Operations of the L1 that have another name for unsigned words."""

WINDOW_FIELDS = {Space.SHARED: ("shared", "shared_bytes"), Space.LOCAL: ("local", "local_bytes"),
                 Space.CONST: ("constants", "constant_bytes"), Space.PARAM: ("parameters", "parameter_bytes")}
"""Words of the launch block: base and size of each window."""


class AccessUnit(wiring.Component):
    """Brings a row in the cycle after its group has read: one group in each cycle, no stalls.

    Parameters
    ----------
    sizes : lanes of the engine.

    Members
    -------
    block : the launch block; it does not change during a kernel.
    sgu : the group that reads.
    executing : its executing lanes.
    low, high, data : its operands, address words and what is stored.
    discard : what reads in this cycle does not arrive.
    arrive, arriving : a row.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES) -> None:
        self._sizes = sizes
        super().__init__({
            "block": In(LAUNCH_BLOCK), "sgu": In(reading(access(PAYLOAD), sizes)), "executing": In(sizes.lanes),
            "low": In(words(sizes)), "high": In(words(sizes)), "data": In(words(sizes)), "discard": In(1),
            "arrive": Out(1), "arriving": Out(arriving(sizes)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.addresses = addresses = AddressUnit(sizes=self._sizes)
        given, row = self.sgu.operation, self.arriving.row
        payload, about = given.operation.payload, Signal(instruction(self._sizes), reset_less=True)
        executing, stored = Signal(self._sizes.lanes, reset_less=True), Signal(words(self._sizes), reset_less=True)
        m.d.comb += [
            *(addresses.windows[NAMES[space]].eq(Cat(self.block[field] for field in WINDOW_FIELDS[space]))
              for space in WINDOWS),
            addresses.space.eq(_named(payload, "space")), addresses.wide.eq(_named(payload, "wide")),
            addresses.log_size.eq(size_of(payload.op, payload.modifiers)),
            addresses.writes.eq(payload.op != Op.LD.value), addresses.offset.eq(payload.offset),
            addresses.group.eq(self.sgu.group), addresses.executing.eq(Mux(given.vector, 1, self.executing)),
            addresses.low.eq(self.low), addresses.high.eq(self.high),
            row.instruction.eq(about), row.execute.eq(executing), row.data.eq(stored),
            row.address.eq(addresses.address), self.arriving.cause.eq(addresses.cause),
        ]
        m.d.sync += [
            self.arrive.eq(self.sgu.valid & ~self.discard),
            executing.eq(addresses.executing), stored.eq(self.data),
            about.operation.eq(operation_of(payload.op, payload.modifiers)), about.size.eq(addresses.log_size),
            about.loads.eq(given.load), about.vector.eq(given.vector), about.pc.eq(given.operation.pc),
            about.last.eq(given.vector | (self.sgu.group == self._sizes.groups - 1)),
            about.place.eq(Cat(self.sgu.group, given.place)),
        ]
        with m.If(given.vector):
            m.d.sync += stored[0].eq(given.operation.mask)
        return m


def operation_of(op: Value, modifiers: Value) -> Value:
    """What a request does."""
    kind, dst_type = (modifier(Op.ATOM, name, modifiers) for name in ("atom", "dst_type"))
    atomic: Value = Const(0)
    for atom in ATOMICS:
        name = Operation[atom.name]
        atomic = Mux(kind == atom.value, Mux(dst_type == DType.S32.value, name, UNSIGNED.get(atom, name)), atomic)
    return Mux(one_of(op, ATOMIC_OPS), atomic, Mux(op == Op.LD.value, Operation.READ, Operation.WRITE))


def _named(payload: data.View, name: str) -> Value:
    """A modifier that all accesses have."""
    return Mux(one_of(payload.op, ATOMIC_OPS), modifier(Op.ATOM, name, payload.modifiers),
               modifier(Op.LD, name, payload.modifiers))
