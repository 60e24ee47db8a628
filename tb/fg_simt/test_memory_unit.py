"""Bench of the memory unit: hardware against `warploom.golden_model.fg_simt.memory_unit`.

The bench is the parts around it: it issues and brings rows, takes requests and answers them, reads loaded words, and
stops kernels.
"""

import random
from collections import deque
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import cocotb
import numpy as np
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.micro import Kind
from warploom.arch.fg_simt.sizes import SLWQ_ENTRIES, SMRRQ_ENTRIES
from warploom.arch.isa import Op
from warploom.arch.l1 import LINE_BYTES, Operation
from warploom.golden_model.fg_simt import memory_unit as golden
from warploom.golden_model.fg_simt.cached_memory import ATOMICS
from warploom.golden_model.fg_simt.lanes import size_of
from warploom.golden_model.fg_simt.memory import Answer, Request
from warploom.rtl.fg_simt import memory_unit as hardware
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.fg_simt.accesses import Memory, random_access
from warploom.tb.fg_simt.eight_lanes import GROUPS, LANES, ROWS, WIDE_PORT

BENCH = "warploom.tb.fg_simt.test_memory_unit"
CYCLES = 20000
NAMES = {**{lane: f"narrow__{lane}" for lane in range(LANES)}, WIDE_PORT: "wide"}
RESPONSES = {port: name.replace("narrow", "narrow_response").replace("wide", "wide_response")
             for port, name in NAMES.items()}

POINTS = ("no entry is free", "eight rows", "a narrow row waits for wide ones", "a wide row waits for narrow ones",
          "lanes of a row wait", "wide store", "atomic", "no lane executes", "five lines", "lines with holes",
          "eight ports answer", "fault of lanes", "access beside a fault", "fault of an answer", "faults of both",
          "stopped while a request waits", "stopped in a vector load", "stopped between lines of a vector load",
          "a vector load is the first one after that", "stopped as a row with the first fault comes",
          "errors of several instructions", "four loads wait", "a load ends while another comes")


class Outside:
    """The memory: takes requests at random, and answers them in the order of each port, with random data."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._rests = busy(rng, 0.5)  # in some cycles nothing is answered
        self._waits = {port: busy(rng, 0.6) for port in NAMES}
        self._answers = {port: busy(rng, 0.5) for port in NAMES}
        self._waiting: dict[int, deque[Request]] = {port: deque() for port in NAMES}
        self._seen: Observation = {}
        self._ports: dict[str, Any] = {}

    def stimulus(self, *, everywhere: bool, errors: float) -> Stimulus:
        """The inputs of a cycle; `everywhere` answers as many ports as possible. `errors` is the share of errors."""
        made: dict[str, Any] = {}
        rests = next(self._rests)
        for port, name in NAMES.items():
            made[f"{name}__ready"] = int(next(self._waits[port]))
            valid = (everywhere or (next(self._answers[port]) and not rests)) and bool(self._waiting[port])
            made[f"{RESPONSES[port]}__valid"] = int(valid)
            bits = 8 * LINE_BYTES if port == WIDE_PORT else 32
            made[f"{RESPONSES[port]}__payload"] = {
                "data": self._rng.getrandbits(bits), "error": int(self._rng.random() < errors)}
        return made

    def sample(self, ports: Ports, seen: Observation) -> None:
        """What the model is to see of a cycle."""
        self._seen, self._ports = seen, ports.codecs

    def ready(self, port: int) -> bool:
        """Whether a port takes a request in this cycle."""
        return bool(self._seen[f"{NAMES[port]}__ready"])

    def request(self, port: int, request: Request) -> None:
        """A request that is taken."""
        self._waiting[port].append(request)

    def answer(self, port: int) -> Answer | None:
        """The answer on a port in this cycle."""
        name = RESPONSES[port]
        if not self._seen[f"{name}__valid"]:
            return None
        self._waiting[port].popleft()
        payload = self._ports[f"{name}__payload"].unpack(self._seen[f"{name}__payload"])
        bytes_of = LINE_BYTES if port == WIDE_PORT else 4
        return Answer(payload["data"].to_bytes(bytes_of, "little"), bool(payload["error"]))


class Loads:
    """Loads that wait for their write-back, by their entries of the SLWQ, and the one whose words are read."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[int, golden.Access]] = deque()
        self._reads: deque[tuple[int, int, golden.Access]] = deque()
        self.next_entry = 0

    @property
    def is_full(self) -> bool:
        """Whether no entry is free."""
        return len(self.waiting) == SLWQ_ENTRIES

    def enter(self, access: golden.Access) -> None:
        """A load takes an entry."""
        self.waiting.append((self.next_entry, access))
        self.next_entry = (self.next_entry + 1) % SLWQ_ENTRIES

    def read(self) -> tuple[int, int, golden.Access] | None:
        """The entry, group and load whose words are read in this cycle."""
        return self._reads.popleft() if self._reads else None

    def write_back(self) -> None:
        """The first load is written back in the next four cycles, if it is complete."""
        if self.waiting and not self.waiting[0][1].left and not self._reads:
            entry, access = self.waiting.popleft()
            self._reads.extend((entry, group, access) for group in range(GROUPS))


