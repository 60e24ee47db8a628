"""The Python API: memory, arguments, launches in sequence."""

import errno
import os
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warploom
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError, ExecutionError, LaunchError, PtxError, WarploomError
from warploom.arch.gpu import GpuConfig
from warploom.arch.launch import Locality
from warploom.arch.program import Parameter
from warploom.files import write_whole
from warploom.golden_model.statistics import Statistics, total
from warploom.host.arguments import encode
from warploom.host.geometry import Geometry
from warploom.host.gpu import Gpu
from warploom.host.module import Kernel
from warploom.kernels.launchfile import LaunchFile, Options, load
from warploom.running import run
from warploom.tb import lockstep
from warploom.tb.lockstep import LockstepError

PTX = Path(warploom.__file__).parent / "kernels" / "vector_add" / "vector_add.ptx"
SYMBOLS = Path(__file__).parents[1] / "ptx" / "symbols.ptx"
ADDRESSES = Path(__file__).parents[1] / "ptx" / "addresses.ptx"
ONES = np.ones(32, np.float32)


@pytest.fixture
def gpu() -> Gpu:
    return Gpu("small", timing=False)


def test_launches_in_sequence_share_memory(gpu: Gpu) -> None:
    add = gpu.module(PTX)["vector_add"]
    a, b = gpu.array(np.arange(100, dtype=np.float32)), gpu.array(np.full(100, 2, np.float32))
    for _ in range(3):
        add[4, 32](a, b, a, 100)
    assert (a.numpy() == np.arange(100) + 6).all()
    assert (b.numpy() == 2).all()
    assert [launched.warp_instructions for launched in gpu.launches] == [gpu.launches[0].warp_instructions] * 3


def test_pointers_into_arrays(gpu: Gpu) -> None:
    add = gpu.module(PTX)["vector_add"]
    a = gpu.array(np.arange(64, dtype=np.float32))
    add[1, 32](a, a.at(32), a.at(32), 32)
    assert (a.numpy()[32:] == np.arange(32) + np.arange(32, 64)).all()
    assert a.at(0) == a.address


def test_arrays_of_any_layout_are_copied(gpu: Gpu) -> None:
    across = np.arange(12, dtype=np.int32).reshape(3, 4).T
    held = gpu.array(across)
    assert (held.shape, held.numpy().tolist()) == ((4, 3), across.tolist())
    held.set(across[::-1])
    assert held.numpy().tolist() == across[::-1].tolist()
    held.set(7)
    assert held.numpy().tolist() == [[7] * 3] * 4


def test_bytes_between_the_fields_of_structs_are_copied(gpu: Gpu) -> None:
    """A kernel that copies whole structs reads them; what is there must not be what the host's memory holds."""
    lone = np.dtype({"names": ["x"], "formats": ["<u4"], "offsets": [4], "itemsize": 12})
    words = np.arange(100, 124, dtype=np.uint32)
    every, second = words.view(lone), words.view(lone)[::2]
    held = gpu.array(every)
    assert held.buffer().array.tobytes() == held.numpy().tobytes() == words.tobytes()
    held = gpu.array(second)
    assert held.buffer().array.tobytes() == words.reshape(8, 3)[::2].tobytes()
    held.set(every[4:])
    assert held.buffer().array.tobytes() == words[12:].tobytes()
    module = gpu.module(SYMBOLS)
    module.set("taps", every[5])
    assert module.get("taps", "u4").tolist() == [115, 116, 117]


def test_freed_arrays(gpu: Gpu) -> None:
    add = gpu.module(PTX)["vector_add"]
    a, b, c = gpu.array(ONES, "a"), gpu.array(ONES, "b"), gpu.array(ONES)
    addresses = [array.address for array in (a, b, c)]
    b.free()
    assert repr(b) == "<b: freed>"
    d = gpu.zeros(32, np.float32)
    assert d.name not in {a.name, b.name, c.name}
    again = gpu.zeros(32, np.float32, "b")
    assert [array.address for array in (a, c)] == addresses[::2]
    assert len({array.address for array in (a, c, d, again)} | {addresses[1]}) == 5, "no address is used again"
    add[1, 32](a, c, again, 32)
    assert (again.numpy() == 2).all()
    uses: list[Callable[[], object]] = [
        b.numpy, b.free, b.buffer, lambda: b.set(1.0), lambda: b.at(0), lambda: b.address, lambda: b.shape,
        lambda: b.dtype, lambda: add[1, 32](a, b, c, 32)]
    for use in uses:
        with pytest.raises(LaunchError, match="b: the array was freed"):
            use()
    with pytest.raises(ExecutionError, match=f"{addresses[1]:#x}"):
        add[1, 32](a, c, np.uint64(addresses[1]), 32)


