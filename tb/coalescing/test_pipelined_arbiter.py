"""Bench of the coalescing-aware arbiter of selected reads: hardware against
`warploom.golden_model.coalescing.arbiter`; and no read waits for long without writes."""

from collections.abc import Iterator, Sequence
from random import Random

import cocotb
import pytest

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.interfaces import SIDES
from warploom.arch.mechanisms import Alignment
from warploom.arch.mechanisms.pipelined import SETTING
from warploom.golden_model.byte_order import sub_bank_mask
from warploom.golden_model.coalescing.arbiter import CoalescingArbiter, Read, Write, side_in_turn
from warploom.tb import pipes, runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.codec import join
from warploom.tb.narrow_values import some_widths
from warploom.tb.operands.test_collector import mask_of

CYCLES = 4000

POINTS = ("a write that waits keeps a read out", "a write keeps out one of two that overlap", "right before left",
         "left before right", "both sides of a bank", "a read beside a write", "idle")


def stimuli(config: SmConfig) -> Iterator[Stimulus]:
    """Random writes, some of which wait in their latches and request nothing, and reads that sides have selected."""
    rng, banks, sides = source(), config.banks, range(len(SIDES))
    activity = [busy(rng, 0.5) for _ in config.pipes]
    for _ in range(CYCLES):
        pending = [next(active) for active in activity]
        density, widths = rng.choice((0.3, 0.9)), some_widths(rng)
        written = rng.choice((range(banks), [rng.randrange(banks)]))  # writes meet in all ways only if many do
        yield {
            "write_request": mask_of(active and rng.random() < 0.8 for active in pending),
            "write_pending": mask_of(pending),
            "write_bank": join([rng.choice(written) for _ in pending], index_bits(banks)),
            "write_mask": join([_mask(rng, widths, rng.choice(sides)) for _ in pending], SUB_BANKS),
            "valid": sum((rng.random() < density) << port for port in range(banks * len(SIDES))),
            "mask": join([_mask(rng, widths, side) for _ in range(banks) for side in sides], SUB_BANKS),
        }


def _mask(rng: Random, widths: Sequence[Sequence[int]], side: int) -> int:
    return sub_bank_mask(rng.choice(widths[side]), side == 1)


REFUSED_TWICE = "refused twice in a row"
"""With an odd number of diagonals: the last one and the first one are even."""


class ArbiterCheck:
    """Grants equal those of the model, in which each side is read by a collector of its own; and no read waits in
    two consecutive cycles without a pending write in its bank, or in three if the number of diagonals is odd."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        config = ports.config
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._banks, self._paths = config.banks, config.write_paths
        self._model = CoalescingArbiter(config.banks, config.collectors, Alignment.REG, config.write_paths,
                                        config.rotating_paths, turn=side_in_turn)
        self._waited = dict[int, int]()  # by port

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        writes, pending = self._writes(seen, seen["write_request"]), self._writes(seen, seen["write_pending"])
        reads = [Read(*divmod(port, len(SIDES)), port, (seen["mask"] >> SUB_BANKS * port & 15).bit_count())
                 for port in range(len(SIDES) * self._banks) if seen["valid"] >> port & 1]
        expected = self._model.decide(writes, reads, pending=pending)
        check = self._checker.equal
        check("diagonal", seen["diagonal"], self._model.diagonal)
        check("first_path", seen.get("first_path", 0), self._paths.index(self._model.order[0]))
        check("write_grant", seen["write_grant"], mask_of(expected.writes))
        check("grant", seen["grant"], sum(1 << read.collector for read in expected.reads))
        self._cover(reads, expected.reads, writes, pending)
        written = {write[0] for write in filter(None, pending)}
        self._waited = {read.collector: self._waited.get(read.collector, 0) + 1 for read in reads
                        if read not in expected.reads and read.bank not in written}
        longest = max(self._waited.values(), default=0)
        self._checker.holds("no read starves", longest < 2 + self._model.size % 2)
        if self._model.size % 2:
            self._coverage.hit(REFUSED_TWICE, longest == 2)
        self._model.advance()

    def _writes(self, seen: Observation, writers: int) -> list[Write | None]:
        """The writes of these writers."""
        banks, masks = (self._codecs[name].array(seen[name]) for name in ("write_bank", "write_mask"))
        return [(bank, mask >> 3, mask.bit_count()) if writers >> i & 1 else None
                for i, (bank, mask) in enumerate(zip(banks, masks, strict=True))]

    def _cover(self, reads: Sequence[Read], granted: Sequence[Read], writes: Sequence[Write | None],
               pending: Sequence[Write | None]) -> None:
        hit, waits = self._coverage.hit, [write for write, asks in zip(pending, writes, strict=True) if not asks]
        hit("idle", not reads and not any(pending))
        hit("a read beside a write", any(write and write[0] == read.bank for write in writes for read in granted))
        hit("a write that waits keeps a read out", any(
            write and write[0] == read.bank and sub_bank_mask(write[2], write[1] == 1) & read.mask
            for write in waits for read in reads))
        for right in (read for read in reads if read.side == 0):
            for left in (read for read in reads if read.side == 1 and read.bank == right.bank):
                served = right in granted, left in granted
                hit("both sides of a bank", served == (True, True))
                if right.mask & left.mask:
                    free = not any(write and write[0] == right.bank for write in pending)
                    hit("right before left", free and served == (True, False))
                    hit("left before right", free and served == (False, True))
                    hit("a write keeps out one of two that overlap", not free and any(served))


@cocotb.test()
async def random_requests(dut: cocotb.handle.SimHandleBase) -> None:
    """Writes and reads of sub-banks."""
    ports, checker = Ports(dut), Checker(minimum=4 * CYCLES)
    is_odd = max(ports.config.banks, ports.config.collectors) % 2
    coverage = Coverage(*POINTS, *([REFUSED_TWICE] if is_odd else []))
    await exercise(ports, stimuli(ports.config), ArbiterCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize(("preset", "settings"), [("small", ()), ("narrow", ()), ("small", ("warps=5",))],
                         ids=["small", "narrow", "odd"])
def test_arbiter(preset: str, settings: Sequence[str], seed: int) -> None:
    _run(preset, settings, seed)


@pytest.mark.rtl
def test_write_paths_that_take_turns(seed: int) -> None:
    _run("small", pipes.TWO_SP, seed)


def _run(preset: str, settings: Sequence[str], seed: int) -> None:
    config = SmConfig.preset(preset).with_settings(["bypass=bow", "coalescing=on", SETTING, *settings])
    made = runner.build(config, "PipelinedCoalescingArbiter")
    runner.run(made, "warploom.tb.coalescing.test_pipelined_arbiter", seed)
