"""docs/calibration.md."""

from collections.abc import Iterator

from support.committed import record

from claims import Claim
from warploom.evaluation.pages import document

PAGE = "docs/calibration.md"


def claims() -> Iterator[Claim]:
    yield "issues 1.62 instructions on 16 banks (+{} %)", of("reduction", "16 banks", "experiment, %")
    yield "histogram issues 1.20 (+{} %)", of("histogram", "4 collectors", "experiment, %")
    machines = dict.fromkeys(row["machine"] for row in document("calibration")["calibration"])
    yield ("so its cycles are alike ({}, {} and {} % more than",
           *(of("vector_add", name, "cycles, %") for name in machines))


def of(kernel: str, machine: str, column: str) -> float:
    return float(record("calibration", "calibration", kernel=kernel, machine=machine)[column])