def test_the_limit_of_a_launch(tmp_path: Path) -> None:
    gpu = Gpu("small", timing=False, limit=100, launch_files=tmp_path)
    a = gpu.array(np.ones(256, np.float32))
    add = gpu.module(PTX)["vector_add"]
    with pytest.raises(ExecutionError, match=r"limit = 100 is too low: raise it \(in the launch file or Gpu"):
        add[8, 32](a, a, a, 256)
    with pytest.raises(LaunchError, match=r"101 warps and limit = 100 .* raise the limit \(of the launch file or Gpu"):
        add[101, 32](a, a, a, 32)
    assert load(tmp_path / "0-vector_add" / "launch.toml").launch.limit == 100
    more = Gpu("small", timing=False, limit=10_000)
    a = more.array(np.ones(256, np.float32))
    more.module(PTX)["vector_add"][8, 32](a, a, a, 256)
    for limit in (0, -1, 1.5, "many"):
        with pytest.raises(ConfigError, match=r"limit = .*: must be a whole number"):
            Gpu("small", limit=limit)  # type: ignore[arg-type]


def test_variables(gpu: Gpu) -> None:
    module = gpu.module(SYMBOLS)
    (entry,) = module.entries
    assert module.get("given", np.int32).tolist() == [3]
    module.set("taps", np.array([1, 2], np.int32))
    module.set("counter", np.int32(9))
    assert module.get("taps", np.int32).tolist() == [1, 2, 0]
    x, y = gpu.array(np.arange(100, dtype=np.float32)), gpu.zeros(100, np.int32)
    launched = module[entry][2, 50](x, y, 100)
    assert module.get("counter", np.int32).tolist() == [109]  # 100 are added
    entry, *_ = module.entries
    assert launched.warnings[0].startswith(f"{entry} reads variables that nothing sets; they are zero: ")
    assert launched.warnings[0].endswith("; set it with module.set(...)")


def test_variables_of_addresses(gpu: Gpu) -> None:
    """The host reads what kernels do."""
    module, out = gpu.module(ADDRESSES), gpu.zeros(1, np.uint64)
    held = module.get("table", np.uint64)
    module["first"][1, 1](out)
    assert held.tolist() == out.numpy().tolist() == [module.address("x")]


def test_statistics_of_launches() -> None:
    gpu = Gpu("small", coalescing="on")
    a = gpu.array(ONES)
    add = gpu.module(PTX)["vector_add"]
    one, two = add[1, 32](a, a, a, 32).statistics, add[(1, 2), 32](a, a, a, 32).statistics
    assert one.warp_instructions == gpu.launches[0].warp_instructions
    assert gpu.statistics == total([one, two])
    first, second = gpu.table()
    assert (first["kernel"], first["grid"], second["grid"]) == ("vector_add", (1, 1, 1), (1, 2, 1))
    assert [row["stalls.memory"] for row in (first, second)] == [run.stalls["memory"] for run in (one, two)]
    assert second["bank_reads.0"] == two.bank_reads[0]


def test_traces() -> None:
    gpu = Gpu("small", traces=True)
    a = gpu.array(ONES)
    launched = gpu.module(PTX)["vector_add"][1, 32](a, a, a, 32)
    assert launched.trace.warp_instructions == launched.statistics.warp_instructions


