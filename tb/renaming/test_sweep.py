"""Bench of the sweep: hardware against `warploom.golden_model.renaming.sweep`. The bench plays table and lists."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.layout import address
from warploom.arch.mechanisms import Layout
from warploom.golden_model.renaming.lists import Kind, Lists
from warploom.golden_model.renaming.ownership import Ownership
from warploom.golden_model.renaming.sweep import Sweep
from warploom.golden_model.renaming.table import Table
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source

CYCLES, LAUNCHES = 700, 6
"""Cycles of a launch in which warps begin, after which all are swept; and how many launches there are."""

SETTINGS = ("sp.result_queue=2", "renaming=cmos_first", "rows=32")
POINTS = ("several slots wait", "retires while another one is swept", "retires as another one ends",
          "an instruction delays a step", "a row waits for one that was read", "steps in successive cycles",
          "a step finds a register", "a step finds nothing", "a slot without registers")

Place = tuple[int, int]
"""Bank and virtual row of a register."""


class SweepBench:
    """Warps get registers and retire. What a step finds is no longer mapped, and its rows enter their lists in cycles
    in which no row that was read does."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._ports, self._config, self._codecs, self._rng = ports, ports.config, ports.codecs, source()
        self._checker, self._coverage = checker, coverage
        self._everywhere = ports.config.layout is Layout.WSHIFT
        self._begin(1)

    def _begin(self, stride: int) -> None:
        """A launch, for which nothing is mapped."""
        config, self._stride = self._config, stride
        self._table, self._lists, self._ownership = Table(config), Lists(config, config.rows), Ownership(config)
        self._model = Sweep(config, stride, self._table, self._lists, self._ownership)
        self._mapped: dict[Place, int] = {}  # the slot of each register that is mapped
        self._running: set[int] = set()
        self._stepped: set[Place] = set()  # in the cycle before
        self._waiting: set[int] = set()  # banks of which a row has not entered
        self._released: set[int] = set()  # banks in which a row that was read enters
        self._retired = self._sweeping = 0  # in the cycle before

    # ------------------------------------------------------------------ inputs

    def stimuli(self) -> Iterator[Stimulus]:
        """Launches of several strides, with few or many warps that end."""
        offered, reads = busy(self._rng, 0.4), [busy(self._rng, 0.3) for _ in range(self._config.banks)]
        slots = self._config.warps if self._everywhere else -(-self._config.warps // self._config.banks)
        most = self._config.rows // slots
        for launch in range(LAUNCHES):
            self._begin((most, 1)[launch] if launch < 2 else self._rng.randint(1, most))
            chance, cycle = (0.05, 0.01, 0.3)[launch % 3], 0
            while cycle < CYCLES or self._running or self._ports.peek("sweeping"):
                if cycle < CYCLES:
                    self._start()
                retired = {slot for slot in self._running if self._rng.random() < chance}
                self._running -= retired
                self._released = {bank for bank, active in enumerate(reads) if next(active)}
                found = self._stepped & self._mapped.keys()
                self._waiting |= {bank for bank, _ in found}
                yield {"stride": self._stride, "offered": next(offered), "retired": sum(1 << slot for slot in retired),
                       "waits": bool(self._waiting), "left": bool(self._waiting & self._released)}
                cycle += 1

    def _start(self) -> None:
        """A warp starts in a slot that is free: some of its registers are mapped, or none."""
        slot = self._rng.randrange(self._config.warps)
        if slot in self._running or self._ports.peek("sweeping") >> slot & 1:
            return
        self._running.add(slot)
        share = self._rng.choice((0, 0.3, 1))
        for register in range(self._stride * (self._config.banks if self._everywhere else 1)):
            bank, virtual = address(self._config, self._stride, slot, register)
            row = self._lists.shows(bank, Kind.CMOS)
            if self._rng.random() < share and row is not None:
                self._lists.take(bank, Kind.CMOS)
                self._ownership.given(bank, row)
                self._table.assign(bank, virtual, row)
                self._mapped[bank, virtual] = slot

    # ------------------------------------------------------------------ checks

    def check(self, seen: Observation) -> None:
        """The slots that are swept are those of the model, and so are their registers; no other slot that has ended has
        registers. Then the cycle ends."""
        found = self._stepped & self._mapped.keys()
        self._checker.equal("sweeping", seen["sweeping"], self._model.sweeping)
        self._cover(seen, found)
        for place in found:
            del self._mapped[place]
        self._stepped = {(bank, seen["row"]) for bank in range(self._config.banks) if seen["step"] >> bank & 1}
        self._model.clock(retired=seen["retired"], offered=bool(seen["offered"]), released=self._released)
        self._checker.equal("registers", set(self._mapped), {(bank, row) for bank, row, _ in self._table.mapped()})
        ending = seen["sweeping"] | seen["retired"]
        self._checker.holds("a slot that is not swept has no registers", all(
            slot in self._running or ending >> slot & 1 for slot in self._mapped.values()))
        self._waiting &= self._released
        self._lists.clock()
        self._retired, self._sweeping = seen["retired"], seen["sweeping"]

    def _cover(self, seen: Observation, found: set[Place]) -> None:
        hit, sweeping, before = self._coverage.hit, seen["sweeping"], self._stepped
        hit("several slots wait", sweeping & sweeping - 1)
        hit("retires while another one is swept", seen["retired"] and sweeping)
        hit("retires as another one ends", self._retired and self._sweeping & ~sweeping)
        hit("an instruction delays a step", sweeping and seen["offered"] and not seen["waits"])
        hit("a row waits for one that was read", seen["left"])
        hit("steps in successive cycles", seen["step"] and before)
        hit("a step finds a register", found)
        hit("a step finds nothing", before and not found)
        hit("a slot without registers", any(sweeping >> slot & 1 and slot not in self._mapped.values()
                                            for slot in range(self._config.warps)))


@cocotb.test()
async def random_warps(dut: cocotb.handle.SimHandleBase) -> None:
    """Random warps, which end at random."""
    ports = Ports(dut)
    checker, coverage = Checker(minimum=CYCLES * LAUNCHES), Coverage(*POINTS)
    bench = SweepBench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("settings", [("layout=wshift",), ("layout=wid", "banks=4")], ids=" ".join)
def test_sweep(settings: tuple[str, ...], seed: int) -> None:
    config = SmConfig.preset("small").with_settings([*SETTINGS, *settings])
    runner.run(runner.build(config, "Sweep"), "warploom.tb.renaming.test_sweep", seed)
