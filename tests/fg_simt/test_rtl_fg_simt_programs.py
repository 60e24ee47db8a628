"""Random structured kernels on the hardware of the whole FG-SIMT engine, in lockstep with its model: branches, memory
of all spaces. Some and, in the long regression, many, with every kind of affine execution. The model's results are
those of functional execution. And kernels that are stopped."""

import pickle
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from support.fg_simt_faults import FAULTS, patched
from support.fg_simt_kernels import kernel
from support.fg_simt_runs import check, native
from support.random_case import Case
from support.random_programs import samples

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.image import Image
from warploom.arch.isa import Op
from warploom.arch.mechanisms import Affine
from warploom.fg_simt.images import Started, image
from warploom.rtl.fg_simt.engine import Engine
from warploom.tb import runner
from warploom.tb.fg_simt.stored_images import BENCH, IMAGES
from warploom.tb.fg_simt.test_engine import AFFINE

SOME, MANY = 2, 25
BATCH = 10
"""Kernels that are made at once, of which some have no branches."""


def branching(seed: int) -> Iterator[Case]:
    """Random kernels with branches that lanes may take differently, without end."""
    rng = random.Random(seed)
    while True:
        for case in map(native, samples(BATCH, rng.getrandbits(32), affines=("off", "a"))):
            if any(i.op is Op.BRA and i.guarded for i in case.compile().instructions):
                yield case


def run(affine: Affine, count: int, seed: int, folder: Path) -> None:
    """Run random kernels, selected by the seed, in one simulation."""
    cases = list(islice(branching(seed), count))
    for case in cases:
        check(case, [affine])
    simulate(affine, [image([Started(case.compile(), case.launch)]) for case in cases], seed, folder)


def simulate(affine: Affine, images: list[Image], seed: int, folder: Path) -> None:
    """Run images in one simulation, one after the other."""
    stored = folder / "images"
    stored.write_bytes(pickle.dumps(images))
    made = runner.build(SmConfig.preset("small"), "Engine", component=Engine(affine=affine, probe=True))
    runner.simulate(made, folder, BENCH, seed, environment={AFFINE: affine.value, IMAGES: str(stored)})


@pytest.mark.rtl
@pytest.mark.long
def test_some_random_kernels(seed: int, tmp_path: Path) -> None:
    run(Affine.ABM, SOME, seed, tmp_path)


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("affine", Affine)
def test_many_random_kernels(affine: Affine, seed: int, tmp_path: Path) -> None:
    run(affine, MANY, seed, tmp_path)


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("affine", [Affine.OFF, Affine.ABM])
def test_faults(affine: Affine, seed: int, tmp_path: Path) -> None:
    """Kernels that are stopped, and the next launch."""
    simulate(affine, [patched(kernel(body)) for _, _, body in FAULTS.values()], seed, tmp_path)
