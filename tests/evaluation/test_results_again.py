"""Committed results are what the present model gives: those of one workload are made again.

After a change of the model: make results. Recorded ones are in `test_evaluation_recorded.py`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from warploom.cli import main
from warploom.results import COMMITTED, RESULTS

SHORT = {"haws_tiny": "dct", "tfet_sms": "nearest_neighbour", "units_tiny": "inline_math"}
LONG = {
    "characterisation": "vector_add", "haws": "dct", "locality": "conv_2d", "locality_type_3": "scan",
    "sampling": "vector_add", "silicon": "inline_math", "tfet_bounds": "backprop", "tfet_sms_15": "nearest_neighbour",
    "units": "inline_math", "workloads": "rgb2cmyk",
}
"""By result, a workload that takes little time."""


def told(document: dict[str, Any], workload: str) -> dict[str, Any]:
    """What a result says of a workload: its values in figures, and its rows of tables."""
    figures = {f"{figure['figure']}, {figure['note']}, {key}": series["kernels"][workload]
               for figure in document.get("figures", ()) for key, series in figure["series"].items()
               if workload in series["kernels"]}
    tables = {key: [row for row in rows if isinstance(row, dict) and workload in row.values()]
              for key, rows in document.items() if isinstance(rows, list)}
    return figures | {key: rows for key, rows in tables.items() if rows}


def rounded(number: str) -> float:
    """A number, whatever the order of a sum that made it."""
    return float(f"{float(number):.9g}")


@pytest.mark.parametrize(("name", "workload"), [
    *SHORT.items(), *(pytest.param(*item, marks=pytest.mark.long) for item in LONG.items())])
def test_a_workload_again(name: str, workload: str, tmp_path: Path) -> None:
    made = tmp_path / "made.json"
    options = [*COMMITTED[name].options.split(), "--workloads", workload, "--json", str(made), "--out", str(tmp_path)]
    assert main(["evaluate", *options]) == 0
    found, committed = (told(json.loads(path.read_text(encoding="utf-8"), parse_float=rounded), workload)
                        for path in (made, RESULTS / f"{name}.json"))
    shared = found.keys() & committed.keys()  # some figures are of other workloads if fewer are asked for
    assert shared
    assert {place: found[place] for place in shared} == {place: committed[place] for place in shared}
