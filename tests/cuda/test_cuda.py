"""``warploom cuda``: a program that calls CUDA's runtime library, compiled without nvcc (program.cpp)."""

import ctypes
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError, PtxError
from warploom.arch.memory_map import CONST_WINDOW, GLOBALS_BASE
from warploom.cuda.fatbin import CONTAINER, ENTRY, Ptx, embedded
from warploom.cuda.library import library, needed
from warploom.cuda.protocol import ANSWER, REQUEST, TEXTS, Code, Verb
from warploom.cuda.session import REGION, SHAPE, Session
from warploom.documents import undescribed
from warploom.host.gpu import Gpu

HERE = Path(__file__).parent

SUMS = [int(2.5 * i) + 7 + 100 * (i % 4 + 1) for i in range(70)]
"""What `combine` computes."""


def compiled(folder: Path, container: Path) -> Path:
    """The program, with a container of GPU code in it."""
    program = folder / "program"
    place = library("libcudart.so.13", 13)
    subprocess.run(["g++", "-std=c++17", f'-DCONTAINER="{container}"', str(HERE / "program.cpp"), "-o", str(program),
                    f"-L{place}", "-l:libcudart.so.13", "-lpthread"], check=True)
    return program


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("cuda"), HERE / "kernels.fatbin")


Ran = tuple[list[str], str, int]
"""The lines that the program prints, standard error, and the exit status."""


@pytest.fixture
def run(program: Path, tmp_path: Path) -> Callable[..., Ran]:
    def run(test: str, *options: str) -> Ran:
        command = [sys.executable, "-m", "warploom.cli", "cuda", *options, str(program), test]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.stdout.splitlines(), done.stderr, done.returncode
    return run


def numbers(line: str) -> list[int]:
    return [int(word) for word in line.split()]


def test_arrays_and_variables(run: Callable[..., Ran]) -> None:
    lines, errors, status = run("arrays", "--functional")
    assert (numbers(lines[0]), lines[1], errors, status) == (SUMS, "75", "", 0)  # the counter begins at 5


def test_memory_of_host_and_gpu(run: Callable[..., Ran]) -> None:
    """The host reads and writes it in place; its kinds; a copy of it."""
    lines, errors, status = run("managed", "--functional")
    assert (numbers(lines[0]), lines[1:3], errors, status) == (SUMS, ["3 1 0", "0"], "", 0)
    refused = "cudaErrorInvalidValue: invalid argument"
    assert lines[3:7] == ["2", refused, refused, refused]  # each kind has its own cudaFree


def test_variables_in_place(run: Callable[..., Ran]) -> None:
    """The host uses a managed variable, and has the addresses of others."""
    lines, errors, status = run("variables", "--functional")
    assert [numbers(line) for line in lines[:3]] == [
        [1, 2], [1, 15, 50, 3, 2], [0x01010101, 50, 0x01010101, 50, 2]]
    direction, value = "cudaErrorInvalidMemcpyDirection", "cudaErrorInvalidValue"
    assert [line.partition(":")[0] for line in lines[3:9]] == [
        direction, direction, value, "cudaErrorInvalidSymbol", value, value]
    assert (errors, status) == ("", 0)


def test_variables_where_the_host_has_memory(run: Callable[..., Ran]) -> None:
    lines, errors, status = run("taken", "--functional")
    assert (lines[0], status) == ("cudaErrorNotSupported: operation not supported", 1)
    assert "the program has memory of its own at 0x10000000" in errors
    assert "error: tally: a __managed__ variable without memory" in errors


def test_memory_of_both_that_the_host_has_no_room_for(run: Callable[..., Ran]) -> None:
    """It takes none of the GPU's."""
    lines, _, status = run("occupied", "--functional")
    assert (lines[:2], status) == (["cudaErrorMemoryAllocation: out of memory", "0"], 0)


def test_rectangles(run: Callable[..., Ran]) -> None:
    """What is between the rows stays, and in the host's memory it is not accessed."""
    lines, _, status = run("rectangles", "--functional")
    fill = 0x7F7F7F7F
    assert [numbers(line) for line in lines[:7]] == [
        [512], [0, 0, 2, fill], [5, 0, 7, fill], [10, 11, 12, fill], [fill] * 4, [0, -1, 5, -1, 10, -1], [5]]
    assert status == 0


