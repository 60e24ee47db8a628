"""Runs of different launches at the same time: each has its own result."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from warploom.arch.config import SmConfig
from warploom.golden_model.simulate import simulate
from warploom.kernels.launchfile import LaunchFile, load
from warploom.running import run
from warploom.tb import runner
from warploom.tb.lockstep import lockstep

CONFIG = SmConfig.preset("small")

PTX = """\
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
mov.u32 %r2, ROUNDS; mov.u32 %r3, 0; mov.u32 %r4, %r1;
L: mad.lo.u32 %r4, %r4, %r4, %r1; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r2;
@%p1 bra L;
st.global.u32 [%rd3], %r4;
ret;
}
"""

LAUNCH = """\
ptx = "k.ptx"
grid = 1
block = 64
[[arguments]]
name = "a"
dtype = "uint32"
shape = 64
generator = { kind = "zeros" }
out = true
"""

ROUNDS = 50
"""In the long regression."""


def launches(folder: Path, count: int) -> list[LaunchFile]:
    """This number of launch files, all with the same name, of kernels that take different times."""
    files = []
    for number in range(count):
        own = folder / str(number)
        own.mkdir()
        (own / "k.ptx").write_text(PTX.replace("ROUNDS", str(10 + 5 * number)))
        (own / "k.toml").write_text(LAUNCH)
        files.append(load(own / "k.toml"))
    return files


def cycles(file: LaunchFile) -> int:
    """The cycles of the model alone."""
    trace = run(file, CONFIG).execution.trace
    assert trace is not None
    return simulate(CONFIG, trace).statistics.cycles


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
