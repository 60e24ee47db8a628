"""The console: receives the stores of `printf` and of failed assertions, and prints them.

A thread writes a record to its local memory and stores the record's address to one of the console's words
(`memory_map`). A record of `CONSOLE_PRINT` is {format, arguments: 64 bits each; result: 32 bits, written by the
console}; a record of `CONSOLE_ASSERT` is {text, file, function: 64 bits each; line: 32 bits}. All but the result and
the line are generic addresses.
"""

import struct

import numpy as np

from warploom.arch.errors import DeviceAssertError, ExecutionError
from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.launch import Launch
from warploom.arch.memory_map import CONSOLE_ASSERT, CONSOLE_PRINT, LOCAL_WINDOW
from warploom.arch.modifiers import Space
from warploom.golden_model.functional.cformat import FormatError, render
from warploom.golden_model.functional.memory import Fault, Memory
from warploom.golden_model.functional.resident import Group
from warploom.golden_model.functional.special import coordinates

MAX_TEXT_BYTES = 1 << 24
"""More than this is an error: a kernel may print from every thread, in a loop."""

CHUNK_BYTES = 256
"""Bytes that are read of a string at a time: the buffer that holds it may be far larger."""

NO_FORMAT = -1
"""Result of a print without a format."""


def is_console(i: Instruction) -> bool:
    """Whether an instruction stores to the console."""
    return (i.op is Op.ST and i.space is Space.GLOBAL and i.src[:2] == (RZ, RZ)
            and i.imm in (CONSOLE_PRINT, CONSOLE_ASSERT))


class Console:
    """The console of one launch."""

    def __init__(self, launch: Launch, memory: Memory) -> None:
        self._launch, self._memory = launch, memory
        self._printed: dict[int, list[bytes]] = {}  # by linear number of the warp
        self._bytes = 0

    @property
    def text(self) -> str:
        """All that was printed: blocks in linear order, within a block by warp, within a warp in order of execution,
        the lanes of one instruction ascending."""
        whole = b"".join(piece for _, pieces in sorted(self._printed.items()) for piece in pieces)
        return whole.decode("utf-8", "backslashreplace")

    def store(self, word: int, group: Group, lanes: np.ndarray | None, records: np.ndarray) -> None:
        """Executing lanes (None: all) of a group store the addresses `records` (warps, 32) to a word of the console.

        Raises `Fault` for what cannot be printed, `DeviceAssertError` for an assertion.
        """
        for row, lane in np.argwhere(group.lanes if lanes is None else lanes).tolist():
            thread = _Thread(self._memory, self._launch, group, row, lane)
            try:
                if word == CONSOLE_ASSERT:
                    raise DeviceAssertError(thread.assertion(int(records[row, lane])))
                self._print(thread, int(records[row, lane]))
            except Fault as fault:
                what = "assert" if word == CONSOLE_ASSERT else "printf"
                raise Fault(row * 32 + lane, f"{what}: {fault.why}", fault.kind) from None

    def _print(self, thread: "_Thread", record: int) -> None:
        text, count = thread.printed(record)
        self._printed.setdefault(thread.warp, []).append(text)
        self._bytes += len(text)
        if self._bytes > MAX_TEXT_BYTES:
            raise Fault(0, f"the kernel prints more than {MAX_TEXT_BYTES} bytes; print from fewer threads",
                        ExecutionError)
        thread.local(record + 16, 4)[:] = np.frombuffer(struct.pack("<i", count), np.uint8)


class _Thread:
    """The thread in a lane of a row of a group, and its view of memory."""

    def __init__(self, memory: Memory, launch: Launch, group: Group, row: int, lane: int) -> None:
        self._memory, self._launch = memory, launch
        index, state = int(group.warps[row]), group.state
        self.warp = int(state.numbers[index])
        self._block, self._number = int(state.blocks[index]), int(state.warps[index]) * 32 + lane
        self._homes = {Space.SHARED: index // launch.warps_per_block * memory.shared_stride,
                       Space.LOCAL: (index * 32 + lane) * memory.local_stride}

    def printed(self, record: int) -> tuple[bytes, int]:
        """The text of a record of `CONSOLE_PRINT`, and its result."""
        format_, arguments = struct.unpack("<QQ", self.local(record, 16).tobytes())
        if not format_:
            return b"", NO_FORMAT
        try:
            return render(self._string(format_), lambda offset, size: self._read(arguments + offset, size),
                          self._string)
        except FormatError as error:
            raise Fault(0, str(error), ExecutionError) from None

    def assertion(self, record: int) -> str:
        """The message of a failed assertion, as CUDA prints it."""
        *places, line = struct.unpack("<QQQI", self.local(record, 28).tobytes())
        text, file, function = (self._string(place).decode("utf-8", "backslashreplace") for place in places)
        block, thread = (",".join(map(str, coordinates(number, extent))) for number, extent in (
            (self._block, self._launch.grid), (self._number, self._launch.block)))
        return f"{file}:{line}: {function}: block: [{block}], thread: [{thread}] Assertion `{text}` failed."

    def local(self, address: int, size: int) -> np.ndarray:
        """Bytes of the thread's local memory (a view)."""
        found = self._memory.span(LOCAL_WINDOW + address, self._homes)[:size]
        if len(found) < size:
            raise Fault(0, f"there is no record at {address:#x} of local memory")
        return found

    def _read(self, address: int, size: int) -> bytes:
        found = self._memory.span(address % (1 << 64), self._homes)[:size].tobytes()
        if len(found) < size:
            raise Fault(0, f"there is no argument at {address:#x}")
        return found

    def _string(self, address: int) -> bytes:
        span, text = self._memory.span(address, self._homes), b""
        for start in range(0, len(span), CHUNK_BYTES):
            piece, end, _ = span[start : start + CHUNK_BYTES].tobytes().partition(b"\0")
            text += piece
            if end:
                return text
        raise Fault(0, f"there is no string at {address:#x}")
