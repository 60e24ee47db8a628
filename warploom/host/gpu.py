"""`Gpu`: an SM, or several with the memory that they share, on which a program in Python launches kernels."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warploom.arch.chunks import check_at_once
from warploom.arch.config import DEFAULT_PRESET, SmConfig
from warploom.arch.errors import ConfigError, LaunchError, shown
from warploom.arch.gpu import GpuConfig, sms_of
from warploom.arch.isa import GENERAL_REGISTERS
from warploom.arch.launch import DEFAULT_LIMIT, Launch
from warploom.arch.layout import check_fits
from warploom.arch.memory_map import HEAP_BASE, LOCAL_BYTES, STACK_BYTES, after
from warploom.arch.modifiers import Space
from warploom.arch.program import Program
from warploom.compiler.prepare import prepared
from warploom.golden_model.functional.executor import Stream, execute
from warploom.golden_model.gpu.simulate import simulate_gpu
from warploom.golden_model.sample import Sampled
from warploom.golden_model.simulate import simulate
from warploom.golden_model.statistics import Statistics
from warploom.golden_model.trace import Traced
from warploom.host.arguments import Value, encode_all
from warploom.host.array import DeviceArray
from warploom.host.geometry import Geometry
from warploom.host.hardware import Hardware
from warploom.host.launched import Launched, summed
from warploom.host.memory import GlobalMemory
from warploom.host.module import Kernel, Module
from warploom.kernels.launchwriter import save
from warploom.tb.seeds import FIXED, LIMIT

if TYPE_CHECKING:
    from warploom.tb.lockstep import Lockstep

Setting = str | int | Sequence[int]
"""The value of a field of the configuration."""

Timing = Callable[[SmConfig, Traced], Statistics]
"""Simulates a launch to its end."""


class Gpu:
    """A GPU with one SM, and a memory of fixed latency. `machine` is a preset, a configuration file or an `SmConfig`;
    `settings` are its fields, as in ``Gpu("fermi", coalescing="on")``, or ``Gpu("fermi", **{"pipes.mem.credits": 4})``
    for names with dots. Without a `machine` it is `fermi`.

    Or with all its SMs and the memory around them (docs/gpu.md): `gpu` is a bundled GPU, a configuration file or a
    `GpuConfig`, and `settings` are fields of it or of its SMs, as in ``Gpu(gpu="k20x", l2_ways=8, mshrs=32)``.

    Without `timing` kernels are executed, but their cycles not simulated; a function as `timing` simulates them and
    returns their statistics, as `warploom.watch.recorder.Recording.launch` does. With `sample` at most so many blocks
    of each launch are simulated, at least 2, evenly spaced (docs/sampling.md). With `traces` each launch has its trace.
    With `rtl` each launch also runs on the Verilated hardware, in lockstep with the model, with power-up contents from
    `seed` (by default 1); with `replay` many times as fast, against a record of the model. With `launch_files` each
    launch is written as a launch file of its own: ``launch_files/3-KERNEL/launch.toml``. A launch that has not ended
    after `limit` warp instructions counts as an endless loop.

    `launches` are the finished launches. Raises `ConfigError`.
    """

    def __init__(
        self, machine: str | Path | SmConfig | None = None, *, gpu: str | Path | GpuConfig | None = None,
        timing: bool | Timing = True, traces: bool = False, rtl: bool = False, replay: bool = False,
        seed: int | None = None, launch_files: str | Path | None = None, sample: int | None = None,
        limit: int = DEFAULT_LIMIT, **settings: Setting,
    ) -> None:
        _check_flags(traces=traces, rtl=rtl, replay=replay)
        changes = [_setting(field, value) for field, value in settings.items()]
        self.gpu = None if gpu is None else _gpu(gpu).with_settings(changes, "settings")
        if self.gpu is not None and (machine is not None or rtl or sample is not None or callable(timing)):
            raise ConfigError(f"gpu = {self.gpu.name}: leave out machine (its SMs are part of it), and rtl, sample and "
                              "a function as timing, which are for one SM")
        self.config = _sm(machine).with_settings(changes, "settings") if self.gpu is None else self.gpu.sm
        if not (isinstance(timing, bool) or callable(timing)):
            raise ConfigError(f"timing = {shown(timing)}: must be True, False, or a function")
        _check_hardware(rtl=rtl, replay=replay, seed=seed, timed=bool(timing))
        _check_limits(sample, limit, timed_alone=bool(timing) and not rtl)
        if not isinstance(launch_files, str | Path | None):
            raise ConfigError(f"launch_files = {shown(launch_files)}: must be the path of a folder")
        self.launches: list[Launched] = []
        self._timing = _simulated if timing is True else timing
        self._traces, self._sample, self._limit = traces, sample, limit
        self._hardware = Hardware(self.config, FIXED if seed is None else seed, replay) if rtl else None
        self._files = None if launch_files is None else Path(launch_files)
        self._memory, self._free = GlobalMemory(self._place), HEAP_BASE

    def array(self, values: np.ndarray | np.generic, name: str | None = None) -> DeviceArray:
        """A copy of `values` in global memory. `name` is for messages and launch files. Raises `LaunchError`."""
        return self._memory.array(values, name)

    def zeros(
        self, shape: int | tuple[int, ...], dtype: str | type | np.dtype = np.float64, name: str | None = None
    ) -> DeviceArray:
        """An array of zeros in global memory. Raises `LaunchError`."""
        return self._memory.zeros(shape, dtype, name)

    def module(self, *paths: str | Path, max_registers: int = GENERAL_REGISTERS, stack: int = STACK_BYTES) -> Module:
        """A PTX file, or several that are linked, whose kernels and variables have this GPU's memory, compiled for
        threads of at most so many registers (CU_JIT_MAX_REGISTERS), with a stack of so many bytes for recursive
        functions (cudaLimitStackSize). Raises `PtxError`, and `LaunchError` for what is no path or no number."""
        if wrong := [path for path in paths or (None,) if not isinstance(path, str | Path)]:
            raise LaunchError(f"module({shown(wrong[0])}): must be the path of a PTX file")
        for name, given, most in (("max_registers", max_registers, GENERAL_REGISTERS), ("stack", stack, LOCAL_BYTES)):
            if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= most:
                raise LaunchError(f"module({name}={shown(given)}): must be a whole number from 1 to {most}")
        return Module(self.launch, [Path(path) for path in paths], max_registers, stack)

    @property
    def statistics(self) -> Statistics:
        """The sum of the statistics of all launches, of samples scaled to the whole. Raises `ConfigError` if there are
        none."""
        return summed(self.launches)

    def table(self) -> list[dict[str, Any]]:
        """A row for each launch, with the numbers of its statistics by name, of samples scaled to the whole:
        ``pandas.DataFrame(gpu.table())``."""
        return [launched.row() for launched in self.launches]

    def launch(self, kernel: Kernel, geometry: Geometry, arguments: Sequence[Value]) -> Launched:
        """Run a kernel to its end. Raises `LaunchError`, `ExecutionError`, and with `rtl` `LockstepError`; memory is
        then as before."""
        program, module = prepared(kernel.program, self.config), kernel.module
        launch = self._launch(kernel, geometry, arguments)
        launch.check(program)
        check_fits(self.config, program, launch)
        if program.grid_barrier or geometry.at_once:
            check_at_once(self.config, sms_of(self.gpu or self.config), program, launch)
        self._save(module, program, launch)
        execution = execute(program, launch, record=self._traces)
        traced = execution.trace or Stream(program, launch)
        sampled = None if self._sample is None else Sampled(traced, self._sample)
        run = simulate_gpu(self.gpu, traced) if self.gpu is not None and self._timing else None
        timed, compared = (run.summed, None) if run is not None else self._simulate(sampled or traced, module)
        for array in self._memory:
            array.replace(execution.buffers[array.name])
        module.keep({variable.name: execution.globals[variable.offset : variable.offset + variable.size]
                     for variable in program.module if variable.space is Space.GLOBAL})
        warnings = tuple(f"{line}; set it with module.set(...)" for line in launch.warnings(program))
        launched = Launched(
            program.name, geometry, execution.warp_instructions, execution.thread_instructions, execution.printed,
            warnings, timed, execution.trace, compared,
            None if sampled is None or timed is None
            else sampled.sample(execution.warp_instructions, timed.warp_instructions), run)
        self.launches.append(launched)
        return launched

    def _place(self, size: int) -> int:
        """The address of a new array of so many bytes."""
        address, self._free = self._free, after(self._free, size)
        return address

    def _save(self, module: Module, program: Program, launch: Launch) -> None:
        """Write a launch as a launch file, if that is asked for."""
        if self._files is None:
            return
        try:
            save(self._files / f"{len(self.launches)}-{program.name[:60]}", module.texts.values(), program.name, launch)
        except OSError as error:
            raise LaunchError(f"launch_files: {error.filename}: {error.strerror}: make room, or choose another "
                              "folder") from None

    def _simulate(self, traced: Traced, module: Module) -> tuple[Statistics | None, "Lockstep | None"]:
        """The cycles of a launch on the model and on the hardware, as far as they are asked for."""
        if not self._timing:
            return None, None
        timed = self._timing(self.config, traced)
        if self._hardware is None:
            return timed, None
        return timed, self._hardware.compare(module, traced.program.name, traced.launch, timed.cycles)

    def _launch(self, kernel: Kernel, geometry: Geometry, arguments: Sequence[Value]) -> Launch:
        """The launch with all of this GPU's memory."""
        program, symbols = kernel.program, kernel.module.symbols(kernel.program)
        if both := self._memory.names & {variable.name for variable in program.module}:
            raise LaunchError(f"{program.name}: {min(both)} names an array and a variable of the module: give the "
                              "array another name")
        return Launch(
            geometry.grid, geometry.block, encode_all(program, arguments, self._memory), geometry.shared,
            limit=self._limit, symbols=symbols,
            mapped=tuple(array.buffer() for array in self._memory), locality=geometry.locality)


