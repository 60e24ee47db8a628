"""Bench of the datapath: random instruction streams at its ports, every cycle against
`warploom.golden_model.datapath`."""

from collections.abc import Iterable, Sequence
from typing import Any

import cocotb
import pytest

from warploom.arch import mechanisms
from warploom.arch.config import SmConfig
from warploom.arch.interfaces import (
    FREE_BITS,
    WARP_BITS,
    address_fields,
    hint_fields,
    issue_names,
    stored_fields,
)
from warploom.arch.isa import Pipe
from warploom.arch.mechanisms import Layout
from warploom.arch.program import Program
from warploom.golden_model.assembly import datapath_of
from warploom.golden_model.byte_order import byte_enables, to_sub_banks
from warploom.golden_model.inputs import Inputs, WarpEvents
from warploom.golden_model.integer import evaluate
from warploom.golden_model.register_file.ports import Write
from warploom.golden_model.register_file.reorder import reorder
from warploom.golden_model.renaming.stage import RenameStage
from warploom.golden_model.trivial import promised
from warploom.golden_model.words import spread
from warploom.tb import claims, runner
from warploom.tb.affine.driver import AffineSurroundings
from warploom.tb.affine.operands import uniform_answer
from warploom.tb.bench import Checker, Coverage, Observation, Ports, exercise, source
from warploom.tb.bypass.events import cover_window, events
from warploom.tb.codec import join
from warploom.tb.datapath_driver import Surroundings, rows
from warploom.tb.observation import Probe

INSTRUCTIONS, RARER = 3000, 2
"""Instructions of a stream; with windows or compact registers, which use the banks less, this many times as many."""

RENAMING_OUTPUTS = ("sweeping", "stall", "tfet_free")

WARP_MASK = (1 << WARP_BITS) - 1


