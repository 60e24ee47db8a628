# amaranth: UnusedElaboratable=no
"""The memory unit of the engine, SMU (docs/contract/fg_simt.md, *Memory unit*; [AFFINE], sections 3.2 and 4)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, SLWQ_ENTRIES, SMRRQ_ENTRIES, Cause, Sizes
from warploom.arch.isa import PC_BITS
from warploom.rtl.fg_simt.load_queue import LoadQueue
from warploom.rtl.fg_simt.memory_ports import (
    FAULT,
    ISSUED,
    arriving,
    lane_requests,
    lane_responses,
    place_bits,
    words,
)
from warploom.rtl.fg_simt.outstanding import Outstanding
from warploom.rtl.fg_simt.request_queue import RequestQueue
from warploom.rtl.fg_simt.rotation import Rotation
from warploom.rtl.fg_simt.sender import Sender
from warploom.rtl.l1.ports import assert_rule, assert_stable
from warploom.rtl.observation import Shown, probe_port, show
from warploom.rtl.select import lowest, merge_many
from warploom.rtl.shared import share


class MemoryUnit(wiring.Component):
    """Sends rows of accesses to memory, and brings what is loaded to the lanes.

    A row that arrives in t is sent in t + 2 at the earliest; an answer of t is in its place in t + 1. Takes a row, and
    an answer of each port, in each cycle. Requests are functions of registers and of `discard`, the other outputs of
    registers and of `place`.

    Parameters
    ----------
    sizes : lanes of the engine.
    probe : for benches: observed values are shown, and the rules of rows, requests and answers are asserted.

    Members
    -------
    issue, issued : a memory instruction issues, and what it is.
    arrive, arriving : one of its rows comes. The first comes two cycles after the issue, the next ones in the next
        cycles. Nothing comes any more that has issued before a `discard`.
    rows : rows in the queue and on their way to it: at most those of two instructions.
    freed : a row leaves it at the end of the cycle.
    narrow, wide, narrow_response, wide_response : memory. Answers are always taken.
    loaded : for each entry of the SLWQ, whether all its words are there.
    place, words : a place of the SLDQs, and the word of each lane there, in the same cycle.
    in_flight : number of memory instructions in flight.
    quiet : no request is outstanding, or offered.
    fault : the first fault since the last `clear`.
    discard : rows that have not begun are forgotten, and those that come in this cycle.
    clear : after a discard, if quiet: no row is left, and no fault.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES, probe: bool = False) -> None:
        self._sizes, self._probe = sizes, probe
        self._queue, self._sender, self._outstanding = (
            RequestQueue(sizes=sizes), Sender(sizes=sizes), Outstanding(sizes=sizes))
        self._loads = [LoadQueue(sizes=sizes, probe=probe) for _ in range(sizes.lanes)]
        instructions = sizes.rows + SMRRQ_ENTRIES  # at most in flight: each has its last row in one of the queues
        super().__init__({
            "issue": In(1), "issued": In(ISSUED), "arrive": In(1), "arriving": In(arriving(sizes)),
            "rows": Out(range(sizes.rows + 1)), "freed": Out(1),
            **lane_requests(sizes), **lane_responses(sizes),
            "loaded": Out(SLWQ_ENTRIES), "place": In(place_bits(sizes)), "words": Out(words(sizes)),
            "in_flight": Out(range(instructions + 1)), "quiet": Out(1), "fault": Out(FAULT),
            "discard": In(1), "clear": In(1),
            **(probe_port(self.observe()) if probe else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.queue, m.submodules.sender, m.submodules.outstanding = (
            self._queue, self._sender, self._outstanding)
        self._connect_queue(m)
        self._connect_memory(m)
        self._fill(m, platform)
        self._count(m)
        self._find_faults(m)
        if self._probe:
            show(m, self)
            self._assert_rules(m)
        return m

    def _connect_queue(self, m: Module) -> None:
        queue, sender, outstanding = self._queue, self._sender, self._outstanding
        m.d.comb += [
            queue.enter.eq(self.arrive), queue.row.eq(self.arriving.row), queue.leave.eq(sender.leave),
            queue.row.execute.eq(self.arriving.row.execute & ~Cat(cause.any() for cause in self.arriving.cause)),
            queue.discard.eq(self.discard), queue.keep.eq(sender.keep),
            sender.present.eq(queue.present), sender.first.eq(queue.first), sender.discard.eq(self.discard),
            sender.room.eq(outstanding.room), sender.blocked.eq(outstanding.blocked),
            outstanding.begins.eq(sender.begins), outstanding.sent.eq(sender.sent), outstanding.clear.eq(self.clear),
        ]

    def _connect_memory(self, m: Module) -> None:
        outstanding = self._outstanding
        for own, port in zip((*self.narrow, self.wide), (*self._sender.narrow, self._sender.wide), strict=True):
            wiring.connect(m, port, wiring.flipped(own))
        answers = (*self.narrow_response, self.wide_response)
        m.d.comb += [
            *(answer.ready.eq(1) for answer in answers),
            outstanding.answers.eq(Cat(answer.valid for answer in answers)),
            outstanding.errors.eq(Cat(answer.valid & answer.payload.error for answer in answers)),
            outstanding.line.eq(self.wide_response.payload.data),
        ]

    def _fill(self, m: Module, platform: object) -> None:
        """Answers and elements of vector loads come into the SLDQs."""
        m.submodules.rotation = rotation = Rotation(sizes=self._sizes)
        lanes, group_bits = self._sizes.lanes, self._sizes.group_bits
        outstanding, oldest = self._outstanding, self._outstanding.oldest
        i, lane_bits = oldest.entry.instruction, self._sizes.lane_bits
        wide = outstanding.wide_owner
        behind = Signal(lanes)  # lanes whose elements are of the next group
        m.d.comb += [
            rotation.line.eq(oldest.contents), rotation.size.eq(i.size), rotation.start.eq(oldest.start),
        ]
        if lane_bits:
            m.d.comb += [rotation.lane.eq(oldest.entry.first), behind.eq(~(Const((1 << lanes) - 1) << rotation.lane))]
        for lane, loads in enumerate(self._loads):
            m.submodules[f"loads_{lane}"] = share(platform, "load_queue", loads)
            narrow, answer = outstanding.owners[lane], self.narrow_response[lane]
            group = oldest.entry.first[lane_bits:] + behind[lane]
            offset, line = wide.offset[lane], self.wide_response.payload.data
            m.d.comb += [
                loads.fill[0].valid.eq(answer.valid & narrow.loads),
                loads.fill[0].place.eq(narrow.place),
                loads.fill[0].word.eq(_low(answer.payload.data, narrow.offset)),
                loads.fill[1].valid.eq(self.wide_response.valid & wide.instruction.loads & ~wide.instruction.vector
                                       & wide.execute[lane]),
                loads.fill[1].place.eq(wide.instruction.place),
                loads.fill[1].word.eq(_low(line.word_select(offset[2:], 32), offset)),
                loads.fill[2].valid.eq(oldest.now[lane::lanes].any()),
                loads.fill[2].place.eq(Cat(group[:group_bits], i.place[group_bits:])),
                loads.fill[2].word.eq(rotation.words[lane]),
                loads.place.eq(self.place), self.words[lane].eq(loads.word),
            ]

    def _count(self, m: Module) -> None:
        """What is on its way, in flight, and loaded."""
        sender, outstanding = self._sender, self._outstanding
        groups = self._sizes.groups
        there = Signal(SLWQ_ENTRIES * groups)  # groups of loads whose words are there
        place = self.issued.entry << self._sizes.group_bits
        new = Mux(self.issue & self.issued.loads, ((1 << groups) - 1) << place, 0)
        comes = Mux(self.issue, Mux(self.issued.vector, 1, groups), 0)
        staying, left = Signal.like(self.rows), Signal.like(self.rows)  # rows if none leaves, and if one does
        m.d.comb += [staying.eq(self.rows + comes), left.eq(staying - 1)]
        m.d.sync += [
            self.rows.eq(Mux(self.discard, sender.keep & ~sender.leave, Mux(sender.leave, left, staying))),
            self.in_flight.eq(Mux(self.clear, 0, self.in_flight + self.issue - outstanding.ends)),
            there.eq((there | outstanding.completed) & ~new),
        ]
        m.d.comb += [
            *(self.loaded[entry].eq(there.word_select(entry, groups).all()) for entry in range(SLWQ_ENTRIES)),
            self.freed.eq(sender.leave),
            self.quiet.eq(outstanding.quiet),
        ]

    def _find_faults(self, m: Module) -> None:
        """The first fault stays: of a cycle, that of the lowest port, then that of the lowest lane. Causes of the lanes
        are held for a cycle."""
        outstanding, arrived = self._outstanding, Signal()
        held, pc = Signal.like(self.arriving.cause, reset_less=True), Signal(PC_BITS, reset_less=True)
        causes = Cat(cause.any() for cause in held)
        m.d.sync += [arrived.eq(self.arrive & ~self.discard), held.eq(self.arriving.cause),
                     pc.eq(self.arriving.row.instruction.pc)]
        with m.If(self.clear):
            m.d.sync += self.fault.eq(0)
        with m.Elif((self.fault.cause == 0) & outstanding.errors.any()):
            m.d.sync += [self.fault.cause.eq(Cause.BUS), self.fault.pc.eq(outstanding.failed)]
        with m.Elif((self.fault.cause == 0) & arrived & causes.any()):
            m.d.sync += [self.fault.cause.eq(merge_many(lowest(causes), list(held))), self.fault.pc.eq(pc)]

    def _assert_rules(self, m: Module) -> None:
        """Stop a simulation in which the ports are used against their rules."""
        assert_rule(m, ~self.arrive | (self._queue.used != self._sizes.rows), "a row comes, and there is no room")
        requests, answers = (*self.narrow, self.wide), (*self.narrow_response, self.wide_response)
        for number, (request, answer) in enumerate(zip(requests, answers, strict=True)):
            assert_stable(m, request, f"request_{number}")
            taken = sum(entry[number] for entry in self._outstanding.waiting) - self._sender.unsent[number]
            assert_rule(m, ~answer.valid | (taken != 0), f"port {number} answers without a request")

    def observe(self) -> Shown:
        """The observed values."""
        waiting, unsent, lanes = self._outstanding.waiting, self._sender.unsent, self._sizes.lanes
        return {
            "smrq": self._queue.used, "smrrq": self._outstanding.used,
            "narrow_outstanding": sum(bit for entry in waiting for bit in entry[:lanes]) - sum(unsent[:lanes]),
            "wide_outstanding": sum(entry[lanes] for entry in waiting) - unsent[lanes],
        }


def _low(word: Value, offset: Value) -> Value:
    """A word, with the byte of its offset at the low end."""
    return word >> (offset[:2] << 3)
