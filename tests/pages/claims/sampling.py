"""docs/sampling.md."""

from collections.abc import Iterator

from support.committed import record

from claims import Claim
from warploom.evaluation.pages import document

PAGE = "docs/sampling.md"


def claims() -> Iterator[Claim]:
    samples = document("sampling")["samples"]
    errors = [abs(row["accesses"]) for row in samples
              if row["workload"] != "gaussian" or row["sample"] not in (4, 8)]
    large = [abs(row["accesses"]) for row in samples if row["sample"] >= 16]
    yield "are right to {} % from four blocks on, to {} from sixteen", max(errors), max(large)
    few, more, most = (record("sampling", "samples", workload="gaussian", sample=sample) for sample in (4, 8, 32))
    yield "with {} and {} % for four and eight blocks", few["accesses"], more["accesses"]
    yield ("by up to {} % with 4 blocks of `gaussian` and still {} % with 32 of {}", -few["ipc"], -most["ipc"],
           most["blocks"])
    yield "is then mostly too low, by up to {} %", max(-row["ipc"] for row in samples)
