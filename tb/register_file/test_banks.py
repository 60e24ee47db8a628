"""Bench of the banks: grants are those of the golden arbiter, and stored words return to the collectors that were
granted them."""

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import cocotb
import pytest

from warploom.arch.config import LANES, SUB_BANKS, SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.golden_model.byte_order import byte_mask, sub_bank_mask
from warploom.golden_model.coalescing.arbiter import CoalescingArbiter, Read
from warploom.golden_model.coalescing.slow_arbiter import SlowCoalescingArbiter
from warploom.golden_model.slow_arbiter import SlowArbiter
from warploom.golden_model.words import ALL_LANES, spread
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.register_file.test_register_file import OBSERVED, register_file

CYCLES = 3000
ROWS = 8
"""Rows that are used, so that they are read and written again and again."""

SLICE = (1 << WARP_BITS // SUB_BANKS) - 1

POINTS = ("a write waits", "a read waits", "two accesses of one bank", "two words for one collector")


class Access(NamedTuple):
    """An access of a bank: row, width in bytes on its side, and for a read the columns that it needs."""

    row: int
    width: int
    columns: int = ALL_LANES


class BanksBench:
    """Random reads and writes. The bench stores a word for each row, in the byte order of the sub-banks."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._config, self._codecs = ports.config, ports.codecs
        self._checker, self._coverage, self._rng = checker, coverage, source()
        self._arbiter = self._make_arbiter()
        self._sides = 1 + ports.config.has_sides
        self._stored = dict.fromkeys(product(range(ports.config.banks), range(ROWS)), 0)
        self._unwritten, self._filled = [*self._stored], set[tuple[int, int]]()  # rows not written, and written
        self._writes: list[tuple[int, int, Access] | None] = [None] * len(ports.config.pipes)  # bank, side
        self._reads: list[dict[tuple[int, int], Access]] = [{} for _ in range(ports.config.collectors)]
        self._granted: list[tuple[int, int, int, Access]] = []  # collector, bank, side of the previous cycle
        self._decided: Any = None

    def _make_arbiter(self) -> Any:
        """The golden arbiter of this bench's requests."""
        config = self._config
        if not config.tfet_rows and config.bank_ports == 1:
            return register_file(config).arbiter
        if not config.has_sides:
            return SlowArbiter(config, self._writes_slowly,
                               lambda bank, client: self._is_slow(self._reads[client][bank, 0]))
        inside = CoalescingArbiter(config.banks, config.collectors, config.alignment, config.write_paths,
                                   config.rotating_paths)
        return SlowCoalescingArbiter(inside, self._writes_slowly,
                                     lambda read: self._is_slow(self._reads[read.collector][read[:2]]))

    def _writes_slowly(self, writer: int) -> bool:
        write = self._writes[writer]
        return write is not None and self._is_slow(write[2])

    def _is_slow(self, access: Access) -> bool:
        return access.row >= self._config.cmos_rows

    # ------------------------------------------------------------------ inputs

    def stimuli(self) -> Iterator[Stimulus]:
        """All rows are written in full; then random writes and reads."""
        writes, reads = busy(self._rng, 0.5), busy(self._rng, 0.6)
        for _ in range(CYCLES):
            for writer, asked in enumerate(self._writes):
                if asked is None and next(writes):
                    self._writes[writer] = self._write()
            for wanted in self._reads:
                if len(self._filled) == len(self._stored) and next(reads):
                    port = self._rng.randrange(self._config.banks), self._rng.randrange(self._sides)
                    access = self._access(self._rng.randrange(ROWS))
                    if (port[0], access.row) not in self._written():
                        wanted.setdefault(port, access)
            self._decided = self._decide()
            yield {**self._write_port(), **self._read_ports()}

    def _write(self) -> tuple[int, int, Access] | None:
        side = self._rng.randrange(self._sides)
        if self._unwritten:
            bank, row = self._unwritten.pop()
            return bank, side, Access(row, SUB_BANKS)
        bank, row = self._rng.choice([*self._stored])
        if (bank, row) not in self._filled or (bank, row) in self._read():
            return None
        return bank, side, self._access(row)

    def _written(self) -> set[tuple[int, int]]:
        """Bank and row of each write, if a bank may take a read in the same cycle: it never has the same row."""
        return {(write[0], write[2].row) for write in self._writes if write and self._config.bank_ports == 2}

    def _read(self) -> set[tuple[int, int]]:
        """Likewise of each read."""
        return {(bank, access.row) for reads in self._reads for (bank, _), access in reads.items()
                if self._config.bank_ports == 2}

    def _access(self, row: int) -> Access:
        width = self._rng.randint(1, SUB_BANKS) if self._config.has_sides else SUB_BANKS
        needed = self._rng.getrandbits(LANES) if self._config.gates_columns else ALL_LANES
        return Access(row, width, needed)

    def _decide(self) -> tuple[list[bool], list[tuple[int, int, int]]]:
        """Which writers, and which reads (collector, bank, side), are granted."""
        if self._config.has_sides:
            asked = [None if write is None else (write[0], write[1], write[2].width) for write in self._writes]
            wanted = [Read(bank, side, client, access.width) for client, reads in enumerate(self._reads)
                      for (bank, side), access in reads.items()]
            decision = self._arbiter.decide(asked, wanted)
            return list(decision.writes), [(read.collector, read.bank, read.side) for read in decision.reads]
        masks = [sum(((bank, 0) in reads) << client for client, reads in enumerate(self._reads))
                 for bank in range(self._config.banks)]
        decision = self._arbiter.decide([None if write is None else write[0] for write in self._writes], masks)
        return list(decision.writes), [(client, bank, 0) for bank, client in decision.reads]

    def _write_port(self) -> Stimulus:
        """Requests, and the data of those that are granted."""
        port: dict[str, Any] = {"request": sum((write is not None) << i for i, write in enumerate(self._writes))}
        banks, masks = {}, {}
        access: dict[str, dict[str, Any]] = {}
        data, enables = ({str(bank): 0 for bank in range(self._config.banks)} for _ in range(2))
        by_lanes = "write__lanes" in self._codecs
        for writer, write in enumerate(self._writes):
            if write is None:
                continue
            bank, side, asked = write
            mask = sub_bank_mask(asked.width, side == 1)
            banks[str(writer)], masks[str(writer)] = bank, mask
            if not self._decided[0][writer]:
                continue
            access.setdefault(str(bank), {})[str(side)] = {"enable": 1, "row": asked.row} | (
                {"mask": mask} if self._config.has_sides else {})
            used = sum(SLICE << WARP_BITS // SUB_BANKS * k for k in range(SUB_BANKS) if mask >> k & 1)
            data[str(bank)] |= self._rng.getrandbits(WARP_BITS) & used
            bits = LANES if by_lanes else LANES * SUB_BANKS
            full = (1 << bits) - 1 if (bank, asked.row) not in self._filled else self._rng.getrandbits(bits)
            enables[str(bank)] |= full if by_lanes else full & sum(
                ALL_LANES << LANES * k for k in range(SUB_BANKS) if mask >> k & 1)
        port |= {"bank": banks, "access": access, "data": data, "lanes" if by_lanes else "byte_enable": enables}
        if self._config.has_sides:
            port["mask"] = masks
        if self._config.tfet_rows:
            port["slow"] = sum(self._writes_slowly(writer) << writer for writer in range(len(self._writes)))
        if self._config.tfet_rows and self._config.has_sides:
            port["left"] = sum(write[1] << writer for writer, write in enumerate(self._writes) if write)
        return {f"write__{name}": value for name, value in port.items()}

    def _read_ports(self) -> Stimulus:
        stimulus: dict[str, Any] = {}
        for client, reads in enumerate(self._reads):
            shown: dict[str, dict[str, Any]] = {"row": {}, "mask": {}, "columns": {}}
            for (bank, side), access in reads.items():
                mask = sub_bank_mask(access.width, side == 1)
                own = {"row": access.row, "mask": mask, "columns": self._needed(side, access)}
                for name, value in own.items():
                    shown[name].setdefault(str(bank), {})[str(side)] = value
            stimulus[f"read__{client}__request"] = sum(1 << self._sides * bank + side for bank, side in reads)
            stimulus |= {port: value for name, value in shown.items()
                         if (port := f"read__{client}__{name}") in self._codecs}
        return stimulus

    def _needed(self, side: int, access: Access) -> int:
        """The columns that a read needs, in its sub-banks."""
        mask = sub_bank_mask(access.width, side == 1) if self._config.has_sides else (1 << SUB_BANKS) - 1
        return access.columns & sum(0xFF << 8 * k for k in range(SUB_BANKS) if mask >> k & 1)

    # ------------------------------------------------------------------ outputs

    def check(self, seen: Observation) -> None:
        """Check one cycle, then store what is written."""
        equal, (writes, reads) = self._checker.equal, self._decided
        for client, bank, side, access in self._granted:
            used = spread(self._needed(side, access))
            equal(f"bank {bank}, row {access.row}", seen[f"read__{client}__word"] & used,
                  self._stored[bank, access.row] & used)
        equal("write grants", seen["write__grant"], sum(granted << i for i, granted in enumerate(writes)))
        if self._config.tfet_rows:
            opened = [granted and self._writes_slowly(writer) for writer, granted in enumerate(writes)]
            equal("open writes", seen["write__open"], sum(is_open << writer for writer, is_open in enumerate(opened)))
        for client in range(self._config.collectors):
            bits = sum(1 << self._sides * bank + side for one, bank, side in reads if one == client)
            equal(f"grants of {client}", seen[f"read__{client}__grant"], bits)
        accesses = [bank for _, bank, _ in reads]
        self._granted = [(client, bank, side, self._reads[client].pop((bank, side))) for client, bank, side in reads]
        self._store(seen, writes, accesses)
        self._arbiter.advance()
        hit, clients = self._coverage.hit, [client for client, *_ in reads]
        hit("a write waits", any(self._writes))
        hit("a read waits", any(self._reads))
        if self._config.has_sides:
            hit("two accesses of one bank", len(accesses) > len(set(accesses)))
            hit("two words for one collector", len(clients) > len(set(clients)))
        if self._config.bank_ports == 2:
            hit("two accesses of one bank", len(accesses) > len(set(accesses)))
        if self._config.tfet_rows:
            hit("a slow row is read", any(self._is_slow(access) for *_, access in self._granted))

    def _store(self, seen: Observation, writes: list[bool], accesses: list[int]) -> None:
        """A write of this cycle is visible from the next one on."""
        words = self._codecs["write__data"].array(seen["write__data"])
        for writer, write in enumerate(self._writes):
            if write is None or not writes[writer]:
                continue
            bank, side, access = write
            if "write__lanes" in seen:
                bits = spread(self._codecs["write__lanes"].array(seen["write__lanes"])[bank])
            else:
                mask = sub_bank_mask(access.width, side == 1)
                enable = self._codecs["write__byte_enable"].array(seen["write__byte_enable"])[bank]
                bits = byte_mask(enable & sum(ALL_LANES << LANES * k for k in range(SUB_BANKS) if mask >> k & 1))
            self._stored[bank, access.row] = self._stored[bank, access.row] & ~bits | words[bank] & bits
            self._filled.add((bank, access.row))
            self._writes[writer] = None
            accesses.append(bank)


def points(config: SmConfig) -> list[str]:
    """Coverage points of a configuration."""
    shared = POINTS if config.has_sides else POINTS[:3] if config.bank_ports == 2 else POINTS[:2]
    return [*shared, *(["a slow row is read"] if config.tfet_rows else [])]


@cocotb.test()
async def random_accesses(dut: cocotb.handle.SimHandleBase) -> None:
    """Random reads and writes."""
    ports, checker = Ports(dut), Checker(minimum=3 * CYCLES)
    coverage = Coverage(*points(ports.config))
    bench = BanksBench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker, elsewhere=OBSERVED)
    coverage.finish()


@pytest.mark.sample(2)
@pytest.mark.rtl
@pytest.mark.parametrize("settings", [
    [],
    ["coalescing=on", "gating=active"],
    ["sp.result_queue=8", "tfet_rows=124", "bank_ports=2"],  # rows from 4 on are slow
    ["sp.result_queue=8", "tfet_rows=124", "coalescing=on"],
    pytest.param(["bank_ports=2", "gating=active"], marks=pytest.mark.long),
    pytest.param(["gating=active"], marks=pytest.mark.long),
    pytest.param(["coalescing=on"], marks=pytest.mark.long),
], ids=lambda settings: " ".join(settings) or "baseline")
def test_banks(settings: list[str], seed: int) -> None:
    config = SmConfig.preset("small").with_settings(settings)
    runner.run(runner.build(config, "Banks"), "warploom.tb.register_file.test_banks", seed)