def counted(step: int) -> Statistics:
    """Statistics in which every number is different, and depends on `step`."""
    numbers = iter(range(step, 10**6, step))
    forms: dict[Any, Callable[[], Any]] = {
        int: lambda: next(numbers), float: lambda: 0.0, str: lambda: "x",
        list[int]: lambda: [next(numbers) for _ in range(step)],
        dict[str, int]: lambda: {"a": next(numbers), "b": next(numbers)},
        dict[str, dict[str, Any]]: lambda: {"affine": {"loads": next(numbers), "operands": [next(numbers)] * step}},
    }
    return Statistics(**{field.name: forms[field.type]() for field in fields(Statistics)})


def test_a_total_by_hand() -> None:
    one, two = (replace(counted(step), cycles=cycles, warp_instructions=60, occupancy=occupancy, kernel="k")
                for step, cycles, occupancy in ((1, 100, 0.5), (2, 300, 0.25)))
    summed = total([one, two])
    assert (summed.kernel, summed.preset, summed.cycles, summed.warp_instructions) == ("k", "x", 400, 120)
    assert (summed.ipc, summed.occupancy) == (120 / 400, (50 + 75) / 400)
    assert summed.l1_hits == one.l1_hits + two.l1_hits
    assert summed.stalls == {"a": one.stalls["a"] + two.stalls["a"], "b": one.stalls["b"] + two.stalls["b"]}
    assert summed.operands == [one.operands[0] + two.operands[0], two.operands[1]]
    assert summed.counted["affine"]["operands"] == [
        one.counted["affine"]["operands"][0] + two.counted["affine"]["operands"][0],
        two.counted["affine"]["operands"][1]]
    sums = {field.name for field in fields(Statistics) if isinstance(getattr(one, field.name), int)}
    assert all(getattr(summed, name) == getattr(one, name) + getattr(two, name) for name in sums)
    assert total([one]) == replace(one, ipc=0.6)


BAD_ARGUMENTS: dict[str, tuple[tuple[Any, ...], str]] = {
    "a float as integer": ((1.5,), "must be an integer"), "too large": ((1 << 32,), "too big"),
    "a text": (("5",), "must be an integer"), "none": ((None,), "must be an integer"),
    "a numpy float": ((np.float32(1),), "float32 is given"), "a long": ((np.int64(1 << 32),), "too big"),
    "an array of the host": ((np.arange(3),), "must be in the GPU's memory"), "too few": ((), "3 are given"),
    "an array for a number": ((Gpu("small").zeros(1, "f4"),), "is in the memory of another Gpu"),
    "bytes": ((b"abc",), "3 bytes are given"),
}


@pytest.mark.parametrize(("values", "message"), BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS)
def test_wrong_arguments(gpu: Gpu, values: tuple[Any, ...], message: str) -> None:
    a = gpu.array(ONES)
    with pytest.raises(LaunchError, match=message):
        gpu.module(PTX)["vector_add"][1, 32](a, a, a, *values)
    assert not gpu.launches
    assert (a.numpy() == 1).all()


@pytest.mark.parametrize(("type_", "size", "value", "data"), [
    ("u32", 4, np.int64(7), np.uint32(7)), ("s64", 8, np.int8(-7), np.int64(-7)),
    ("u8", 1, np.uint64(200), np.uint8(200)),
    ("f32", 4, np.float64(0.1), np.float32(0.1)), ("f64", 8, np.float32(0.1), np.float64(np.float32(0.1))),
    ("f32", 4, np.arange(4.0).mean(), np.float32(1.5)),
    ("s32", 4, np.int32(-7), np.int32(-7)), ("u32", 4, np.int32(-7), np.int32(-7)), ("u8", 1, np.True_, np.uint8(1)),
    ("b32", 4, np.float32(1.5), np.float32(1.5)), ("b32", 4, np.int32(-7), np.int32(-7)),
])
def test_numpy_scalars_of_any_size(type_: str, size: int, value: np.generic, data: np.generic) -> None:
    assert encode("k", Parameter("n", type_, 0, size), value).data == data.tobytes()


