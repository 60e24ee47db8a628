"""Bench of the coalescing write-back: hardware against `warploom.golden_model.register_file.writeback`."""

import random
from collections.abc import Callable, Iterator
from typing import Any, cast

import cocotb
import pytest

from warploom.arch.config import LANES, SUB_BANKS, SmConfig
from warploom.arch.fields import unpack
from warploom.arch.interfaces import ENCODING_FIELDS, WARP_BITS, result_fields
from warploom.golden_model.byte_order import byte_enables, byte_mask, from_sub_banks, to_sub_banks
from warploom.golden_model.coalescing.arbiter import CoalescingArbiter
from warploom.golden_model.records import Result
from warploom.golden_model.register_file.shared import SharedFile
from warploom.golden_model.register_file.width import Encoding, Stored, restore
from warploom.golden_model.words import spread
from warploom.tb import runner, write_paths
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.codec import join
from warploom.tb.narrow_values import encoding, encoding_of, lane_mask, narrow_word

CYCLES = 3000

WIDTHS = (1, 2, 3, 4)
TRANSITIONS = [
    *(f"full: {old} to {new} bytes" for old in WIDTHS for new in WIDTHS),
    *(f"partial, same sign: {old} to {new} bytes" for old in WIDTHS for new in WIDTHS if new >= old),
    *(f"partial, other sign: {old} to 4 bytes" for old in WIDTHS),
]
"""Every change of width that a write can make."""

MEETINGS = ["MEM waits for its sub-banks", "SFU waits for SP", "SFU while SP holds a result without a bank"]

IDLE = {"enable": 0, "row": 0, "mask": 0}
"""A side of a bank that is not written."""

LANE_BYTES = (1 << LANES) - 1
"""All byte enables of the lowest sub-bank."""


def result(rng: random.Random, config: SmConfig) -> dict[str, int]:
    """A random result of a pipe; most write a register, often a narrow one, over one of any encoding."""
    fields = {name: rng.getrandbits(bits) for name, bits in result_fields(config)}
    lanes = lane_mask(rng)
    return fields | unpack(ENCODING_FIELDS, encoding(rng).packed) | {
        "writes": rng.random() < 0.8, "lanes": lanes, "data": narrow_word(rng, lanes),
    }


Draw = Callable[[random.Random, SmConfig], dict[str, int]]
"""Draws a random result."""


def stimuli(ports: Ports, draw: Draw = result) -> Iterator[Stimulus]:
    """Results in bursts, held on the port until they are taken; grants as from the arbiter, sometimes without MEM's."""
    rng, config = source(), ports.config
    arbiter = CoalescingArbiter(config.banks, config.collectors, config.alignment, config.write_paths)
    active = {writer: busy(rng, 0.6) for writer in config.writers}
    generous = busy(rng, 0.7)
    offered: dict[str, dict[str, int] | None] = dict.fromkeys(config.writers)
    for _ in range(CYCLES):
        for writer in config.writers:
            if offered[writer] is None and next(active[writer]):
                offered[writer] = draw(rng, config)
        grants = list(arbiter.decide(requests(ports), []).writes)
        grants[-1] = grants[-1] and next(generous)
        stimulus: dict[str, Any] = {"write__grant": join([int(grant) for grant in grants], 1)}
        for writer in config.writers:
            stimulus[f"result_{writer}__valid"] = offered[writer] is not None
            stimulus[f"result_{writer}__payload"] = offered[writer] or {}
        for i, writer in enumerate(config.writers):
            if grants[i] or not ports.peek("write__request") >> i & 1:
                offered[writer] = None
        yield stimulus


def requests(ports: Ports) -> list[tuple[int, int, int] | None]:
    """The latches' requests to the arbiter: bank, side and width."""
    wanted = ports.peek("write__request")
    banks = ports.codecs["write__bank"].array(ports.peek("write__bank"))
    early = ports.codecs["latches__early"].array(ports.peek("latches__early"))
    encodings = [encoding_of(unpack(ENCODING_FIELDS, packed)) for packed in early]
    return [(banks[i], int(encodings[i].left), encodings[i].width) if wanted >> i & 1 else None
            for i in range(len(banks))]


