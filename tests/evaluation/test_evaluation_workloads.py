"""What workloads are made of: counts of a small trace by hand, groups, and the document."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from warploom.arch.isa import Instruction, Op, Pipe
from warploom.arch.launch import Launch
from warploom.arch.program import Program
from warploom.cli import main
from warploom.evaluation import workload_mix
from warploom.evaluation.cached import Sized
from warploom.evaluation.workload_mix import COUNTS, KINDS, averages, by_workload, groups
from warploom.golden_model.trace import NONE, Trace, WarpTrace

HALF, ALL = 0x0000FFFF, 0xFFFFFFFF

CODE = (
    Instruction(op=Op.MOV, dst=1, imm_slot=0),
    Instruction(op=Op.FADD, dst=2, src=(1, 1, 255)),
    Instruction(op=Op.ST, src=(1, 255, 2)),
    Instruction(op=Op.EXIT),
)


def trace(lanes: tuple[int, ...] = (ALL, HALF, ALL, ALL)) -> Trace:
    """R1 = 0x1234, R2 = R1 + R1 in half of the lanes (given as 0x10000), then a store of both."""
    rows = np.array([[0x1234] * 32, [0x10000] * 16 + [0] * 16], np.uint32)
    masks = np.array(lanes, np.uint32)
    warp = WarpTrace(block=0, warp=0, live=ALL, pc=np.arange(4, dtype=np.int32), lanes=masks, pred_in=masks,
                     pred_out=np.zeros(4, np.uint32), result=np.array([0, 1, NONE, NONE], np.int32),
                     address=np.array([NONE, NONE, 0, NONE], np.int32))
    launch = Launch(grid=(1, 1, 1), block=(32, 1, 1))
    return Trace(Program("k", "k.ptx", CODE, (0,) * 4, 3), launch, (warp,), rows, np.zeros((1, 32), np.uint64),
                 np.zeros(1, np.uint8))


def test_counts_by_hand() -> None:
    found = workload_mix.mix_of([trace()])
    assert (found.launches, found.warp_instructions) == (1, 4)
    assert dict(zip(KINDS, found.kinds, strict=True)) == {
        "integer": 1, "single precision": 1, "SFU": 0, "memory": 1, "control": 1}
    assert found.sources == [0, 2, 1, 0]  # R1 twice, R2 once
    assert found.destinations == [0, 1, 1, 0]
    assert found.operands == [1, 1, 1, 0]
    v = found.values
    assert (v.inactive, v.writing, v.silent) == (16, 48, 32)
    assert (v.reading, v.zero_operand) == (16 + 32, 16)  # R2 is zero where nothing was written
    assert v.results == [0, 0, 32, 16, 0]
    assert v.operands == [16, 0, 16 + 32, 16, 0]


def test_instructions_without_lanes_do_not_count() -> None:
    found = workload_mix.mix_of([trace((ALL, 0, ALL, ALL))])
    assert sum(found.kinds) == 3
    assert found.warp_instructions == 4
    assert found.values.inactive == 0


def test_a_cached_one_is_the_same() -> None:
    found = workload_mix.mix_of([trace(), trace()])
    assert found.launches == 2
    point = Sized("k", "tiny")
    assert COUNTS.read(point, json.dumps(asdict(found))) == found


def test_every_kind_of_instruction_has_its_pipe() -> None:
    assert len(KINDS) == len(Pipe) + 1
    assert all(Instruction(op=op).pipe is Pipe.SP for op in workload_mix.FLOATING)


def test_averages_are_of_each_group() -> None:
    one, other = (workload_mix.mix_of([each]) for each in (trace(), trace((ALL, 0, ALL, ALL))))
    rows = averages({"a": one, "b": other}, {"first": ["a"], "both": ["a", "b"]})
    inactive = next(row for row in rows if row["quantity"] == "inactive")
    assert inactive["published"] == "23.0"
    assert inactive["first"] == 100 * 16 / 96
    assert inactive["both"] == 100 * 16 / 96 / 2
    assert [row["workload"] for row in by_workload({"a": one, "b": other})] == ["a", "b"]


def test_quantities_have_their_names() -> None:
    """Of 48 results 32 have 16 bits and 16 have 24; of 96 lanes 16 are inactive, 48 write."""
    (row,) = by_workload({"a": workload_mix.mix_of([trace()])})
    assert (row["launches"], row["warp instructions"]) == (1, 4)
    shares = {name: value for name, value in row.items() if isinstance(value, float) and value}
    assert shares == pytest.approx({
        "Fig. 3.3a: 2 bytes": 200 / 3, "Fig. 3.3a: 3 bytes": 100 / 3, "Fig. 3.3b: 2 bytes": 50,
        "Fig. 3.3b: 3 bytes": 50, "Fig. 3.5: 1 source": 50, "Fig. 3.5: 2 sources": 50,
        "Fig. 4.1a: inactive": 100 / 6, "Fig. 4.1a: active and writing": 50, "Fig. 4.1a: active, not writing": 100 / 3,
        "Fig. 4.1b: 16 bits": 200 / 3, "Fig. 4.1b: 24 bits": 100 / 3, "Fig. 4.1, operands: zero operand": 100 / 3,
        "Kinds: integer": 25, "Kinds: single precision": 25, "Kinds: memory": 25, "Kinds: control": 25})


def test_groups_are_the_lists_of_the_sources() -> None:
    found = groups()
    assert len(found["13 of [RADAIDEH]"]) == 13  # Table 3.6
    assert {"hotspot", "pathfinder", "backprop"} <= set(found["13 of [RADAIDEH]"])
    assert len(found["seven kernels"]) == 7
    assert max(map(len, found.values())) == len(found["all 56 programs"])


def test_the_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("warploom.evaluation.workload_mix.groups", lambda: {"two": ("vector_add", "reduction")})
    path = tmp_path / "workloads.json"
    assert main(["evaluate", "workloads", "--size", "tiny", "--json", str(path)]) == 0
    document = json.loads(path.read_text())
    assert document["groups"] == {"two": ["vector_add", "reduction"]}
    first, second = (row["Fig. 3.3a: 4 bytes"] for row in document["workloads"])
    average = next(row for row in document["averages"] if (row["figure"], row["quantity"]) == ("Fig. 3.3a", "4 bytes"))
    assert average["two"] == (first + second) / 2
    assert "Fig. 4.1a" in capsys.readouterr().out
    assert main(["evaluate", "workloads", "--preset", "small"]) == 1
    assert "traces are the same" in capsys.readouterr().err
