# amaranth: UnusedElaboratable=no
"""The SGU: addresses of accesses, and what is wrong with them (docs/contract/fg_simt.md, *Lanes*)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.image import HIGH_WORDS
from warploom.arch.fg_simt.sizes import EIGHT_LANES, Cause, Sizes
from warploom.arch.memory_map import CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW
from warploom.arch.modifiers import Space
from warploom.rtl.shared import share

WINDOWS = {Space.SHARED: SHARED_WINDOW, Space.LOCAL: LOCAL_WINDOW, Space.CONST: CONST_WINDOW,
           Space.PARAM: PARAM_WINDOW}
"""Spaces of the launch block, and their generic addresses."""

NAMES = {Space.SHARED: "shared", Space.LOCAL: "local_memory", Space.CONST: "constants", Space.PARAM: "parameters"}

READ_ONLY = (Space.CONST, Space.PARAM)
CAUSE_BITS = 3

LAUNCH_WINDOWS = data.StructLayout({
    NAMES[space]: data.StructLayout({"base": 32, "size": 32}) for space in WINDOWS})
"""First address and bytes of each space, for local memory of each thread."""

ABOUT = data.StructLayout({
    "space": 3, "log_size": 2, "wide": 1, "writes": 1, "offset": 32,
    "last": data.ArrayLayout(33, len(WINDOWS)),  # the last legal offset in each window; with a sign
})
"""What all lanes know of an access."""

PLACED = data.StructLayout({"about": ABOUT, "homes": data.ArrayLayout(32, len(WINDOWS)), "low": 32, "high": 32})


class AddressLane(wiring.Component):
    """One lane of the unit. Combinational.

    Members
    -------
    placed : the access, the lane's first address in each window, and its address words.
    address, cause : the address in the image, and the cause of a fault.
    """

    placed: In(PLACED)
    address: Out(32)
    cause: Out(CAUSE_BITS)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, about = self.placed, self.placed.about
        high = Mux(about.wide, given.high, 0)
        offset, home, last = Signal(32), Signal(32), Signal(33)
        inside, bus = Signal(len(WINDOWS)), Signal()
        is_generic = about.space == Space.GENERIC.value
        is_global = Cat(high == word for word in HIGH_WORDS).any()
        m.d.comb += offset.eq(given.low + about.offset)
        for number, (space, window) in enumerate(WINDOWS.items()):
            m.d.comb += inside[number].eq(Mux(is_generic, high == window >> 32, about.space == space.value))
            with m.If(inside[number]):
                m.d.comb += [home.eq(given.homes[number]), last.eq(about.last[number])]
        written = Cat(inside[number] for number, space in enumerate(WINDOWS) if space in READ_ONLY).any()
        m.d.comb += [  # the comparison of offsets comes last
            bus.eq(Mux(inside.any(), last[32] | (about.writes & written), ~is_global)
                   | (inside.any() & (offset > last[:32]))),
            self.address.eq(given.low + about.offset + home),
            self.cause.eq(Mux(bus, Cause.BUS, Mux(_misaligned(offset, about.log_size), Cause.MISALIGNED, Cause.NONE))),
        ]
        return m


def _misaligned(offset: Value, log_size: Value) -> Value:
    return (offset[0] & (log_size != 0)) | (offset[1] & log_size[1])


class AddressUnit(wiring.Component):
    """Addresses of a group, a thread in each lane: one group in each cycle, no stalls.

    What enters in cycle t is held in a register, together with the lanes' places in local memory and the last legal
    offsets; addresses are there in t + 1.

    Parameters
    ----------
    sizes : lanes of the engine.

    Members
    -------
    space, log_size, wide, writes, offset : the access: its space, bytes as logarithm (0, 1 or 2), whether the high word
        counts, whether it is no load, and what is added to the low word.
    windows : spaces of the launch.
    group, executing : which threads, and which of them execute.
    low, high : address words of each lane.
    address, cause : of the group that entered in the cycle before, addresses in the image, and causes of faults; 0 for
        lanes that do not execute.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES) -> None:
        words, self._sizes = data.ArrayLayout(32, sizes.lanes), sizes
        self._lanes = [AddressLane() for _ in range(sizes.lanes)]
        super().__init__({
            **{name: In(ABOUT[name].shape) for name in ("space", "log_size", "wide", "writes", "offset")},
            "windows": In(LAUNCH_WINDOWS), "group": In(range(sizes.groups)), "executing": In(sizes.lanes),
            "low": In(words), "high": In(words),
            "address": Out(words), "cause": Out(data.ArrayLayout(CAUSE_BITS, sizes.lanes)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        about, executing = Signal(ABOUT, reset_less=True), Signal(self._sizes.lanes, reset_less=True)
        windows = [self.windows[NAMES[space]] for space in WINDOWS]
        m.d.sync += [
            *(about[name].eq(getattr(self, name)) for name in ("space", "log_size", "wide", "writes", "offset")),
            *(last.eq(window.size - (Const(1) << self.log_size))
              for last, window in zip(about.last, windows, strict=True)),
            executing.eq(self.executing),
        ]
        for number, lane in enumerate(self._lanes):
            m.submodules[f"lane_{number}"] = share(platform, "address_lane", lane, clocked=False)
            held = Signal(PLACED, name=f"held_{number}", reset_less=True)
            thread = Cat(Const(number, self._sizes.lane_bits), self.group)
            m.d.sync += [
                *(home.eq(window.base + (window.size * thread if space is Space.LOCAL else 0))
                  for home, space, window in zip(held.homes, WINDOWS, windows, strict=True)),
                held.low.eq(self.low[number]),
                held.high.eq(self.high[number]),
            ]
            m.d.comb += [
                lane.placed.eq(held),
                lane.placed.about.eq(about),
                self.address[number].eq(lane.address),
                self.cause[number].eq(Mux(executing[number], lane.cause, 0)),
            ]
        return m