class Bench:
    """Stimuli and checks."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._ports, self._checker, self._hit, self._rng = ports, checker, coverage.hit, source()
        self._outside = Outside(self._rng)
        self._model = golden.MemoryUnit(self._outside)
        self._loads, self._rows = Loads(), dict[int, dict[str, Any]]()
        self._issued: tuple[Memory, int] | None = None
        self._read: tuple[int, int, golden.Access] | None = None
        self._cycle = self._free = 0
        self._reserved = 0  # rows of the SMRQ, from issue on until they are freed, as the issue unit counts them
        self._stopped = False  # nobody counts freed rows between a discard and the next kernel
        self._faults = self._errors = 0.0
        self._faulty = False  # the row that has come in the cycle before has lanes with a fault
        self._cut = False  # nothing has issued since a stop between lines of a vector load

    def stimuli(self) -> Iterator[Stimulus]:
        """Phases without faults, then a kernel that is stopped, again and again."""
        issues, ends = busy(self._rng, 0.6), busy(self._rng, 0.5)
        endings = cycle((  # shares of lanes and of answers with a fault, and when to stop if not at random
            (0.3, 0.0, self._is_first_fault), (0.3, 0.0, None), (0.5, 0.1, None), (0.0, 0.1, None), (0.0, 1e-3, None),
            (0.0, 1e-3, None), (0.0, 0.0, self._is_between_lines)))
        while self._cycle < CYCLES:
            self._faults, self._errors = 0.0, 0.0
            for _ in range(self._rng.randrange(200)):
                yield self._inputs(issues=next(issues), ends=next(ends))
            self._faults, self._errors, stops = next(endings)
            for _ in range(self._rng.randrange(200)):
                if stops is not None and stops():
                    break
                yield self._inputs(issues=next(issues), ends=next(ends))
            self._cut = self._is_between_lines()
            yield self._inputs(issues=not self._cut and next(issues), discard=1)
            self._loads.waiting.clear()
            self._rows.clear()
            while not self._model.is_quiet():
                yield self._inputs()
            yield self._inputs(clear=1)

    def _is_between_lines(self) -> bool:
        """Whether some lines of a vector load have been sent, and another one is to begin."""
        row = self._model._first
        if row is None or row.offers or row.access.micro.kind is not Kind.VECTOR:
            return False
        return len(row.threads) < int(np.count_nonzero(row.access.lanes.executing))

    def _is_first_fault(self) -> bool:
        """Whether a row with a fault comes in this cycle, and there was none."""
        row = self._rows.get(self._cycle)
        return row is not None and any(row["cause"].values()) and self._model.fault is self._model._found is None

    def _inputs(self, *, issues: bool = False, ends: bool = False, discard: int = 0, clear: int = 0) -> Stimulus:
        row = self._rows.pop(self._cycle, None)
        self._read = self._loads.read()
        entry, group, _ = self._read or (0, 0, None)
        faulty, self._faulty = self._faulty, row is not None and any(row["cause"].values())
        everywhere = self._rng.random() < (0.8 if faulty else 0.05)
        errors = 1.0 if everywhere and (faulty or self._errors) else self._errors
        made = {**self._outside.stimulus(everywhere=everywhere, errors=errors),
                "place": GROUPS * entry + group, "discard": discard, "clear": clear,
                "arrive": int(row is not None), "arriving": row or 0, **(self._issue() if issues else {})}
        if ends:
            self._loads.write_back()
        return made

    def _issue(self) -> Stimulus:
        """A memory instruction, if there is room for it."""
        new = random_access(self._rng, faults=self._faults)
        while self._cut and not new.is_vector:
            new = random_access(self._rng, faults=self._faults)
        if self._cycle < self._free or not self._model.takes(1 if new.is_vector else GROUPS):
            return {}
        if new.loads and self._loads.is_full:
            return {}
        entry = self._loads.next_entry
        rows = new.rows(entry)
        self._free = self._cycle + len(rows)
        self._rows |= {self._cycle + 2 + number: row for number, row in enumerate(rows)}
        self._issued = new, entry
        self._hit("a vector load is the first one after that", self._cut)
        self._cut = False
        return {"issue": 1, "issued": {"loads": int(new.loads), "vector": int(new.is_vector), "entry": entry}}

    # ------------------------------------------------------------ checks

    def check(self, seen: Observation) -> None:
        """Check one cycle."""
        model = self._model
        self._check_registers(seen)
        self._count(seen)
        if self._issued is not None:
            new, _ = self._issued
            access = model.add(self._cycle, new.micro, new.lanes, new.data)
            if new.loads:
                self._loads.enter(access)
            self._reserved += 1 if new.is_vector else GROUPS
            self._issued = None
        self._reserved -= seen["freed"]
        if seen["discard"]:
            model.discard()
            self._loads.waiting.clear()
            self._stopped = True
        if seen["clear"]:
            model.reset()
            self._stopped, self._reserved = False, 0
        self._outside.sample(self._ports, seen)
        model.clock(self._cycle)
        for port in NAMES:
            self._check_request(port, seen, model.offered.get(port))
            self._checker.equal("answers are taken at once", seen[f"{RESPONSES[port]}__ready"], 1)
        if not self._stopped:
            self._checker.equal("rows to be freed", self._reserved, model.rows)
        self._cycle += 1

    def _check_registers(self, seen: Observation) -> None:
        model, equal = self._model, self._checker.equal
        equal("rows", seen["rows"], model.rows)
        equal("in flight", seen["in_flight"], model.in_flight)
        equal("quiet", seen["quiet"], int(model.is_quiet()))
        fault = self._ports.codecs["fault"].unpack(seen["fault"])
        expected = {"cause": int(model.fault.cause), "pc": model.fault.pc} if model.fault else {"cause": 0}
        equal("fault", {name: fault[name] for name in expected}, expected)
        equal("observed", self._ports.codecs["probe"].unpack(seen["probe"]),
              {name: value for name, value in zip(model.observed, model.observe(), strict=True) if name != "in_flight"})
        for entry, access in self._loads.waiting:
            equal(f"loaded {entry}", seen["loaded"] >> entry & 1, int(not access.left))
        if self._read is not None:
            self._check_words(seen, *self._read)

    def _check_words(self, seen: Observation, entry: int, group: int, access: golden.Access) -> None:
        """The words of a group of a load."""
        bits = (1 << 8 * size_of(access.micro.instruction)) - 1
        for lane, word in enumerate(self._ports.codecs["words"].array(seen["words"])):
            thread = LANES * group + lane
            if access.lanes.executing[thread] and not access.lanes.cause[thread]:
                self._checker.equal(f"word of thread {thread}", word & bits, int(access.words[thread]) & bits)

    def _check_request(self, port: int, seen: Observation, expected: Request | None) -> None:
        name, equal = NAMES[port], self._checker.equal
        equal(f"{name} valid", seen[f"{name}__valid"], int(expected is not None))
        if expected is None:
            return
        fields = self._ports.codecs[f"{name}__payload"].unpack(seen[f"{name}__payload"])
        equal(f"{name} address", fields["address"], expected.address)
        operation = Operation.WRITE if expected.enables else Operation.READ
        if expected.atom is not None:
            operation = ATOMICS[expected.atom, expected.kind]
        equal(f"{name} operation", fields["operation"], operation)
        if operation is Operation.WRITE:
            equal(f"{name} mask", fields["mask"], expected.enables)
        if operation is not Operation.READ:
            mask = sum(0xFF << 8 * byte for byte in range(LINE_BYTES) if expected.enables >> byte & 1)
            equal(f"{name} data", fields["data"] & mask, int.from_bytes(expected.data, "little") & mask)

    # ------------------------------------------------------------ coverage

    def _count(self, seen: Observation) -> None:
        model, hit = self._model, self._hit
        first = model._first
        full = len(model._entries) == SMRRQ_ENTRIES
        answers = [name for name in RESPONSES.values() if seen[f"{name}__valid"]]
        hit("no entry is free", first is not None and full)
        hit("eight rows", model.rows == ROWS)
        hit("eight ports answer", len(answers) >= LANES)
        hit("four loads wait", self._loads.is_full)
        hit("a load ends while another comes", self._read is not None and answers)
        if first is not None:
            self._count_row(seen, first, full=full)
        bad = [port for port, name in RESPONSES.items() if name in answers
               and self._ports.codecs[f"{name}__payload"].unpack(seen[f"{name}__payload"])["error"]]
        culprits = {model._pending[port][0][0].access for port in bad}
        lanes = model._found is not None
        clean = model.fault is None
        hit("fault of an answer", clean and bad)
        hit("fault of lanes", clean and lanes)
        hit("faults of both", clean and bad and lanes)
        hit("errors of several instructions", clean and len(culprits) > 1)
        hit("stopped as a row with the first fault comes",
            seen["discard"] and clean and self._faulty and not bad and not lanes)

    def _count_row(self, seen: Observation, row: golden.Row, *, full: bool) -> None:
        hit, begun, access = self._hit, bool(row.offers), row.access
        narrow, wide = self._model._outstanding[False], self._model._outstanding[True]
        vector, op = access.micro.kind is Kind.VECTOR, access.micro.instruction.op
        one_line = vector or self._model._coalesces(row)
        blocked = row.entry is None and bool(row.threads) and not full
        busy_there = (narrow if access.writes else self._model._writes[False]) if one_line else (
            wide if access.writes else self._model._writes[True])
        hit("a wide row waits for narrow ones", blocked and one_line and busy_there)
        hit("a narrow row waits for wide ones", blocked and not one_line and busy_there)
        hit("lanes of a row wait", begun and len(row.offers) > 1)
        hit("wide store", begun and WIDE_PORT in row.offers and access.writes)
        hit("access beside a fault", begun and access.lanes.cause.any())
        hit("atomic", begun and op in (Op.ATOM, Op.RED))
        hit("no lane executes", not row.threads and not begun)
        if vector and row.entry is None:
            threads = row.threads
            lines = {int(access.lanes.address[thread]) // LINE_BYTES for thread in threads}
            hit("five lines", len(lines) == 5)
            hit("lines with holes", len(threads) <= max(threads) - min(threads) and len(lines) > 1)
        hit("stopped while a request waits", seen["discard"] and begun)
        hit("stopped in a vector load", seen["discard"] and begun and vector and row.threads)
        hit("stopped between lines of a vector load", seen["discard"] and self._is_between_lines())


@cocotb.test()
async def random_accesses(dut: cocotb.handle.SimHandleBase) -> None:
    """All outputs of every cycle are the model's."""
    ports, checker, coverage = Ports(dut), Checker(minimum=15 * CYCLES), Coverage(*POINTS)
    bench = Bench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("fpga", [False, True])
def test_memory_unit(seed: int, fpga: bool) -> None:
    unit = hardware.MemoryUnit(probe=True)
    runner.run(runner.build(SmConfig.preset("small"), "MemoryUnit", component=unit, fpga=fpga), BENCH, seed)