@pytest.mark.parametrize(("type_", "size", "value", "data"), [
    ("u32", 4, np.array(7), b"\7\0\0\0"), ("f32", 4, np.array(0.5), np.float32(0.5).tobytes()),
    ("f32", 4, float("inf"), np.float32("inf").tobytes()),
    ("b8", 4, bytearray(b"abcd"), b"abcd"), ("b8", 4, np.zeros((), [("x", "i4")]), bytes(4)), ("b8", 1, 7, b"\7"),
])
def test_other_ways_to_give_a_value(type_: str, size: int, value: Any, data: bytes) -> None:
    assert encode("k", Parameter("n", type_, 0, size), value).data == data


@pytest.mark.parametrize(("parameter", "value", "message"), [
    (Parameter("x", "f32", 0, 12), 1.5, "must be bytes or a numpy record"),
    (Parameter("x", "f32", 0, 4), 1e39, "out of range"),
    (Parameter("x", "f32", 0, 4), np.float64(1e39), "out of range"),
    (Parameter("x", "u64", 0, 8), None, "must be an array of the GPU, gpu.array"),
    (Parameter("x", "u64", 0, 8), [1], "must be an array of the GPU"),
    (Parameter("x", "b8", 0, 8), 5, "must be a numpy record or bytes"),
    (Parameter("x", "b8", 0, 8), np.float64(5), "must be a numpy record or bytes"),
    (Parameter("x", "u32", 0, 4), np.zeros((9, 9)), r"can't be array\(\[\[0., .* must be in the GPU's memory"),
    (Parameter("x", "f32", 0, 4), np.int32(1), "int32 is given"),
    (Parameter("x", "b8", 0, 4), np.zeros((), [("x", ">i4")]), "wrong byte order"),
    (Parameter("x", "f64", 0, 8), Gpu("small").zeros(1, "f8"), "an array is passed as a pointer of 8 bytes"),
    (Parameter("x", "u32", 0, 4), Gpu("small").zeros(1, "u4"), "an array is passed as a pointer of 8 bytes"),
    (Parameter("x", "f32", 0, 4), np.uint32(1), "uint32 is given"),
    (Parameter("x", "u8", 0, 1), np.int64(-129), "too big"), (Parameter("x", "u32", 0, 4), np.float64(1), "float64 is"),
])
def test_numbers_that_a_parameter_cannot_hold(parameter: Parameter, value: Any, message: str) -> None:
    with np.errstate(all="raise"), pytest.raises(LaunchError, match=rf"k: x \(\..*{message}"):
        encode("k", parameter, value)


@pytest.mark.parametrize("value", [
    np.str_("ab"), np.datetime64(5, "s"), np.zeros((), [("name", object)])[()]], ids=["text", "a time", "an object"])
def test_eight_bytes_that_are_no_pointer(gpu: Gpu, value: Any) -> None:
    a = gpu.array(ONES)
    with pytest.raises(LaunchError, match=r"vector_add_param_2 .* is given"):
        gpu.module(PTX)["vector_add"][1, 32](a, a, value, 0)


def call(add: Kernel, geometry: Any, *arguments: Any) -> None:
    """Launch with any geometry, which type checkers would refuse."""
    add[geometry](*arguments)


def test_a_list_is_as_good_as_a_tuple(gpu: Gpu) -> None:
    add, a, c = gpu.module(PTX)["vector_add"], gpu.array(ONES), gpu.zeros(32, np.float32)
    add[[1], [32, 1, 1]](a, a, c, 32)
    assert (gpu.launches[-1].geometry.grid, gpu.launches[-1].geometry.block) == ((1, 1, 1), (32, 1, 1))
    assert (c.numpy() == 2).all()


@pytest.mark.parametrize(("others", "shared", "hint"), [
    ((), 0, Locality.NONE), ((64,), 64, Locality.NONE), ((Locality.LINES,), 0, Locality.LINES),
    ((64, Locality.DATA), 64, Locality.DATA)])
def test_shared_memory_and_a_hint_may_be_left_out(others: tuple[Any, ...], shared: int, hint: Locality) -> None:
    assert Geometry.of("k", (1, 32, *others)) == Geometry((1, 1, 1), (32, 1, 1), shared, hint)


def test_zeros_have_the_type_that_numpy_gives_them(gpu: Gpu) -> None:
    assert (gpu.zeros((2, 3)).dtype, gpu.zeros(4).dtype) == (np.zeros(1).dtype,) * 2


