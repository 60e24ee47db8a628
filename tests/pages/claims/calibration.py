"""docs/calibration.md."""

from collections.abc import Iterator

from support.committed import ends, record

from claims import Claim, Within
from warploom.evaluation.pages import document
from warploom.quoted import found

PAGE = "docs/calibration.md"


def claims() -> Iterator[Claim]:
    yield "issues 1.62 instructions on 16 banks (+{} %)", of("reduction", "16 banks", "experiment, %")
    yield "histogram issues 1.20 (+{} %)", of("histogram", "4 collectors", "experiment, %")
    machines = dict.fromkeys(row["machine"] for row in document("calibration")["calibration"])
    yield ("so its cycles are alike ({}, {} and {} % more than",
           *(of("vector_add", name, "cycles, %") for name in machines))
    yield from instructions()
    yield from settings()


def instructions() -> Iterator[Claim]:
    executed, entering, without = (found("instructions without a register", "", f"timing.{count}")
                                   for count in ("warp_instructions", "datapath_instructions", "operands.0"))
    control = {name: 100 * (1 - entering[name] / count) for name, count in executed.items()}
    yield ("no collector: {} % of the instructions of reduction, {} % of pathfinder", control.pop("reduction"),
           control.pop("pathfinder"))
    for share in ends(control):
        yield "about 10 % of the others", Within(5, share, 15)
    yield "our code {}", executed["vector_add"]
    yield "In matmul {} % of the instructions read no register, in pathfinder {} %", *(
        100 * without[name] / executed[name] for name in ("matmul", "pathfinder"))


def settings() -> Iterator[Claim]:
    late = found("latency of DRAM", "--set memory_latency=259 --set sp0.result_queue=2 --set sp1.result_queue=2")
    yield "vector_add, histogram and pathfinder lose {} to {} %", *ends(
        100 * (1 - late[name] / soon) for name, soon in found("latency of DRAM").items())
    yield "matmul loses {} % of its IPC", -changed("--set timing.mem=[1,2]")
    for variant in ("--set mem.write_path=3 --set sfu.write_path=2", *(
            f"--set sp0.result_queue={length} --set sp1.result_queue={length}" for length in (2, 8))):
        yield "change its IPC by less than 1 %", Within(-1, changed(variant), 1)
    five, four = (found("a fifth collector", f"--set collectors={count}") for count in (5, 4))
    yield "a fifth one gains {} and {} % of IPC", *(100 * (five[name] / four[name] - 1) for name in four)


def changed(variant: str) -> float:
    """Percent by which the IPC of matmul changes with a variant of `gtx480`."""
    return 100 * (found("settings of gtx480", variant)["matmul"] / found("settings of gtx480")["matmul"] - 1)


def of(kernel: str, machine: str, column: str) -> float:
    return float(record("calibration", "calibration", kernel=kernel, machine=machine)[column])
