# amaranth: UnusedElaboratable=no
"""Kernel mode of the control processor (docs/contract/fg_simt.md, *Kernel mode*; [AFFINE], sections 3.2 and 4)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES
from warploom.arch.fg_simt.moves import Move
from warploom.arch.fg_simt.sizes import PREDICATES, REGISTERS, Cause
from warploom.arch.isa import PC_BITS, PT, Op
from warploom.arch.l1 import Operation, response_fields
from warploom.arch.mechanisms import Affine
from warploom.rtl.fg_simt.affine_execution import AffineExecution
from warploom.rtl.fg_simt.control_ports import LAUNCH_BLOCK, cp_port
from warploom.rtl.fg_simt.decode import Role
from warploom.rtl.fg_simt.decoded_queue import DecodedQueue
from warploom.rtl.fg_simt.fetch import INSTRUCTION_BITS
from warploom.rtl.fg_simt.fragments import Fragments
from warploom.rtl.fg_simt.instruction import INSTRUCTION, field
from warploom.rtl.fg_simt.memory_ports import FAULT
from warploom.rtl.fg_simt.micro import HOLDS, ISSUED, MICRO, MicroDecoder, collect
from warploom.rtl.fg_simt.micro_builder import MicroBuilder
from warploom.rtl.fg_simt.shared_loads import NUMBER_BITS, SharedLoads
from warploom.rtl.fg_simt.threads import POSITION, Threads
from warploom.rtl.fg_simt.vote_result import VoteResult
from warploom.rtl.interfaces import struct, unstoppable
from warploom.rtl.l1.ports import assert_rule
from warploom.rtl.observation import Shown, gather, probe_port, show


class State(enum.Enum, shape=5):
    """There is no kernel; a warp is executed; it waits for a branch mask; for a word of a shared load; the kernel waits
    for the last stores; after a fault, for all answers. All but the first one have a bit: a step begins with them."""

    IDLE, RUN, MASK, LOAD, FENCE, STOP = 0, 1, 2, 4, 8, 16


class ControlProcessor(wiring.Component):
    """Executes a kernel: walks through its warps, takes what was fetched, and sends it to the lanes.

    Parameters
    ----------
    affine : the kind of affine execution.
    probe : for benches: shows the observed values of fragments, affine registers and shared-load cache, and asserts the
        rules of ports.

    Members
    -------
    start, block, count : a kernel starts; its launch block, until it is over; its threads, 32 for each warp.
    over, status : the kernel is over, in the cycle of `start` at the earliest; its status.
    first, take : the first instruction of the fetch queue; it is taken, to be decoded.
    redirect, target, stop : what follows is fetched from this PC on; nothing more is fetched.
    request, response : the CP's port. A request is valid only in a cycle in which it is taken. Without a kernel
        answers are ignored.
    sent, room : an operation enters the SIQ; it has room.
    branch : the branch resolution mask, in the cycle in which it is complete.
    quiet, in_flight : SIU and lanes are empty; memory instructions are in flight.
    fault : the first fault of the memory unit.
    discard : the kernel stops, for issue and memory unit. Like `stop` and `take` a function of registers and inputs.
    memory_quiet, memory_reset : no request is outstanding; the memory unit forgets the kernel that was stopped.
    position : a thread of the walk, and where it is.
    """

    def __init__(self, *, affine: Affine = Affine.OFF, probe: bool = False) -> None:
        self._probe = probe
        self._fragments, self._shared = Fragments(probe=probe), SharedLoads(second=affine.is_on, probe=probe)
        self._affine = AffineExecution(affine=affine, probe=probe) if affine.is_on else None
        self._threads, self._decoded, self._builder = Threads(), DecodedQueue(), MicroBuilder()
        self._vote = VoteResult()
        self._signals()
        super().__init__({
            "start": In(1), "block": In(LAUNCH_BLOCK), "count": In(32), "over": Out(1), "status": Out(32),
            "first": In(unstoppable(struct(response_fields(INSTRUCTION_BITS)))), "take": Out(1),
            "redirect": Out(1), "target": Out(PC_BITS), "stop": Out(1),
            **cp_port(),
            "sent": Out(unstoppable(ISSUED)), "room": In(1),
            "branch": In(wiring.Signature({"valid": Out(1), "mask": Out(LANES)})),
            "quiet": In(1), "in_flight": In(1), "fault": In(FAULT), "discard": Out(1),
            "memory_quiet": In(1), "memory_reset": Out(1), "position": Out(POSITION),
            **(probe_port(self.observe()) if probe else {}),
        })

    def _signals(self) -> None:
        """What several methods use."""
        self._i = Signal(INSTRUCTION, name="instruction")
        self._state, self._status, self._found = Signal(State), Signal(FAULT), Signal(FAULT)  # found: its own fault
        self._faulty, self._cause = Signal(), Signal(Cause)  # a fault is reported; is found in this cycle
        self._steps, self._executes = Signal(), Signal()  # a step of the fragments; with an instruction
        # what the first decoded instruction does if it is executed: finds a fault, loads a word, sends an operation
        self._why, self._asks, self._offers = Signal(Cause), Signal(), Signal()
        self._waits = Signal()  # an answer is to come
        self._number, self._second = Signal(NUMBER_BITS), Signal()  # of its word; it is for a uniform load, no slot
        self._data, self._sends, self._ends, self._misses = (Signal(name=name)
                                                             for name in ("data", "sends", "ends", "misses"))
        self._asked, self._holds = Signal(HOLDS), Signal(LANES)  # guard or predicate of a vote; where it holds
        # the mask is there; a `collect` is to be sent; the lanes of a vote are known
        self._collected, self._collects, self._voted = Signal(), Signal(), Signal()

    def _is(self, state: State) -> Value:
        """Whether that is the state."""
        return (self._state.as_value() & state.value).any()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.fragments, m.submodules.shared = self._fragments, self._shared
        m.submodules.threads, m.submodules.decoded = self._threads, self._decoded
        m.submodules.builder, m.submodules.vote = self._builder, self._vote
        self._connect(m)
        self._find_predicate(m)
        self._execute_data(m)
        self._send(m)
        self._warps(m)
        with m.If(self._decoded.next.valid):
            self._decide(m)
        self._load(m)
        self._stop(m)
        if self._probe:
            show(m, self)
            self._assert_rules(m)
        return m

    def _connect(self, m: Module) -> None:
        """What the parts take from the ports and from each other."""
        fragments, shared, threads = self._fragments, self._shared, self._threads
        i, decoded = self._i, self._decoded
        m.d.comb += [
            decoded.on.eq(self._state.as_value().any()), decoded.drop.eq(self.redirect | self.stop),
            decoded.first.valid.eq(self.first.valid), decoded.first.payload.eq(self.first.payload),
            decoded.parameters.eq(self.block.parameters), self.take.eq(decoded.take),
            decoded.next.ready.eq(self._executes & (fragments.move.any() | self._voted)),
            i.eq(decoded.next.payload.instruction),
            shared.number.eq(decoded.number), decoded.hit.eq(shared.hit), decoded.word.eq(shared.word),
            shared.fill_number.eq(self._number), shared.filled.eq(self.response.payload.data),
            decoded.load.eq(shared.fill & ~self._second), decoded.loaded.eq(self.response.payload.data),
            shared.invalidate.eq(self.over),
            fragments.launched.eq(threads.launched), fragments.step.eq(self._steps), fragments.target.eq(i.imm),
            fragments.lanes.eq(self._holds),
            threads.block.eq(self.block), threads.count.eq(self.count), self.position.eq(threads.position),
            self.redirect.eq(fragments.redirect), self.target.eq(fragments.following),
        ]

    def _find_predicate(self, m: Module) -> None:
        """The lanes in which the predicate holds that decides about the instruction, if they are known."""
        asked = self._asked
        m.d.comb += [
            self._collected.eq(self._is(State.MASK) & self.branch.valid),
            self._holds.eq(Mux(asked.number == PT, (~asked.inverted).replicate(LANES), self.branch.mask)),
        ]
        with m.If(self._collected):
            m.d.sync += self._state.eq(State.RUN)

    def _execute_data(self, m: Module) -> None:
        """What becomes of an instruction with data."""
        part, micro, shared = self._affine, self._build(m), self._shared
        guard = Cat(micro.guard, micro.guard_not)
        if part is None:
            m.submodules.decoder = decoder = MicroDecoder()
            m.d.comb += [decoder.micro.eq(micro), self.sent.payload.eq(decoder.issued),
                         self._asked.eq(guard), self._sends.eq(1), self._ends.eq(1)]
            with m.If(self._collects):
                collect(m, decoder.micro, micro, self._asked)
            return
        m.submodules.affine = part
        m.d.comb += [
            part.guard.eq(guard), self._asked.eq(part.resolved),
            part.reset.eq(self._fragments.start), part.micro.eq(micro), part.whole.eq(self._fragments.whole),
            part.block.eq(self.block), part.act.eq(self._data & self._executes), part.room.eq(self.room),
            part.advance.eq(self._decoded.advance), part.ahead.eq(self._builder.ahead),
            part.collects.eq(self._collects),

            shared.second_number.eq(part.number), part.hit.eq(shared.second_hit), part.word.eq(shared.second_word),
            self._sends.eq(part.sends), self._ends.eq(part.ends), self._misses.eq(part.misses),
            self.sent.payload.eq(part.sent),
        ]

    def _build(self, m: Module) -> data.View:
        """The micro-operation of the first decoded instruction. All but what is known late is made a cycle before."""
        builder, threads, decoded = self._builder, self._threads, self._decoded
        made, micro = Signal(MICRO, reset_less=True), Signal(MICRO)
        shared = Signal.like(builder.shared, reset_less=True)
        m.d.comb += [
            builder.instruction.eq(Mux(decoded.votes, self._vote.result.as_value(), decoded.following.as_value())),
            threads.special.eq(field(decoded.following, Op.S2R, "special")),  # a vote is no S2R
            builder.base.eq(threads.base), builder.stride.eq(threads.stride), builder.walked.eq(threads.walked),
            micro.eq(made), micro.pc.eq(self._fragments.pc), micro.mask.eq(self._fragments.mask),
        ]
        for is_shared, operand in zip(shared, micro.operands, strict=True):
            with m.If(is_shared):
                m.d.comb += operand.base.eq(decoded.next.payload.word)
        with m.If(decoded.advance):
            m.d.sync += [made.eq(builder.micro), shared.eq(builder.shared)]
        return micro

    def _send(self, m: Module) -> None:
        """What the lanes get: the instruction, or a `collect`."""
        fragments, vote = self._fragments, self._vote
        m.d.comb += [
            self.sent.valid.eq(self._executes & self._offers & self.room),
            vote.instruction.eq(self._i), vote.holds.eq(self._holds),
            *(getattr(vote, name).eq(getattr(fragments, name)) for name in ("own", "joins", "joining")),
            self._decoded.replacement.eq(vote.result), self._decoded.ballot.eq(vote.ballot),
        ]

    def _warps(self, m: Module) -> None:
        """The first warp, the next one, and the fence behind the last one."""
        fragments, threads, state = self._fragments, self._threads, self._state
        starts, ends, is_last, stores = Signal(), Signal(), Signal(), Signal()
        running = self._is(State.RUN) & threads.ready & ~self._faulty
        m.d.comb += [
            self._faulty.eq(self._found.cause.any() | self.fault.cause.any()),
            stores.eq(self.in_flight & threads.ends_block & (self.block.shared_bytes != 0)),
            starts.eq(~state.as_value().any() & self.start),
            ends.eq(running & ~fragments.active & self.quiet & ~stores),
            threads.start.eq(starts), threads.advance.eq(ends),
            fragments.start.eq((starts | ends) & threads.begins),
            is_last.eq((starts | ends) & ~threads.begins | self._is(State.FENCE) & ~self._faulty),
            self._steps.eq((running & fragments.active) | self._is(State.MASK) & self.branch.valid & ~self._faulty),
            self._executes.eq(self._steps & ~fragments.changes & self._decoded.next.valid),
        ]
        with m.If(fragments.start):
            m.d.sync += state.eq(State.RUN)
        with m.If(is_last):
            m.d.sync += state.eq(State.FENCE)
            m.d.comb += self.over.eq(~self.in_flight)

    def _decide(self, m: Module) -> None:
        """What the first decoded instruction does, if no fragment changes: that is known late."""
        i, decoded, asked = self._i, self._decoded.next.payload, self._asked
        role = decoded.role
        votes, constant = role == Role.VOTE, asked.number == PT
        asks = Cat(role == one for one in (Role.VOTE, Role.BRANCH, Role.EXIT, Role.TRAP)).any()
        with m.If(decoded.error):
            m.d.comb += self._why.eq(Cause.FETCH)
        with m.Elif(~decoded.legal):
            m.d.comb += self._why.eq(Cause.ILLEGAL)
        with m.Elif(i.param & ~decoded.hit):
            m.d.comb += self._asks.eq(1)
        with m.Elif(constant & asked.inverted & ~votes):
            self._go(m, Move.NEXT)
        with m.Elif(asks & ~constant & ~self._collected):
            m.d.comb += [self._collects.eq(1), self._offers.eq(1)]
            with m.If(self.sent.valid):
                m.d.sync += self._state.eq(State.MASK)
        with m.Else():
            self._execute(m, role)

    def _execute(self, m: Module, role: Value) -> None:
        """Its lanes are known."""
        fragments = self._fragments
        with m.Switch(role):
            with m.Case(Role.VOTE):
                m.d.comb += self._voted.eq(1)
                with m.If(field(self._i, Op.VOTE, "sync") & (self._i.imm & fragments.elsewhere).any()):
                    m.d.comb += self._why.eq(Cause.BARRIER)
            with m.Case(Role.BRANCH):
                self._go(m, Move.BRANCH)
            with m.Case(Role.EXIT):
                self._go(m, Move.LEAVE)
            with m.Case(Role.TRAP):
                self._go(m, Move.NEXT)
                with m.If((self._holds & fragments.mask).any()):
                    m.d.comb += self._why.eq(Cause.TRAP)
            with m.Case(Role.BARRIER, Role.FENCE), m.If(self.quiet & ~self.in_flight):
                self._go(m, Move.NEXT)
                with m.If((role == Role.BARRIER) & ~fragments.whole):
                    m.d.comb += self._why.eq(Cause.BARRIER)
            with m.Case(Role.NOTHING):
                self._go(m, Move.NEXT)
            with m.Default():
                m.d.comb += [self._data.eq(1), self._asks.eq(self._misses), self._offers.eq(self._sends)]
                with m.If(self._ends & self.room):
                    self._go(m, Move.NEXT)

    def _go(self, m: Module, move: Move) -> None:
        """The instruction is over; how its lanes go on."""
        m.d.comb += self._fragments.move.eq(move)

    def _load(self, m: Module) -> None:
        """Words that are not in the shared-load cache."""
        request, answer, state = self.request, self.response, self._state
        number = self._decoded.next.payload.number
        if self._affine is not None:
            number = Mux(self._data, self._affine.number, number)
        m.d.comb += [
            request.valid.eq(self._executes & self._asks & request.ready), request.payload.operation.eq(Operation.READ),
            request.payload.address.eq(Cat(Const(0, 2), number)), answer.ready.eq(1),
        ]
        with m.If(answer.valid):
            m.d.sync += self._waits.eq(0)
        with m.If(request.valid):
            m.d.sync += [state.eq(State.LOAD), self._waits.eq(1), self._number.eq(number), self._second.eq(self._data)]
        with m.If(self._is(State.LOAD) & answer.valid & ~self._faulty):
            m.d.comb += [self._shared.fill.eq(~answer.payload.error)]
            m.d.sync += state.eq(State.RUN)
            with m.If(answer.payload.error):
                m.d.comb += self._cause.eq(Cause.BUS)

    def _stop(self, m: Module) -> None:
        """A fault, and the end of a kernel."""
        state, status, found, answered = self._state, self._status, self._found, ~self._waits | self.response.valid
        with m.If(self._executes):
            m.d.comb += self._cause.eq(self._why)
        m.d.sync += [found.cause.eq(self._cause), found.pc.eq(self._fragments.pc)]
        m.d.comb += [
            self.stop.eq(self._faulty & state.as_value().any() & ~self._is(State.STOP)), self.discard.eq(self.stop),
            self.status.eq(Cat(status.pc, status.cause)),
        ]
        with m.If(self._is(State.STOP) & answered & self.memory_quiet & self.quiet):
            m.d.comb += [self.over.eq(1), self.memory_reset.eq(1)]
        with m.If(self.stop):
            m.d.sync += [state.eq(State.STOP),
                         status.eq(Mux(found.cause.any(), found.as_value(), self.fault.as_value()))]
        with m.If(self.over):
            m.d.sync += [state.eq(State.IDLE), status.eq(0)]

    def _assert_rules(self, m: Module) -> None:
        """Stop a simulation in which the ports are used against their rules."""
        assert_rule(m, ~self.sent.valid | self.room, "an operation is sent, and the SIQ has no room")
        assert_rule(m, ~self.request.valid | self.request.ready, "the CP offers a request that is not taken")
        executes = self._state.as_value().any()  # otherwise the answer is the host part's
        assert_rule(m, ~self.response.valid | self._waits | ~executes, "memory answered the CP without a request")

    def observe(self) -> Shown:
        """See the contract."""
        if self._affine is not None:
            return gather(self._fragments, self._affine, self._shared)
        none = {name: Const(0, REGISTERS) for name in ("uniform_registers", "affine_registers")}
        none |= {name: Const(0, PREDICATES) for name in ("uniform_predicates", "predicate_values")}
        return gather(self._fragments, self._shared) | none
