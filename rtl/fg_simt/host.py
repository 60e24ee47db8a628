"""Host mode of the control processor (docs/contract/fg_simt.md, *Host mode*; [AFFINE], section 3.2)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.code import HOST
from warploom.arch.fg_simt.image import LaunchBlock
from warploom.arch.fg_simt.sizes import Cause
from warploom.arch.isa import PC_BITS, Op
from warploom.arch.l1 import Operation, response_fields
from warploom.arch.modifiers import Access, Cond, Space
from warploom.rtl.fg_simt.control_ports import LAUNCH_BLOCK, cp_port
from warploom.rtl.fg_simt.fetch import INSTRUCTION_BITS
from warploom.rtl.fg_simt.instruction import INSTRUCTION, field, has_registers, is_encoded
from warploom.rtl.fg_simt.scalar import ScalarRegisters, ScalarUnit
from warploom.rtl.interfaces import unstoppable
from warploom.rtl.observation import Shown, probe_port, show

FIRST = data.StructLayout(dict(response_fields(INSTRUCTION_BITS)))
"""The first instruction of the fetch queue."""

PRODUCTS = (Op.IMUL, Op.IMAD)
ACCESSES = (Op.LD, Op.ST)
OFFSET_BITS = 2
"""Bits of the byte in a word."""

WORDS = len(LaunchBlock._fields)


class State(enum.Enum, shape=4):
    """What the host part does: it starts; takes the next instruction and reads its operands; executes it; waits for a
    product, for its port to take a request, or for the answer; a kernel starts; is executed; the engine has halted."""

    RESET, TAKE, EXECUTE, MULTIPLY, ASK, WAIT, START, KERNEL, HALTED = range(9)


class Host(wiring.Component):
    """Executes the host part, from reset until it ends.

    `take` is a function of registers and of `first.valid`, `redirect` and `target` of registers and of `over`, the
    other outputs of registers.

    Parameters
    ----------
    probe : for benches: shows the observed values.

    Members
    -------
    first, take : the first instruction of the fetch queue; it is taken.
    redirect, target : what follows is fetched from this PC of the host part on.
    request, response : the CP's port.
    start, block, count : a kernel starts in this cycle; until it is over its launch block and number of threads.
    over, status : the kernel is over, in the cycle of `start` at the earliest; its status.
    halted, result : the host part is over; the status of the engine.
    """

    def __init__(self, *, probe: bool = False) -> None:
        self._probe = probe
        self._state, self._pc = Signal(State), Signal(PC_BITS)
        super().__init__({
            "first": In(unstoppable(FIRST)), "take": Out(1), "redirect": Out(1), "target": Out(PC_BITS),
            **cp_port(),
            "start": Out(1), "block": Out(LAUNCH_BLOCK), "count": Out(32), "over": In(1), "status": In(32),
            "halted": Out(1), "result": Out(32),
            **(probe_port(self.observe()) if probe else {}),
        })
        self._first, self._instruction = Signal(INSTRUCTION), Signal(INSTRUCTION, reset_less=True)
        self._error = Signal()  # it could not be fetched
        self._late = Signal(32)  # the result of an instruction of more than two cycles
        self._registers, self._unit = ScalarRegisters(), ScalarUnit()
        self._number = Signal(range(WORDS))  # of the word of the launch block
        self._cycle = Signal()  # of a product, from the second on
        self._address, self._misaligned = Signal(32), Signal()
        self._ends, self._branches = Signal(), Signal()  # the instruction ends in this cycle; it branches

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.registers, m.submodules.unit = registers, unit = self._registers, self._unit
        i, legal = self._instruction, Signal()
        m.d.comb += [
            self._first.eq(self.first.payload.data), registers.instruction.eq(self._first),
            legal.eq(is_legal(m, i)),
            registers.dst.eq(i.dst), registers.pdst.eq(i.pdst),
            registers.holds.eq(unit.verdict),
            registers.word.eq(Mux(self._state == State.EXECUTE, unit.result, self._late)),
            unit.op.eq(self._first.op), unit.modifiers.eq(self._first.modifiers), unit.pred.eq(registers.pred),
            *(getattr(unit, name).eq(registers.words[slot]) for slot, name in enumerate("abc")),
            self.target.eq(self._pc + 1),
            self.count.eq(registers.words[0]),
            self.start.eq(self._state == State.START), self.halted.eq(self._state == State.HALTED),
        ]
        self._request(m)
        with m.Switch(self._state):
            with m.Case(State.RESET):
                m.d.comb += [self.redirect.eq(1), self.target.eq(0)]
                m.d.sync += self._state.eq(State.TAKE)
            with m.Case(State.TAKE), m.If(self.first.valid):
                m.d.comb += [self.take.eq(1), registers.read.eq(1)]
                m.d.sync += [i.eq(self._first), self._error.eq(self.first.payload.error), self._state.eq(State.EXECUTE)]
            with m.Case(State.EXECUTE):
                self._execute(m, legal)
            with m.Case(State.MULTIPLY):
                self._multiply(m)
            with m.Case(State.ASK):
                self._ask(m)
            with m.Case(State.WAIT), m.If(self.response.valid):
                self._answer(m)
            with m.Case(State.START, State.KERNEL):
                self._launch(m)
        with m.If(self._ends):
            m.d.sync += [self._state.eq(State.TAKE), self._pc.eq(self._pc + 1)]
        with m.If(self._branches):
            m.d.sync += self._pc.eq(i.imm)
        if self._probe:
            show(m, self)
        return m

    def _request(self, m: Module) -> None:
        """The access of an instruction, or that to a word of the launch block."""
        i, words, payload = self._instruction, self._registers.words, self.request.payload
        launches, size = i.op == Op.LAUNCH.value, _size(i)
        offset = self._address[:OFFSET_BITS]
        m.d.comb += [
            self.response.ready.eq(1),
            self._address.eq(Mux(launches, words[1], words[0])
                             + Mux(launches, Cat(Const(0, OFFSET_BITS), self._number), i.imm)),
            self._misaligned.eq((launches | size[1]) & offset.any() | size[0] & offset[0]),
            payload.address.eq(Cat(Const(0, OFFSET_BITS), self._address[OFFSET_BITS:])),
            payload.operation.eq(Mux(i.op == Op.ST.value, Operation.WRITE.value, Operation.READ.value)),
            payload.mask.eq(Cat(1, size.any(), size[1], size[1]) << offset),
            payload.data.eq(words[2] << Cat(Const(0, 3), offset)),
        ]

    def _execute(self, m: Module, legal: Value) -> None:
        """The second cycle of an instruction."""
        i, executes = self._instruction, self._registers.executes
        with m.If(self._error):
            self._stop(m, Cause.FETCH)
        with m.Elif(~legal):
            self._stop(m, Cause.ILLEGAL)
        with m.Elif(~executes | (i.op == Op.MEMBAR.value)):
            m.d.comb += self._ends.eq(1)
        with m.Elif(i.op == Op.BRA.value):
            m.d.comb += [self._ends.eq(1), self._branches.eq(1), self.redirect.eq(1), self.target.eq(i.imm)]
        with m.Elif(i.op == Op.EXIT.value):
            m.d.sync += [self._state.eq(State.HALTED), self.result.eq(self._registers.words[0]),
                         self._pc.eq(self._pc + 1)]
        with m.Elif(_is(i, (Op.LAUNCH, *ACCESSES))):
            with m.If(self._misaligned):
                self._stop(m, Cause.MISALIGNED)
            with m.Else():
                self._ask(m)
        with m.Elif(_is(i, PRODUCTS)):
            m.d.sync += [self._state.eq(State.MULTIPLY), self._cycle.eq(0)]
        with m.Else():
            m.d.comb += [self._ends.eq(1), self._registers.write.eq(1), self._registers.verdict.eq(1)]

    def _multiply(self, m: Module) -> None:
        """Two more cycles."""
        registers, unit = self._registers, self._unit
        m.d.comb += [self._late.eq(unit.product), registers.holds.eq(unit.carry)]
        m.d.sync += self._cycle.eq(1)
        with m.If(self._cycle):
            m.d.comb += [self._ends.eq(1), registers.write.eq(1), registers.verdict.eq(1)]

    def _ask(self, m: Module) -> None:
        """A request, until it is taken."""
        m.d.comb += self.request.valid.eq(1)
        m.d.sync += self._state.eq(Mux(self.request.ready, State.WAIT, State.ASK))

    def _answer(self, m: Module) -> None:
        """The end of an access, or the next word of the launch block."""
        i, answer = self._instruction, self.response.payload
        m.d.comb += self._late.eq(extended(i, answer.data, self._address[:OFFSET_BITS]))
        with m.If(answer.error):
            self._stop(m, Cause.BUS)
        with m.Elif(i.op == Op.LAUNCH.value):
            last = self._number == WORDS - 1
            m.d.sync += [Value.cast(self.block).word_select(self._number, 32).eq(answer.data),
                         self._number.eq(Mux(last, 0, self._number + 1)),
                         self._state.eq(Mux(last, State.START, State.ASK))]
        with m.Else():
            m.d.comb += [self._ends.eq(1), self._registers.write.eq(i.op == Op.LD.value)]

    def _launch(self, m: Module) -> None:
        """A kernel."""
        m.d.comb += self._late.eq(self.status)
        m.d.sync += self._state.eq(State.KERNEL)
        with m.If(self.over):
            m.d.comb += [self._ends.eq(1), self.redirect.eq(1), self._registers.write.eq(1)]

    def _stop(self, m: Module, cause: Cause) -> None:
        """A fault of the host part."""
        m.d.sync += [self._state.eq(State.HALTED), self.result.eq(Cat(self._pc, Const(cause, 8)))]

    def observe(self) -> Shown:
        """See the contract."""
        return {"host_pc": self._pc, "halted": self._state == State.HALTED}


def is_legal(m: Module, i: data.View) -> Value:
    """Whether the host part may have an instruction; `warploom.arch.fg_simt.code.host_refusal`."""
    elsewhere = Cat((i.op == op.value) & (field(i, op, "wide").any() | (field(i, op, "space") != Space.GLOBAL.value))
                    for op in ACCESSES).any()
    of_floats = (i.op == Op.ISETP.value) & (field(i, Op.ISETP, "cond") > Cond.GE.value)
    return is_encoded(m, i, HOST) & has_registers(i) & ~i.param & ~elsewhere & ~of_floats


def extended(i: data.View, word: Value, offset: Value) -> Value:
    """The bytes at an offset of a word, as an LD extends them."""
    low, access = (word >> Cat(Const(0, 3), offset))[:32], field(i, Op.LD, "access")
    size = _size(i)
    signed = (access == Access.S8.value) | (access == Access.S16.value)
    sign = signed & Mux(size[0], low[15], low[7])
    return Mux(size[1], low, Cat(low[:8], Mux(size[0], low[8:16], sign.replicate(8)), sign.replicate(16)))


def _size(i: data.View) -> Value:
    """The bytes of an access as logarithm."""
    access = field(i, Op.LD, "access")
    return Cat((access == Access.U16.value) | (access == Access.S16.value), access == Access.B32.value)


def _is(i: data.View, operations: tuple[Op, ...]) -> Value:
    return Cat(i.op == op.value for op in operations).any()
