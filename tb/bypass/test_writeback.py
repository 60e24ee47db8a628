"""Bench of write-back with windows, on every register file: hardware against the golden ones, and rules of delivery."""

from collections.abc import Iterator
from typing import Any

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.isa import Pipe
from warploom.arch.mechanisms import Coalescing
from warploom.golden_model.coalescing.arbiter import CoalescingArbiter
from warploom.tb import runner, write_paths
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.coalescing import test_writeback as coalescing
from warploom.tb.gating import test_writeback as gating
from warploom.tb.register_file import test_writeback as plain

CYCLES = 3000
WARPS = 3
"""Results belong to few warps, so that collectors get two of them at once."""


class DeliveryCheck:
    """Checks look-ups, deliveries with their cycle and collector, and waiting latches; and what `writes` checks, the
    check of the write-back without windows, with its model. `taken` are the writers whose result was taken in the cycle
    that was checked last."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage, writes: Any) -> None:
        self._writes, self._model = writes, writes.model
        self._ports, self._equal, self._hit = ports, checker.equal, coverage.hit
        self._writers, self._paths = ports.config.writers, ports.config.write_paths
        self._to_register = [False] * len(self._writers)  # the latch holds a result that writes a register
        self._to_collector = [False] * len(self._writers)  # and that is to be delivered
        self._dropped = [False] * len(self._writers)  # or that has no row
        self.taken: list[str] = []

    def __call__(self, seen: Observation) -> None:
        """Check one cycle, then step the model through its end."""
        model, grants = self._model, [bool(seen["write__grant"] >> i & 1) for i in range(len(self._writers))]
        if self._ports.config.yields_to_pending:
            pending = sum(model.needs_bank(i) << i for i in range(len(self._writers)))
            self._equal("pending", seen["write__pending"], pending)
        waits = self._waits()
        model.held_back = sum(wait << i for i, wait in enumerate(waits))
        completes = model.ready(grants)
        for number in range(len(self._paths)):
            writer = self._holder(number)
            self._equal(f"due {number}", seen["delivery__due"] >> number & 1,
                        int(self._to_collector[writer] and not waits[writer]))
            self._delivered(seen, number, writer if self._to_collector[writer] and completes[writer] else None)
        self._cover(grants, completes)
        for i, complete in enumerate(completes):
            self._enter(seen, i, complete)
        writes_back = self._ports.config.writes_back
        model.unwritten = sum(((writes_back and delivered) or dropped) << i for i, (delivered, dropped)
                              in enumerate(zip(self._to_collector, self._dropped, strict=True)))
        self._writes(seen)

    def _holder(self, number: int) -> int:
        """The writer that uses a path: the first one whose latch holds a result that writes a register, else the
        last."""
        *others, last = self._paths[number]
        return next((i for i in others if self._to_register[i]), last)

    def _waits(self) -> list[bool]:
        """Whether a latch waits: another one uses its path, or an earlier path delivers to the same collector."""
        waits, served = [False] * len(self._writers), list[int]()
        for number, path in enumerate(self._paths):
            holder = self._holder(number)
            for i in path:
                waits[i] = self._to_register[i] and i != holder
            if self._to_collector[holder]:
                warp = self._model.latches[holder]["warp"]
                waits[holder] = warp in served
                served.append(warp)
        return waits

    def _enter(self, seen: Observation, i: int, ready: bool) -> None:
        """The result at the input of the latch of writer i, which may take it at the end of the cycle."""
        name, coming = f"result_{self._writers[i]}", self._element("coming", seen, i)
        self.taken = [*(self.taken if i else []), *([self._writers[i]] if seen[f"{name}__valid"] and ready else [])]
        fields = self._ports.codecs[f"{name}__payload"].unpack(seen[f"{name}__payload"])
        offered = bool(seen[f"{name}__valid"] and fields["writes"])
        entering = offered and ready
        self._equal("coming", coming["valid"], int(offered))
        self._hit("looked up before the latch is ready", offered and not ready)
        if offered:
            self._equal("coming warp", self._element("coming_warp", seen, i), fields["warp"])
            expected = {"valid": 1, "register": fields["dst"], "to_collector": fields.get("to_collector")}
            self._equal("coming", coming, {field: expected[field] for field in coming})
        if ready:
            delivers = bool(seen["delivery__deliver"] >> i & 1)
            self._to_register[i], self._to_collector[i] = entering, entering and delivers
            self._dropped[i] = entering and self._ports.config.has_unallocated and not fields["to_file"]
            self._hit("dropped", self._dropped[i] and not delivers)

    def _delivered(self, seen: Observation, number: int, writer: int | None) -> None:
        """The delivery of a path to a collector."""
        delivery = self._element("delivery", seen, number)
        self._equal(f"delivery {number}", delivery["valid"], int(writer is not None))
        if writer is not None:
            latch = self._model.latches[writer]
            self._equal("delivery warp", self._element("delivery_warp", seen, number), latch["warp"])
            self._equal(f"delivery {number}", delivery, {
                "valid": 1, "register": latch["dst"], "lanes": latch["lanes"], "full": latch["full"],
                "transient": 1 - latch.get("to_file", 1), "data": latch["data"],
            })

    def _element(self, port: str, seen: Observation, number: int) -> Any:
        elements = self._ports.codecs[f"delivery__{port}"].unpack(seen[f"delivery__{port}"])
        return elements[str(number)]

    def _cover(self, grants: list[bool], completes: list[bool]) -> None:
        waits, holder, delivers = self._waits(), self._holder(0), self._to_collector
        self._hit("delivered by both paths", delivers[holder] and delivers[2] and completes[2])
        self._hit("MEM waits for the collector", waits[2])
        if self._ports.config.writes_back:
            self._hit("SFU waits for SP without a bank", delivers[0] and self._to_register[1])
            latches = self._model.latches
            self._hit("MEM writes where SP only delivers",
                      delivers[0] and grants[2] and latches[0]["bank"] == latches[2]["bank"])


CHECKS: dict[tuple[bool, bool], Any] = {
    (False, False): (plain.WritebackCheck, plain.result),
    (False, True): (coalescing.CoalescingWritebackCheck, coalescing.result),
    (True, False): (gating.GatedWritebackCheck, gating.result),
    (True, True): (gating.GatedCoalescingCheck, gating.narrow_result),
}
"""By gating and coalescing: the check of a write-back without windows, and the generator of its results."""


class Offers:
    """Results in bursts, held on the port until they are taken; collectors that take some of them; grants as from an
    arbiter, sometimes without those of SFU and MEM."""

    def __init__(self, ports: Ports, check: DeliveryCheck, draw: plain.Draw) -> None:
        self._ports, self._check, self._draw = ports, check, draw
        self._rng = source()
        self._active = {writer: busy(self._rng, 0.6) for writer in ports.config.writers}
        self._generous = busy(self._rng, 0.7)
        self._plain = plain.Grants(ports, self._generous)
        config = ports.config
        self._sided = CoalescingArbiter(config.banks, config.collectors, config.alignment, config.write_paths)

    def stimuli(self) -> Iterator[Stimulus]:
        """One cycle each."""
        writers = self._ports.config.writers
        offered: dict[str, dict[str, int] | None] = dict.fromkeys(writers)
        for _ in range(CYCLES):
            stimulus: dict[str, Any] = {
                **self._grants(), "delivery__deliver": self._rng.getrandbits(len(writers)),
            }
            for writer in writers:
                if offered[writer] is None and next(self._active[writer]):
                    offered[writer] = self._draw(self._rng, self._ports.config) | {"warp": self._rng.randrange(WARPS)}
                stimulus[f"result_{writer}__valid"] = offered[writer] is not None
                stimulus[f"result_{writer}__payload"] = offered[writer] or {}
            yield stimulus
            offered |= dict.fromkeys(self._check.taken)

    def _grants(self) -> Stimulus:
        if self._ports.config.coalescing is not Coalescing.ON:
            return self._plain.decide()
        grants = list(self._sided.decide(coalescing.requests(self._ports), []).writes)
        grants[Pipe.MEM] = grants[Pipe.MEM] and next(self._generous)
        return {"write__grant": sum(grant << i for i, grant in enumerate(grants))}


class OwnPoints(Coverage):
    """Coverage of what windows change; the benches of other write-backs cover their own points."""

    def hit(self, point: str, condition: object = True) -> None:
        """Count a point that was declared."""
        if point in self.hits:
            super().hit(point, condition)


def points(config: SmConfig) -> list[str]:
    """Coverage points of deliveries."""
    apart = config.pipes[Pipe.MEM].write_path > 0
    between = ["looked up before the latch is ready",
               *(["delivered by both paths", "MEM waits for the collector"] if apart else [])]
    if not config.writes_back:
        return between
    dropped = ["dropped"] if config.has_unallocated else []
    return [*between, *dropped, "SFU waits for SP without a bank",
            *(["MEM writes where SP only delivers"] if apart else [])]


@cocotb.test()
async def random_results(dut: cocotb.handle.SimHandleBase) -> None:
    """Random results, deliveries and grants."""
    ports, checker = Ports(dut), Checker(minimum=20 * CYCLES)
    config = ports.config
    check_of, draw = CHECKS[config.gates_columns, config.has_sides]
    coverage = OwnPoints(*points(config), "stall", *(f"{writer} back to back" for writer in config.writers))
    check = DeliveryCheck(ports, checker, coverage, check_of(ports, checker, coverage))
    await exercise(ports, Offers(ports, check, draw).stimuli(), check, checker)
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.sample(2)
@pytest.mark.parametrize("settings", [["bypass=bow_hints", "transient=on"], ["bypass=bow"], ["bypass=bow_wr"]],
                         ids=" ".join)
def test_bypassing_writeback(settings: list[str], seed: int) -> None:
    made = runner.build(SmConfig.preset("small").with_settings(settings), "Writeback")
    runner.run(made, "warploom.tb.bypass.test_writeback", seed)


@pytest.mark.long
@pytest.mark.rtl
@pytest.mark.parametrize("settings", [
    pytest.param(["coalescing=on", "alignment=write"], marks=pytest.mark.long),
    pytest.param(["gating=cross_lane"], marks=pytest.mark.long),
    ["coalescing=on", "gating=in_lane", "window_delay=off"],
    ["coalescing=on"],
    [],
    pytest.param(["transient=on", "coalescing=on", "alignment=write", "gating=cross_lane"], marks=pytest.mark.long),
], ids=" ".join)
def test_on_other_register_files(settings: list[str], seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["bypass=bow_hints", *settings])
    runner.run(runner.build(config, "Writeback"), "warploom.tb.bypass.test_writeback", seed)


@pytest.mark.long
@pytest.mark.rtl
@write_paths.for_each
def test_other_write_paths(paths: str, seed: int) -> None:
    settings = ["bypass=bow_hints", "coalescing=on", "gating=in_lane", *write_paths.OTHERS[paths]]
    made = runner.build(SmConfig.preset("small").with_settings(settings), "Writeback")
    runner.run(made, "warploom.tb.bypass.test_writeback", seed)