@pytest.mark.parametrize(("name", "content", "message"), [
    ("k.cu", b"#include <cuda.h>\n", "this is CUDA C: compile it with nvcc -ptx"),
    ("k.cu", b"extern \"C\" __global__ void k() {}\n", "this is CUDA C: compile it with nvcc -ptx"),
    ("k.cubin", b"\x7fELF\x02\x01\x01\xbe", "is a binary; nvcc -ptx makes text"),
])
def test_files_that_are_no_ptx(gpu: Gpu, name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(PtxError, match=message):
        gpu.module(tmp_path / name)


BAD_GEOMETRY: dict[str, tuple[Any, str]] = {
    "no block": (4, r"write vector_add\[grid, block\]"),
    "four numbers": ((1, 2, 3, 4), "hint = 4: must be one of Locality.NONE, "),
    "five things": ((1, 2, 3, Locality.DATA, 5), "write vector_add"),
    "four dimensions": (((1, 1, 1, 1), 32), "grid = .* must be one to three whole numbers"),
    "no dimension": (((), 32), "one to three"), "a float": ((1.0, 32), "grid = 1.0: must be a whole number"),
    "an empty grid": ((0, 32), "every dimension must be at least 1"), "negative": ((1, -32), "at least 1"),
    "a large block": ((1, 2048), "exceeds the limit"), "a tall grid": (((1, 70000), 32), "at most"),
    "a deep block": ((1, (1, 1, 65)), "at most 64 threads in z"),
    "shared memory": ((1, 32, 1 << 20), "bytes of shared memory"), "registers": ((1, 1024), "does not fit"),
    "negative shared memory": ((1, 32, -4), "dynamic_shared = -4"),
    "a hint before shared memory": ((1, 32, Locality.LINES, 4), "hint = 4: must be one of"),
    "two hints": ((1, 32, Locality.LINES, Locality.LINES), "shared = .*: must be a whole number"),
}


@pytest.mark.parametrize(("geometry", "message"), BAD_GEOMETRY.values(), ids=BAD_GEOMETRY)
def test_wrong_geometry(gpu: Gpu, geometry: Any, message: str) -> None:
    a = gpu.array(ONES)
    with pytest.raises(LaunchError, match=message):
        call(gpu.module(PTX)["vector_add"], geometry, a, a, a, 32)
    assert not gpu.launches


BAD_ARRAYS: dict[str, tuple[Callable[[Gpu], object], str]] = {
    "a list": (lambda gpu: gpu.array([1, 2]), "list given: must be a numpy array"),  # type: ignore[arg-type]
    "texts": (lambda gpu: gpu.array(np.array(["a"])), "must be bool, signed"),
    "objects": (lambda gpu: gpu.array(np.array([None])), "must be bool, signed"),
    "long doubles": (lambda gpu: gpu.array(np.zeros(3, np.longdouble)), "floats of at most 64 bits"),
    "long complex numbers": (lambda gpu: gpu.array(np.zeros(3, np.clongdouble)), "floats of at most 64 bits"),
    "a mask": (lambda gpu: gpu.array(np.ma.masked_less(np.arange(3), 1)), "a masked array.*: give values.data"),
    "big-endian": (lambda gpu: gpu.array(np.zeros(3, ">i4")), "wrong byte order; convert it"),
    "no element": (lambda gpu: gpu.array(np.zeros(0, "i4")), "has no bytes to copy"),
    "a name twice": (lambda gpu: [gpu.zeros(1, "f4", "x") for _ in range(2)], "names must differ"),
    "a path as name": (lambda gpu: gpu.zeros(1, "f4", "../x"), "letters, digits, - and _"),
    "a number as name": (lambda gpu: gpu.zeros(1, "f4", 5), "letters, digits"),  # type: ignore[arg-type]
    "an unknown dtype": (lambda gpu: gpu.zeros(1, "float33"), "float33"),
    "a negative shape": (lambda gpu: gpu.zeros(-1, "f4"), "negative dimensions"),
    "setting another dtype": (lambda gpu: gpu.zeros(3, "f4").set(np.zeros(3)), "float64 of shape .3,. given"),
    "setting another shape": (lambda gpu: gpu.zeros(3, "f4").set(np.zeros(4, "f4")), "convert it first"),
    "setting a fraction": (lambda gpu: gpu.zeros(3, "i4").set(1.5), "can't hold 1.5: must be an integer"),
    "setting a large number": (lambda gpu: gpu.zeros(3, "u1").set(300), "can't hold 300"),
    "setting a number beyond floats": (lambda gpu: gpu.zeros(3, "f4").set(1e39), "can't hold 1e.39: overflow"),
    "setting an integer beyond floats": (lambda gpu: gpu.zeros(3, "f2").set(65520), "can't hold 65520: overflow"),
    "setting a list": (lambda gpu: gpu.zeros(1, "i4").set([1]), "list given"),  # type: ignore[arg-type]
    "an element outside": (lambda gpu: gpu.zeros((3, 4), "f4").at(3, 0), "no element"),
    "an element by a fraction": (lambda gpu: gpu.zeros(3, "f4").at(1.0), "no element"),  # type: ignore[arg-type]
    "more than this machine has": (lambda gpu: gpu.zeros(1 << 60, "u1"), "zeros.*: Unable to allocate"),
    "a number for a path": (lambda gpu: gpu.module(3), r"module\(3\): must be the path"),  # type: ignore[arg-type]
    "no geometry": (lambda gpu: gpu.module(PTX)["vector_add"](1, 2), r"write vector_add\[grid, block\]"),
    "a kernel": (lambda gpu: gpu.module(PTX)["vector_sub"], "no kernel 'vector_sub'.*nearest: vector_add"),
    "a variable": (lambda gpu: gpu.module(SYMBOLS).set("tap", np.int32(1)), "no .global.* 'tap'; nearest: taps"),
    "a long variable": (lambda gpu: gpu.module(SYMBOLS).set("taps", np.zeros(9)), "has 12 bytes, 72 are given"),
    "a variable's dtype": (lambda gpu: gpu.module(SYMBOLS).get("taps", np.float64), "as .*float64"),
}


@pytest.mark.parametrize(("do", "message"), BAD_ARRAYS.values(), ids=BAD_ARRAYS)
def test_wrong_arrays_and_names(gpu: Gpu, do: Callable[[Gpu], object], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        do(gpu)


@pytest.mark.parametrize(("name", "value", "message"), [
    ("coalesing", "on", "settings: 'coalesing' is not a configuration field.*nearest: coalescing"),
    ("coalescing", True, "coalescing = 'True': must be one of"), ("coalescing", ["on"], "must be one of"),
    ("banks", 3, "banks = 3: must be a power of two"), ("banks", 2.5, "banks"), ("banks", None, "banks"),
    ("timing", "x", "timing = 'x': must be True, False"),
    ("launch_files", 5, "launch_files = 5: must be the path of a folder"), ("launch_files", b"x", "of a folder"),
    ("rtl", "no", "rtl = 'no': must be True or False"), ("traces", "no", "must be True or False"),
    ("limit", True, "limit = True: must be a whole number"), ("seed", True, "seed = True: must be a whole number"),
    pytest.param("banks", 10**5000, "banks = a value with more than 4,300 digits", id="digits"),
    ("sample", "4", "sample = '4': must be at least 2 blocks"), ("sample", 1, "sample = 1: must be"),
    ("pipes.sp.wings", 2, "wings"), ("banks", "1\nrows=2", "banks"), ("memory.warps", 2, "it is front_end.warps"),
])
def test_wrong_settings(name: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=f"(?s){message}"):
        Gpu("small", **{name: value})


@pytest.mark.parametrize("machine", ["fermy", "absent.toml", 5, ""])
@pytest.mark.parametrize("made", [Gpu, SmConfig.preset, GpuConfig.preset, lambda gpu: Gpu(gpu=gpu)])
def test_wrong_machines(made: Any, machine: Any) -> None:
    with pytest.raises(ConfigError):
        made(machine)


def test_a_name_that_is_none(gpu: Gpu) -> None:
    module: Any = gpu.module(SYMBOLS)
    for use in (lambda: module.set([], np.int32(1)), lambda: module.get([], "i4"), lambda: module[[]]):
        with pytest.raises(LaunchError, match=r"no .* \[\]"):
            use()


def test_an_array_without_a_name_gets_an_unused_one(gpu: Gpu) -> None:
    assert [gpu.array(ONES, name).name for name in ("array_1", None, "array_3", None)] == [
        "array_1", "array_2", "array_3", "array_4"]


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"no PTX", b""])
def test_unreadable_ptx(gpu: Gpu, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "k.ptx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(WarploomError, match=r"k\.ptx"):
        gpu.module(path)["k"]
    with pytest.raises(PtxError):
        gpu.module(tmp_path)


def test_a_fault_leaves_memory_as_before(gpu: Gpu) -> None:
    a, b = gpu.array(ONES), gpu.array(ONES)
    with pytest.raises(ExecutionError, match="past the end"):
        gpu.module(PTX)["vector_add"][2, 32](a, a, b, 64)
    assert (b.numpy() == 1).all()
    assert not gpu.launches


def test_names_of_arrays_and_variables_differ(gpu: Gpu) -> None:
    module = gpu.module(SYMBOLS)
    with pytest.raises(LaunchError, match="counter names an array and a variable"):
        module[module.entries[0]][1, 1](gpu.zeros(1, "f4", "counter"), gpu.zeros(1, "i4"), 1)


def test_what_was_not_asked_for(gpu: Gpu) -> None:
    with pytest.raises(ConfigError, match="no kernel has been launched"):
        _ = gpu.statistics
    a = gpu.array(ONES)
    launched = gpu.module(PTX)["vector_add"][1, 32](a, a, a, 32)
    with pytest.raises(ConfigError, match="without timing=False"):
        _ = launched.statistics
    with pytest.raises(ConfigError, match="traces=True"):
        _ = launched.trace
    with pytest.raises(ConfigError):
        _ = gpu.statistics


@pytest.mark.parametrize("attribute", ["name", "address", "shape", "dtype"])
def test_arrays_cannot_be_renamed(gpu: Gpu, attribute: str) -> None:
    with pytest.raises(AttributeError):
        setattr(gpu.zeros(1, "f4"), attribute, "x")


def test_every_launch_as_a_launch_file(tmp_path: Path) -> None:
    """The second launch of a program, alone: a pointer in a scalar, a variable that the first launch changed."""
    gpu = Gpu("small", timing=False, launch_files=tmp_path)
    module, x, y = gpu.module(SYMBOLS), gpu.array(np.arange(100, dtype=np.float32)), gpu.zeros((2, 50), np.int32)
    module.set("taps", np.array([1, 2], np.float32))
    for _ in range(2):
        module[module.entries[0]][2, 50](x, y, 100)
    file = load(tmp_path / f"1-{module.entries[0]}" / "launch.toml")
    executed = run(file, gpu.config)
    assert np.array_equal(executed.execution.buffers["array_1"], y.numpy())
    counter = executed.execution.buffers["counter"].view(np.int32)
    assert counter.tolist() == module.get("counter", np.int32).tolist() == [200]
    assert file.outputs == ("array_0", "array_1")


def test_a_launch_file_of_two_launches_is_never_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def launch(value: float) -> None:
        gpu = Gpu("small", timing=False, launch_files=tmp_path)
        x, y = gpu.array(value * ONES, "x"), gpu.array(value * ONES, "y")
        gpu.module(PTX)["vector_add"][1, 32](x, y, y, 32)

    def write(path: Path, data: bytes) -> None:
        if path.name == "y.npy":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write_whole(path, data)

    launch(1)
    monkeypatch.setattr("warploom.kernels.launchwriter.write_whole", write)
    with pytest.raises(LaunchError, match=r"launch_files: .*y\.npy: No space left on device: make room"):
        launch(2)
    assert not (tmp_path / "0-vector_add" / "launch.toml").exists()


def test_launch_files_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    gpu = Gpu("small", timing=False, launch_files=tmp_path / "file")
    x = gpu.zeros(32, np.float32)
    with pytest.raises(LaunchError, match=r"launch_files: .*file.*: Not a directory: make room, or choose another"):
        gpu.module(PTX)["vector_add"][1, 32](x, x, x, 32)


def test_modules_with_fewer_registers(gpu: Gpu) -> None:
    """Other values are in local memory: the result is the same."""
    whole, few = gpu.module(PTX)["vector_add"], gpu.module(PTX, max_registers=4)["vector_add"]
    assert few.program.registers == 4 < whole.program.registers
    a = gpu.array(ONES)
    few[1, 32](a, a, a, 32)
    assert (a.numpy() == 2).all()
    for limit in (1, 255):
        assert gpu.module(PTX, max_registers=limit).entries == ("vector_add",)
    for wrong in (0, 256, 6.0, True):
        with pytest.raises(LaunchError, match=r"max_registers=.*: must be a whole number from 1 to 255"):
            gpu.module(PTX, max_registers=wrong)  # type: ignore[arg-type]


def test_modules_with_a_larger_stack(gpu: Gpu) -> None:
    """It is for recursive functions."""
    path = Path(__file__).parents[1] / "ptx" / "recursion.ptx"
    out, counts = gpu.zeros(32, np.uint64), gpu.array(np.full(32, 6, np.uint32))
    gpu.module(path, stack=52)["deep"][1, 32](out, counts)
    with pytest.raises(ExecutionError, match="the stack is full at a call of '_Z4downj'"):
        gpu.module(path, stack=51)["deep"][1, 32](out, counts)
    with pytest.raises(LaunchError, match=r"stack=0\): must be a whole number from 1 to 524288"):
        gpu.module(path, stack=0)


def test_hardware_executes_the_module_with_fewer_registers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given = []
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))
    monkeypatch.setattr(lockstep, "lockstep", lambda _config, file, _seed, **_: given.append(file.options))
    gpu = Gpu("small", rtl=True)
    a = gpu.array(ONES)
    gpu.module(PTX, max_registers=4, stack=64)["vector_add"][1, 32](a, a, a, 32)
    assert given == [Options(max_registers=4, stack=64)]


