"""Every failure of a bench reaches the user as one line with the cycle, and its log stays."""

import itertools
import linecache
import re
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.small_launches import launches

from warploom import processes
from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.cli import main
from warploom.kernels.launchfile import load
from warploom.store import folders, run_folder, runs
from warploom.tb import identity as identities
from warploom.tb import lockstep, runner, toolchain
from warploom.tb.bench import Driver, Monitor, Ports
from warploom.tb.identity import identity

RUN = ["run", "0/k.toml", "--preset", "small", "--rtl"]

pytestmark = pytest.mark.xdist_group("baseline")  # the core whose hardware they run


def fail(tmp_path, monkeypatch, capsys) -> str:
    """The line of a run that must fail."""
    launches(tmp_path, 1)
    monkeypatch.chdir(tmp_path)
    assert main(RUN) == 1
    line, = capsys.readouterr().err.splitlines()
    return line.removeprefix("warploom: error: 0/k.toml: ")


FAULTS = {
    "mismatch": r"the golden model departs from functional execution in cycle \d+ \(seed 1\): operand \d of \w+, lane "
                r"0: expected 0x\w+, actual 0x\w+$",
    "exception": r"the bench itself failed in cycle 50 \(seed 1\): KeyError: 'left\\nright'$",
    "SIGKILL": "Datapath: support.faulty_bench failed with seed 1: the simulator was ended by SIGKILL; "
               "the log is (.+)$",
}


@pytest.mark.rtl
@pytest.mark.parametrize("fault", FAULTS)
def test_what_fails_in_the_bench_is_one_line(tmp_path, monkeypatch, capsys, fault):
    monkeypatch.setattr(lockstep, "BENCH", "support.faulty_bench")
    monkeypatch.setenv("FAULT", fault)
    line = fail(tmp_path, monkeypatch, capsys)
    found = re.match(FAULTS[fault], line)
    assert found, line
    if found.groups():
        assert Path(found[1]).is_file()


@pytest.mark.rtl
def test_a_result_of_another_launch_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(lockstep, "identity", lambda *_: "of another")
    line = fail(tmp_path, monkeypatch, capsys)
    assert line == ("the bench came to its end in cycle 300 (seed 1): the launch or its PTX has changed since, or "
                    "another Warploom ran it: run it again")


@pytest.mark.rtl
def test_a_result_with_other_cycles_is_refused(tmp_path, monkeypatch, capsys):
    whole = lockstep.lockstep
    monkeypatch.setattr(lockstep, "lockstep", lambda *args, cycles, **_: whole(*args, cycles=cycles + 1))
    line = fail(tmp_path, monkeypatch, capsys)
    assert line == "the bench came to its end in cycle 300 (seed 1): the model alone takes 301 cycles"


@pytest.mark.parametrize(("results", "status", "message"), [
    (None, 0, "ended without a result, with status 0"), (None, 2, "ended without a result, with status 2"),
    ("<testsuites><testsuite tests='1' fail", 0, "ended without a result"), (None, -11, "was ended by SIGSEGV"),
    ("<testsuites><testsuite tests='2' failures='1'/></testsuites>", 0, "1 of 2 tests failed"),
    ("<testsuites/>", 0, "0 tests ran"), ("<testsuites><testsuite tests='1'/></testsuites>", 1, "with status 1"),
    ("<testsuites><testsuite tests='1'/></testsuites>", 0, None),
])
def test_how_a_simulator_ends(tmp_path, results, status, message):
    path = tmp_path / "results.xml"
    if results:
        path.write_text(results)
    said = runner._failure(path, status)
    assert said is None if message is None else message in said


class TestRunFolder:
    """Folders of runs."""

    @pytest.fixture(autouse=True)
    def place(self, tmp_path, monkeypatch):
        monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))

    def test_each_run_has_its_own_and_leaves_nothing(self):
        with run_folder("run") as one, run_folder("run") as other:
            assert one != other
            assert {one, other} < set(runs().iterdir())
        assert not [path for path in runs().iterdir() if path.is_dir()]

    def test_one_that_failed_stays(self):
        with pytest.raises(AssertionError), run_folder("run") as failed:
            (failed / "log.txt").touch()
            raise AssertionError
        with pytest.raises(KeyboardInterrupt), run_folder("run") as interrupted:
            raise KeyboardInterrupt
        assert [path.name for path in failed.iterdir()] == ["log.txt"]
        assert not interrupted.exists()

    @pytest.mark.usefixtures("interrupts")
    def test_an_interrupt_at_any_line_leaves_nothing(self):
        """At any but `try:`, where Python notices none."""
        code = {folders.__file__, processes.__file__}
        for number in itertools.count():
            lines = itertools.count()

            def trace(frame, event, _, number=number, lines=lines):
                file = frame.f_code.co_filename
                if file not in code:
                    return None
                is_one = event == "line" and linecache.getline(file, frame.f_lineno).strip() != "try:"
                if is_one and next(lines) == number:
                    signal.raise_signal(signal.SIGINT)
                return trace

            sys.settrace(trace)
            try:
                with run_folder("run") as own:
                    (own / "log.txt").touch()
            except KeyboardInterrupt:
                assert not [*runs().glob("run-*")], f"after {number} lines"
            else:
                break
            finally:
                sys.settrace(None)
        assert number > 30

    def test_one_that_was_killed_is_cleared_away_by_the_next(self):
        killed = runs() / "killed"
        killed.mkdir(parents=True)
        (killed / "alive").touch()
        with run_folder("run"):
            assert not killed.exists()


