"""The compiler as a whole: programs that spill compute what programs that do not spill compute."""

from pathlib import Path

import numpy as np
import pytest
from support.allocation_checker import Checker

from warploom.arch.encoding import decode_program, encode_program
from warploom.arch.errors import PtxError
from warploom.arch.isa import PT, Op
from warploom.arch.launch import Buffer, Launch
from warploom.compiler.allocate import allocate
from warploom.compiler.compile import compile_file, compile_ptx
from warploom.compiler.emit import emit
from warploom.compiler.if_conversion import convert_branches
from warploom.compiler.ir import Function, Node
from warploom.compiler.linker import link
from warploom.compiler.lower import lower
from warploom.compiler.parser import parse
from warploom.golden_model.functional.executor import execute
from warploom.kernels.library import kernel, kernels

PRESSURE = Path(__file__).parents[1] / "ptx" / "pressure.ptx"
ENTRIES = ["matrix", "wide", "conditions"]


def pressure_launch(entry: str) -> Launch:
    """Two blocks of 48 threads, random input from a fixed seed."""
    random = np.random.default_rng(7)
    dtype = {"matrix": np.float32, "wide": np.float64, "conditions": np.int32}[entry]
    values = random.integers(0, 100, 64) if entry == "conditions" else random.uniform(-2, 2, 64)
    buffers = [Buffer("in", values.astype(dtype)), Buffer("out", np.zeros(96, dtype))]
    if entry == "wide":
        buffers.append(Buffer("count", np.zeros(1, np.uint64)))
    return Launch((2, 1, 1), (48, 1, 1), tuple(buffers))


def buffers_after(program, launch: Launch) -> dict[str, bytes]:
    """The bytes of every buffer after a run."""
    return {name: array.tobytes() for name, array in execute(program, launch, record=False).buffers.items()}


@pytest.mark.sample(1)
@pytest.mark.parametrize("entry", ENTRIES)
def test_spilling_changes_no_result(entry):
    launch = pressure_launch(entry)
    free, tight = compile_file(PRESSURE, entry), compile_file(PRESSURE, entry, max_registers=12)
    assert tight.registers <= 12 < free.registers
    assert tight.local_bytes > free.local_bytes
    results = buffers_after(free, launch)
    assert buffers_after(tight, launch) == results
    assert any(results["out"])


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", [k.name for k in kernels()])
def test_bundled_kernels_with_few_registers(name):
    file = kernel(name).load("tiny")
    free, tight = (compile_file(file.ptx, file.entry, limit) for limit in (255, 8))
    assert tight.registers <= 8
    assert buffers_after(tight, file.launch) == buffers_after(free, file.launch)


def function(entry: str) -> Function:
    """The IR of a kernel under pressure."""
    ir = lower(link(parse(PRESSURE.read_text(), PRESSURE.name), entry))
    convert_branches(ir)
    return ir


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("predicates", [3, 7])
def test_real_kernels_are_proved(entry, predicates):
    """No two live values share a register, and the code survives encoding and decoding."""
    ir = function(entry)
    allocation = allocate(ir, 16, predicates)
    emitted = emit(ir, allocation)
    assert Checker(ir, allocation, emitted).run() > 100
    code = emitted.program.instructions
    assert decode_program(encode_program(code)) == code


def test_results_with_few_predicates():
    """Predicates beyond the limit live in register bits."""
    launch, ir = pressure_launch("conditions"), function("conditions")
    free, tight = (emit(ir, allocate(ir, max_predicates=limit)).program for limit in (7, 3))
    used = {i.pdst for i in tight.instructions} - {7}
    assert used == {0, 1, 2}
    assert buffers_after(tight, launch) == buffers_after(free, launch)


@pytest.mark.parametrize("name", ["bfs", "histogram", "pathfinder"])
def test_short_sides_become_guards(name):
    """The results do not change, and guards replace branches."""
    file = kernel(name).load("tiny")
    plain_ir = lower(link(parse(file.ptx[0].read_text(), file.ptx[0].name), file.entry))
    plain, converted = emit(plain_ir, allocate(plain_ir)).program, compile_file(file.ptx, file.entry)
    assert buffers_after(converted, file.launch) == buffers_after(plain, file.launch)
    branches, guards = (
        [sum(i.guard != PT and (i.op is Op.BRA) is wanted for i in p.instructions) for p in (plain, converted)]
        for wanted in (True, False))
    assert branches[1] < branches[0]
    assert guards[1] > guards[0]


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", [k.name for k in kernels()])
def test_plain_code_gives_the_same_memory(name):
    file = kernel(name).load("tiny")
    plain, optimised = (compile_file(file.ptx, file.entry, optimise=optimise) for optimise in (False, True))
    assert len(plain.instructions) > len(optimised.instructions)
    assert buffers_after(plain, file.launch) == buffers_after(optimised, file.launch)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", [k.name for k in kernels()])
def test_virtual_registers_give_the_same_memory(name):
    file = kernel(name).load("tiny")
    function = lower(link(parse(file.ptx[0].read_text(), file.ptx[0].name), file.entry))
    convert_branches(function)
    used = {register for node in function.body if isinstance(node, Node) for register in (*node.reads, *node.writes)}
    named = {register.number for register in used if not register.is_predicate and not register.local}
    place = allocate(function, apart=True).place
    assert len({place[number] for number in named}) == len(named)
    apart, shared = (compile_file(file.ptx, file.entry, virtual_registers=virtual) for virtual in (True, False))
    assert apart.registers >= len(named) > shared.registers
    assert buffers_after(apart, file.launch) == buffers_after(shared, file.launch)


@pytest.mark.parametrize("live", [1, 300, 600])
def test_more_virtual_registers_than_a_thread_has(live):
    text = ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{ .reg .b32 %r<600>;"
    groups = [range(start, start + live) for start in range(0, 600, live)]
    body = "".join(line for group in groups for line in (
        *(f"ld.global.u32 %r{n}, [4096];" for n in group), *(f"st.global.u32 [4096], %r{n};" for n in group)))
    compile_ptx(f"{text} {body} ret; }}", "k.ptx")
    with pytest.raises(PtxError, match=r"k.ptx:4: kernel k: has 600 registers .* at most 255: let them share"):
        compile_ptx(f"{text} {body} ret; }}", "k.ptx", virtual_registers=True)


def test_barrier_number_through_copies_in_plain_code():
    text = ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k()\n{ .reg .b32 %a, %b;\n"
    body = "mov.u32 %a, 3; mov.u32 %b, %a; bar.sync %b; ret; }"
    codes = [compile_ptx(text + body, "k.ptx", optimise=optimise).instructions for optimise in (False, True)]
    assert [[i.imm for i in code if i.op is Op.BAR] for code in codes] == [[3], [3]]


def test_unreadable_file(tmp_path):
    with pytest.raises(PtxError, match="No such file"):
        compile_file(tmp_path / "absent.ptx")


def test_a_byte_order_mark_is_skipped(tmp_path):
    path = tmp_path / "k.ptx"
    path.write_text("\ufeff.version 7.0\n.target sm_75\n.entry k() { ret; }", encoding="utf-8")
    assert compile_file(path).name == "k"


def test_a_zero_byte_at_the_end_is_skipped(tmp_path):
    path = tmp_path / "k.ptx"
    path.write_bytes(b".version 9.0\n.target sm_75\n.entry k() { ret; }\n\0")
    assert compile_file(path).name == "k"


def test_missing_entry():
    with pytest.raises(PtxError, match="nobody"):
        compile_ptx(PRESSURE.read_text(), "pressure.ptx", "nobody")
