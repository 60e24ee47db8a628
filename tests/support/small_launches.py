"""Launch files of a small kernel, for tests that need several runs, or one that they disturb."""

from pathlib import Path

from warploom.arch.config import SmConfig
from warploom.golden_model.simulate import simulate
from warploom.kernels.launchfile import LaunchFile, load
from warploom.running import run

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