def test_volumes(run: Callable[..., Ran]) -> None:
    """A part of one is copied, and all of it back."""
    lines, errors, status = run("volumes", "--functional")
    assert numbers(lines[0]) == [5, 6, 9, 9, 9, 9, 11, 12, 9, 9, 9, 9]
    assert (numbers(lines[1]), errors, status) == ([512, 3, 2], "", 0)


def test_dynamic_shared_memory_and_copies_on_the_gpu(run: Callable[..., Ran]) -> None:
    lines, _, status = run("shared", "--functional")
    assert (numbers(lines[0]), status) == ([*range(63, -1, -1)], 0)


def test_cooperative_launches(run: Callable[..., Ran]) -> None:
    lines, errors, status = run("cooperative", "--functional")
    assert (numbers(lines[0]), lines[1]) == ([*range(2, 64), 0, 1], "1")
    too_large = "cudaErrorCooperativeLaunchTooLarge: too many blocks in cooperative launch"
    invalid = "cudaErrorInvalidConfiguration: invalid configuration argument"
    assert lines[2:7] == [too_large, too_large, invalid, invalid, "cudaErrorLaunchFailure: unspecified launch failure"]
    assert "turned: its blocks wait for each other (grid.sync): use cudaLaunchCooperativeKernel" in errors
    assert status == 1


def test_what_a_kernel_prints_is_where_it_is_launched(run: Callable[..., Ran]) -> None:
    lines, _, _ = run("printing", "--functional")
    assert lines[:4] == ["before", "hello from thread 0", "hello from thread 1", "after"]


def test_time_between_events_is_cycles(run: Callable[..., Ran], tmp_path: Path) -> None:
    lines, _, status = run("time", "--json", "time.json")
    document = json.loads((tmp_path / "time.json").read_text())
    cycles = document["timing"]["cycles"]
    assert not undescribed(document)
    invalid = "cudaErrorInvalidResourceHandle: invalid resource handle"
    assert lines[4:8] == [f"{cycles / 1e6:.6f}", invalid, invalid, f"{-cycles / 1e6:.6f}"]
    assert status == 0


def test_time_of_a_gpu(run: Callable[..., Ran], tmp_path: Path) -> None:
    lines, _, _ = run("time", "--gpu", "k20x", "--json", "time.json")
    assert lines[4] == f"{json.loads((tmp_path / 'time.json').read_text())['gpu']['seconds'] * 1e3:.6f}"


def test_the_device_is_the_machine(run: Callable[..., Ran]) -> None:
    sm = SmConfig.preset("narrow")
    lines, _, _ = run("properties", "--preset", "narrow", "--functional")
    assert numbers(lines[0]) == [1024, 64, 2**31 - 1, sm.shared_bytes, 32, 2**31 - 1,
                                 sm.rows * sm.banks * 32, 1, 32 * sm.warps, 7, 5, sm.blocks]
    assert lines[1:7] == ["Warploom narrow", f"1 75 1024 {sm.shared_bytes // 20000}",
                          f"0 {sm.shared_bytes // 2} 5000 1000", "reversed 32", "1",
                          "cudaErrorInvalidDevice: invalid device ordinal"]


def test_a_gpu_of_several_sms(run: Callable[..., Ran]) -> None:
    lines, _, status = run("properties", "--gpu", "k20x")
    assert (numbers(lines[0])[7], lines[1], status) == (14, "Warploom k20x", 0)


def test_errors_of_the_program(run: Callable[..., Ran]) -> None:
    """They are those of CUDA, and the program may go on."""
    lines, errors, status = run("misused", "--functional")
    names = [line.partition(":")[0] for line in lines]
    assert names[:9] == [
        "cudaErrorInvalidValue", "cudaErrorInvalidValue", "cudaErrorInvalidValue", "cudaErrorInvalidSymbol",
        "cudaErrorInvalidValue", "cudaErrorMemoryAllocation", "cudaErrorInvalidDeviceFunction",
        "cudaErrorNotSupported", "801 801 0"]
    assert names[9:20] == [
        "cudaErrorInvalidValue", "cudaErrorInvalidValue", "cudaErrorInvalidValue", "cudaErrorInvalidValue",
        "cudaErrorInvalidMemcpyDirection", "cudaErrorInvalidPitchValue", "cudaErrorInvalidMemcpyDirection",
        "cudaErrorInvalidDevice", "cudaErrorInvalidValue", "cudaErrorInvalidValue", "cudaErrorInvalidValue"]
    assert names[20] == "cudaErrorInvalidResourceHandle"
    assert "warning: cudaGraphCreate is not supported" in errors
    assert status == 0


