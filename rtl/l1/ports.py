"""Signatures of the L1, and their rules as assertions."""

from amaranth import Cat, Module, ResetSignal, Signal, Value
from amaranth.hdl import Assert, Format
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.l1 import ADDRESS_BITS, LINE_BITS
from warploom.rtl.interfaces import struct

OFFER = data.StructLayout({"write": 1, "address": ADDRESS_BITS, "line": LINE_BITS})
"""A request of a bank to memory."""


def memory_signature(beat_bits: int) -> wiring.Signature:
    """The memory port of a bank: its `offer`, beats of a line that is read, and the answer to a write."""
    return wiring.Signature({
        "offer": Out(stream.Signature(OFFER)),
        "beat": In(wiring.Signature({"valid": Out(1), "data": Out(beat_bits), "error": Out(1), "last": Out(1)})),
        "written": In(wiring.Signature({"valid": Out(1), "error": Out(1)})),
    })


def request_stream(fields: list[tuple[str, int]]) -> stream.Signature:
    """A stream of the fields of a table."""
    return stream.Signature(struct(fields))


def assert_stable(m: Module, port: wiring.PureInterface, name: str) -> None:
    """Stop a simulation if what a stream offers changes before it is taken."""
    assert_held(m, port.valid, port.ready, Value.cast(port.payload), name)


def assert_held(m: Module, valid: Value, ready: Value, payload: Value, name: str) -> None:
    """Stop a simulation if the payload of a handshake changes before it is taken."""
    shown = Cat(valid, payload)
    waited, before = Signal(name=f"{name}_waited"), Signal(len(shown), name=f"{name}_before")
    m.d.sync += [waited.eq(valid & ~ready), before.eq(shown)]
    with m.If(waited):
        assert_rule(m, shown == before, f"{name} changes while it waits")


def assert_rule(m: Module, rule: Value, broken: str) -> None:
    """Stop a simulation in a cycle in which a rule does not hold, with what is then the case."""
    with m.If(~ResetSignal()):
        m.d.sync += Assert(rule, Format(f"{broken}\n"))
