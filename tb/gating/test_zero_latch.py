"""Bench of the zero latch: hardware against `warploom.golden_model.register_file.zero_mask`, and [RADAIDEH], Fig.
4.4."""

from collections.abc import Iterator
from itertools import product

import cocotb
import pytest

from warploom.arch.config import GROUP, LANES, SmConfig
from warploom.arch.interfaces import WARP_BITS, stored_fields
from warploom.golden_model.register_file import width
from warploom.golden_model.register_file.width import BYTES
from warploom.golden_model.register_file.zero_mask import Interleaved, LaneOrder, Zero
from warploom.golden_model.words import ALL_LANES, join, spread
from warploom.tb import runner, sparse
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.gating.figures import FIG_4_4
from warploom.tb.narrow_values import encoding_of

CYCLES = 2000
FORMS = [[f"gating={gating}", f"coalescing={switch}"] for gating in ("in_lane", "cross_lane")
         for switch in ("off", "on")]


def stimuli(config: SmConfig) -> Iterator[Stimulus]:
    """Random results over random registers; some are not taken."""
    rng = source()
    for _ in range(CYCLES):
        lanes = sparse.lanes(rng)
        stored = {name: rng.getrandbits(bits) for name, bits in stored_fields(config)}
        yield {"take": rng.random() < 0.9, "data": sparse.word(rng, lanes), "lanes": lanes, "full": rng.random() < 0.4,
               "old": stored | sparse.old(rng, config)}


class LatchCheck:
    """Zero mask and R-bits equal the model's for the last result taken, and so do the bytes that are written by them
    and by `fill`. With them executing lanes read their results, even if the register was all ones before."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._config, self._codecs, self._checker, self._coverage = ports.config, ports.codecs, checker, coverage
        self._expected: int | None = None
        self._lanes, self._width, self._written = 0, BYTES, 0  # of the last result taken

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        if self._expected is not None:
            self._checker.equal("zero", seen["zero"], self._expected)
            if "fill" in seen:
                self._checker.equal("written", self._bytes(seen["zero"], seen["fill"]), self._written)
        if seen["take"]:
            old = self._codecs["old"].unpack(seen["old"])
            zero = self._renew(old, seen)
            self._expected = self._codecs["zero"].pack({name: getattr(zero, "mask" if name == "zero" else name)
                                                        for name in self._names()})
        self._coverage.hit("held", not seen["take"])

    def _names(self) -> list[str]:
        unpacked = self._codecs["zero"].unpack(0)
        return list(unpacked)

    def _bytes(self, packed: int, fill: int) -> int:
        """Ones in the bytes that write-back writes: of executing lanes and of filled granules, without zeros
        (docs/contract/stored_forms.md). Granule (g, k) has bit 8 k + g of the zero mask if registers are interleaved,
        otherwise 4 g + k in a reordered group; there, other groups have a bit for each lane."""
        zero = self._codecs["zero"].unpack(packed)
        mask = 0
        for lane, k in product(range(LANES), range(self._width)):
            group = lane // GROUP
            if "reorder" in zero:
                bit = GROUP * group + k if zero["reorder"] >> group & 1 else lane
            else:
                bit = LANES // GROUP * k + group
            if (self._lanes >> lane | fill >> bit) & ~zero["zero"] >> bit & 1:
                mask |= 0xFF << 8 * (BYTES * lane + k)
        return mask

    def _renew(self, old: dict[str, int], seen: Observation) -> Zero:
        """The model's zero mask for a result; the property of the mask."""
        known, word, lanes, full = sparse.zero_of(old), seen["data"], seen["lanes"], bool(seen["full"])
        mine, ones = spread(lanes), (1 << WARP_BITS) - 1
        if self._config.has_sides:
            encoding, rules = encoding_of(old | {"left": 0}), Interleaved(self._config.gating)
            stored = width.renew(encoding, word, lanes, full, False)
            rewrite = rules.renew(known, encoding, stored, word, lanes, full)
            read = rules.restore(rewrite.word | ones & ~rewrite.byte_mask, rewrite.zero, stored.encoding)
            self._width = stored.encoding.width
        else:
            order = LaneOrder(self._config.gating)
            rewrite = order.renew(known, word, lanes, full)
            read = order.restore(rewrite.word | ones & ~rewrite.byte_mask, rewrite.zero)
        self._lanes, self._written = lanes, rewrite.byte_mask
        self._checker.equal("executing lanes read", read & mine, word & mine)
        self._coverage.hit("full" if full else "partial")
        self._coverage.hit("changes what is known", rewrite.zero != known)
        return rewrite.zero


@cocotb.test()
async def random_results(dut: cocotb.handle.SimHandleBase) -> None:
    """Random results."""
    ports, checker = Ports(dut), Checker(minimum=CYCLES)
    coverage = Coverage("full", "partial", "held", "changes what is known")
    await exercise(ports, stimuli(ports.config), LatchCheck(ports, checker, coverage), checker)
    coverage.finish()


@cocotb.test()
async def fig_4_4(dut: cocotb.handle.SimHandleBase) -> None:
    """The values of the figure in every group: the mask that is selected, and the R-bit."""
    ports, checker = Ports(dut), Checker(minimum=2 * len(FIG_4_4))
    results = [{"take": 1, "data": join(example.lanes * (LANES // GROUP)), "lanes": ALL_LANES, "full": 1}
               for example in FIG_4_4]
    expected = iter([None, *FIG_4_4])

    def check(seen: Observation) -> None:
        if (example := next(expected)) is not None:
            zero = ports.codecs["zero"].unpack(seen["zero"])
            mask = example.cross_lane if example.reorder else example.in_lane
            checker.equal("zero", zero["zero"], mask * (ALL_LANES // 15))
            checker.equal("reorder", zero["reorder"], example.reorder * 0xFF)

    await exercise(ports, [*results, {}], check, checker, partial=True)


@pytest.mark.sample(2)
@pytest.mark.rtl
@pytest.mark.parametrize("settings", FORMS, ids=" ".join)
def test_zero_latch(settings: list[str], seed: int) -> None:
    made = runner.build(SmConfig.preset("small").with_settings(settings), "ZeroLatch")
    runner.run(made, "warploom.tb.gating.test_zero_latch", seed, testcase="random_results")


@pytest.mark.rtl
def test_000_fig_4_4(seed: int) -> None:
    made = runner.build(SmConfig.preset("small").with_settings(["gating=cross_lane"]), "ZeroLatch")
    runner.run(made, "warploom.tb.gating.test_zero_latch", seed, testcase="fig_4_4")
