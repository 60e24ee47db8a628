"""The bundled programs: sizes, metadata, PTX, and results against numpy, bit for bit."""

import re

import numpy as np
import pytest

from warploom.arch.errors import LaunchError
from warploom.host.gpu import Gpu
from warploom.programs.library import FOLDER, SIZES, program, programs

NAMES = [p.name for p in programs()]

MOST = {"lud": 10_000}
"""Warp instructions at `tiny` where they are more than about 3,000: the least that runs all kernels."""


def same(one, other):
    """Whether two programs' inputs are equal."""
    return one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)


def test_every_folder_with_a_source_is_a_program():
    assert sorted(path.stem for path in FOLDER.glob("*/*.cu")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_program_says_what_it_is_and_stands_for(name):
    this = program(name)
    assert this.what.endswith(".")
    for source in this.suite:
        assert re.fullmatch(r"(RADAIDEH|BOW|AFFINE|HAWS (4\.2|5\.1|5\.3|6\.2)|TFET|PolyBench|Rodinia)", source), source


@pytest.mark.parametrize("name", NAMES)
def test_tiny_returns_what_the_reference_says(name):
    """Outputs named in `tolerances` may differ a little: that is for approximate instructions, whose bits are those of
    no chip. Their PTX must have such instructions. Neither `run` nor `reference` changes the inputs."""
    this, gpu = program(name), Gpu("small", timing=False)
    given = this.inputs("tiny")
    outputs = this.run(gpu, given)
    assert not this.mismatches(given, outputs)
    assert 100 <= sum(launched.warp_instructions for launched in gpu.launches) <= MOST.get(name, 3_300)
    assert bool(this.tolerances) == bool(re.search(r"\.approx|div\.full", this.ptx.read_text()))
    assert this.tolerances.keys() <= outputs.keys()
    assert same(given, this.inputs("tiny"))


@pytest.mark.parametrize("name", NAMES)
def test_outputs_depend_on_the_kernels(name):
    """A kernel that does nothing leaves outputs that differ from the reference's."""
    this, gpu = program(name), Gpu("small", timing=False)
    gpu.launch = lambda *_: None  # type: ignore[method-assign,assignment]
    given = this.inputs("tiny")
    assert this.mismatches(given, this.run(gpu, given))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [
    pytest.param(size, marks=pytest.mark.long) if size == "large" else size for size in SIZES])
def test_inputs_are_the_same_every_time(name, size):
    assert same(program(name).inputs(size), program(name).inputs(size))


@pytest.mark.parametrize("name", NAMES)
def test_ptx_is_that_of_the_source(name):
    assert program(name).is_built(), f"python -m warploom.programs.build {name}"


@pytest.mark.parametrize("name", NAMES)
def test_ptx_names_no_path(name):
    text = program(name).ptx.read_text()
    assert ".file" not in text
    assert not re.search(r"/(tmp|home|usr|work|root)/", text)


def loose_products(ptx: str) -> list[str]:
    """Products of a float multiplication without `.rn` that an addition or subtraction without `.rn` reads: ptxas may
    contract the two, or not, so the result's last bit would be unspecified."""
    loose = []
    for kernel in re.split(r"(?m)^\}", ptx):
        products = set(re.findall(r"mul\.(?:ftz\.)?f(?:32|64)\s+(%\w+)", kernel))
        sums = re.findall(r"(?:add|sub)\.(?:ftz\.)?f(?:32|64)\s+%\w+, (\S+), (\S+);", kernel)
        loose += [operand for pair in sums for operand in pair if operand in products]
    return loose


@pytest.mark.parametrize("name", NAMES)
def test_every_sum_of_a_product_says_whether_it_is_fused(name):
    assert not loose_products(program(name).ptx.read_text()), "write fmaf(...), or __fmul_rn(...)"


def test_a_loose_product_is_found():
    ptx = "mul.f32 %f1, %f2, %f3;\nmul.rn.f32 %f6, %f2, %f3;\nsub.f32 %f4, %f5, %f1;\nadd.f32 %f4, %f4, %f6;\n}\n"
    assert loose_products(ptx) == ["%f1"]
    assert not loose_products("mul.f32 %f1, %f2, %f3;\n}\nadd.f32 %f4, %f5, %f1;\n}\n")


@pytest.mark.long
@pytest.mark.parametrize("size", ["default", "large"])
@pytest.mark.parametrize("name", NAMES)
def test_the_larger_sizes(name, size):
    """They run within the limit of a launch, and are as the reference says."""
    this, gpu = program(name), Gpu("fermi", timing=False)
    given = this.inputs(size)
    assert not this.mismatches(given, this.run(gpu, given))


def test_an_unknown_program_says_what_there_is():
    with pytest.raises(LaunchError, match=r"'gausian' is not a bundled program; name one of .*gaussian"):
        program("gausian")


@pytest.mark.parametrize(("plain", "key", "cipher"), [
    ("3243f6a8885a308d313198a2e0370734", "2b7e151628aed2a6abf7158809cf4f3c", "3925841d02dc09fbdc118597196a0b32"),
    ("00112233445566778899aabbccddeeff", "000102030405060708090a0b0c0d0e0f", "69c4e0d86a7b0430d8cdb78070b4c55a")])
def test_the_reference_of_aes_is_aes(plain, key, cipher):
    """The examples of FIPS 197, appendices B and C.1."""
    state, words = (np.frombuffer(bytes.fromhex(text), np.uint8).reshape(-1, 4) for text in (plain, key))
    found = program("aes").reference({"plain": state[None], "key": words})
    assert found["cipher"].tobytes().hex() == cipher
