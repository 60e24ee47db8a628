"""CUDA's runtime library, as `runtime.cpp` has it: compiled once for each version of CUDA, and cached."""

import re
from pathlib import Path

from warploom import processes, store
from warploom.arch.errors import ConfigError, ToolError
from warploom.cuda.protocol import header
from warploom.store import Key, Kind
from warploom.tb.toolchain import compiler

HERE = Path(__file__).parent
FLAGS = ("-std=c++17", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-Wno-attribute-alias", "-Wl,--default-symver")
"""As in NVIDIA's library, symbols have its file name as version."""

NEEDED = re.compile(rb"\0(libcudart\.so\.(\d+)(?:\.\d+)?)\0")

GPU_CODE = b".nv_fatbin\0"
"""The section of a program in which nvcc puts kernels."""

NAMES = {11: "libcudart.so.11.0", 12: "libcudart.so.12", 13: "libcudart.so.13"}
"""File names of the versions of CUDA whose structs `device.h` knows."""

SUFFIXES = ("", "_ptsz", "_ptds")
"""A function has up to two more names, with which programs call it that have a default stream for each thread."""


def needed(program: Path) -> list[tuple[str, int]]:
    """The file name of the library that a program loads, and its version; all that there are if only other libraries
    of it, or other programs that it starts, may load one. Raises `ConfigError` if it has kernels, but loads no library
    or another version, and `OSError`."""
    contents = program.read_bytes()
    found = NEEDED.search(contents)
    if found is None and GPU_CODE in contents:
        raise ConfigError(f"{program}: it does not load CUDA's runtime library: compile it with nvcc -cudart shared "
                          "--no-compress")
    if found is None:
        return [(name, version) for version, name in NAMES.items()]
    name, version = found[1].decode(), int(found[2])
    if version not in NAMES:
        raise ConfigError(f"{program}: it loads {name}: use CUDA {min(NAMES)} to {max(NAMES)}")
    return [(name, version)]


def library(name: str, version: int) -> Path:
    """The folder that has the library of a version under this name. Raises `OSError` and `ToolError`."""
    key = Key(Kind.LIBRARIES, name, {"flags": FLAGS, "compiler": compiler(), "sources": store.sources("warploom/cuda")})
    return store.folder(key, lambda folder: _compile(name, version, folder))


def _compile(name: str, version: int, folder: Path) -> None:
    source, log = HERE / "runtime.cpp", folder / "build.log"
    (folder / "protocol.h").write_text(header())
    (folder / "others.h").write_text(_others())
    command = ["g++", *FLAGS, f"-DCUDART_MAJOR={version}", f"-I{folder}", f"-I{HERE}", str(source),
               f"-Wl,-soname,{name}", "-o", name]
    with log.open("w") as output:
        if processes.run(command, folder, output):
            raise ToolError(f"g++ failed on {source}; its log is {log}")


def functions() -> set[str]:
    """The functions that `runtime.cpp` and the files that it includes define."""
    source = "".join(path.read_text() for path in (HERE / "runtime.cpp", *HERE.glob("*.h")))
    return {match[1] for match in re.finditer(r"(?:^API [^(]*\b|^SAME\()(\w+)[(,)]", source, re.MULTILINE)}


def _others() -> str:
    """The other functions of CUDA's library: other names of those that are there, and missing ones."""
    defined, lines = functions(), []
    for function in (HERE / "functions.txt").read_text().split():
        for name in (function + suffix for suffix in SUFFIXES):
            if name not in defined:
                lines.append(f"ALIAS({name}, {function})" if function in defined else f"MISSING({name})")
    return "\n".join([*lines, ""])
