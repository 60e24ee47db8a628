"""Bench of the fragments: hardware against `warploom.golden_model.fg_simt.fragments`, with random moves and with those
of programs."""

import random
from collections.abc import Iterator
from copy import deepcopy

import cocotb
import pytest

from warploom.arch.config import LANES, SmConfig
from warploom.arch.fg_simt.moves import Move
from warploom.arch.isa import PC_BITS
from warploom.fg_simt.programs import started
from warploom.golden_model.fg_simt.fragments import Fragments
from warploom.rtl.fg_simt import fragments as hardware
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.fg_simt.fragment_traces import recorded

BENCH = "warploom.tb.fg_simt.test_fragments"
CYCLES = 6000
ALL = (1 << LANES) - 1
PROGRAMS = ("bfs", "strsearch")
POINTS = ("joins, then rule 2", "rule 3", "enters in the middle", "enters on top",
          "joins one that waits", "leaves, another joined before", "leaves, others wait", "all leave", "all jump",
          "jumps to the next one", "stack is full", "starts while lanes wait", "no step")


class Bench:
    """The model, driven by the inputs that the hardware gets, and the checks of each cycle."""

    def __init__(self, ports: Ports, checker: Checker) -> None:
        self._codec, self._checker, self.model = ports.codecs["probe"], checker, Fragments()
        self.coverage = Coverage(*POINTS)

    def check(self, seen: Observation) -> None:
        """Check one cycle."""
        equal, probe = self._checker.equal, self._codec.unpack(seen["probe"])
        equal("observed", [probe[name] for name in Fragments.observed], self.model.observe())
        merged = deepcopy(self.model)
        merged.merge()
        equal("mask", seen["mask"], merged.mask)
        equal("own lanes", seen["own"], self.model.mask)
        equal("joins", seen["joins"], int(merged.mask != self.model.mask))
        if seen["joins"]:
            equal("joining lanes", seen["joining"], merged.mask & ~self.model.mask)
        equal("pc", seen["pc"], merged.pc)
        equal("active", seen["active"], int(merged.mask != 0))
        equal("whole", seen["whole"], int(merged.is_whole))
        equal("elsewhere", seen["elsewhere"], merged.live & ~merged.mask)
        after = deepcopy(merged)
        changes = after.change()
        equal("changes", seen["changes"], int(changes))
        self._count(seen, merged, changes)
        if seen["start"]:
            redirects = True
            self.model.start(seen["launched"])
        elif seen["step"]:
            self.model = after
            redirects = changes or self._moves(seen)
        else:
            redirects = False
        equal("redirect", seen["redirect"], int(redirects))
        equal("following", seen["following"], self.model.pc)

    def _moves(self, seen: Observation) -> bool:
        lanes, move = seen["lanes"] & self.model.mask, seen["move"]
        if move == Move.BRANCH:
            return self.model.branch(lanes, seen["target"])
        if move == Move.LEAVE and lanes:
            return self.model.leave(lanes)
        return move != Move.STAY and self.model.advance()

    def _count(self, seen: Observation, merged: Fragments, changes: bool) -> None:
        model, hit = self.model, self.coverage.hit
        moves = seen["step"] and not changes and not seen["start"]
        joined, lanes = merged.mask != model.mask, seen["lanes"] & merged.mask
        hit("no step", not seen["step"])
        hit("starts while lanes wait", seen["start"] and not model.is_whole)
        hit("stack is full", len(model.forward) == LANES - 1)
        if seen["step"] and changes and not seen["start"]:
            hit("joins, then rule 2", joined)
            hit("rule 3", merged.backward is None)
            self._checker.holds("rule 3 excludes joining", merged.backward is not None or not joined)
        if moves and seen["move"] == Move.BRANCH and 0 < lanes < ALL:
            waits = [pc for pc, _ in merged.forward]
            splits, target = lanes != merged.mask, seen["target"]
            hit("joins one that waits", splits and target in waits[:-1])
            hit("enters on top", splits and waits and merged.pc < target < waits[-1])
            hit("enters in the middle", splits and waits and waits[-1] < target < waits[0] and target not in waits)
            hit("all jump", not splits and target != merged.pc + 1)
            hit("jumps to the next one", not splits and target == merged.pc + 1)
        if moves and seen["move"] == Move.LEAVE and lanes and lanes == merged.mask:
            hit("leaves, another joined before", joined and merged.forward)
            hit("leaves, others wait", not joined and merged.forward)
            hit("all leave", not merged.forward)


def stimuli(rng: random.Random, model: Bench) -> Iterator[Stimulus]:
    """Random warps: of few PCs, so that lanes meet, and of many, so that they are all apart."""
    pcs, lone, apart = 0, False, 0
    for _ in range(CYCLES):
        if not model.model.mask or rng.random() < 0.003:
            pcs, lone = rng.choice((3, 12, 40)), False
            if rng.random() < 0.4:
                pcs, lone, apart = 1 << PC_BITS - 1, True, rng.choice((LANES // 2, LANES))
            yield {"start": 1, "launched": rng.choice((ALL, rng.getrandbits(LANES) | 1)), "step": rng.getrandbits(1)}
            continue
        lanes = rng.choice((ALL, 0, *(rng.getrandbits(LANES) for _ in range(4))))
        move = rng.choice((Move.STAY, Move.NEXT, Move.LEAVE, *[Move.BRANCH] * 3))
        waits = [pc for pc, _ in model.model.forward]
        target = rng.choice((rng.randrange(pcs), min(model.model.pc + 1, pcs), rng.choice(waits or [0])))
        own = model.model.mask
        if lone and own & own - 1:  # one lane after the other waits ahead, alone or, if many wait, with another one
            lanes, move = 1 << rng.choice([lane for lane in range(LANES) if own >> lane & 1]), Move.BRANCH
            if len(waits) < apart or rng.random() < 0.3:
                target = model.model.pc + rng.randrange(1000, pcs)
            else:
                target = rng.choice(waits)
        else:
            lone = False
        yield {"step": int(rng.random() < 0.9), "move": move, "lanes": lanes, "target": target,
               "launched": rng.getrandbits(LANES)}


@cocotb.test()
async def random_moves(dut: cocotb.handle.SimHandleBase) -> None:
    """All outputs of every cycle are the model's."""
    ports, checker = Ports(dut), Checker(minimum=5 * CYCLES)
    bench = Bench(ports, checker)
    await exercise(ports, stimuli(source(), bench), bench.check, checker)
    bench.coverage.finish()


@cocotb.test()
async def programs(dut: cocotb.handle.SimHandleBase) -> None:
    """Programs that diverge: the same fragments as in the engine, in every cycle."""
    ports, checker = Ports(dut), Checker(minimum=10_000)
    bench, observed = Bench(ports, checker), [0] * len(Fragments.observed)

    def inputs() -> Iterator[Stimulus]:
        nonlocal observed
        for name in PROGRAMS:
            yield {"start": 1}
            for step in recorded(started(name)):
                observed = step.observed
                yield step.inputs

    def check(seen: Observation) -> None:
        bench.check(seen)
        if not seen["start"]:
            checker.equal("engine", bench.model.observe(), observed)

    await exercise(ports, inputs(), check, checker)


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("fpga", [False, True])
def test_fragments(seed: int, fpga: bool) -> None:
    unit = hardware.Fragments(probe=True)
    runner.run(runner.build(SmConfig.preset("small"), "Fragments", component=unit, fpga=fpga), BENCH, seed)
