"""`AffineRegisters`: compact registers and uniform predicates of the current warp, and what is computed from them
(docs/contract/fg_simt.md, *Affine execution*)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.micro import LANE_MODIFIER_BITS, Source
from warploom.arch.fg_simt.sizes import PREDICATES, REGISTERS
from warploom.arch.isa import PT
from warploom.arch.mechanisms import Affine
from warploom.rtl.fg_simt.affine_attempt import KNOWN, OPERANDS, Attempt
from warploom.rtl.fg_simt.micro import HOLDS
from warploom.rtl.interfaces import COMPACT
from warploom.rtl.observation import Shown, probe_port, show

NUMBER_BITS = (REGISTERS - 1).bit_length()

OLD = data.StructLayout({"compact": 1, "word": COMPACT, "uniform": 1, "holds": 1})
"""The destinations of an instruction before it: whether the register is compact, and its value; whether the predicate
is uniform, and whether it holds. Values are unspecified if they are not."""

LOADED = data.StructLayout({"valid": 1, "word": 32})
"""The word of a uniform load."""


class AffineRegisters(wiring.Component):
    """The ASRF, the tags of predicates, and the affine unit. All outputs but `known` come in the cycle of their inputs;
    what `write`, `expand` and `reset` do is seen from the next cycle on.

    Parameters
    ----------
    affine : which operations are eligible; not OFF.
    probe : for benches: shows the observed values.

    Members
    -------
    op, modifiers, operands, guard, pred : an instruction, as it is in a micro-operation without affine execution.
    writes, dst, pdst : whether it writes a register, and which; the predicate, 7 for none.
    loaded : its result, if it is a uniform load.
    resolved, resolved_guard, resolved_pred : its operands, compact registers and uniform predicates as constants.
    late, known : its results, valid if it executes here: computed or loaded. If `late`, in the fourth cycle in which
        the instruction and what it reads are the same, otherwise at once. Unspecified are the word of an instruction
        without a register result, and the predicate of one without `pdst`.
    old : its destinations before it. A register or predicate that it does not write is not compact or uniform.
    write : the destinations get what is known, and become generic if nothing is.
    expand : the destinations become generic; not together with `write`.
    reset : everything becomes generic, whatever else is written.

    Raises
    ------
    ValueError : for OFF.
    """

    def __init__(self, *, affine: Affine, probe: bool = False) -> None:
        if not affine.is_on:
            raise ValueError("affine = off has no affine registers")
        self._probe = probe
        self._compact, self._affine = Signal(REGISTERS), Signal(REGISTERS)
        self._uniform, self._values = Signal(PREDICATES), Signal(PREDICATES)
        super().__init__({
            "op": In(8), "modifiers": In(LANE_MODIFIER_BITS), "operands": In(OPERANDS), "guard": In(HOLDS),
            "pred": In(HOLDS), "writes": In(1), "dst": In(NUMBER_BITS), "pdst": In(3), "loaded": In(LOADED),
            "resolved": Out(OPERANDS), "resolved_guard": Out(HOLDS), "resolved_pred": Out(HOLDS),
            "late": Out(1), "known": Out(KNOWN), "old": Out(OLD), "write": In(1), "expand": In(1), "reset": In(1),
            **(probe_port(self.observe()) if probe else {}),
        })
        self.attempt = Attempt(affine=affine)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.attempt = self.attempt
        m.submodules.words = words = Memory(shape=COMPACT, depth=REGISTERS, init=())
        for operand, resolved in zip(self.operands, self.resolved, strict=True):
            self._resolve(m, words.read_port(domain="comb"), operand, resolved)
        for given, resolved in ((self.guard, self.resolved_guard), (self.pred, self.resolved_pred)):
            m.d.comb += resolved.eq(Cat(*self._resolved(given.number, given.inverted)))
        self._know(m)
        self._show_old(m, words.read_port(domain="comb"))
        writer = words.write_port()
        m.d.comb += [writer.addr.eq(self.dst), writer.en.eq(self.write & self.writes), writer.data.eq(self.known.word)]
        self._tag(m)
        if self._probe:
            show(m, self)
        return m

    def _resolved(self, number: Value, inverted: Value) -> tuple[Value, Value]:
        """A predicate, as a constant if it is uniform."""
        uniform, holds = self._tags_of(number)
        return number | uniform.replicate(len(number)), Mux(uniform, holds == inverted, inverted)

    def _tags_of(self, number: Value) -> tuple[Value, Value]:
        """Whether a predicate is uniform, and whether it holds; number 7 has no tag."""
        uniform, holds = (Cat(tags, Const(0, 1)).bit_select(number, 1) for tags in (self._uniform, self._values))
        return uniform, holds

    def _resolve(self, m: Module, reader: wiring.Component, operand: data.View, resolved: data.View) -> None:
        """An operand, with a compact register or uniform predicate as a constant."""
        number = operand.base[:NUMBER_BITS]
        m.d.comb += [reader.addr.eq(number), resolved.eq(operand)]
        with m.If((operand.source == Source.REGISTER) & self._compact.bit_select(number, 1)):
            m.d.comb += [resolved.source.eq(Source.CONSTANT), resolved.base.eq(reader.data.base),
                         resolved.stride.eq(reader.data.stride)]
        with m.Elif(operand.source == Source.PREDICATE):
            predicate, inverted = self._resolved(operand.base[:3], operand.stride[0])
            m.d.comb += [resolved.base.eq(predicate), resolved.stride.eq(inverted)]

    def _know(self, m: Module) -> None:
        """A loaded word, or what the affine unit computes."""
        attempt = self.attempt
        m.d.comb += [
            attempt.op.eq(self.op), attempt.modifiers.eq(self.modifiers), attempt.operands.eq(self.resolved),
            attempt.pred.eq(self.resolved_pred), attempt.predicate.eq(self.pdst != PT),
            self.late.eq(attempt.late), self.known.eq(attempt.known),
        ]
        with m.If(self.loaded.valid):
            m.d.comb += [self.known.valid.eq(1), self.known.word.base.eq(self.loaded.word),
                         self.known.word.stride.eq(0)]

    def _show_old(self, m: Module, reader: wiring.Component) -> None:
        uniform, holds = self._tags_of(self.pdst)
        m.d.comb += [
            reader.addr.eq(self.dst),
            self.old.compact.eq(self.writes & self._compact.bit_select(self.dst, 1)),
            self.old.word.eq(reader.data),
            self.old.uniform.eq(uniform),
            self.old.holds.eq(holds),
        ]

    def _tag(self, m: Module) -> None:
        """Tags at the end of the cycle."""
        known, valid = self.known, self.write & self.known.valid
        with m.If(self.write | self.expand):
            with m.If(self.writes):
                m.d.sync += [self._compact.bit_select(self.dst, 1).eq(valid),
                             self._affine.bit_select(self.dst, 1).eq(valid & known.word.stride.any())]
            with m.If(self.pdst != PT):
                m.d.sync += [self._uniform.bit_select(self.pdst, 1).eq(valid),
                             self._values.bit_select(self.pdst, 1).eq(valid & known.holds)]
        with m.If(self.reset):
            m.d.sync += [tags.eq(0) for tags in (self._compact, self._affine, self._uniform, self._values)]

    def observe(self) -> Shown:
        """See the contract."""
        return {"uniform_registers": self._compact & ~self._affine, "affine_registers": self._affine + 0,
                "uniform_predicates": self._uniform + 0, "predicate_values": self._values + 0}
