"""Runs of different launches at the same time: each has its own result."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.small_launches import CONFIG, cycles, launches

from warploom.tb import runner
from warploom.tb.lockstep import lockstep

ROUNDS = 50
"""In the long regression."""


@pytest.mark.rtl
def test_two_commands_have_each_its_own_result(tmp_path: Path) -> None:
    """Like two users: in two folders, with the same relative path."""
    files = launches(tmp_path, 2)
    runner.build(CONFIG, "Datapath")
    command = [sys.executable, "-m", "warploom.cli", "run", "k.toml", "--preset", "small", "--rtl", "--json", "k.json"]
    running = [subprocess.Popen(command, cwd=file.path.parent, stdout=subprocess.DEVNULL) for file in files]
    assert [process.wait(timeout=300) for process in running] == [0, 0]
    found = [json.loads((file.path.parent / "k.json").read_text()) for file in files]
    assert [document["rtl"]["cycles"] for document in found] == [cycles(file) for file in files]
    assert [document["timing"]["cycles"] for document in found] == [cycles(file) for file in files]


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("count", [2, 8])
def test_many_runs_have_each_its_own_result(tmp_path: Path, count: int) -> None:
    files = launches(tmp_path, count)
    expected = [cycles(file) for file in files]
    runner.build(CONFIG, "Datapath")
    with ThreadPoolExecutor(count) as pool:
        for _ in range(ROUNDS):
            done = list(pool.map(lambda file: lockstep(CONFIG, file), files))
            assert [one.cycles for one in done] == expected
            assert [one.launch for one in done] == [str(file.path) for file in files]