def test_a_launch_that_is_refused(run: Callable[..., Ran]) -> None:
    lines, errors, status = run("large", "--functional")
    assert lines[0] == "cudaErrorInvalidConfiguration: invalid configuration argument"
    assert "greet" in errors
    assert "2048" in errors
    assert status == 1


@pytest.mark.parametrize(("test", "code", "why"), [
    ("null", Code.ILLEGAL_ADDRESS, "a null pointer"),
    ("crooked", Code.MISALIGNED_ADDRESS, "the address must be a multiple of 4")])
def test_a_kernel_that_fails(run: Callable[..., Ran], tmp_path: Path, test: str, code: Code, why: str) -> None:
    """From then on everything fails, as on a GPU, and the user sees where the kernel failed."""
    lines, errors, status = run(test, "--functional")
    assert [line.partition(": ")[2] for line in lines[:4]] == [TEXTS[code]] * 4
    assert numbers(lines[4]) == [code, code]
    path, line = re.search(rf"warning: (\S+):(\d+): thread \(0, 0, 0\).* {why}", errors).groups()
    assert "ld.global" in (tmp_path / path).read_text().splitlines()[int(line) - 1]
    assert status == 1


def test_threads_of_the_host(run: Callable[..., Ran]) -> None:
    lines, _, status = run("threads", "--functional")
    assert (numbers(lines[0]), status) == ([0, 32, 64, 96], 0)


def test_a_kernel_changes_only_what_it_writes(run: Callable[..., Ran]) -> None:
    lines, _, status = run("meanwhile", "--functional")
    assert (lines[0], status) == ("42", 0)


def test_processes_that_the_program_starts(run: Callable[..., Ran]) -> None:
    """Each gets the answers to its own requests, and nobody waits for one that stays when the program has ended."""
    start = time.monotonic()
    lines, errors, status = run("children", "--functional")
    assert (lines[0], numbers(lines[1]), errors, status) == ("parent", [0, 0, 0], "", 0)
    assert time.monotonic() - start < 60


@pytest.mark.parametrize(("test", "message"), [
    ("leave", "ended with status 3"), ("crash", "ended by SIGABRT"), ("asked", "ended by SIGTERM"),
    ("realtime", f"ended by signal {signal.SIGRTMIN + 3}"), ("closed", "closed file descriptors of this library"),
    ("beyond", "memory that it does not have"), ("nothing", None)])
def test_how_the_program_ends(run: Callable[..., Ran], test: str, message: str | None) -> None:
    lines, errors, status = run(test, "--functional")
    assert lines[-1].endswith("has launched no kernel.")
    assert message in errors if message else not errors
    assert status == (message is not None)


def test_the_program_ends_during_a_launch(run: Callable[..., Ran]) -> None:
    lines, errors, status = run("early", "--functional")
    assert any("launches on fermi" in line for line in lines)
    assert (errors, status) == ("", 0)


def test_a_process_that_ends_within_a_request(run: Callable[..., Ran]) -> None:
    """The others go on."""
    lines, errors, status = run("killed", "--functional")
    assert (lines[0], status) == ("1 42", 0)
    assert "memory that it does not have" in errors