def _check_flags(**flags: object) -> None:
    """Raise `ConfigError` for one that is neither True nor False."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise ConfigError(f"{name} = {shown(value)}: must be True or False")


def _check_hardware(*, rtl: bool, replay: bool, seed: object, timed: bool) -> None:
    """Raise `ConfigError` for options of hardware that make no sense."""
    if replay and not rtl:
        raise ConfigError("replay: only hardware replays: add rtl=True")
    if rtl and not timed:
        raise ConfigError("rtl: hardware is compared with the timing: leave out timing=False")
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < LIMIT):
        raise ConfigError(f"seed = {shown(seed)}: must be a whole number from 0 to {LIMIT - 1}")
    if seed is not None and not rtl:
        raise ConfigError("seed: only hardware has power-up contents: add rtl=True")


def _check_limits(sample: object, limit: object, *, timed_alone: bool) -> None:
    """Raise `ConfigError` for a sample, which only the model times alone, or a number of instructions that is none."""
    if sample is not None and (not timed_alone or not isinstance(sample, int) or sample < 2):
        raise ConfigError(f"sample = {shown(sample)}: must be at least 2 blocks, of a Gpu with timing and without "
                          "rtl")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise ConfigError(f"limit = {shown(limit)}: must be a whole number of warp instructions, at least 1")


def _setting(field: str, value: Setting) -> str:
    """A field of the configuration as text. Raises `ConfigError`."""
    try:
        return f"{field}={value}"
    except ValueError:  # Python refuses to write numbers of more than 4,300 digits
        raise ConfigError(f"settings: {field} = {shown(value)}: no field is so large") from None


def _sm(machine: str | Path | SmConfig | None) -> SmConfig:
    """The SM that a user names. Raises `ConfigError`."""
    if isinstance(machine, SmConfig):
        return machine
    if machine is not None and not isinstance(machine, str | Path):
        raise ConfigError(f"{shown(machine)}: must be a preset, a configuration file, or an SmConfig")
    return SmConfig.preset(DEFAULT_PRESET if machine is None else str(machine))


def _gpu(gpu: str | Path | GpuConfig) -> GpuConfig:
    """The GPU that a user names. Raises `ConfigError`."""
    if isinstance(gpu, GpuConfig):
        return gpu
    if not isinstance(gpu, str | Path):
        raise ConfigError(f"gpu = {shown(gpu)}: must be a bundled GPU, a configuration file, or a GpuConfig")
    return GpuConfig.preset(str(gpu))


def _simulated(config: SmConfig, trace: Traced) -> Statistics:
    """The golden SM's statistics."""
    return simulate(config, trace).statistics
