"""Bench of the register file: what is written is read, and hardware does it when the golden register file does."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import result_fields
from warploom.arch.isa import NO_SLOT
from warploom.arch.mechanisms.baseline import PAIRS
from warploom.golden_model.byte_order import from_sub_banks
from warploom.golden_model.placement import Address
from warploom.golden_model.register_file.ports import Metadata, Port, Read
from warploom.golden_model.register_file.reorder import reorder
from warploom.golden_model.register_file.shared import SharedFile
from warploom.golden_model.register_file.single import SingleFile
from warploom.golden_model.words import ALL_LANES, merge, spread
from warploom.tb import runner, sparse
from warploom.tb.addresses import shown
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.narrow_values import narrow_word

CYCLES = 2500
REGISTERS = 4
"""Places that are looked up at once."""

ROWS = 8
"""Rows that are used, so that registers are written again and again."""

OBSERVED = ("probe", "observed")
"""Outputs that only show what happens inside: the bench of the datapath compares them, and every lockstep."""

POINTS = ("full write", "partial write", "a write waits", "a read waits", "reads of one collector in a row",
          "read and write of one bank", "looked up in the cycle after its write")

EARLY, LATE = ("size", "sign", "left"), ("zero", "reorder")


def register_file(config: SmConfig) -> Any:
    """The golden one of a configuration."""
    return SharedFile(config) if config.has_sides else SingleFile(config)


class Wanted(NamedTuple):
    """A read that a collector requests, and the lanes that it is for."""

    read: Read
    lanes: int


class RegisterFileBench:
    """Plays pipes, collectors and issue port; knows of each register what was written last, and keeps hazards: nothing
    is read or looked up while it is written, nor written while a read of it waits."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage, self._rng = ports.codecs, checker, coverage, source()
        config = self._config = ports.config
        self._model = register_file(config)
        self._sides = 1 + config.has_sides
        self._pipes = {name: f"result_{name}" if f"result_{name}__valid" in ports.codecs else "memory__result"
                       for name in config.writers}
        ports_, sided = config.issue_ports, config.has_sides and not config.stores_sides
        self._addresses = [Address(bank, row, sided and bool(row % 2), row % ports_, row // ports_)
                        for bank, row in product(range(config.banks), range(ROWS))]
        self._values = dict.fromkeys(self._addresses, 0)
        self._defined = dict.fromkeys(self._addresses, 0)  # lanes that are live, as far as they were written
        self._unwritten = self._rng.sample(self._addresses, len(self._addresses))
        self._offered: dict[str, dict[str, int] | None] = dict.fromkeys(self._pipes)
        self._writing: dict[int, Address] = {}  # by tag
        self._wanted: list[dict[Port, Wanted]] = [{} for _ in range(config.collectors)]
        self._arriving: list[tuple[int, Wanted]] = []
        # By port and number: late metadata that come in the next cycle.
        self._found: dict[tuple[int, int], dict[str, int]] = {}
        self._written: set[Address] = set()  # in the previous cycle
        self._looked_up: list[list[Address]] = []  # by issue input

    # ------------------------------------------------------------------ inputs

    def stimuli(self) -> Iterator[Stimulus]:
        """All registers are written in full, then anything is written and read."""
        patterns = {name: busy(self._rng, 0.5) for name in self._pipes}
        reads = [busy(self._rng, 0.6) for _ in self._wanted]
        for _ in range(CYCLES):
            for name, active in patterns.items():
                if self._offered[name] is None and next(active):
                    self._offered[name] = self._result()
            for wanted, active in zip(self._wanted, reads, strict=True):
                if not self._unwritten and next(active):
                    self._want(wanted)
            self._looked_up = [self._registers(number // self._config.issue_per_warp)
                               for number in range(self._config.issue_inputs)]
            yield {**self._results(), **self._reads(), **self._look_up()}

    def _result(self) -> dict[str, int] | None:
        """A result of any pipe, for a register that nobody else writes or waits to read."""
        rng, waiting = self._rng, {wanted.read.address for asked in self._wanted for wanted in asked.values()}
        address = self._unwritten.pop() if self._unwritten else rng.choice(self._addresses)
        tag = rng.choice([tag for tag in range(64) if tag not in self._writing])
        if address in self._writing.values() or address in waiting:
            return None
        first = not self._defined[address]
        lanes = ALL_LANES if first else sparse.lanes(rng)
        data = rng.choice((narrow_word, sparse.word))(rng, lanes)
        self._writing[tag] = address
        known = self._model.form.fields(self._metadata(address))
        fields = {name: rng.getrandbits(bits) for name, bits in result_fields(self._config)}
        return fields | shown(self._config, address) | known | {
            "tag": tag, "writes": 1 if first else rng.random() < 0.9, "lanes": lanes, "data": data,
            "full": int(first or rng.random() < 0.4),
        }

    def _registers(self, port: int) -> list[Address]:
        """Registers of warps that an issue port serves, which are looked up there."""
        rng, addresses = self._rng, [address for address in self._addresses if address.group == port]
        registers = [rng.choice(addresses) for _ in range(REGISTERS)]
        written = [address for address in self._written if address.group == port]
        if written and rng.random() < 0.5:
            registers[0] = written[0]
        return registers

    def _metadata(self, address: Address) -> Metadata:
        """What the golden register file knows of a register."""
        found = self._model.lookup({"reads": 1, "writes": 0, "imm_slot": NO_SLOT, "imm": 0}, [address] * 3, address)
        return found[0]

    def _want(self, wanted: dict[Port, Wanted]) -> None:
        """A collector requests one more register, if nobody writes it."""
        address, lanes = self._rng.choice(self._addresses), sparse.lanes(self._rng)
        metadata = self._metadata(address)
        (port,) = self._model.form.ports(address, metadata)
        if address not in self._writing.values() and port not in wanted:
            (columns,) = self._model.form.needed(lanes, [metadata])
            wanted[port] = Wanted(Read(0, address, metadata, columns), lanes)

    def _results(self) -> Stimulus:
        return {f"{port}__{name}": value for writer, port in self._pipes.items()
                for name, value in (("valid", self._offered[writer] is not None),
                                    ("payload", self._offered[writer] or {}))}

    def _reads(self) -> Stimulus:
        stimulus: dict[str, Any] = {}
        for client, asked in enumerate(self._wanted):
            shown: dict[str, dict[str, Any]] = {"row": {}, "mask": {}, "columns": {}}
            for (bank, side), (read, _) in asked.items():
                own = {"row": read.address.row, "columns": read.columns}
                own |= {"mask": self._model.form.encoding(read.metadata).mask} if self._config.has_sides else {}
                for name, value in own.items():
                    shown[name].setdefault(str(bank), {})[str(side)] = value
            stimulus[f"read__{client}__request"] = sum(1 << self._sides * bank + side for bank, side in asked)
            stimulus |= {port: value for name, value in shown.items()
                         if (port := f"read__{client}__{name}") in self._codecs}
        return stimulus

    def _look_up(self) -> Stimulus:
        stimulus: dict[str, Any] = {}
        for port, registers in enumerate(self._looked_up if "lookup__0__address" in self._codecs else ()):
            free = [address not in self._writing.values() for address in registers]
            addresses = [shown(self._config, address) for address in registers]
            stimulus |= {
                f"lookup__{port}__address": dict(zip("0123", addresses, strict=True)),
                f"lookup__{port}__taken": sum((may and self._rng.random() < 0.7) << k for k, may in enumerate(free)),
            }
        return stimulus

    # ------------------------------------------------------------------ outputs

    def check(self, seen: Observation) -> None:
        """Check one cycle, then step the golden register file through its end."""
        model = self._model
        for client, asked in enumerate(self._wanted):
            model.request(client, {port: wanted.read for port, wanted in asked.items()})
        model.arbitrate()
        self._words(seen)
        self._metadata_found(seen)
        accepted = [self._completion(seen, number, name) for number, name in enumerate(self._pipes)]
        self._grants(seen)
        model.write(tuple(accepted))
        model.arbiter.advance()

    def _words(self, seen: Observation) -> None:
        """What was granted in the previous cycle is what was written."""
        for client, (read, lanes) in self._arriving:
            word = self._in_order(seen[f"read__{client}__word"], read.metadata)
            defined = self._defined[read.address]
            actual = self._model.form.restore(word, read.metadata) & spread(lanes)
            self._checker.equal(f"bank {read.address.bank}, row {read.address.row}", actual & spread(defined),
                                self._values[read.address] & spread(lanes & defined))
        clients = [client for client, _ in self._arriving]
        self._coverage.hit("reads of one collector in a row",
                           any(wanted for client, wanted in enumerate(self._wanted) if client in clients))

    def _in_order(self, word: int, metadata: Metadata) -> int:
        """A word of the hardware in the order in which the golden register file has it."""
        known = self._model.form.fields(metadata)
        return from_sub_banks(word, bool(known["left"])) if self._config.has_sides else reorder(
            word, known.get("reorder", 0))

    def _metadata_found(self, seen: Observation) -> None:
        """Early metadata come at once, late ones of what was taken in the next cycle."""
        for (port, number), expected in self._found.items():
            name = f"lookup__{port}__late"
            late = self._codecs[name].unpack(seen[name])[str(number)]
            self._checker.equal("late metadata", {name: late[name] for name in expected}, expected)
        self._found = {}
        for port, registers in enumerate(self._looked_up if "lookup__0__address" in seen else ()):
            for number, address in enumerate(registers):
                known = self._model.form.fields(self._metadata(address))
                self._early(seen, port, number, known)
                if seen[f"lookup__{port}__taken"] >> number & 1:
                    if f"lookup__{port}__late" in seen:
                        self._found[port, number] = {name: known[name] for name in LATE if name in known}
                    self._coverage.hit("looked up in the cycle after its write", address in self._written)

    def _early(self, seen: Observation, port: int, number: int, known: Mapping[str, int]) -> None:
        """Early metadata of a register that is looked up at a port."""
        name = f"lookup__{port}__early"
        if name in seen:
            early = self._codecs[name].unpack(seen[name])[str(number)]
            self._checker.equal("early metadata", early, {name: int(known[name]) for name in EARLY})

    def _completion(self, seen: Observation, number: int, name: str) -> dict[str, int] | None:
        """The completion of a pipe; the result that it takes."""
        model, port = self._model, self._pipes[name]
        done = port.replace("result", "done")
        latch, ready, offered = model.done[number], bool(model.ready[number]), self._offered[name]
        self._checker.equal(f"{name} done", seen[f"{done}__valid"], int(latch is not None))
        if f"{port}__ready" in seen:
            self._checker.equal(f"{name} ready", seen[f"{port}__ready"], int(ready))
        if latch is not None:
            actual = self._codecs[f"{done}__payload"].unpack(seen[f"{done}__payload"])
            self._checker.equal(f"{name} done", actual, {"tag": latch["tag"], "pred": latch["pred"]})
        self._coverage.hit("a write waits", offered is not None and not ready)
        if offered is None or not ready:
            return None
        self._offered[name] = None
        return offered

    def _grants(self, seen: Observation) -> None:
        """Reads that are granted; then registers are written."""
        grants, granted = self._model.grants(), [0] * len(self._wanted)
        self._arriving = []
        for client, read, _ in grants:
            (bank, side) = next(port for port, wanted in self._wanted[client].items() if wanted.read is read)
            granted[client] |= 1 << self._sides * bank + side
            self._arriving.append((client, self._wanted[client].pop((bank, side))))
        for client, expected in enumerate(granted):
            self._checker.equal(f"grants of {client}", seen[f"read__{client}__grant"], expected)
        self._coverage.hit("a read waits", any(self._wanted))
        self._written = set()
        banks = {read.address.bank for _, read, _ in grants}
        for latch in filter(None, self._model.done):
            address = self._writing.pop(latch["tag"])
            if latch["writes"]:
                self._values[address] = merge(self._values[address], latch["data"], latch["lanes"])
                self._defined[address] = latch["lanes"] | (0 if latch["full"] else self._defined[address])
                self._written.add(address)
                self._coverage.hit("full write" if latch["full"] else "partial write")
                if self._config.has_sides:
                    self._coverage.hit("read and write of one bank", address.bank in banks)


@cocotb.test()
async def reads_and_writes(dut: cocotb.handle.SimHandleBase) -> None:
    """Random results, reads and look-ups."""
    ports, checker = Ports(dut), Checker(minimum=3 * CYCLES)
    wanted = [point for point in POINTS
              if (ports.config.has_sides or "one bank" not in point)
              and ("lookup__0__taken" in ports.codecs or "looked up" not in point)]
    coverage = Coverage(*wanted)
    bench = RegisterFileBench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker, elsewhere=OBSERVED)
    coverage.finish()


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("settings", [
    [],
    ["coalescing=on", "alignment=write", "gating=cross_lane"],
    pytest.param(["coalescing=on", "alignment=write", "gating=cross_lane", "schedulers=2", "issue_ports=2"],
                 marks=pytest.mark.long),
    pytest.param(["coalescing=on", "alignment=write", "gating=cross_lane", *PAIRS], marks=pytest.mark.long),
    pytest.param(["coalescing=on"], marks=pytest.mark.long),
    pytest.param(["gating=active", "layout=wid"], marks=pytest.mark.long),
    pytest.param(["gating=cross_lane"], marks=pytest.mark.long),
    pytest.param(["coalescing=on", "gating=in_lane"], marks=pytest.mark.long),
], ids=lambda settings: " ".join(settings) or "baseline")
def test_register_file(settings: list[str], seed: int) -> None:
    config = SmConfig.preset("small").with_settings(settings)
    runner.run(runner.build(config, "RegisterFile"), "warploom.tb.register_file.test_register_file", seed)
