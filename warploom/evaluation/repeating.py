"""How to repeat one run of an experiment: the options of ``warploom run`` that choose its configuration."""

import json
from collections.abc import Mapping

from warploom.arch.config import SmConfig, flat, presets
from warploom.arch.gpu import GPU_PARAMETERS, GpuConfig, Machine, gpu_presets, sm_of
from warploom.arch.pipes import PIPES


def options(machine: Machine, preset: str) -> list[str]:
    """``--preset`` or ``--gpu``, and ``--set``; `preset` is the base of machines whose name is that of no preset."""
    if isinstance(machine, GpuConfig):
        base = machine.name if machine.name in gpu_presets() else preset
        return ["--gpu", base, *_settings(machine, GpuConfig.preset(base))]
    base = machine.name if machine.name in presets() else preset
    return ["--preset", base, *_settings(machine, SmConfig.preset(base))]


def _settings(machine: Machine, base: Machine) -> list[str]:
    """``--set`` for each field that differs; for all pipes at once if these are others, or execute other classes."""
    known = values(base)
    different = {name: value for name, value in values(machine).items() if value != known.get(name) and name != "name"}
    if _classes(machine) != _classes(base):
        different = {name: value for name, value in different.items() if "." not in name}
        different[PIPES] = f"[{', '.join(_inline(vars(pipe)) for pipe in sm_of(machine).pipes)}]"
    return [word for name, value in different.items() for word in ("--set", f"{name}={value}")]


def values(machine: Machine) -> dict[str, str]:
    """The fields of an SM, or of a GPU and of its SMs, in the format of a setting."""
    own = {name: str(getattr(machine, name)) for name in GPU_PARAMETERS} if isinstance(machine, GpuConfig) else {}
    return own | flat(sm_of(machine))


def _classes(machine: Machine) -> list[tuple[str, set[str]]]:
    """The name of each pipe, and the classes that it executes."""
    return [(pipe.name, set(pipe.classes)) for pipe in sm_of(machine).pipes]


def _inline(table: Mapping[str, object]) -> str:
    """A TOML table in one line."""
    texts = {name: _inline(value) if isinstance(value, dict) else json.dumps(value) for name, value in table.items()}
    return f"{{{', '.join(f'{name} = {text}' for name, text in texts.items())}}}"