@pytest.mark.rtl
def test_lockstep_on_demand() -> None:
    gpu = Gpu("small", rtl=True, replay=True)
    a = gpu.array(ONES)
    for _ in range(2):
        launched = gpu.module(PTX)["vector_add"][1, 32](a, a, a, 32)
        assert launched.compared is not None
        assert (launched.compared.cycles, launched.compared.by) == (launched.statistics.cycles, "replay")
    assert (a.numpy() == 4).all()


def test_a_difference_is_raised_and_its_launch_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def differs(_config: SmConfig, file: LaunchFile, seed: int, **_: object) -> None:
        raise LockstepError(file, seed, {"cycle": 7, "what": "planted", "message": "a difference"})

    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))
    monkeypatch.setattr(lockstep, "lockstep", differs)
    gpu = Gpu("small", rtl=True, seed=3)
    a = gpu.array(ONES)
    with pytest.raises(LockstepError, match=r"planted in cycle 7 .seed 3.: a difference") as caught:
        gpu.module(PTX)["vector_add"][1, 32](a, a, a, 32)
    assert (a.numpy() == 1).all()
    assert not gpu.launches
    load(str(caught.value).partition(": planted")[0])


def test_hardware_that_does_not_exist() -> None:
    with pytest.raises(ConfigError, match="of the golden model, without hardware"):
        Gpu("small", rtl=True, coalescing="on", alignment="ideal")
    with pytest.raises(ConfigError, match="add rtl=True"):
        Gpu("small", replay=True)
    with pytest.raises(ConfigError, match="seed: only hardware has power-up contents: add rtl=True"):
        Gpu("small", seed=5)
    with pytest.raises(ConfigError, match="leave out timing=False"):
        Gpu("small", rtl=True, timing=False)


@pytest.mark.parametrize("seed", [-1, 1 << 31, 1.0, "1"])
@pytest.mark.parametrize("rtl", [False, True])
def test_a_seed_that_is_none(seed: object, rtl: bool) -> None:
    with pytest.raises(ConfigError, match=r"^seed = \S+: must be a whole number from 0 to 2147483647$"):
        Gpu("small", rtl=rtl, seed=seed)