class Program:
    """A program in this process, whose GPU is a thread."""

    def __init__(self, folder: Path) -> None:
        ours, self._broker = socket.socketpair(type=socket.SOCK_SEQPACKET)
        ended, self._end = socket.socketpair()
        self._sockets = [ours, ended, self._broker, self._end]
        session = Session(Gpu("small", timing=False), "program", folder)
        self._connections = ExitStack()
        self._thread = threading.Thread(target=session.serve, args=(ours, ended, self._connections))
        self._thread.start()

    def connection(self) -> socket.socket:
        """That of a process."""
        theirs, mine = socket.socketpair()
        with theirs:
            socket.send_fds(self._broker, [b" "], [theirs.fileno()])
        self._sockets.append(mine)
        return mine

    @staticmethod
    def ask(connection: socket.socket, verb: Verb, *given: int, data: bytes = b"") -> tuple[int, int]:
        """The error and the number of the answer."""
        connection.sendall(REQUEST.pack(verb, *given, *[0] * (3 - len(given)), len(data)) + data)
        error, number, size = ANSWER.unpack(connection.recv(ANSWER.size, socket.MSG_WAITALL))
        connection.recv(size, socket.MSG_WAITALL)
        return error, number

    def end(self) -> None:
        """End it."""
        self._end.close()
        self._thread.join()
        self._connections.close()
        for each in self._sockets:
            each.close()


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()


def test_the_program_ends_in_a_request(here: Program) -> None:
    """Of a launch that has only begun nothing is done."""
    one, other = here.connection(), here.connection()
    one.sendall(REQUEST.pack(Verb.LAUNCH, 0, 0, 0, 56) + b"part")
    one.close()
    assert here.ask(other, Verb.TIME) == (Code.SUCCESS, 0)


VARIABLES = """\
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .b8 held[12];
.visible .const .align 4 .u32 constant;
"""


def test_variables_of_several_modules(here: Program, capfd: pytest.CaptureFixture[str]) -> None:
    """Each has an address of its own; constants can't."""
    connection, data = here.connection(), container((1, 75, 17, VARIABLES.encode()))
    modules = [here.ask(connection, Verb.LOAD, data=data)[1] for _ in range(2)]
    places = [here.ask(connection, Verb.ADDRESS, module, data=b"held") for module in modules]
    assert places == [(Code.SUCCESS, GLOBALS_BASE), (Code.SUCCESS, GLOBALS_BASE + REGION)]
    for (_, address), value in zip(places, (b"one", b"two"), strict=True):
        assert here.ask(connection, Verb.WRITE, address, data=value) == (Code.SUCCESS, 0)
    assert here.ask(connection, Verb.WRITE, GLOBALS_BASE + 12, data=b"beyond") == (Code.INVALID_VALUE, 0)
    assert here.ask(connection, Verb.FILL, GLOBALS_BASE, 0, (1 << 64) - 1) == (Code.INVALID_VALUE, 0)
    assert here.ask(connection, Verb.ADDRESS, 0, data=b"constant") == (Code.NOT_SUPPORTED, 0)
    assert "link them (nvcc -rdc=true)" in capfd.readouterr().err


def test_constants_of_a_module_that_is_loaded_later(here: Program) -> None:
    connection, data = here.connection(), container((1, 75, 17, VARIABLES.encode()))
    here.ask(connection, Verb.LOAD, data=data)
    assert here.ask(connection, Verb.ADDRESS, 0, data=b"constant") == (Code.SUCCESS, CONST_WINDOW)
    here.ask(connection, Verb.LOAD, data=data)
    for _ in range(2):
        assert here.ask(connection, Verb.ADDRESS, 1, data=b"held") == (Code.NOT_SUPPORTED, 0)


