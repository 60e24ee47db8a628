"""Kernels on the FG-SIMT engine, compared with functional execution; random kernels of what it executes."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from support.random_case import Case
from support.random_programs import FIRST, SLOT, STACK

from warploom.arch.fg_simt.image import Image
from warploom.arch.fg_simt.sizes import EIGHT_LANES, Sizes
from warploom.arch.launch import Launch
from warploom.arch.mechanisms import Affine
from warploom.arch.program import Program
from warploom.fg_simt.images import Started, arrays, image
from warploom.golden_model.fg_simt.engine import Finished, run
from warploom.golden_model.fg_simt.memory import IdealMemory, Memory
from warploom.golden_model.functional.executor import execute

WAYS = tuple(Affine)

FOREIGN = re.compile(
    r"f64|rsqrt|sqrt\.approx|atom\.global\.(?:add\.u64|exch\.b64)|(?:div|rem)\.[us]64|bar\.red")
"""Instructions of random kernels that the engine does not execute."""

WRITTEN = "\n".join(f"\tst.{place}.u64 [{base}+{offset}], %d0;"
                    for place, base, size in (("shared", "%s0", SLOT), ("local", "stack", STACK))
                    for offset in range(0, size, 8))
"""A thread writes its shared and local memory first: it would read what an earlier warp has left there."""


def executed(
    started: Sequence[Started], affine: Affine, behind: Callable[[Image], Memory] = IdealMemory,
    sizes: Sizes = EIGHT_LANES,
) -> Finished:
    """Run launches from image to image. Raises `AssertionError` unless all arrays equal those of functional
    execution."""
    finished = run(image(started), affine, behind=behind, sizes=sizes)
    assert not finished.status, f"status {finished.status:#x}"
    program, launch = started[-1]
    expected = execute(program, launch, record=False).buffers
    for name, array in arrays(finished.image, launch).items():
        np.testing.assert_array_equal(array.reshape(-1).view(np.uint8), expected[name].reshape(-1).view(np.uint8), name)
    return finished


def once(program: Program, launch: Launch, affine: Affine = Affine.OFF) -> Finished:
    """One launch."""
    return executed([Started(program, launch)], affine)


def native(case: Case) -> Case:
    """A random kernel without the instructions that the engine does not have."""
    first = FIRST.splitlines()[-1]
    body = case.body.replace(first, f"{first}\n{WRITTEN}", 1)
    kept = [line for line in body.split("\n") if not FOREIGN.search(line) or line.startswith("\t.")]
    return replace(case, body="\n".join(kept))


def check(case: Case, ways: Sequence[Affine] = WAYS) -> None:
    """A random kernel leaves the same memory with every kind of affine execution."""
    program, launch = native(case).compile(), case.launch
    for affine in ways:
        once(program, launch, affine)
