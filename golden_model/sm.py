"""`Sm`: front end, datapath and the units behind it, connected (docs/contract/)."""

from collections.abc import Sequence

from warploom.arch.chunks import most_warps
from warploom.arch.config import SmConfig
from warploom.arch.errors import ExecutionError
from warploom.arch.interfaces import TAG_BITS
from warploom.arch.isa import KINDS
from warploom.arch.layout import rows_per_warp
from warploom.arch.mechanisms import Scheduler
from warploom.golden_model.affine.uniform import UniformUnit
from warploom.golden_model.assembly import datapath_of, decisions_of, memory_of, order_of
from warploom.golden_model.cached.last_use import mark_last_uses
from warploom.golden_model.check import Checker, Defined
from warploom.golden_model.external import OutsideSp, Sfu
from warploom.golden_model.front_end.blocks import Blocks, Source
from warploom.golden_model.front_end.decode import decode
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.front_end.front_end import FrontEnd
from warploom.golden_model.front_end.steering import Steering
from warploom.golden_model.front_end.warps import Follower, Warp
from warploom.golden_model.inputs import NO_EVENTS, Inputs, InputValues, Issues, WarpEvents
from warploom.golden_model.integer import LAST_INTEGER
from warploom.golden_model.memory.port import LoadStoreUnit
from warploom.golden_model.records import DispatchFields, IssueFields, Result
from warploom.golden_model.times import Times
from warploom.golden_model.trace import Traced
from warploom.golden_model.writeback import result_of

_TAGS = 1 << TAG_BITS


