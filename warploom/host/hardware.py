"""The hardware of a `Gpu`: each launch in lockstep with the golden model."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warploom import store
from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.arch.launch import Launch
from warploom.host.module import Module
from warploom.kernels.launchfile import Options, load
from warploom.kernels.launchwriter import save

if TYPE_CHECKING:
    from warploom.tb.lockstep import Lockstep


@dataclass(frozen=True)
class Hardware:
    """Verilated hardware of a configuration. `seed` is that of its power-up contents; with `replay` the golden model is
    recorded first, and the hardware compared with the record. Raises `ConfigError` if there is no such hardware."""

    config: SmConfig
    seed: int
    replay: bool

    def __post_init__(self) -> None:
        self.config.check_hardware()

    def compare(self, module: Module, entry: str, launch: Launch, cycles: int | None) -> "Lockstep":
        """Run a launch of a kernel of a module. It is written as a launch file for the simulator's process, which stays
        after a difference. `cycles` is the number that it must take.

        Raises `warploom.tb.lockstep.LockstepError` if hardware and model differ, and `ToolError`."""
        from warploom.tb.lockstep import lockstep  # noqa: PLC0415  (the model needs no simulator)
        from warploom.tb.runner import BenchError  # noqa: PLC0415

        with store.run_folder(f"launch-{entry}") as folder:
            file = load(save(folder / "launch", module.texts.values(), entry, launch))
            file = file.changed(Options(max_registers=module.max_registers, stack=module.stack))
            try:
                return lockstep(self.config, file, self.seed, cycles=cycles, replay=self.replay)
            except BenchError as error:  # the simulator itself
                raise ToolError(f"{entry}: {error.line}") from None
