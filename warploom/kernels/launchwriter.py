"""Writes a launch as a launch file, which `warploom.kernels.launchfile.load` reads back to an equal launch."""

import io
import json
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np

from warploom.arch.launch import Buffer, Launch, Scalar
from warploom.files import write_whole
from warploom.kernels.arrays import DTYPES, SCALAR_TYPES

FILE, PTX = "launch.toml", "kernel.ptx"


def save(folder: Path, texts: Collection[str], entry: str, launch: Launch) -> Path:
    """Write `launch.toml` in a folder, which is made, with PTX texts and the arrays beside it; returns its path. An
    array of structs, truth values or complex numbers becomes one of bytes. All arrays in global memory are outputs.

    A `launch.toml` that is there is removed first, and the new one comes last, so that what it names is whole. Raises
    `OSError`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    path.unlink(missing_ok=True)
    files = [PTX if not number else f"kernel.{number}.ptx" for number, _ in enumerate(texts)]
    for file, text in zip(files, texts, strict=True):
        write_whole(folder / file, text.encode())
    write_whole(path, ("\n".join(_lines(folder, files, entry, launch)) + "\n").encode())
    return path


def _lines(folder: Path, files: list[str], entry: str, launch: Launch) -> Iterator[str]:
    yield f"ptx = {_text(files[0]) if len(files) == 1 else json.dumps(files)}"
    yield f"entry = {_text(entry)}"
    yield f"grid = {list(launch.grid)}"
    yield f"block = {list(launch.block)}"
    yield f"dynamic_shared = {launch.dynamic_shared}"
    yield f"limit = {launch.limit}"
    yield f"strict_barriers = {str(launch.strict_barriers).lower()}"
    yield f"locality = {launch.locality.value}"
    for argument in launch.arguments:
        yield "\n[[arguments]]"
        yield from _scalar(argument) if isinstance(argument, Scalar) else _array(folder, argument)
    for array in launch.mapped:
        yield "\n[[memory]]"
        yield from _array(folder, array)
    for number, symbol in enumerate(launch.symbols):  # their names need not be those of files
        yield "\n[[symbols]]"
        yield from _buffer(folder, symbol, f"symbol.{number}.npy")


def _scalar(scalar: Scalar) -> Iterator[str]:
    """The number, if it gives the same bytes, else the bytes, as of a type without numbers."""
    type_ = scalar.type if scalar.type in SCALAR_TYPES else "b8"
    yield f'type = "{type_}"'
    dtype = np.dtype(SCALAR_TYPES[type_])
    value = np.frombuffer(scalar.data, dtype)[0].item()
    if dtype.type(type(value)(repr(value))).tobytes() == scalar.data:  # a NaN's text does not have all its bits
        yield f"value = {value!r}"
    else:
        yield f'bytes = "{scalar.data.hex()}"'


def _array(folder: Path, array: Buffer) -> Iterator[str]:
    yield from _buffer(folder, array, f"{array.name}.npy")
    yield "out = true"
    if array.address is not None:
        yield f"address = {array.address:#x}"


def _buffer(folder: Path, buffer: Buffer, file: str) -> Iterator[str]:
    contents = buffer.array
    if contents.dtype.name not in DTYPES:
        contents = np.frombuffer(contents.tobytes(), np.uint8)
    data = io.BytesIO()
    np.save(data, contents, allow_pickle=False)
    write_whole(folder / file, data.getvalue())
    yield f"name = {_text(buffer.name)}"
    yield f"file = {_text(file)}"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