class CoalescingWritebackCheck:
    """Everything equals the model's: latches and handshakes, writes of banks, and updates of the mask buffer. Without
    the model: after a write its lanes read the result, and other live lanes the same value as before."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        register_file, self._pipes = SharedFile(ports.config), ports.config.pipes
        self._paths = ports.config.write_paths
        self.model, self._encoding_of = register_file.writeback, register_file.form.encoding
        self._old = [encoding_of(unpack(ENCODING_FIELDS, 0))] * len(self._pipes)  # old encodings of their registers
        self._banks, self._rng = ports.config.banks, source()

    def __call__(self, seen: Observation) -> None:
        """Check one cycle, then step the model through its end."""
        grants = [bool(seen["write__grant"] >> i & 1) for i in range(len(self._pipes))]
        self._latches(seen)
        self._completions(seen, grants)
        written = [i for i, grant in enumerate(grants) if grant]
        for bank in range(self._banks):
            self._bank(seen, bank, [i for i in written if self._latch(i)[0]["bank"] == bank])
        self._updates(seen, written)
        self._meetings(seen, written)
        self._step(seen, grants)

    def _latch(self, writer: int) -> tuple[Result, Stored]:
        """The contents of the model's latch of a writer that requests a bank."""
        latch = self.model.latches[writer]
        assert latch is not None
        return latch, self._stored(writer)

    def _stored(self, writer: int) -> Stored:
        """The new stored form of the result in a latch."""
        written = self.model.written[writer]
        assert written is not None
        return Stored(self._encoding_of(written.metadata), written.word, written.byte_mask)

    def _latches(self, seen: Observation) -> None:
        """What each latch holds and requests."""
        equal = self._checker.equal
        arrays = {name: self._codecs[name].array(seen[name])
                  for name in ("latches__tag", "write__bank", "write__mask", "latches__early")}
        for i, (latch, request) in enumerate(zip(self.model.latches, self.model.requests(), strict=True)):
            stored = self._stored(i) if self.model.needs_bank(i) else None
            equal("valid", seen["latches__valid"] >> i & 1, int(latch is not None))
            equal("request", seen["write__request"] >> i & 1, int(request is not None))
            equal("encoding", arrays["latches__early"][i], stored.encoding.packed if stored else 0)
            if latch is not None:
                equal("tag", arrays["latches__tag"][i], latch["tag"])
            if latch is not None and stored is not None:
                equal("bank", arrays["write__bank"][i], latch["bank"])
                equal("mask", arrays["write__mask"][i], stored.encoding.mask)

    def _completions(self, seen: Observation, grants: list[bool]) -> None:
        equal, done, ready = self._checker.equal, self.model.done(grants), self.model.ready(grants)
        for i, pipe in enumerate(self._pipes):
            latch, writer = done[i], pipe.name
            equal(f"{writer} done", seen[f"done_{writer}__valid"], int(latch is not None))
            if latch is not None:
                actual = self._codecs[f"done_{writer}__payload"].unpack(seen[f"done_{writer}__payload"])
                equal(f"{writer} done", actual, {"tag": latch["tag"], "pred": latch["pred"]})
            if pipe.credits:
                equal(f"{writer} ready", seen[f"result_{writer}__ready"], int(ready[i]))
            self._coverage.hit(f"{writer} back to back", latch is not None and seen[f"result_{writer}__valid"])

    def _bank(self, seen: Observation, bank: int, writers: list[int]) -> None:
        """Check the accesses of a bank, and the bytes that they write."""
        equal, granted = self._checker.equal, [self._latch(i) for i in writers]
        accesses = self._codecs["write__access"].unpack(seen["write__access"])[str(bank)]
        for number, side in enumerate(("right", "left")):
            here = [{"enable": 1, "row": latch["row"], "mask": stored.encoding.mask}
                    for latch, stored in granted if stored.encoding.left == (side == "left")]
            equal(f"{side}[{bank}]", accesses[str(number)], here[0] if here else IDLE)
        data, enable = (self._codecs[name].array(seen[name])[bank] for name in ("write__data", "write__byte_enable"))
        covered = form = 0
        for _, stored in granted:
            covered |= to_sub_banks(stored.byte_mask, stored.encoding.left)
            form |= to_sub_banks(stored.word, stored.encoding.left)
        equal(f"byte_enable[{bank}]", enable, byte_enables(covered))
        equal(f"data[{bank}]", data & covered, form)
        for i in writers:
            self._lanes_read(seen, i, data, enable)
        if len(self._paths) > 1:
            self._coverage.hit("right and left write of one bank", len(granted) == 2)

    def _new(self, seen: Observation, writer: int) -> Encoding:
        """The new encoding at a latch."""
        early = self._codecs["latches__early"].array(seen["latches__early"])
        return encoding_of(unpack(ENCODING_FIELDS, early[writer]))

    def _lanes_read(self, seen: Observation, writer: int, data: int, enable: int) -> None:
        """The property: a register with the old encoding, after this write, is read with the new encoding."""
        latch, _ = self._latch(writer)
        old, new = self._old[writer], self._new(seen, writer)
        entry = self._rng.getrandbits(WARP_BITS)
        before = restore(from_sub_banks(entry, old.left), old)
        written = byte_mask(sum(enable & LANE_BYTES << LANES * k for k in range(SUB_BANKS) if new.mask >> k & 1))
        after = restore(from_sub_banks(entry & ~written | data & written, new.left), new)
        mine = spread(latch["lanes"])
        self._checker.equal("written lanes read", after & mine, latch["data"] & mine)
        if not latch["full"]:
            self._checker.equal("other lanes read", after & ~mine, before & ~mine)

    def _updates(self, seen: Observation, written: list[int]) -> None:
        """The updates of the mask buffer, by path."""
        for number, path in enumerate(self._paths):
            port, granted = f"renewal__{number}", [i for i in written if i in path]
            self._checker.equal("renewal", seen[f"{port}__enable"], len(granted))
            for i in granted:
                latch, stored = self._latch(i)
                address, early = (self._codecs[f"{port}__{name}"].unpack(seen[f"{port}__{name}"])
                                for name in ("address", "early"))
                actual = address["bank"], address["row"], bool(address["left"]), encoding_of(early)
                expected = latch["bank"], latch["row"], bool(stored.encoding.left), stored.encoding
                self._checker.equal("renewal", actual, expected)

    def _meetings(self, seen: Observation, written: list[int]) -> None:
        waiting = [i for i in range(len(self._pipes)) if seen["write__request"] >> i & 1 and i not in written]
        self._coverage.hit("SFU waits for SP", 0 in written and 1 in waiting)
        self._coverage.hit("SFU while SP holds a result without a bank", 1 in written and seen["latches__valid"] & 1)
        if 2 in waiting:
            latch, stored = self._latch(2)
            others = [self._latch(i) for i in written]
            self._coverage.hit("MEM waits for its sub-banks", any(
                other["bank"] == latch["bank"] and encoding.mask & stored.encoding.mask
                for other, (encoding, *_) in others))

    def _step(self, seen: Observation, grants: list[bool]) -> None:
        """Results that are taken enter the model's latches."""
        ready, results = self.model.ready(grants), []
        for i, pipe in enumerate(self._pipes):
            valid, port = seen[f"result_{pipe.name}__valid"], f"result_{pipe.name}__payload"
            fields = cast(Result, self._codecs[port].unpack(seen[port]))
            results.append(fields if valid and ready[i] else None)
            self._coverage.hit("stall", valid and not ready[i])
        self.model.step(results, grants)
        for i, result in enumerate(results):
            if result is not None and self.model.needs_bank(i):
                self._old[i] = encoding_of(result)
                self._transition(i)

    def _transition(self, writer: int) -> None:
        """Cover the change of encoding by a result."""
        (latch, stored), old = self._latch(writer), self._old[writer]
        same = "same" if old.sign == stored.encoding.sign else "other"
        kind = "full" if latch["full"] else f"partial, {same} sign"
        self._coverage.hit(f"{kind}: {old.width} to {stored.encoding.width} bytes")


def points(config: SmConfig) -> list[str]:
    """Coverage points of banks with two accesses."""
    both = ["right and left write of one bank"] if len(config.write_paths) > 1 else []
    return [*(f"{writer} back to back" for writer in config.writers), *both, *MEETINGS, *TRANSITIONS]


@cocotb.test()
async def random_results(dut: cocotb.handle.SimHandleBase) -> None:
    """Random results and grants."""
    ports, checker = Ports(dut), Checker(minimum=20 * CYCLES)
    coverage = Coverage("stall", *points(ports.config))
    await exercise(ports, stimuli(ports), CoalescingWritebackCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("alignment", ["reg", "write"])
def test_coalescing_writeback(alignment: str, seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["coalescing=on", f"alignment={alignment}"])
    runner.run(runner.build(config, "Writeback"), "warploom.tb.coalescing.test_writeback", seed)


@pytest.mark.long
@pytest.mark.rtl
@write_paths.for_each
def test_other_write_paths(paths: str, seed: int) -> None:
    settings = ["coalescing=on", "alignment=write", *write_paths.OTHERS[paths]]
    made = runner.build(SmConfig.preset("small").with_settings(settings), "Writeback")
    runner.run(made, "warploom.tb.coalescing.test_writeback", seed)