def test_an_identity_is_of_what_the_run_follows_from(tmp_path, monkeypatch):
    one, other, *_ = launches(tmp_path, 2)
    small = SmConfig.preset("small")
    found = [identity(small, one, 1), identity(small, other, 1), identity(small, one, 2),
             identity(small.with_settings(["banks=8"]), one, 1)]
    one.path.write_text(one.path.read_text().replace("shape = 64", "shape = 65"))
    found.append(identity(small, load(one.path), 1))
    assert len(set(found)) == len(found)
    other.ptx[0].write_text(one.ptx[0].read_text())
    assert identity(small, other, 1) == found[0], "where it lies does not matter"
    monkeypatch.setattr(identities, "ROOT", tmp_path)
    assert identity(small, one, 1) not in found, "another Warploom"


@pytest.mark.rtl
def test_a_source_tree_around_the_run_folder_is_left_alone(tmp_path, monkeypatch):
    """Each run folder is a root of its own for pytest, whose settings and conftest.py files cocotb would read."""
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (tmp_path / "conftest.py").write_text("raise SystemExit('loaded')\n")
    made = runner.build(SmConfig.preset("small"), "SubBank")
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))
    runner.run(made, "warploom.tb.test_subbank", 1)


def test_a_driver_refuses_what_is_no_input():
    driver = Driver(SimpleNamespace(inputs={}))
    with pytest.raises(KeyError, match="no input: renamed"):
        driver.drive({"renamed": 1})


def test_a_bench_reads_every_output():
    request, grant, count = (SimpleNamespace(value=value) for value in (1, 2, 3))
    ports = SimpleNamespace(inputs={"request": request}, outputs={"grant": grant, "count": count}, read=set())
    seen = Monitor(ports).sample()
    assert dict(seen) == {"request": 1, "grant": 2, "count": 3}
    Ports.finish(ports)
    ports.read.clear()
    assert seen["request"] + seen["grant"] == 3
    with pytest.raises(AssertionError, match=r"never reads: count$"):
        Ports.finish(ports)


@pytest.mark.parametrize(("log", "message"), [
    ("", "verilator ended with status 1"),
    ("cc x\nx.cpp:1: fatal error: no space\nmake: ", "x.cpp:1: fatal error: no space"),
])
def test_a_build_that_fails_says_why(tmp_path, monkeypatch, log, message):
    def build(self, *, log_file, **_):
        log_file.write_text(log)
        raise RuntimeError("verilator ended with status 1")

    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "place"))
    monkeypatch.setattr(runner._Runner, "build", build)
    monkeypatch.setattr(runner, "_library", lambda *_: tmp_path)
    with pytest.raises(ToolError, match=f"^Verilator failed on bank: {message}; its log is {tmp_path}/build.log$"):
        runner._verilate(tmp_path, "bank", [], [""])


def test_builds_and_runs_do_not_depend_on_variables_of_the_user(tmp_path, monkeypatch):
    """Builds have no key for them, and a run has the tests that its caller names."""
    for name in ("CXXFLAGS", "LDFLAGS", "COCOTB_TEST_FILTER", "COCOTB_RANDOM_SEED"):
        monkeypatch.setenv(name, "theirs")
    monkeypatch.setenv("LANG", "C")
    verilator = runner._Runner(tmp_path)
    verilator._set_env_build()
    assert not {"CXXFLAGS", "LDFLAGS", "COCOTB_TEST_FILTER"} & verilator.env.keys()
    assert verilator.env["LANG"] == "C" and "CXX=g++" in verilator.env["MAKEFLAGS"]
    verilator.env = {"COCOTB_RANDOM_SEED": "1"}
    verilator._set_env_common()
    assert verilator.env["COCOTB_RANDOM_SEED"] == "1"


def test_a_compiler_that_does_not_work_is_an_error(tmp_path, monkeypatch):
    """Some systems have one that only says how to install it."""
    stub = tmp_path / "g++"
    stub.write_text("#!/bin/sh\necho 'no developer tools were found' >&2\nexit 1\n")
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(ToolError, match=r"g\+\+ --version failed \(no developer tools were found\)"):
        toolchain.compiler()