class DatapathCheck:
    """Probe, activity, dispatches with operands, completions, readiness and written words equal the model's in every
    cycle."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._config = ports.config
        tables = (address_fields(ports.config), stored_fields(ports.config), hint_fields(ports.config))
        self._destination = [name for table in tables for name, _ in table]
        self._coalescing = ports.config.has_sides
        self._has_window = ports.config.has_window
        self._rows = rows(ports.config)
        program = Program(name="random", source="", instructions=(), lines=(), registers=self._rows)
        self.model: Any = datapath_of(ports.config, program, ports.config.warps, evaluate, uniform_answer)
        self._probe = Probe(ports.codecs["probe"], self.model.observed)
        self._sets = ports.config.schedulers if ports.config.has_compact_slots else 0
        self.completions = 0

    def __call__(self, seen: Observation) -> None:
        """Check one cycle, then step the model through its end."""
        model, equal = self.model, self._checker.equal
        model.settle()
        probe = model.observe()
        self._checker.checks += 1
        if seen["probe"] != self._probe.pack(probe):
            actual = self._probe.unpack(seen["probe"])
            for name, expected in zip(self._probe.names, probe, strict=True):
                equal(name, actual[name], expected)
        equal("activity", self._codecs["activity"].unpack(seen["activity"]), model.activity())
        self._claims(seen, model.operands.free_collectors)
        for port, sent in zip(self._config.dispatch_ports, model.sent, strict=True):
            equal(f"{port}.valid", seen[f"{port}__valid"], int(sent is not None))
            if sent is not None and seen[f"{port}__valid"]:
                self._dispatch(port, self._fields(seen, port), sent)
        for i, pipe in enumerate(self._config.pipes):
            writer = pipe.name
            self._completion(seen, writer, model.done[i])
            if pipe.credits:
                equal(f"{writer} ready", seen[f"result_{writer}__ready"], int(model.ready[i]))
                stalls = seen[f"result_{writer}__valid"] and not model.ready[i]
                self._coverage.hit(f"{pipe.kind.name.lower()} stalls", stalls)
        if self._has_window:
            equal("free_entries", seen["free_entries"], join(model.operands.free_entries, FREE_BITS))
            cover_window(model, self._coverage)
        self._stored(seen, model.writes())
        self._cover_pipes(model)
        if model.renaming is not None:
            self._renaming(seen, model.renaming)
        if self._config.has_compact_slots:
            self._affine(seen, model)
        model.clock(Inputs(
            issue=[self._fields(seen, name) for name in issue_names(self._config)],
            results=[self._fields(seen, f"result_{writer}") for writer in self._config.writers],
            credits=sum(seen.get(f"credit_{writer}", 0) << i for i, writer in enumerate(self._config.writers)),
            attempts=[self._fields(seen, f"attempt_{number}") for number in range(self._sets)],
            first_port=seen.get("first_port", 0),
            warps=WarpEvents(*(seen.get(name, 0) for name in WarpEvents._fields)),
        ))

    def _renaming(self, seen: Observation, stage: RenameStage) -> None:
        """Compare what the front end sees of renaming."""
        for name in RENAMING_OUTPUTS:
            if name in seen:
                self._checker.equal(name, seen[name], getattr(stage, name))
                self._coverage.hit(name, seen[name])

    def _cover_pipes(self, model: Any) -> None:
        """Cover several pipes of SP, and several dispatch ports."""
        if _may_wait(self._config):
            self._coverage.hit("a result waits in its queue", any(model.queues.lengths))
            refused = [i for i in self._config.numbers(Pipe.SP) if not model.ready[i]]
            self._coverage.hit("a latch of SP is refused", refused)
        if len(self._config.dispatch_ports) > 1:
            self._coverage.hit("several are dispatched", sum(sent is not None for sent in model.sent) > 1)

    def _claims(self, seen: Observation, free: Sequence[int]) -> None:
        """Compare and cover free collectors, and the instructions that claim them."""
        inputs, config = self._config.issue_inputs, self._config
        if config.shows_claims:
            self._checker.equal("free_collectors", seen["free_collectors"], claims.shown(config, free))
        elif inputs == 1:
            self._checker.equal("issue.ready", seen["issue__ready"], int(free[0] > 0))
        offered = [self._fields(seen, name) for name in issue_names(config)]
        claiming = [fields for fields in offered if fields is not None]
        if config.has_pairs:
            self._cover_pairs(offered, free, seen.get("first_port", 0))
        if config.issue_ports > 1:
            self._coverage.hit("instructions on all issue ports", len(claiming) == inputs)
            if not self._has_window:
                self._coverage.hit("more instructions than free collectors", len(claiming) > sum(free) > 0)
        if len(free) > 1:
            needed = {config.collector_set(config.pipes[fields["pipe"]].kind) for fields in claiming}
            self._coverage.hit("a set without a free collector, others with one",
                               any(not free[number] for number in needed) and sum(free) > 0)

    def _cover_pairs(self, offered: Sequence[Any], free: Sequence[int], first: int) -> None:
        """Cover pairs, whole ones and those without a collector for the second."""
        taken = claims.granted(self._config, free, offered, first)
        for lead, follow, second in zip(taken[::2], taken[1::2], offered[1::2], strict=True):
            self._coverage.hit("two instructions of one warp in a cycle", lead and follow)
            self._coverage.hit("second of a pair refused for want of a collector", lead and second and not follow)

    def _fields(self, seen: Observation, port: str) -> Any:
        """The fields of a stream, `None` when it is not valid."""
        return self._codecs[f"{port}__payload"].unpack(seen[f"{port}__payload"]) if seen[f"{port}__valid"] else None

    def _dispatch(self, port: str, actual: dict[str, int], expected: dict[str, Any]) -> None:
        # With neither gating nor windows, lanes that do not execute are read too.
        everything = not self._config.gates_columns and not self._has_window
        shown = WARP_MASK if everything else spread(expected["lanes"])
        for slot, name in enumerate("abc"):
            self._checker.equal(f"{port}.{name}", actual.pop(name) & shown, expected["operands"][slot] & shown)
        if not expected["writes"] or expected["dst"] >= self._rows:
            for name in self._destination:
                del actual[name]
        for name, value in actual.items():
            self._checker.equal(f"{port}.{name}", value, expected[name])
        self._coverage.hit(f"{self._config.pipes[expected['pipe']].kind.name} dispatch")
        for value in expected.get("values", ()):
            if value is not None:
                self._coverage.hit(f"{value.tag.name.lower()} operand")
        if self._config.has_zero_mask:
            for outcome, _ in promised(expected["trivial"]):
                self._coverage.hit(f"outcome {outcome.name}")

    def _affine(self, seen: Observation, model: Any) -> None:
        """Outcomes and requests of every set, and which address slots are free."""
        for number, (outcome, asked) in enumerate(zip(model.affine.outcomes, model.affine.requests, strict=True)):
            self._checker.equal(f"outcome_{number}", self._fields(seen, f"outcome_{number}"), outcome)
            self._checker.equal(f"uniform_{number}", self._fields(seen, f"uniform_{number}"), asked)
            if outcome is not None:
                self._coverage.hit("accepted" if outcome["accepted"] else "refused")
                younger = self._fields(seen, f"attempt_{number}")
                self._coverage.hit("squashed", not outcome["accepted"] and younger and
                                   younger["warp"] == outcome["warp"])
            self._coverage.hit("uniform unit", asked is not None)
        if self._config.has_address_slot:
            self._checker.equal("address_ready", seen["address_ready"], model.operands.address_ready)
            every = (1 << self._config.address_slots) - 1
            self._coverage.hit("an address slot is taken", model.operands.address_ready != every)
        everywhere = all(seen[f"attempt_{number}__valid"] for number in range(self._sets))
        self._coverage.hit("attempts of all sets", everywhere)

    def _stored(self, seen: Observation, writes: list[Write]) -> None:
        """Compare the writes of sub-banks, byte by byte; nothing if a bank is not written."""
        words, enables = (self._codecs[name].array(seen[name]) for name in ("stored_data", "stored_bytes"))
        if self._coalescing:
            self._coverage.hit("narrow write", any(spread(write.lanes) & ~write.byte_mask for write in writes))
            self._coverage.hit("sign fill", any(write.byte_mask & ~spread(write.lanes) for write in writes))
        for bank, (word, enabled) in enumerate(zip(words, enables, strict=True)):
            data = mask = 0
            here = [write for write in writes if write.bank == bank]
            for write in here:
                groups = self._reordered(seen, write)
                data |= self._form(write.data & write.byte_mask, write.left, groups)
                mask |= self._form(write.byte_mask, write.left, groups)
            self._checker.equal(f"bank {bank} bytes", enabled, byte_enables(mask))
            self._checker.equal(f"bank {bank} word", word & mask if here else word, data)

    def _form(self, word: int, left: bool, groups: int) -> int:
        """A byte-interleaved word in the form of the sub-banks."""
        return to_sub_banks(word, left) if self._coalescing else reorder(word, groups)

    def _reordered(self, seen: Observation, write: Write) -> int:
        """The groups that are reordered in a register that is written."""
        name = f"{write.writer}_latch_reorder"
        groups = self._probe.unpack(seen["probe"]).get(name, 0)
        if groups:
            self._coverage.hit("reordered write")
        return groups

    def _completion(self, seen: Observation, writer: str, done: Any) -> None:
        self._checker.equal(f"{writer} done", seen[f"done_{writer}__valid"], int(done is not None))
        self.completions += seen[f"done_{writer}__valid"]
        if done is not None and seen[f"done_{writer}__valid"]:
            self._checker.equal(f"{writer} done", self._fields(seen, f"done_{writer}"),
                                {"tag": done["tag"], "pred": done["pred"]})


@cocotb.test()
async def random_stream(dut: cocotb.handle.SimHandleBase) -> None:
    """A random instruction stream that reaches all coverage points."""
    check, checker, coverage = await _stream(dut, INSTRUCTIONS)
    _contention(check, checker)
    checker.finish()
    coverage.finish()


@cocotb.test()
async def short_stream(dut: cocotb.handle.SimHandleBase) -> None:
    """A third of such a stream, which may miss rare points."""
    _, checker, _ = await _stream(dut, INSTRUCTIONS // 3)
    checker.finish()


async def _stream(dut: cocotb.handle.SimHandleBase, instructions: int) -> tuple[DatapathCheck, Checker, Coverage]:
    """Random instructions, of which every one with a result completes once."""
    ports, checker = Ports(dut), Checker(minimum=10 * instructions)
    outputs = [name for name in RENAMING_OUTPUTS if name in ports.outputs]
    coverage = Coverage(*mechanisms.points(ports.config), *_points_of_pipes(ports.config), *outputs)
    kind = AffineSurroundings if ports.config.has_compact_slots else Surroundings
    relieved = ports.config.has_window or ports.config.has_compact_slots
    surroundings = kind(ports, source(), RARER * instructions if relieved else instructions)
    check = DatapathCheck(ports, checker, coverage)
    await exercise(ports, surroundings.stimuli(), check, checker)
    checker.equal("completions", check.completions, surroundings.expected)
    return check, checker, coverage


def _may_wait(config: SmConfig) -> bool:
    """Whether results of SP may wait for their latch."""
    return config.rotating_paths > 1 or config.tfet_rows > 0


def _points_of_pipes(config: SmConfig) -> list[str]:
    """Coverage points of several pipes of SP, and of several dispatch ports."""
    waiting = ["a result waits in its queue", "a latch of SP is refused"] if _may_wait(config) else []
    return [*waiting, *(["several are dispatched"] if len(config.dispatch_ports) > 1 else [])]


def _contention(check: DatapathCheck, checker: Checker) -> None:
    """Cover contention for shared resources. A bypassing collector takes one operand at a time, and with all registers
    of a warp in one bank so does every collector, so they have no port conflicts. With hints so few operands are read
    and so few results written (one read in 20 to 40 cycles) that hardly any accesses of one kind meet."""
    model = check.model
    several = not model.config.has_window and model.config.layout is Layout.WSHIFT
    checker.holds("banks were contended", model.register_file.bank_conflicts > 0)
    checker.equal("ports were contended", model.register_file.port_conflicts > 0, several)
    if model.config.has_sides:
        traffic = model.register_file.traffic()
        wanted = any if model.config.has_hints else all
        checker.holds("accesses were coalesced", wanted(traffic.coalesced.values()))
        checker.equal("collector writes were coalesced", traffic.collector_writes < traffic.operands_stored, several)
    for event in events(model.config):
        checker.holds(f"{event} > 0", getattr(model.counts, event) > 0)
    if model.config.predicts_stalls:
        renamings = model.renaming.renamings
        checker.holds("some requests were served, not all", 0 < renamings.served < renamings.requests)


def for_each(cores: Iterable[str]) -> pytest.MarkDecorator:
    """A test for each core. Some belong to the long regression, because other cores have the same parts or more. A core
    takes longer to build than all its tests to run."""
    long = {core.name for mechanism in mechanisms.MECHANISMS for core in mechanism.cores if core.is_long}
    return pytest.mark.parametrize("core", [
        pytest.param(core, marks=[pytest.mark.long] if core in long else []) for core in cores
    ])


@pytest.mark.rtl
@pytest.mark.parametrize("stream", ["short_stream", pytest.param("random_stream", marks=pytest.mark.long)])
@for_each(mechanisms.cores())
def test_datapath(core: str, stream: str, seed: int) -> None:
    config = SmConfig.preset("small").with_settings([*mechanisms.cores()[core]])
    made = runner.build(config, "Datapath")
    assert made.libraries == {"lane", *([runner.COLLECTOR] if config.has_window else [])}
    runner.run(made, "warploom.tb.test_datapath", seed, testcase=stream)