class Sm:
    """One SM that simulates a trace. `step` simulates one cycle; after it, until the next one, `cycle`, `inputs`,
    `datapath` (its wires, `observe()` and `writes()`) and `defined` describe that cycle.

    With `check` every operand that leaves a collector and every integer result is compared with the trace
    (`warploom.golden_model.check`); `defined` then holds, by tag, the lanes with defined values. `memory` is the
    load/store unit, one with a path of fixed latency if there is none; `blocks` are those that it takes, if not all.
    Raises `LaunchError` if the launch does not fit the SM, `ExecutionError` if no warp can ever go on.
    """

    def __init__(
        self, config: SmConfig, trace: Traced, *, memory: LoadStoreUnit | None = None, blocks: Source | None = None,
        check: bool = False,
    ) -> None:
        self.config, self.trace = config, trace
        self.cycle = -1
        self.finished = False
        """Nothing is left to do, and `cycle` is the number of cycles that it took."""
        self.statics = decode(trace)
        if config.has_register_cache:
            mark_last_uses(self.statics)
        assert config.has_unallocated or not trace.program.unallocated, "registers without rows, on an SM without"
        self.stride = rows_per_warp(config, trace.program.registers)
        self.datapath = datapath_of(config, trace.program, most_warps(config, trace.program, trace.launch),
                                    self._evaluate, UniformUnit(trace))
        self.checker = Checker() if check else None
        self.memory = memory or memory_of(config, trace.program)
        self.decisions = decisions_of(config, trace, self.statics, self.datapath, checker=self.checker,
                                      saturation=self.memory.saturation)
        self.front_end = FrontEnd(config, trace, self.statics, self.decisions, blocks=blocks or Blocks(trace),
                                  order=order_of(config, trace.program, self.statics))
        self._residency = self.front_end.residency
        self._steering = Steering(config)
        self._steer, self._fields = self._steering.steer, self.decisions.fields
        self._prefers, self._renames = config.scheduler is Scheduler.TRWS, config.renames
        self._has_pairs, self._has_plug_in = config.has_pairs, self.front_end.has_plug_in
        # By place in a pair: the issue input that each warp uses.
        self._inputs = [[slot % config.issue_ports * config.issue_per_warp + place for slot in range(config.warps)]
                        for place in range(config.issue_per_warp)]
        self._ports, self._interval = config.issue_ports, config.front_end_interval
        # Otherwise each scheduler has a port, and claims it in its turn.
        self._reorders = config.schedulers > config.issue_ports or config.has_pairs
        self._no_issues: list[IssueFields | None] = [None] * config.issue_inputs
        self._no_results: list[Result | None] = [None] * len(config.pipes)
        sp, sfu, (self._mem,) = map(config.numbers, KINDS)
        self.outside_sp = OutsideSp([config.timed_pipes[number] for number in sp])
        self.sfu = {number: Sfu(config.timed_pipes[number]) for number in sfu}
        self._sfus = [*self.sfu.items()]
        self._results_of_sp = self.outside_sp.results
        self.defined: dict[int, Defined] = {}
        self.occupied = 0
        """Warps resident, summed over cycles."""
        self.times = Times()
        self._count_times, self._done = self.times.ended, self.front_end.done
        self._flights: dict[int, Flight] = {}
        self._tag = 0
        self._picked: Sequence[Warp] = ()
        self._entering: Sequence[Warp] = ()  # of these, those whose instruction enters the datapath
        self._seconds: Sequence[Follower] = ()  # the seconds of the pairs that issue in this cycle
        self._ended: list[Flight] = []  # instructions without results that are done in this cycle
        self._into: InputValues = Inputs(attempts=self.decisions.attempts(()))
        self._no_inputs = self._into
        self._offered = False  # memory offers a result

    def step(self) -> None:
        """Simulate the next cycle: registers take their values, wires settle."""
        if self.cycle >= 0:
            self._clock()
        self.cycle += 1
        if self._residency.warps or not self.front_end.finished:
            self._settle()
        else:
            self.finished = True

    def flight(self, tag: int) -> Flight:
        """The instruction in flight with a tag."""
        return self._flights[tag]

    @property
    def inputs(self) -> Inputs:
        """What the datapath gets in this cycle."""
        return Inputs(*self._into)

    @property
    def issuing(self) -> Sequence[Warp | Follower]:
        """The warps whose next instruction issues in this cycle; the second of a pair is a `Follower`."""
        return [*self._picked, *self._seconds] if self._seconds else self._picked

    @property
    def ending(self) -> Sequence[Flight]:
        """The instructions that are done in this cycle."""
        done = [self._flights[result["tag"]] for result in self.datapath.done if result is not None]
        return [*done, *self._ended]

    def next_event(self) -> int | None:
        """The next cycle that may differ from this one, as far as the SM knows; None if there is none."""
        if self._picked or self._ended or self.front_end.dispatches or not self.datapath.quiet:
            return self.cycle + 1
        if self._into != self._no_inputs or self.front_end.may_turn:
            return self.cycle + 1
        nexts = (self.front_end.next_event(self.cycle), self.datapath.next_event(), self.memory.next_event(),
                 *(sfu.next_event() for sfu in self.sfu.values()), self.outside_sp.next_event())
        return min((event for event in nexts if event is not None), default=None)

    def skip(self) -> None:
        """Go to the last cycle before the next event. Raises `ExecutionError` if there is none."""
        if self._picked or not self.datapath.quiet:
            return
        event = self.next_event()
        if event is None:
            raise self.stuck()
        if event > self.cycle + 1:
            self.advance(event - self.cycle - 1)

    def stuck(self) -> ExecutionError:
        """The error that no warp can ever go on."""
        return ExecutionError(f"{self.trace.program.name}: no progress after cycle {self.cycle}: warps wait at a "
                              "barrier that the others never reach; let all threads reach it")

    def advance(self, cycles: int) -> None:
        """Let so many cycles pass that are equal to this one."""
        self.front_end.advance(self.cycle, cycles)
        self.cycle += cycles
        self.datapath.advance(cycles)
        self.occupied += cycles * self._residency.warps

    # ------------------------------------------------------------------ wires

    def _settle(self) -> None:
        cycle, datapath = self.cycle, self.datapath
        datapath.settle()
        tags, preferred = _TAGS - len(self._flights), datapath.stall if self._prefers else 0
        self._picked, entering = self.front_end.select(cycle, tags, datapath.operands, preferred)
        self._entering = entering
        if self._has_pairs:
            self._seconds = self.front_end.seconds
        attempts = self.decisions.attempts(self.issuing) if self._has_plug_in else ()
        issue, first_port = self._issues(cycle) if entering else ((), 0)
        results, given = self._outside(cycle)
        warps = self._warp_events(cycle, datapath.sweeping) if self._renames else NO_EVENTS
        self._into = issue, results, given, attempts, first_port, warps

    def _warp_events(self, cycle: int, sweeping: int) -> WarpEvents:
        """What happens to warps in this cycle, as renaming sees it; its sweep has still to do with some slots."""
        retired = self._residency.retired()
        self.front_end.reserve(sweeping | retired)
        off_chip = self.memory.off_chip
        began, ended = (0, 0) if off_chip is None else off_chip.settle(cycle)
        return WarpEvents(began, ended, retired)

    def _outside(self, cycle: int) -> tuple[Sequence[Result | None], int]:
        """The results of the units outside the datapath, by pipe, empty if there are none, and the mask of units that
        give a credit. Sets `_ended` and `_offered`."""
        results: list[Result | None] | None = None
        if self._ended:
            self._ended = []
        mem, stored, taken = self.memory.settle(cycle)
        given = 1 << self._mem if taken else 0
        self._offered = mem is not None
        if mem is not None:
            results = [*self._no_results]
            results[self._mem] = mem
        for number, sfu in self._sfus:
            if sfu.queue:
                result, left = sfu.settle(cycle, self.datapath.ready[number])
                if result is not None:
                    results = results or [*self._no_results]
                    results[number] = result
                if left is not None:
                    given |= 1 << number
                    if not left.static.returns:
                        self._ended.append(left)
        if stored is not None:
            self._ended.append(stored)
        if cycle in self._results_of_sp:
            results = results or [*self._no_results]
            for number, finished in self._results_of_sp.pop(cycle).items():
                results[number] = finished
        return results or (), given

    def _issues(self, cycle: int) -> tuple[Issues, int]:
        """What enters the datapath, by issue input, and the port whose claim goes first."""
        ports = self._ports
        first = cycle // self._interval % ports
        entering: Sequence[Warp | Follower] = self._entering
        if self._seconds:
            entering = [*entering, *(follower for follower in self._seconds if follower.enters)]
        if self._reorders and len(entering) > 1:
            entering = sorted(entering, key=lambda warp: (warp.slot - first) % ports)
        issues, tag, flights = self._no_issues.copy(), self._tag, self._flights
        for warp in entering:
            while tag in flights:
                tag = (tag + 1) % _TAGS
            slot, fields = warp.slot, self._fields(warp)
            fields["tag"] = tag
            self._steer(fields, slot)
            issues[self._inputs[warp.place][slot]] = fields
            tag = (tag + 1) % _TAGS
        self._tag = tag
        return issues, first

    # ------------------------------------------------------------------ the end of a cycle

    def _clock(self) -> None:
        datapath, front_end = self.datapath, self.front_end
        dispatches, done = datapath.leaving, datapath.done
        if self._offered and datapath.ready[self._mem]:
            self.memory.taken()
        datapath.clock(self._into)
        self.occupied += self._residency.warps
        if front_end.dispatches:
            front_end.dispatch_block()
        if any(done):
            for result in done:
                if result is not None:
                    self._end(self._flights[result["tag"]])
        for flight in self._ended:
            self._end(flight)
        granted = datapath.operands.granted
        if granted:
            front_end.read(granted)
        for dispatch in dispatches:
            self._dispatched(dispatch)
        if self._picked:
            self._issued()
        if self._has_plug_in:
            front_end.answered()

    def _issued(self) -> None:
        """Warps have issued."""
        front_end = self.front_end
        for warp in self._entering:
            self._launch(warp, 0)
        for warp in self._picked:
            front_end.issued(warp)
        for follower in self._seconds:
            self.decisions.come(follower)
            if follower.enters:
                self._launch(follower.warp, 1)
            front_end.issued(follower.warp)

    def _end(self, flight: Flight) -> None:
        """An instruction is done."""
        del self._flights[flight.tag]
        if self.checker is not None:
            self.defined.pop(flight.tag, None)
        self._count_times(self.cycle, flight)
        self._done(flight.warp, flight.static)

    def _launch(self, warp: Warp, place: int) -> None:
        """The warp's next instruction, at this place in a pair, enters the datapath."""
        fields = self._into[0][self._inputs[place][warp.slot]]
        assert fields is not None
        flight = self.decisions.flight(warp, fields["tag"], self.cycle)
        self._flights[flight.tag] = flight
        if self.checker is not None:
            self.checker.issued(flight, fields)

    def _dispatched(self, dispatch: DispatchFields) -> None:
        """An instruction has left its collector: the outside unit that executes it takes it."""
        flight = self._flights[dispatch["tag"]]
        flight.dispatched = self.cycle
        static = flight.static
        if self._steering.counts:
            self._steering.dispatched(flight.warp.slot, dispatch["pipe"])
        if self.checker is not None:
            self.defined[dispatch["tag"]] = self.checker.dispatched(static, dispatch, flight.word, flight.pred_out)
        if dispatch["op"] <= LAST_INTEGER:
            return
        result: Result | None = None
        if static.returns:
            result = result_of(dispatch, flight.word, flight.pred_out)
        if static.memory:
            self.memory.accept(self.cycle, flight, result)
        elif dispatch["pipe"] in self.sfu:
            self.sfu[dispatch["pipe"]].accept(self.cycle, dispatch["timing"], flight, result)
        elif result is not None:
            self.outside_sp.accept(self.cycle, dispatch["pipe"], dispatch["timing"], result)

    def _evaluate(self, dispatch: DispatchFields) -> tuple[int, int]:
        """The result of an integer instruction, from functional execution."""
        flight = self._flights[dispatch["tag"]]
        return flight.word, flight.pred_out
