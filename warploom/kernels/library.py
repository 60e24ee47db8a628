"""The bundled kernels: one folder each, with CUDA source, PTX, metadata and a launch file for every size."""

import dataclasses
import tomllib
from dataclasses import dataclass
from pathlib import Path

from warploom.arch.errors import LaunchError, nearest, shown
from warploom.kernels.expectation import Expectation
from warploom.kernels.launchfile import LaunchFile, load
from warploom.kernels.references import reference

SIZES = ("tiny", "default")
"""tiny: about 3,000 dynamic warp instructions, for lockstep with hardware; default: about 100,000, for the model."""

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Kernel:
    """A bundled kernel: its name, its purpose, and the registers that ptxas gives it for sm_75."""

    name: str
    what: str
    ptxas_registers: int

    @property
    def ptx(self) -> Path:
        """Path of the PTX file."""
        return _FOLDER / self.name / f"{self.name}.ptx"

    def load(self, size: str = "default") -> LaunchFile:
        """The launch of one of the `SIZES`; it expects the result of the numpy reference, bit for bit."""
        if size not in SIZES:
            raise LaunchError(f"{self.name}: size {shown(size)}: must be one of {', '.join(SIZES)}")
        file = load(_FOLDER / self.name / f"{size}.toml")
        expected = tuple(Expectation(name, array) for name, array in reference(self.name, file.launch).items())
        return dataclasses.replace(file, expectations=expected)


def kernels() -> tuple[Kernel, ...]:
    """All bundled kernels, by name."""
    return tuple(_read(path) for path in sorted(_FOLDER.glob("*/kernel.toml")))


def kernel(name: str) -> Kernel:
    """A bundled kernel by its name; raises `LaunchError` for an unknown one."""
    path = _FOLDER / name / "kernel.toml"
    names = [known.name for known in kernels()]
    if name not in names:
        raise LaunchError(f"{shown(name)} is not a bundled kernel; name one of {', '.join(names)}, "
                          f"or a launch file (.toml){nearest(name, names)}")
    return _read(path)


def _read(path: Path) -> Kernel:
    return Kernel(path.parent.name, **tomllib.loads(path.read_text()))