def test_a_program_asks_for_a_larger_stack(here: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a kernel that it has launched before, too. A smaller one than without asking it does not get."""
    text = (HERE.parent / "ptx" / "recursion.ptx").read_text()
    monkeypatch.setattr("warploom.cuda.session.embedded", lambda _: [Ptx(75, text)])
    connection = here.connection()
    assert here.ask(connection, Verb.LOAD) == here.ask(connection, Verb.KERNEL, data=b"deep") == (Code.SUCCESS, 0)
    _, out = here.ask(connection, Verb.ALLOCATE, 256, 256)
    _, counts = here.ask(connection, Verb.ALLOCATE, 128, 256)
    assert here.ask(connection, Verb.WRITE, counts, data=(600).to_bytes(4, "little") * 32) == (Code.SUCCESS, 0)
    launch = SHAPE.pack(1, 1, 1, 32, 1, 1, 0) + out.to_bytes(8, "little") + counts.to_bytes(8, "little")
    limits = [here.ask(connection, Verb.LIMIT_STACK, size)[0] for size in (1 << 20, 1)]
    assert limits == [Code.MEMORY_ALLOCATION, Code.SUCCESS]
    assert here.ask(connection, Verb.LAUNCH, data=launch)[0] == Code.LAUNCH_FAILURE
    assert here.ask(connection, Verb.LIMIT_STACK, 8192)[0] == Code.SUCCESS
    assert here.ask(connection, Verb.LAUNCH, data=launch)[0] == Code.SUCCESS


def test_launch_files_run_again(run: Callable[..., Ran], tmp_path: Path) -> None:
    """Each launch is a launch file, with memory as it was before."""
    run("shared", "--functional", "--launches", "launches")
    command = [sys.executable, "-m", "warploom.cli", "run", "launches/0-reversed/launch.toml", "--functional"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0


@pytest.mark.rtl
def test_hardware(run: Callable[..., Ran], tmp_path: Path) -> None:
    lines, _, status = run("arrays", "--preset", "small", "--rtl", "--replay", "--json", "rtl.json")
    (launch,) = json.loads((tmp_path / "rtl.json").read_text())["launches"]
    assert numbers(lines[0]) == SUMS
    assert launch["rtl"]["cycles"] == launch["timing"]["cycles"]
    assert status == 0


def test_an_endless_loop_ends(run: Callable[..., Ran]) -> None:
    lines, errors, status = run("arrays", "--functional", "--limit", "10")
    assert lines[0].startswith("cudaErrorLaunchFailure")
    assert "limit = 10 is too low" in errors
    assert status == 1


def test_alone_the_program_says_how_to_start_it(program: Path) -> None:
    place = library("libcudart.so.13", 13)
    done = subprocess.run([str(program), "nothing"], env={"LD_LIBRARY_PATH": str(place)}, capture_output=True,
                          text=True, check=False)
    assert "start the program with that" in done.stderr
    assert done.returncode == 1


def test_a_killed_command_ends_the_program(program: Path, tmp_path: Path) -> None:
    """Its next request fails."""
    ours, theirs = socket.socketpair()
    ours.close()
    place = library("libcudart.so.13", 13)
    with theirs:
        number = theirs.fileno()
        done = subprocess.run(
            [str(program), "nothing"], env={"LD_LIBRARY_PATH": str(place), "WARPLOOM_CUDA": str(number)},
            pass_fds=(number,), capture_output=True, text=True, check=False)
    assert "warploom cuda has ended" in done.stderr
    assert done.returncode == 1


def test_a_killed_command_ends_a_program_without_requests(program: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "warploom.cli", "cuda", str(program), "wait"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"waiting\n"
        process.kill()
        assert process.communicate(timeout=60)[0] == b""


def test_compressed_ptx(tmp_path: Path) -> None:
    program = compiled(tmp_path, HERE / "compressed.fatbin")
    command = [sys.executable, "-m", "warploom.cli", "cuda", str(program), "nothing"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ("warploom: error: program: its PTX is compressed: compile it with nvcc --no-compress\n")
    assert done.returncode == 1


@pytest.mark.parametrize(("content", "message"), [
    (b"\0.text\0.nv_fatbin\0", "does not load CUDA's runtime library: compile it with nvcc -cudart shared"),
    (b"\0libcudart.so.10.2\0", "loads libcudart.so.10.2: use CUDA 11 to 13"),
])
def test_programs_of_another_kind(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "program").write_bytes(content)
    with pytest.raises(ConfigError, match=re.escape(message)):
        needed(tmp_path / "program")


@pytest.mark.parametrize(("name", "version"), [
    ("libcudart.so.11.0", 11), ("libcudart.so.12", 12), ("libcudart.so.13", 13)])
def test_libraries_of_all_versions(tmp_path: Path, name: str, version: int) -> None:
    """Each has every function of NVIDIA's, and knows all errors."""
    (tmp_path / "program").write_bytes(b"\0" + name.encode() + b"\0")
    assert needed(tmp_path / "program") == [(name, version)]
    made = ctypes.CDLL(str(library(name, version) / name))
    for function in (HERE.parents[1] / "warploom" / "cuda" / "functions.txt").read_text().split():
        assert hasattr(made, function)
    number = ctypes.c_int()
    assert made.cudaRuntimeGetVersion(ctypes.byref(number)) == 0
    assert number.value == 1000 * version
    assert made.cudaGraphLaunch(None, None) == 801
    made.cudaGetErrorName.restype = made.cudaGetErrorString.restype = ctypes.c_char_p
    for error, text in TEXTS.items():
        assert made.cudaGetErrorString(error).decode() == text
    assert [made.cudaGetErrorName(error) for error in (0, 21)] == [b"cudaSuccess", b"cudaErrorInvalidMemcpyDirection"]


def test_a_library_of_the_program_may_have_the_kernels(program: Path, tmp_path: Path) -> None:
    """The program does not name CUDA's library itself, so it may be any version."""
    script = tmp_path / "script.sh"
    script.write_text(f"#!/bin/sh\n{program} leave\necho status $?\n")
    script.chmod(0o755)
    assert needed(script) == [("libcudart.so.11.0", 11), ("libcudart.so.12", 12), ("libcudart.so.13", 13)]
    command = [sys.executable, "-m", "warploom.cli", "cuda", str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout.splitlines()[0], done.stderr, done.returncode) == ("status 3", "", 0)


def test_output_does_not_replace_the_program(tmp_path: Path) -> None:
    script = tmp_path / "script.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    command = [sys.executable, "-m", "warploom.cli", "cuda", "--json", "script.sh", "./script.sh"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "--json: script.sh would be replaced, but the command reads it" in done.stderr
    assert script.read_text() == "#!/bin/sh\n"


def test_a_link_to_a_program_is_started_by_its_own_name(tmp_path: Path) -> None:
    """Python in a virtual environment, for example, is a link, by whose place it finds its packages."""
    script = tmp_path / "script.sh"
    script.write_text("#!/bin/sh\necho $0\n")
    script.chmod(0o755)
    (tmp_path / "link").symlink_to(script)
    command = [sys.executable, "-m", "warploom.cli", "cuda", "./link"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == str(tmp_path / "link")


def container(*entries: tuple[int, int, int, bytes]) -> bytes:
    """A container of entries: kind, architecture, flags and what is behind the header."""
    packed = b"".join(ENTRY.pack(kind, 0x101, ENTRY.size, len(data), 0, 0, 0, 8, architecture, flags) + data
                      for kind, architecture, flags, data in entries)
    return CONTAINER.pack(0xBA55ED50, 1, CONTAINER.size, len(packed)) + packed


def test_the_newest_ptx_of_each_container() -> None:
    one = container((1, 75, 17, b"seventy-five\0\0"), (2, 90, 17, b"machine code"), (1, 80, 17, b"eighty"))
    none = container((2, 90, 17, b"machine code"))
    other = container((1, 60, 17, b"sixty"))
    assert [(ptx.architecture, ptx.text) for ptx in embedded(one + none + other)] == [(80, "eighty"), (60, "sixty")]


def test_compressed_ptx_of_a_library_of_nvidia() -> None:
    """The program's own is not compressed."""
    one, other = container((1, 75, 17, b"mine")), container((2, 90, 0x8011, b"code"), (1, 121, 0x8011, b"\xff"))
    assert [ptx.text for ptx in embedded(one + other)] == ["mine"]


@pytest.mark.parametrize(("data", "message"), [
    (b"\0" * 16, "begins with 0x0, not 0xba55ed50"), (container((1, 75, 17, b""))[:-1], "damaged"), (b"PTX", "damaged"),
    (container((1, 75, 17, b"\xff")), "damaged"), (container((1, 75, 0x2011, b"")), "compressed"),
    (container((1, 75, 17, b"readable"), (1, 80, 0x2011, b"")), "compressed"),
    (CONTAINER.pack(0xBA55ED50, 1, 0, 0), "damaged"), (CONTAINER.pack(0xBA55ED50, 1, 16, 48) + b"\0" * 48, "damaged"),
])
def test_damaged_containers(data: bytes, message: str) -> None:
    with pytest.raises(PtxError, match=message):
        embedded(data)
