"""Programs become PTX (nvcc) and expected results (g++): many in one call, since starting either takes longer."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from fuzz.given import COMMON_BYTES, ROW_BYTES, SCALARS_AT, inputs
from fuzz.program import Program
from warploom.arch.errors import ToolError

HERE = Path(__file__).parent
NVCC = ("nvcc", "-arch=compute_75", "-ptx", "-fmad=false", "-w")
GXX = ("g++", "-std=c++17", "-w", "-frounding-math", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-msse4.2")

LEVELS = (*((),) * 16, ("-Xcicc", "-O2"), ("-Xcicc", "-O1"), ("-Xcicc", "-O0"), ("-G",))
"""Options of nvcc, one tuple for each batch in turn."""

ITEM = re.compile(r"^\.(?:(?:(?:visible|weak|extern)\s+\.)?(?:func|entry)\b.*?^[};]|[a-z]+\b[^\n]*;)[ \t]*$",
                  re.MULTILINE | re.DOTALL)
"""A function, to the bracket or the semicolon in the first column, or a variable on one line."""

NAME = re.compile(r"[\w$]+")


class RefusedError(ToolError):
    """A compiler refuses a generated program, or crashes on it."""


def tool(command: Sequence[str], folder: Path) -> None:
    """Run a compiler. Raises `ToolError` if it is missing, `RefusedError` if it fails."""
    try:
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ToolError(f"{command[0]}: not found; random CUDA programs need the CUDA toolkit and g++, install both "
                        "and put them on PATH") from None
    if result.returncode:
        raise RefusedError(f"{' '.join(command)} failed:\n{(result.stderr or result.stdout).strip()[:2000]}")


def expected(programs: Sequence[Program], folder: Path, level: str = "-O0") -> list[tuple[bytes, bytes]]:
    """(output, common words) of each program, computed by the host's threads."""
    parts = ['#include "host.h"\n']
    for program in programs:
        parts += [program.source(), _caller(program)]
    calls = ", ".join(f"call_{program.kernel}" for program in programs)
    sizes = ", ".join(str(ROW_BYTES * program.grid * program.threads) for program in programs)
    parts.append(f"static void (*const calls[])() = {{{calls}}};\nstatic const u32 sizes[] = {{{sizes}}};\n{MAIN}")
    (folder / "host.cpp").write_text("".join(parts))
    given = [inputs(program.seed, program.grid * program.threads) for program in programs]
    (folder / "input").write_bytes(b"".join(map(b"".join, given)))
    tool((*GXX, level, f"-I{HERE}", "host.cpp", "-o", "host"), folder)
    tool(("./host",), folder)
    data, found, at = (folder / "output").read_bytes(), [], 0
    for program in programs:
        size = ROW_BYTES * program.grid * program.threads
        found.append((data[at : at + size], data[at + size : at + size + COMMON_BYTES]))
        at += size + COMMON_BYTES
    assert at == len(data)
    return found


MAIN = """
int main() {
    FILE *in = fopen("input", "rb"), *out = fopen("output", "wb");
    u32 number = 0;
    for (auto call : calls) {
        u32 bytes = sizes[number++];
        if (fread(input, sizeof input, 1, in) + fread(output, bytes, 1, in) + fread(common, sizeof common, 1, in) +
                fread(scalars, sizeof scalars, 1, in) != 4)
            return 2;
        call();
        fwrite(output, 1, bytes, out), fwrite(common, 1, sizeof common, out);
    }
    return fclose(out);
}
"""


def _caller(program: Program) -> str:
    x, y = program.block
    further = "".join(f", *({kind} *)(scalars + {SCALARS_AT + 8 * n})" for n, kind in enumerate(program.scalars, 1))
    given = f"(const u32 *)input, output, (u64 *)common, *(const Bundle *)scalars, *(u32 *)(scalars + {SCALARS_AT})"
    return (f"static void call_{program.kernel}() {{ launch({{{program.grid}, 1, 1}}, {{{x}, {y}, 1}}, [] {{ "
            f"{program.kernel}({given}{further}); }}); }}\n")


def ptx(programs: Sequence[Program], folder: Path, options: Sequence[str] = ()) -> list[str]:
    """The PTX of each program, with only those items of the module to which it refers."""
    (folder / "device.cu").write_text("".join(['#include "device.h"\n', *(program.source() for program in programs)]))
    tool((*NVCC, *options, f"-I{HERE}", "device.cu", "-o", "device.ptx"), folder)
    text = (folder / "device.ptx").read_text()
    items = [match[0] for match in ITEM.finditer(text)]
    names = [set(NAME.findall(item)) for item in items]
    defined: dict[str, list[int]] = {}
    for number, item in enumerate(items):
        defined.setdefault(_defined(item), []).append(number)
    head = text[: text.index(items[0])]
    head = "\n".join(line for line in head.splitlines() if line and not line.startswith("//"))
    return [_extract(program, items, names, defined, head) for program in programs]


def _defined(item: str) -> str:
    """The name that an item of a module declares: for functions the one before the parameters."""
    if ".func" in item.split("\n", 1)[0]:
        return re.sub(r"\A[^(]*\.func\s*(\([^)]*\))?\s*", "", item).split("(")[0].strip()
    return re.split(r"[(\[=;]", item.rsplit(".entry", 1)[-1])[0].split()[-1]



def _extract(program: Program, items: list[str], names: list[set[str]], defined: dict[str, list[int]],
             head: str) -> str:
    wanted, work = set(), list(defined[program.kernel])
    while work:
        number = work.pop()
        if number in wanted:
            continue
        wanted.add(number)
        work += [place for name in names[number] & defined.keys() for place in defined[name]]
    return "\n".join([head, *(items[number] for number in sorted(wanted)), ""])
