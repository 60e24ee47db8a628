"""The characterisation of programs: classes, branches and lanes by hand, counts of code, and the command."""

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest
from support.barrel import HALF, REST, add, in_lanes, load, program_of, trace_of
from support.work import in_this_process

from warploom import points
from warploom.arch.isa import Instruction, Op
from warploom.cli import main
from warploom.evaluation.characterisation import sass as of_sass
from warploom.evaluation.characterisation.executed import CLASSES, class_of, executed
from warploom.evaluation.characterisation.experiment import code, groups
from warploom.evaluation.characterisation.sass import BSSY, NOP, Sass, counted, sass
from warploom.evaluation.workloads import traces
from warploom.kernels.library import kernel


@pytest.mark.parametrize(("op", "name"), [
    (Op.IMAD, "integer"), (Op.SEL, "integer"), (Op.FFMA, "floating point"), (Op.MUFU, "floating point"),
    (Op.DADD, "floating point"), (Op.BRA, "control flow"), (Op.EXIT, "control flow"), (Op.LD, "memory"),
    (Op.RED, "memory"), (Op.CVT, "conversion"), (Op.ISETP, "predicate"), (Op.FSETP, "predicate"), (Op.BAR, "others")])
def test_classes(op: Op, name: str) -> None:
    assert CLASSES[class_of(Instruction(op=op))] == name


def test_every_operation_that_kernels_execute_has_one_class() -> None:
    """In bfs, whose branches diverge."""
    found = executed(traces("bfs", "tiny"))
    (launch,) = traces("bfs", "tiny")
    assert sum(found.classes) == found.instructions == launch.warp_instructions
    assert 0 < found.divergent < found.branches < found.classes[CLASSES.index("control flow")]
    assert launch.thread_instructions <= found.active < 32 * found.instructions


def test_branches_and_lanes_by_hand() -> None:
    """Half of the lanes skip a load and a sum, whose guard holds in none of the others; then all take one guarded
    branch, and pass a jump, which is no branch to count."""
    branch, jump = Instruction(op=Op.BRA, guard=0, imm=3, reconverge=3), Instruction(op=Op.BRA, imm=5)
    program = program_of(branch, load(1, 0), add(2, 0), replace(branch, imm=4, reconverge=4), jump)
    found = executed([in_lanes(trace_of(program), {0: HALF, 1: REST, 2: 0})])
    assert dict(zip(CLASSES, found.classes, strict=True)) == {
        **dict.fromkeys(CLASSES, 0), "integer": 1, "memory": 1, "control flow": 4}
    assert (found.branches, found.divergent, found.instructions) == (2, 1, 6)
    assert found.active == 32 + 16 + 16 + 32 + 32 + 32


def test_one_warp_has_the_end_of_the_array() -> None:
    """Each warp has one guarded branch; the sides of the one that diverges execute in lanes that add up to a warp."""
    (launch,) = traces("vector_add", "tiny")
    found = executed([launch])
    assert (found.branches, found.divergent) == (len(launch.warps), 1)
    lost = 32 * found.instructions - found.active
    assert 0 < lost < 32 * max(map(len, launch.warps))


def elf(*kernels: list[int]) -> bytes:
    """An ELF file with the code of kernels, whose words have these low bits."""
    codes = [b"".join(struct.pack("<QQ", 0xABC000 | code, 7) for code in codes) for codes in kernels]
    names = b"\0.shstrtab\0" + b"".join(b".text.k%d\0" % number for number in range(len(codes)))
    starts = [64 + len(names) + sum(map(len, codes[:number])) for number in range(len(codes))]
    heads = [(1, 3, 0, 0, 64, len(names))] + [
        (names.index(b".text.k%d\0" % number), 1, 6, 0, start, len(one))
        for number, (start, one) in enumerate(zip(starts, codes, strict=True))]
    table = 64 + len(names) + sum(map(len, codes))
    header = bytearray(64)
    struct.pack_into("<Q", header, 0x28, table)
    struct.pack_into("<HHH", header, 0x3A, 64, len(heads), 0)
    return bytes(header) + names + b"".join(codes) + b"".join(
        struct.pack("<IIQQQQIIQQ", *head, 0, 0, 0, 0) for head in heads)


def test_instructions_of_an_elf_file() -> None:
    """Three before the branch to itself in one kernel, one in the other; padding does not count."""
    assert counted(elf([0x381, BSSY, 0x94D, 0x947, NOP, NOP], [0x94D, 0x947])) == Sass(4, 1)


def test_without_an_assembler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_sass.shutil, "which", lambda _: None)
    assert sass(kernel("vector_add").ptx) is None
    assert code("vector_add")[3] is None


def test_instructions_of_ptx_and_of_machine_code() -> None:
    """As many in the PTX as it has lines that end in a semicolon and are no declarations; one point in bfs for each
    loop and each condition."""
    text = kernel("vector_add").ptx.read_text()
    body = text[text.index("{"):]
    before = sum(line.rstrip().endswith(";") and not line.strip().startswith(".") for line in body.splitlines())
    row = code("vector_add")
    assert row[1] == before and row[2] > 0
    assert code("bfs")[6] > 0


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(points, "compute", in_this_process)
    monkeypatch.setattr(of_sass.shutil, "which", lambda _: None)
    path = tmp_path / "out.json"
    assert main(["evaluate", "characterisation", "--size", "tiny", "--workloads", "vector_add,scan", "--out",
                 str(tmp_path), "--json", str(path)]) == 0
    found = json.loads(path.read_text())
    figures = {one["figure"]: one for one in found["figures"]}
    for figure in ("HAWS, Fig. 1.2", "HAWS, Fig. 4.12"):
        assert sum(bar["kernels"]["scan"] for bar in figures[figure]["series"].values()) == pytest.approx(100)
    assert figures["HAWS, Fig. 4.13b"]["series"]["active"]["kernels"]["vector_add"] > 99
    assert [row["SASS"] for row in found["code"]] == [None, None]
    assert "ptxas of a CUDA toolkit is not on PATH" in capsys.readouterr().out


def test_the_table_of_the_source() -> None:
    assert len(groups()["Table 4.2"]) == 9
