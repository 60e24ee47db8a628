"""The control processor's registers and integer unit (docs/contract/fg_simt.md, *Host mode*)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.micro import LANE_MODIFIER_BITS
from warploom.arch.fg_simt.sizes import PREDICATES, REGISTERS
from warploom.arch.isa import PT, RZ, Op
from warploom.rtl.fg_simt.instruction import INSTRUCTION
from warploom.rtl.lane_control import CONTROL, Unit, decode
from warploom.rtl.lane_stages import COMPUTED, CONDITIONED, OPERANDS, Compute, Condition, Finish
from warploom.rtl.shared import is_fpga

NUMBER_BITS = (REGISTERS - 1).bit_length()

CARRYING = (Op.IADD, Op.ISUB, Op.IMAD)
"""Operations whose predicate operand is a carry or borrow: without one it is 0."""


class ScalarRegisters(wiring.Component):
    """32 registers and 7 predicates, zero at reset. What is read in a cycle is there from the next one on, and what is
    written is read from the next one on. A word waits for a cycle before it enters its register.

    Members
    -------
    read, instruction : the operands of an instruction are read.
    words : the operands in its three slots: registers, or its immediate.
    executes : whether its guard holds.
    pred : its predicate operand, or the carry.
    dst, write, word : a register takes a word.
    pdst, verdict, holds : a predicate takes a value.
    """

    def __init__(self) -> None:
        super().__init__({
            "read": In(1), "instruction": In(INSTRUCTION),
            "words": Out(data.ArrayLayout(32, 3)), "executes": Out(1), "pred": Out(1),
            "dst": In(8), "write": In(1), "word": In(32), "pdst": In(3), "verdict": In(1), "holds": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        i = self.instruction
        registers, predicates = Signal(data.ArrayLayout(32, REGISTERS)), Signal(PREDICATES)
        shown = Cat(predicates, Const(1, 1))  # PT holds
        late = Signal(data.StructLayout({"valid": 1, "number": NUMBER_BITS, "word": 32}))
        carry = Cat(i.op == op.value for op in CARRYING).any()
        numbers = [i[f"src{slot}"][:NUMBER_BITS] for slot in range(3)]
        stored = self._stored(m, numbers, late) if is_fpga(platform) else list(map(registers.__getitem__, numbers))
        with m.If(self.read):
            for slot in range(3):
                number = i[f"src{slot}"]
                held = Mux(late.valid & (late.number == numbers[slot]), late.word, stored[slot])
                register = Mux(number == RZ, 0, held)
                m.d.sync += self.words[slot].eq(Mux(i.imm_slot == slot, i.imm, register))
            m.d.sync += [
                self.executes.eq(shown.bit_select(i.guard, 1) ^ i.guard_not),
                self.pred.eq((shown.bit_select(i.psrc, 1) ^ i.psrc_not) & ~(carry & (i.psrc == PT))),
            ]
        m.d.sync += [late.valid.eq(self.write & (self.dst != RZ)), late.number.eq(self.dst), late.word.eq(self.word)]
        with m.If(late.valid):
            m.d.sync += registers[late.number].eq(late.word)
        with m.If(self.verdict & (self.pdst != PT)):
            m.d.sync += predicates.bit_select(self.pdst, 1).eq(self.holds)
        return m

    def _stored(self, m: Module, numbers: list[Value], late: data.View) -> list[Value]:
        """Registers from a memory, which has no reset: those that have not been written are 0."""
        m.submodules.stored = words = Memory(shape=32, depth=REGISTERS, init=())
        writer, written = words.write_port(), Signal(REGISTERS)
        m.d.comb += [writer.addr.eq(late.number), writer.data.eq(late.word), writer.en.eq(late.valid)]
        with m.If(late.valid):
            m.d.sync += written.bit_select(late.number, 1).eq(1)
        readers = [words.read_port(domain="comb") for _ in numbers]
        m.d.comb += [reader.addr.eq(number) for reader, number in zip(readers, numbers, strict=True)]
        return [Mux(written.bit_select(number, 1), reader.data, 0)
                for reader, number in zip(readers, numbers, strict=True)]


class ScalarUnit(wiring.Component):
    """The stages of the integer lane: all operations but products in the same cycle, products in three cycles.

    Members
    -------
    op, modifiers : the operation of the next cycle.
    a, b, c, pred : operands of that of this cycle.
    result, verdict : word and predicate in the same cycle; unspecified of a product.
    product, carry : word and predicate of the product that was there two cycles before; unspecified of others.
    """

    def __init__(self) -> None:
        super().__init__({
            "op": In(8), "modifiers": In(LANE_MODIFIER_BITS), **dict.fromkeys("abc", In(32)), "pred": In(1),
            "result": Out(32), "verdict": Out(1), "product": Out(32), "carry": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, control = Signal(OPERANDS), Signal(CONTROL, reset_less=True)
        m.d.sync += control.eq(decode(m, self.op, self.modifiers))
        m.submodules.condition = condition = Condition()
        m.d.comb += [given.control.eq(control), condition.operands.eq(given),
                     *(given[name].eq(getattr(self, name)) for name in ("a", "b", "c", "pred"))]
        self._at_once(m, condition.conditioned)
        self._multiply(m, condition.conditioned)
        return m

    def _at_once(self, m: Module, conditioned: data.View) -> None:
        m.submodules.compute = compute = Compute()
        m.submodules.finish = finish = Finish()
        m.d.comb += [
            compute.conditioned.eq(conditioned), compute.conditioned.digits.eq(0),
            compute.conditioned.control.accumulate.eq(0),
            finish.computed.eq(compute.computed),
            self.result.eq(finish.result), self.verdict.eq(finish.verdict),
        ]

    def _multiply(self, m: Module, conditioned: data.View) -> None:
        m.submodules.reduce = reduce = Compute()
        m.submodules.add = add = Finish()
        first, second = Signal(CONDITIONED, reset_less=True), Signal(COMPUTED, reset_less=True)
        m.d.sync += [first.eq(conditioned), second.eq(reduce.computed)]
        m.d.comb += [
            reduce.conditioned.eq(first), reduce.conditioned.control.unit.eq(Unit.PRODUCT),
            add.computed.eq(second),
            self.product.eq(add.result), self.carry.eq(add.verdict),
        ]
