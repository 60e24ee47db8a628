"""`Datapath`: register file, operand store, lanes and write-back, connected (docs/contract/)."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from warploom.arch.config import COLUMNS, SUB_BANKS, SmConfig
from warploom.arch.isa import Pipe
from warploom.golden_model.affine.unit import AffineUnit
from warploom.golden_model.compact import Compact, compact_slots
from warploom.golden_model.dispatch import Leaving
from warploom.golden_model.inputs import NO_INPUTS, InputValues, Issues
from warploom.golden_model.integer import LAST_INTEGER, Evaluate, IntegerUnit, evaluate
from warploom.golden_model.lane_activity import LaneActivity
from warploom.golden_model.observation import Gathered
from warploom.golden_model.operands.port import OperandStore
from warploom.golden_model.placement import Placement
from warploom.golden_model.records import DispatchFields, IssueFields, Result
from warploom.golden_model.register_file.ports import RegisterFile, Write
from warploom.golden_model.renaming.counts import Accuracy
from warploom.golden_model.renaming.stage import RenameStage
from warploom.golden_model.result_queue import ResultQueues

SUB_BANK_COLUMNS = COLUMNS // SUB_BANKS
"""Columns of a sub-bank."""


class Datapath:
    """A datapath, from the parts of any configuration.

    In each cycle `settle` computes the wires from the registers, and `clock` ends the cycle.

    Wires, valid after `settle`: by dispatch port `dispatch`, the choice of this cycle (fields of the port and
    `operands`, or `None`), and `sent`, the instruction at the port, chosen in the previous cycle; `leaving`, the
    instructions of `dispatch`; `done` and `ready`, by writer. `stride` is `warploom.arch.layout.rows_per_warp`, a
    static input; `evaluate` computes the results of integer instructions. With an affine unit `reads` at issue ports
    has all registers; the operand store gets those that are generic, and `values`, those of its compact slots,
    stay with the instruction.
    """

    def __init__(  # noqa: PLR0917 - the parts
        self, config: SmConfig, stride: int, register_file: RegisterFile, operands: OperandStore,
        affine: AffineUnit | None = None, evaluate: Evaluate = evaluate,
    ) -> None:
        self.config = config
        self.register_file, self.operands, self.affine = register_file, operands, affine
        self.integer = [IntegerUnit(config.timed_pipes[number], evaluate) for number in config.numbers(Pipe.SP)]
        self.queues = ResultQueues(config)
        self._dispatcher, self._holders = operands.dispatcher, operands.holders
        self._pass_time = register_file.arbiter.advance
        self._dispatcher.queued = self.queues.lengths
        self.lanes = LaneActivity(config)
        self._nothing: Sequence[DispatchFields | None] = (None,) * len(config.dispatch_ports)
        self.leaving: Sequence[DispatchFields] = ()
        self._leaving: Leaving = ()  # the same, with their ports and holders
        self._sent: Leaving = ()  # those of the cycle before
        self._addresses = Placement(config, stride)
        self._parts = Gathered(register_file, operands, self.queues, affine)
        self.observed = (
            *self._parts.observed,
            *(f"{port}_{name}" for port in config.dispatch_ports for name in ("valid", "collector", "tag")),
            *(f"{writer}_done_{name}" for writer in config.writers for name in ("valid", "tag")))
        self._refused: Sequence[Result] = ()  # results at the inputs of latches that are not ready
        self._no_results: Sequence[Result | None] = (None,) * len(config.pipes)
        self._per_port = config.issue_per_warp
        self._results_of = list(enumerate(unit.results for unit in self.integer))  # by pipe: its results, by cycle
        self._store_acts = operands.acts
        self.renaming = operands if isinstance(operands, RenameStage) else None
        """The stage that renames registers, if there is one."""
        self.slow = register_file.arbiter.slow if config.tfet_rows else None
        """The accesses of slow rows, if there are any."""
        self._stalling = [writer for writer, pipe in enumerate(config.pipes) if pipe.credits]
        self.settle()

    def settle(self) -> None:
        """The wires of this cycle, from the registers alone."""
        operands, register_file = self.operands, self.register_file
        if self._store_acts:
            register_file.writeback.held_back = operands.hold_back()
        register_file.arbitrate()
        self.done, self.ready = register_file.done, register_file.ready
        if self._store_acts:
            self.done = operands.completed(self.done)
        chosen = operands.choose()
        if chosen:
            leaving, fields = self._leaving, self.leaving = [], []
            for port, index in chosen:
                sent = self._dispatch(port, index)
                leaving.append((port, index, sent))
                fields.append(sent)
        elif self.leaving:
            self._leaving = self.leaving = ()
        if self.affine is not None:
            self.affine.settle()

    def clock(self, inputs: InputValues = NO_INPUTS) -> None:
        """The end of the cycle. Instructions are taken when the operand store does; results of SFU and memory are when
        `ready`."""
        issue, outside, given, attempts, first_port, warps = inputs
        operands, register_file, leaving = self.operands, self.register_file, self._leaving
        dispatcher = self._dispatcher
        for port, index, sent in leaving:  # before their holders take other instructions
            self.lanes.dispatched(port, dispatcher.cycle, sent, self._holders[index])
        if issue:
            if first_port:
                first = first_port * self._per_port
                issue = [*issue[first:], *issue[:first]]
            self._issue(issue)
        operands.read()
        results = self._results(outside)
        register_file.write(operands.results(self.done, results, self._refused) if self._store_acts else results)
        self._sent = leaving
        for _, index, _ in leaving:
            operands.release(index)
        dispatcher.step(leaving, given)
        self._pass_time()
        if issue or self._store_acts:
            operands.clock(warps)
        if self.affine is not None:
            self.affine.clock(attempts)

    def _results(self, outside: Sequence[Result | None]) -> Sequence[Result | None]:
        """The results that their latches take, from the lanes and from outside: all except those whose latch is
        full, which are `_refused`."""
        cycle, results, self._refused = self._dispatcher.cycle, None, ()
        for _, _, sent in self._sent:
            if sent["op"] <= LAST_INTEGER:
                self.integer[sent["pipe"]].enter(cycle, sent)
        if outside:
            results = list(outside)
            for writer in self._stalling:
                if not self.ready[writer]:
                    refused, results[writer] = results[writer], None
                    if refused is not None:
                        self._refused = [*self._refused, refused]
        for number, finished in self._results_of:
            if cycle in finished:
                results = results or list(self._no_results)
                assert results[number] is None, "two SP results in one cycle"
                results[number] = finished.pop(cycle)
        queues = self.queues
        if queues.exist and not (queues.empty and (results is None or all(self.ready))):  # otherwise results pass
            results = queues.step(results or list(self._no_results), self.ready)
            if self._store_acts:
                self._refused = [*self._refused, *queues.waiting(self.ready)]
        return results or self._no_results

    # ------------------------------------------------------------------ passing time

    @property
    def quiet(self) -> bool:
        """Whether nothing happens in this cycle without an input."""
        if self.leaving or self._sent or not (self.register_file.quiet and self.operands.quiet):
            return False
        cycle = self._dispatcher.cycle
        return (not any(cycle in finished for _, finished in self._results_of)
                and (self.affine is None or self.affine.next_event() != self.affine.cycle))

    def next_event(self) -> int | None:
        """If quiet: the next cycle in which something can happen without an input."""
        events = [unit.next_event() for unit in self.integer] + [self.operands.dispatcher.next_event()]
        if self.affine is not None:
            events.append(self.affine.next_event())
        return min((event for event in events if event is not None), default=None)

    def advance(self, cycles: int) -> None:
        """If quiet: let cycles pass without any input, all before the next event."""
        self.register_file.arbiter.advance(cycles)
        self.operands.dispatcher.advance(cycles)
        if self.affine is not None:
            self.affine.advance(cycles)

    # ------------------------------------------------------------------ issue and dispatch

    def _issue(self, issues: Issues) -> None:
        """Instructions are on the issue inputs, in claim order."""
        operands, affine, addresses = self.operands, self.affine, self._addresses
        for issue in issues:
            if issue is None:
                continue
            fields = issue if affine is None else self._masked(issue, affine)
            if operands.takes(fields):
                if affine is not None:
                    affine.issued(issue)
                warp = fields["warp"] << 8
                sources = (addresses[warp | fields["src0"]], addresses[warp | fields["src1"]],
                           addresses[warp | fields["src2"]])
                operands.issue(fields, sources, addresses[warp | fields["dst"]])

    def _masked(self, fields: IssueFields, affine: AffineUnit) -> IssueFields:
        """The instruction in the form for the operand store."""
        values, compact = affine.compact(fields), fields["compact"]
        assert compact == compact_slots(values), "the front end and the tags differ in which slots are compact"
        return {**fields, "reads": fields["reads"] & ~compact, "values": values}

    def _dispatch(self, port: int, index: int) -> DispatchFields:
        """The fields of a dispatch port for the instruction in a holder: its own, extended."""
        holder = self._holders[index]
        dispatch: DispatchFields = holder.fields
        dispatch["collector"], dispatch["operands"] = index, holder.operands()
        if self.affine is not None and dispatch["compact"]:
            (x, y, z), (a, b, c) = dispatch["values"], dispatch["operands"]
            dispatch["operands"] = _expanded(x, a), _expanded(y, b), _expanded(z, c)
        if self.lanes.has_outcomes:
            dispatch["trivial"] = self.lanes.outcomes(port, dispatch, self._known_zero(holder))
        return dispatch

    def _known_zero(self, holder: Any) -> tuple[int, int, int]:
        """The lanes of each operand of a holder's instruction that are known to be zero; none for a compact slot, whose
        constant does not count."""
        known: tuple[int, int, int] = holder.known_zero()
        if self.affine is None or not holder.fields["compact"]:
            return known
        a, b, c = (zero if compact is None else 0
                   for compact, zero in zip(holder.fields["values"], known, strict=True))
        return a, b, c

    # ------------------------------------------------------------------ observation

    @property
    def dispatch(self) -> Sequence[DispatchFields | None]:
        """By dispatch port, the choice of this cycle."""
        return self._by_port(self._leaving)

    @property
    def sent(self) -> Sequence[DispatchFields | None]:
        """By dispatch port, the instruction at the port, chosen in the previous cycle."""
        return self._by_port(self._sent)

    def _by_port(self, leaving: Leaving) -> Sequence[DispatchFields | None]:
        dispatch = [*self._nothing]
        for port, _, fields in leaving:
            dispatch[port] = fields
        return dispatch

    @property
    def counts(self) -> Any:
        """A dataclass with the event counts of a part, or None."""
        return self.operands.counts or self.register_file.counts

    @property
    def renamings(self) -> Any:
        """The event counts of that stage."""
        return None if self.renaming is None else self.renaming.renamings

    @property
    def sweeping(self) -> int:
        """The mask of slots of ended warps that still have registers, with renaming."""
        return 0 if self.renaming is None else self.renaming.sweeping

    def row(self, bank: int, row: int) -> int | None:
        """The row that has the value of this virtual row, without renaming the same; `None` if it is not mapped."""
        return row if self.renaming is None else self.renaming.table.row(bank, row)

    @property
    def stall(self) -> int:
        """The mask of warp slots with time to spare, with a stall predictor."""
        return 0 if self.renaming is None else self.renaming.stall

    @property
    def accuracy(self) -> Accuracy | None:
        """How well stalls are predicted, with a stall predictor."""
        return None if self.renaming is None or self.renaming.predictor is None else self.renaming.predictor.accuracy

    @property
    def tfet_free(self) -> int:
        """The number of TFET rows in all lists, with renaming."""
        return 0 if self.renaming is None else self.renaming.tfet_free

    def writes(self) -> list[Write]:
        """The register writes of this cycle."""
        return self.register_file.writes()

    def activity(self) -> dict[str, int]:
        """The counters of `interfaces.ACTIVITY_FIELDS`: what happened before this cycle."""
        traffic, meter = self.register_file.traffic(), self.register_file.meter
        lane_loads, bypass_loads = self.lanes.meter.loads(self.operands.dispatcher.cycle)
        return {
            "sub_bank_reads": traffic.sub_bank_reads, "sub_bank_writes": traffic.sub_bank_writes,
            "column_reads": SUB_BANK_COLUMNS * traffic.sub_bank_reads,
            "column_writes": SUB_BANK_COLUMNS * traffic.sub_bank_writes,
            "collector_columns": sum(collector.columns_stored for collector in self.operands.collectors),
            "operand_columns": self.lanes.operand_columns, "lane_loads": lane_loads, "bypass_loads": bypass_loads,
            **({} if meter is None else meter.counts),
        }

    def observe(self) -> Sequence[int]:
        """A value of this cycle for each of the `observed` names, in the same order: values of the parts, dispatched
        instructions, and completions. Call it between `settle` and `clock`."""
        values = self._parts.observe()
        for dispatch in self.dispatch:
            values += (0, 0, 0) if dispatch is None else (1, dispatch["collector"], dispatch["tag"])
        for done in self.done:
            values += (0, 0) if done is None else (1, done["tag"])
        return values


def _expanded(compact: Compact | None, word: int) -> int:
    """The output of a slot's operand path; `word` is the holder's word."""
    return word if compact is None else _word(compact)


_word: Final = lru_cache(maxsize=1 << 12)(Compact.word)
