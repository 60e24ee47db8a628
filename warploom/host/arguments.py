"""Python values as kernel arguments, checked against the kernel's parameters."""

import math
from collections.abc import Sequence
from typing import TypeGuard

import numpy as np

from warploom.arch.errors import LaunchError, shown
from warploom.arch.launch import Scalar
from warploom.arch.program import Parameter, Program
from warploom.host.array import KINDS, DeviceArray
from warploom.host.memory import GlobalMemory

Value = DeviceArray | int | float | bytes | bytearray | np.generic | np.ndarray
"""An argument: an array, a number, or the bytes of a struct."""

STRUCT = "b8"
"""The type of a struct, whose parameter has several of these bytes."""

_FLOATS = {2: "<f2", 4: "<f4", 8: "<f8"}


def encode_all(program: Program, arguments: Sequence[Value], memory: GlobalMemory) -> tuple[Scalar, ...]:
    """The arguments of a kernel; arrays must be in `memory`. Raises `LaunchError`."""
    if len(arguments) != len(program.parameters):
        raise LaunchError(f"{program.name} takes {len(program.parameters)} arguments, {len(arguments)} are given")
    for value in arguments:
        if isinstance(value, DeviceArray) and value not in memory:
            raise LaunchError(f"{program.name}: {value.name} is in the memory of another Gpu")
    return tuple(encode(program.name, parameter, value)
                 for parameter, value in zip(program.parameters, arguments, strict=True))


def encode(kernel: str, parameter: Parameter, value: Value) -> Scalar:
    """An argument as the parameter's bytes: the address of an array, a number in the parameter's range, or the bytes
    of a struct (a numpy record, `bytes` or `bytearray`). Raises `LaunchError`."""
    try:
        if isinstance(value, np.ndarray) and not value.ndim:
            value = value[()]
        data = _data(parameter, bytes(value) if isinstance(value, bytearray) else value)
    except (TypeError, ValueError, OverflowError) as error:
        raise LaunchError(f"{kernel}: {parameter.name} (.{parameter.type}, {parameter.size} bytes) can't be "
                          f"{' '.join(shown(value).split())}: {error}") from None
    return Scalar(parameter.type, data)


def _data(parameter: Parameter, value: Value) -> bytes:
    size, floating = parameter.size, parameter.type[0] == "f"
    if parameter.type == STRUCT and size > 1 and not isinstance(value, bytes | np.void):
        raise TypeError("must be a numpy record or bytes (the address of an array x is x.address)")
    if isinstance(value, DeviceArray):
        if floating or size != 8:
            raise TypeError("an array is passed as a pointer of 8 bytes")
        return value.address.to_bytes(8, "little")
    if _is_number(value, parameter):
        value = value.item()
    if isinstance(value, np.ndarray | np.generic | bytes):
        return _bytes(parameter, value)
    if floating and isinstance(value, int | float):
        if size not in _FLOATS:
            raise TypeError("must be bytes or a numpy record")
        with np.errstate(over="ignore"):
            data = np.array(value, _FLOATS[size])
        if math.isfinite(value) and not np.isfinite(data):
            raise ValueError("out of range")
        return data.tobytes()
    if not isinstance(value, int):
        raise TypeError("must be a number" if floating else "must be an integer" if size != 8 else
                        "must be an array of the GPU, gpu.array(...), or an integer")
    return value.to_bytes(size, "little", signed=value < 0)


def _is_number(value: Value, parameter: Parameter) -> TypeGuard[np.generic]:
    """Whether a numpy scalar has another size than the parameter, a number of its kind."""
    kinds = "f" if parameter.type[0] == "f" else "iu"
    return isinstance(value, np.generic) and value.dtype.kind in kinds and value.dtype.itemsize != parameter.size


def _bytes(parameter: Parameter, value: np.ndarray | np.generic | bytes) -> bytes:
    """The bytes of a numpy scalar or of a struct."""
    if not isinstance(value, bytes):
        if value.ndim:
            raise TypeError("an array must be in the GPU's memory: gpu.array(...)")
        if value.dtype.kind not in KINDS or value.dtype.hasobject:
            raise TypeError(f"{value.dtype} is given")
        if not value.dtype.isnative:
            raise TypeError(f"{value.dtype} has the wrong byte order")
        floating = {"f": True, "i": False, "u": False, "b": False}.get(value.dtype.kind)
        if floating is not None and floating != (parameter.type[0] == "f") and parameter.type[0] != "b":
            raise TypeError(f"{value.dtype} is given")
    data = value if isinstance(value, bytes) else value.tobytes()
    if len(data) != parameter.size:
        raise TypeError(f"{len(data)} bytes are given")
    return data
