"""The whole compiler: PTX text in, `Program` out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from warploom.arch.errors import PtxError
from warploom.arch.isa import GENERAL_REGISTERS
from warploom.arch.memory_map import STACK_BYTES
from warploom.arch.program import Program
from warploom.compiler import images, pointer_calls, ptx
from warploom.compiler.allocate import allocate
from warploom.compiler.emit import emit
from warploom.compiler.if_conversion import convert_branches
from warploom.compiler.linker import link
from warploom.compiler.lower import lower
from warploom.compiler.modules import merge
from warploom.compiler.pairing import find_hints
from warploom.compiler.stack import add_frames
from warploom.compiler.texts import Texts

CUDA_WORDS = ("#include", "__global__")


def compile_ptx(text: str, file: str, entry: str | None = None, max_registers: int = GENERAL_REGISTERS, *,
                optimise: bool = True, virtual_registers: bool = False, stack: int = STACK_BYTES) -> Program:
    """`compile_texts` of one text; `file` is named in messages and in the program."""
    return compile_texts({file: text}, entry, max_registers, optimise=optimise, virtual_registers=virtual_registers,
                         stack=stack)


def compile_texts(texts: Mapping[str, str], entry: str | None = None, max_registers: int = GENERAL_REGISTERS, *,
                  optimise: bool = True, virtual_registers: bool = False, stack: int = STACK_BYTES) -> Program:
    """Compile one entry of PTX texts, which are named in messages and in the program; `entry` may be omitted if there
    is only one.

    With fewer `max_registers` per thread values go to local memory. Recursive functions have `stack` bytes there.
    Without `optimise` every rewrite that docs/compiler.md lists is disabled: more instructions and registers, the same
    memory. With `virtual_registers` each register of the PTX has one of its own, as in a simulator without a register
    allocator. Raises `PtxError` for every error or unsupported construct in the text, except inside functions that the
    entry does not call: those are not parsed.
    """
    files = Texts(texts)
    try:
        function = lower(link(files.modules(entry), entry, stack), optimise=optimise)
        add_frames(function)
        if optimise:
            convert_branches(function)
        allocation = allocate(function, max_registers, optimise=optimise, apart=virtual_registers)
        emitted = emit(function, allocation)
    except PtxError as error:
        raise files.placed(error) from None
    return replace(emitted.program, hints=find_hints(emitted, allocation.flow))


@dataclass(frozen=True)
class Declared:
    """The functions and variables of PTX texts by name, and the address of each variable in its space, and its initial
    bytes. Those in `.global` are from `start` to `end`."""

    functions: dict[str, ptx.Function]
    variables: dict[str, ptx.Variable]
    addresses: dict[str, int]
    initial: dict[str, bytes]
    start: int
    end: int


def declared(texts: Mapping[str, str]) -> Declared:
    """What PTX texts declare, without bodies. Raises `PtxError`."""
    files = Texts(texts)
    start = images.globals_base("\n".join(texts.values()))
    try:
        symbols = merge(files.modules(""))
        addresses, end = images.addresses(symbols.variables.values(), start)
        functions = pointer_calls.addresses(symbols.functions.values())
        initial = {name: images.initialised(symbols.variables[name], functions, symbols.variables, addresses)
                   for name in addresses}
        return Declared(symbols.functions, symbols.variables, addresses, initial, start, end)
    except PtxError as error:
        raise files.placed(error) from None


def compile_file(path: str | Path | Sequence[Path], entry: str | None = None, max_registers: int = GENERAL_REGISTERS, *,
                 optimise: bool = True, virtual_registers: bool = False, stack: int = STACK_BYTES) -> Program:
    """`compile_texts` of one or several files. Raises `PtxError` also when a file cannot be read."""
    paths = [path] if isinstance(path, str | Path) else path
    return compile_texts(read_all(paths), entry, max_registers, optimise=optimise, virtual_registers=virtual_registers,
                         stack=stack)


def read_all(paths: Iterable[str | Path]) -> dict[str, str]:
    """The texts of PTX files by their paths. Raises `PtxError` when one cannot be read, or is given twice."""
    texts: dict[str, str] = {}
    for path in paths:
        if str(path) in texts:
            raise PtxError("is given twice: name each PTX file once", file=str(path))
        texts[str(path)] = read_ptx(path)
    return texts


def read_ptx(path: str | Path) -> str:
    """The text of a PTX file. Raises `PtxError` when it cannot be read, is a binary, or CUDA C."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")  # editors of Windows begin a file with a byte order mark
        text = text.rstrip("\0")  # NVRTC's PTX ends with a zero byte, which programs write into the file, too
    except UnicodeDecodeError:
        is_binary = Path(path).read_bytes().startswith((b"\x7fELF", b"\x50\xed\x55\xba"))  # a cubin, a fatbin
        what = "is a binary; nvcc -ptx makes text" if is_binary else "is not UTF-8: name a PTX text file"
        raise PtxError(what, file=str(path)) from None
    except (OSError, ValueError) as error:  # ValueError: no path
        reason = error.strerror if isinstance(error, OSError) else error
        raise PtxError(f"cannot be read: {reason}; name a PTX text file", file=str(path)) from None
    if ".version" not in text and any(word in text for word in CUDA_WORDS):
        raise PtxError("this is CUDA C: compile it with nvcc -ptx", file=str(path))
    return text
