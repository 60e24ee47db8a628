"""The identity of a lockstep run: a digest of all its inputs, which is stored with its result."""

import dataclasses
import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from warploom.arch.config import SmConfig
from warploom.kernels.launchfile import LaunchFile
from warploom.origin import ROOT


def identity(config: SmConfig, file: LaunchFile, seed: int) -> str:
    """The digest, in hexadecimal, of configuration, launch with the contents of its buffers, PTX, entry, options, seed,
    and the folder of this Warploom. The paths of the launch and its PTX do not matter. Raises
    `OSError`."""
    digest = hashlib.sha256()
    ours = str(ROOT.resolve())
    texts = (path.read_bytes() for path in file.ptx)
    _feed(digest.update, (config.to_toml(), file.launch, *texts, file.entry, file.options, seed, ours))
    return digest.hexdigest()


def _feed(update: Callable[[bytes], None], value: Any) -> None:
    """A value and its parts, in order and with their sizes, so that different values have different bytes."""
    if isinstance(value, np.ndarray):
        value = value.dtype.str, value.shape, value.tobytes()
    if dataclasses.is_dataclass(value):
        value = tuple((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    if isinstance(value, tuple):
        update(b"(%d:" % len(value))
        for part in value:
            _feed(update, part)
    else:
        data = value if isinstance(value, bytes) else repr(value).encode()
        update(b"%d:" % len(data) + data)
