"""Bench of the operand store: hardware against the golden one, both with a golden register file."""

import random
from collections.abc import Iterator
from functools import partial
from itertools import pairwise, product
from typing import Any, cast

import cocotb
import pytest

from warploom.arch.config import COLUMNS, SmConfig
from warploom.arch.interfaces import (
    WARP_BITS,
    dispatch_fields,
    issue_fields,
    result_fields,
    stored_fields,
    trivial_fields,
)
from warploom.arch.isa import NO_SLOT, Instruction, Op
from warploom.arch.layout import rows_per_warp
from warploom.arch.mechanisms.baseline import FAST, PAIRS, SETS_BY_PIPE
from warploom.golden_model.assembly import collectors_of
from warploom.golden_model.byte_order import to_sub_banks
from warploom.golden_model.datapath import Datapath
from warploom.golden_model.inputs import Inputs, Issues
from warploom.golden_model.operands.slots import SlotStore
from warploom.golden_model.operands.windows import WindowStore
from warploom.golden_model.placement import Address, Placement
from warploom.golden_model.register_file.ports import Port, Read
from warploom.golden_model.register_file.reorder import reorder
from warploom.golden_model.words import ALL_LANES, spread
from warploom.tb import claims, runner, sparse
from warploom.tb.addresses import shown as fields_of
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.narrow_values import narrow_word
from warploom.tb.pipes import pipe_of
from warploom.tb.register_file.test_register_file import register_file

CYCLES = 3000
REGISTERS = 12

OPS = (Op.FADD, Op.FFMA, Op.FMAX, Op.MUFU, Op.ST, Op.LATCH)
"""Operations that execute outside the lanes: they return no results here, so registers do not change."""

TWO_DISPATCH_PORTS = ("pipes.sfu.dispatch_port=1", "pipes.mem.dispatch_port=1")
"""Settings with a dispatch port for SP, and one for SFU and MEM."""

ELSEWHERE = ("probe", "collector_columns", "operand_columns", "delivery", "latch", "memory")
"""Outputs that the bench of the datapath compares, and every lockstep: what is observed, what lanes do, and what
windows do with results, of which none come here."""

POINTS = ("taken", "no collector is free", "dispatched", "a pipe without credits", "a read waits", "a constant")
SEVERAL = ("instructions of several ports", "the first port is not the lowest")
"""Coverage points of several issue ports."""

SETS = ("an instruction goes past one whose set is full",)
"""Coverage points of several sets of collectors."""


def filled(config: SmConfig, rng: random.Random) -> Any:
    """A golden register file in which all used registers were written."""
    file, stride = register_file(config), rows_per_warp(config, REGISTERS)
    slots = partial(SlotStore, collector=collectors_of(file.form))
    windows = partial(WindowStore, registers=REGISTERS)
    datapath = Datapath(config, stride, file, (windows if config.has_window else slots)(config, file))
    addresses = Placement(config, stride)
    for warp, register in product(range(config.warps), range(REGISTERS)):
        address = addresses[warp << 8 | register]
        data = rng.choice((narrow_word, sparse.word))(rng, ALL_LANES)
        nothing = {name: 0 for name, _ in result_fields(config)}
        known = file.form.fields(metadata_of(file, address))
        result = {**nothing, **address._asdict(), **known, "writes": 1, "lanes": ALL_LANES, "full": 1, "data": data}
        for results in ((None, None, result), (None, None, None)):  # it enters its latch, then it is written
            file.write(results)
            file.arbitrate()
    return datapath


def metadata_of(file: Any, address: Address) -> Any:
    """The metadata of a register in the golden register file."""
    return file.lookup({"reads": 1, "writes": 0, "imm_slot": NO_SLOT, "imm": 0}, [address] * 3, address)[0]


