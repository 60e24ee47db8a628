"""The bundled programs: one folder each, with CUDA source, PTX and `program.py`."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from warploom.arch.errors import LaunchError, nearest, shown
from warploom.host.gpu import Gpu
from warploom.kernels.expectation import Expectation

Inputs = dict[str, Any]
"""What a program is given: numpy arrays and numbers, by name."""

Outputs = dict[str, np.ndarray]
"""What a program returns, by name."""

SIZES = ("tiny", "default", "large")
"""tiny: about 3,000 dynamic warp instructions in all launches; default: about 10**5; large: about 10**7."""

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Program:
    """A bundled program, as its `program.py` describes it.

    `what` says what it computes and how it reaches its data. `suite` names the benchmark that it stands for by source
    (``{"BOW": "Gaussian"}``; the keys are those of docs/sources.md, with the number of the table where a source has
    several lists). `inputs` makes the same inputs for a size every time, `run` launches the kernels, and `reference`
    computes in numpy what `run` must return: bit for bit, except for outputs in `tolerances` (absolute, relative).
    """

    name: str
    what: str
    suite: dict[str, str]
    inputs: Callable[[str], Inputs]
    run: Callable[[Gpu, Inputs], Outputs]
    reference: Callable[[Inputs], Outputs]
    tolerances: dict[str, tuple[float, float]]

    @property
    def source(self) -> Path:
        """Path of the CUDA source."""
        return FOLDER / self.name / f"{self.name}.cu"

    @property
    def ptx(self) -> Path:
        """Path of the PTX file."""
        return self.source.with_suffix(".ptx")

    def is_built(self) -> bool:
        """Whether the PTX was made from the CUDA source as it is now."""
        return self.ptx.read_text().startswith(mark(self.source))

    def mismatches(self, given: Inputs, outputs: Outputs) -> list[str]:
        """One line for each output that is not as the reference says; none if all are."""
        expected = self.reference(given)
        if outputs.keys() != expected.keys():
            return [f"{self.name} returns {', '.join(outputs)}; the reference has {', '.join(expected)}"]
        lines = (Expectation(name, array, *self.tolerances.get(name, ())).mismatch(outputs[name])
                 for name, array in expected.items())
        return [line for line in lines if line]


def programs() -> tuple[Program, ...]:
    """All bundled programs, by name."""
    return tuple(map(_read, names()))


def program(name: str) -> Program:
    """A bundled program by its name; raises `LaunchError` for an unknown one."""
    if name not in names():
        raise LaunchError(f"{shown(name)} is not a bundled program; name one of {', '.join(names())}"
                          f"{nearest(name, names())}")
    return _read(name)


def blocks(elements: int, size: int) -> int:
    """The blocks of `size` elements that cover all elements."""
    return -(-elements // size)


def mark(source: Path) -> str:
    """First line of the PTX made from a CUDA source: it tells whether the source has changed since."""
    return f"// {source.name}, SHA-256 {hashlib.sha256(source.read_bytes()).hexdigest()}\n"


def names() -> list[str]:
    """Names of all bundled programs."""
    return sorted(path.parent.name for path in FOLDER.glob("*/program.py"))


def _read(name: str) -> Program:
    module = import_module(f"warploom.programs.{name}.program")
    return Program(name, re.sub(r"\s+", " ", module.__doc__ or "").strip(), module.SUITE, module.inputs, module.run,
                   module.reference, getattr(module, "TOLERANCES", {}))