class StoreBench:
    """Issues instructions when collectors are free, and returns credits; the golden register file serves the reads."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._config, self._codecs = ports.config, ports.codecs
        self._checker, self._coverage, self._rng = checker, coverage, source()
        self._model = filled(ports.config, self._rng)
        self._stride = rows_per_warp(ports.config, REGISTERS)
        self._addresses = Placement(ports.config, self._stride)
        self._sides = 1 + ports.config.has_sides
        self._tag = 0
        self._issues: list[dict[str, int] | None] = [None] * ports.config.issue_inputs
        self._words = [0] * ports.config.collectors  # the crossbar's words, granted in the previous cycle
        self._late = [0] * ports.config.issue_inputs
        self._credits = {"sfu": 0, "mem": 0}  # that may come back

    def stimuli(self) -> Iterator[Stimulus]:
        """Instructions and credits in bursts."""
        issues = busy(self._rng, 0.7)
        gives = {name: busy(self._rng, 0.2) for name in self._credits}
        for _ in range(CYCLES):
            for port, issue in enumerate(self._issues):
                if issue is None and next(issues):
                    self._issues[port] = self._instruction(port)
            self._given = {name: count > 0 and next(gives[name]) for name, count in self._credits.items()}
            self._model.settle()
            self._first = self._rng.randrange(self._config.issue_ports)
            self._offered = list(map(self._offer, self._issues))
            if self._config.has_pairs:
                self._pair()
            self._taken = self._takes()
            yield {
                "stride": self._stride, **({} if self._config.has_window else {"first_port": self._first}),
                **{f"issue__{port}__valid": offered is not None for port, offered in enumerate(self._offered)},
                **{f"issue__{port}__payload": issue or {} for port, issue in enumerate(self._issues)},
                **{f"credit_{name}": given for name, given in self._given.items()}, **self._answers(),
            }

    def _pair(self) -> None:
        """Offer seconds only beside a first that is taken, and of its warp."""
        for number, taken in enumerate(self._takes()[::2]):
            first, second = self._offered[2 * number : 2 * number + 2]
            if not taken:
                self._offered[2 * number + 1] = None
            elif first is not None and second is not None:
                second["warp"] = first["warp"]

    def _instruction(self, number: int) -> dict[str, int]:
        """Any instruction of the operations, of a warp that the port of an issue input serves."""
        rng, op, port = self._rng, self._rng.choice(OPS), number // self._config.issue_per_warp
        fields = {name: rng.getrandbits(bits) for name, bits in issue_fields(self._config)}
        reads, instruction = rng.getrandbits(3), Instruction(op=op)
        warp = rng.randrange(port, self._config.warps, self._config.issue_ports)
        self._tag += 1
        return fields | {
            "tag": self._tag % 1024, "op": op, "warp": warp,
            "pipe": pipe_of(rng, self._config, instruction.timing_class, warp), "timing": instruction.timing_class,
            "dst": rng.randrange(REGISTERS), "reads": reads,
            "writes": not self._config.has_window and rng.random() < 0.7,  # windows would wait for the result
            "lanes": sparse.lanes(rng), "imm": rng.choice((0, rng.getrandbits(32))),
            "imm_slot": rng.choice([NO_SLOT, *(slot for slot in range(3) if not reads >> slot & 1)]),
            **{f"src{slot}": rng.randrange(REGISTERS) for slot in range(3)},
            **({"first": 0} if self._config.has_window else {}),
        }

    def _offer(self, issue: dict[str, int] | None) -> dict[str, int] | None:
        """An instruction, with windows if its warp may issue it."""
        if issue is None or not self._config.has_window:
            return issue
        read = {issue[f"src{slot}"] for slot in range(3) if issue["reads"] >> slot & 1}
        return issue if self._model.operands.free_entries[issue["warp"]] > len(read) else None

    def _takes(self) -> list[bool]:
        """Whether the instruction of each port is taken: with windows if it is offered, else as far as there are free
        collectors of its set for the ports from the first one on."""
        return claims.granted(self._config, self._model.operands.free_collectors, self._offered, self._first)

    def _asked(self, client: int) -> dict[Port, Read]:
        """A collector's requests, by bank and side."""
        collector, form = self._model.operands.collectors[client], self._model.register_file.form
        if not self._config.has_window:
            asked: dict[Port, Read] = collector.requests()
            return asked
        request = collector.request()
        if request is None:
            return {}
        metadata = form.of(request.stored)
        (columns,) = form.needed(request.lanes, [metadata])
        return {form.ports(request.address, metadata)[0]: Read(request.entry, request.address, metadata, columns)}

    def _answers(self) -> Stimulus:
        """The register file's outputs in this cycle: grants, words and metadata."""
        grants = [0] * self._config.collectors
        for client, (bank, side) in self._granted():
            grants[client] |= 1 << self._sides * bank + side
        stimulus: dict[str, Any] = {}
        for client, (grant, word) in enumerate(zip(grants, self._words, strict=True)):
            stimulus |= {f"read__{client}__grant": grant, f"read__{client}__word": word}
        for port, issue in enumerate(self._issues):
            stimulus |= self._metadata(port, issue)
        return stimulus

    def _granted(self) -> list[tuple[int, tuple[int, int]]]:
        """Clients, and the bank access granted to each."""
        file = self._model.register_file
        if self._config.has_sides:
            return [(read.collector, (read.bank, read.side)) for read in file.decision.reads]
        return [(client, (bank, 0)) for bank, client in file.decision.reads]

    def _metadata(self, port: int, issue: dict[str, int] | None) -> Stimulus:
        """Early metadata of the instruction at a port, and late ones of the previous instruction."""
        shown: dict[str, Any] = {}
        early, late = (f"lookup__{port}__{name}" for name in ("early", "late"))
        if late in self._codecs:
            shown[late], self._late[port] = self._late[port], 0
        if issue is None or not (early in self._codecs or late in self._codecs):
            return shown
        file, warp = self._model.register_file, issue["warp"] << 8
        addresses = [self._addresses[warp | issue[name]] for name in ("src0", "src1", "src2", "dst")]
        known = [file.form.fields(metadata_of(file, address)) for address in addresses]
        ports = {"early": ("size", "sign", "left"), "late": ("zero", "reorder")}
        named = {name: {str(k): {field: int(fields[field]) for field in ports[name] if field in fields}
                        for k, fields in enumerate(known)} for name in ports}
        if early in self._codecs:
            shown[early] = named["early"]
        if late in self._codecs and self._taken[port]:
            self._late[port] = self._codecs[late].pack(named["late"])
        return shown

    def check(self, seen: Observation) -> None:
        """Check one cycle, then step the golden store through its end."""
        model, operands, equal = self._model, self._model.operands, self._checker.equal
        free = operands.free_collectors
        shown = int(free[0] > 0) if self._config.has_window else claims.shown(self._config, free)
        equal("free collectors", seen["free_collectors"], shown)
        if "free_entries" in seen:
            equal("free_entries", self._codecs["free_entries"].array(seen["free_entries"]), list(operands.free_entries))
        self._requests(seen)
        for port, issue in enumerate(self._issues):
            if f"lookup__{port}__taken" in seen:
                named = issue["reads"] | issue["writes"] << 3 if issue is not None and self._taken[port] else 0
                equal("looked up", seen[f"lookup__{port}__taken"], named)
            if issue is not None:
                self._looked_up(seen, port, issue)
        for name, sent in zip(self._config.dispatch_ports, model.sent, strict=True):
            self._checker.equal(f"{name} valid", seen[f"{name}__sent__valid"], int(sent is not None))
            if sent is not None:
                self._dispatched(seen, name, sent)
        self._words = self._read()
        self._cover()
        pipes = self._config.pipes
        credits = sum(self._given[pipe.name] << i for i, pipe in enumerate(pipes) if pipe.credits)
        model.clock(Inputs(cast(Issues, self._offered), credits=credits, first_port=self._first))
        for name, given in self._given.items():
            self._credits[name] -= given
        self._issues = [None if taken else issue for issue, taken in zip(self._issues, self._taken, strict=True)]
        for sent in model.sent:
            if sent is not None and pipes[sent["pipe"]].credits:
                self._credits[pipes[sent["pipe"]].name] += 1

    def _looked_up(self, seen: Observation, port: int, issue: dict[str, int]) -> None:
        """Compare the addresses of the registers that an instruction names, as far as metadata are looked up."""
        name, named = f"lookup__{port}__address", issue["reads"] | issue["writes"] << 3
        if name not in seen:
            return
        addresses = self._codecs[name].unpack(seen[name])
        for number, register in enumerate(("src0", "src1", "src2", "dst")):
            if named >> number & 1:
                expected = fields_of(self._config, self._addresses[issue["warp"] << 8 | issue[register]])
                self._checker.equal(f"address of {register}", addresses[str(number)], expected)

    def _requests(self, seen: Observation) -> None:
        """Compare the requests of each collector to the banks."""
        for client in range(self._config.collectors):
            asked = self._asked(client)
            bits = sum(1 << self._sides * bank + side for bank, side in asked)
            self._checker.equal(f"requests of {client}", seen[f"read__{client}__request"], bits)
            for (bank, side), read in asked.items():
                expected = {"row": read.address.row, "columns": read.columns}
                if self._config.has_sides:
                    expected["mask"] = self._model.register_file.form.encoding(read.metadata).mask
                for name, value in expected.items():
                    port = f"read__{client}__{name}"
                    if port in seen:
                        actual = self._codecs[port].unpack(seen[port])[str(bank)][str(side)]
                        self._checker.equal(f"{name} of {client}", actual, value)

    def _dispatched(self, seen: Observation, port: str, sent: dict[str, Any]) -> None:
        """Compare the instruction chosen in the previous cycle, with the operands that executing lanes read."""
        codec, word = self._codecs[f"{port}__sent__payload"], seen[f"{port}__sent__payload"]
        of_destination = [] if sent["writes"] else ["left", *(name for name, _ in stored_fields(self._config))]
        for name, _ in (*dispatch_fields(self._config), *trivial_fields(self._config)):
            if name in of_destination:
                continue
            self._checker.equal(name, codec.field(word, name), int(sent[name]))
        lanes = spread(sent["lanes"])
        for name, operand in zip("abc", sent["operands"], strict=True):
            self._checker.equal(f"operand {name}", codec.field(word, name) & lanes, operand & lanes)
        self._coverage.hit("dispatched")
        self._coverage.hit("a constant", sent["reads"] != 0b111 and sent["imm_slot"] != NO_SLOT)

    def _read(self) -> list[int]:
        """The banks' outputs for the collectors in the next cycle; columns that are not needed are random."""
        words = [0] * self._config.collectors
        file, noise = self._model.register_file, self._rng.getrandbits(WARP_BITS)
        for client, port in self._granted():
            read = self._asked(client)[port]
            word, used = file.banks[read.address.bank].data[read.address.row], (1 << WARP_BITS) - 1
            known = file.form.fields(read.metadata)
            if self._config.has_sides:
                mask = file.form.encoding(read.metadata).mask
                used = sum((1 << WARP_BITS // 4) - 1 << WARP_BITS // 4 * k for k in range(4) if mask >> k & 1)
                word = to_sub_banks(word, bool(known["left"]))
            else:
                word = reorder(word, known.get("reorder", 0))
            needed = used & sum(0xFFFFFFFF << 32 * c for c in range(COLUMNS) if read.columns >> c & 1)
            words[client] |= word & needed | noise & used & ~needed
        return words

    def _cover(self) -> None:
        hit, model = self._coverage.hit, self._model
        hit("taken", any(self._taken))
        hit("no collector is free", any(issue is not None and not taken
                                        for issue, taken in zip(self._issues, self._taken, strict=True)))
        if len(self._issues) > 1:
            hit("instructions of several ports", sum(self._taken) > 1)
            hit("the first port is not the lowest", self._first and any(self._taken))
        if len(self._config.collector_sets) > 1:
            first = self._first * self._config.issue_per_warp
            order = [(first + turn) % len(self._taken) for turn in range(len(self._taken))]
            offered = [self._taken[port] for port in order if self._offered[port] is not None]
            hit(*SETS, (False, True) in pairwise(offered))
        hit("a read waits", len(self._granted()) < sum(len(self._asked(one)) for one in range(self._config.collectors)))
        hit("a pipe without credits", 0 in model.operands.dispatcher.credits[1:])


@cocotb.test()
async def random_instructions(dut: cocotb.handle.SimHandleBase) -> None:
    """Random instructions, and credits that are scarce at times."""
    ports, checker = Ports(dut), Checker(minimum=5 * CYCLES)
    coverage = Coverage(*POINTS, *(SEVERAL if ports.config.issue_ports > 1 else ()),
                        *(SETS if len(ports.config.collector_sets) > 1 else ()))
    bench = StoreBench(ports, checker, coverage)
    control = tuple(f"{name}__control" for name in ports.config.dispatch_ports)
    await exercise(ports, bench.stimuli(), bench.check, checker, elsewhere=(*ELSEWHERE, *control))
    coverage.finish()


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("settings", [
    [*TWO_DISPATCH_PORTS, *FAST, "collectors=3", "coalescing=on", "alignment=write", "gating=cross_lane"],
    [],
    pytest.param(["coalescing=on", "alignment=write", "gating=cross_lane"], marks=pytest.mark.long),
    pytest.param(["bypass=bow_wr", "entries=4", "warps=2", "coalescing=on"], marks=pytest.mark.long),
    ["schedulers=4", "issue_ports=4", "collectors=4", *FAST, "coalescing=on", "gating=cross_lane"],
    pytest.param(["schedulers=2", "issue_ports=2", *SETS_BY_PIPE], marks=pytest.mark.long),
    pytest.param([*PAIRS, "coalescing=on", "gating=cross_lane"], marks=pytest.mark.long),
    pytest.param(["bypass=bow_wr", "entries=4", "warps=4", "schedulers=2", "issue_ports=2", "gating=in_lane"],
                 marks=pytest.mark.long),
    pytest.param(["coalescing=on", "layout=wid"], marks=pytest.mark.long),
    pytest.param(["bypass=bow", "entries=4", "warps=2", "gating=cross_lane"], marks=pytest.mark.long),
    pytest.param(["gating=in_lane"], marks=pytest.mark.long),
    pytest.param(["gating=cross_lane"], marks=pytest.mark.long),
], ids=lambda settings: " ".join(settings) or "baseline")
def test_store(settings: list[str], seed: int) -> None:
    config = SmConfig.preset("small").with_settings([*settings, "pipes.sfu.credits=3", "pipes.mem.credits=2"])
    runner.run(runner.build(config, "OperandStore"), "warploom.tb.operands.test_store", seed)
