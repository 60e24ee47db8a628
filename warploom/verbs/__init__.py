"""The verbs of the command line, one module each, imported when called.

A verb is a function `main(options)` that prints its tables and returns the body of its JSON document. A body with a
`failure` (one line) makes the command fail after everything has been printed and written.
"""

import argparse
from typing import Any

from warploom import store
from warploom.arch.config import DEFAULT_PRESET, PARAMETERS, SmConfig
from warploom.arch.errors import ConfigError, shorten
from warploom.arch.gpu import GPU_PARAMETERS, GpuConfig
from warploom.arch.pipes import PIPES
from warploom.arch.settings import parsed

Body = dict[str, Any]

_PARTS = {parameter.part for parameter in (*PARAMETERS.values(), *GPU_PARAMETERS.values())}
"""The parts of a machine, with which a setting may name a field."""


def need_simulator() -> None:
    """Raise `ToolError` now, rather than after minutes of work, if the machine cannot simulate hardware."""
    from warploom.tb.toolchain import versions  # noqa: PLC0415  (running the model needs no simulator)
    versions()
    store.need_place()


def configuration(options: argparse.Namespace) -> SmConfig:
    """The configuration selected by ``--preset`` and ``--set``. Raises `ConfigError`."""
    preset = DEFAULT_PRESET if options.preset is None else options.preset
    return SmConfig.preset(preset).with_settings(consistent(options.settings))


def machine(options: argparse.Namespace) -> tuple[SmConfig, GpuConfig | None]:
    """The SM, and the GPU around it that ``--gpu`` selects, if any. Raises `ConfigError`."""
    if options.gpu is None:
        return configuration(options), None
    if options.preset is not None:
        raise ConfigError(f"--preset: the SMs of --gpu {options.gpu} are part of it: change them with --set, or in a "
                          "file like that which warploom presets shows")
    gpu = GpuConfig.preset(options.gpu).with_settings(consistent(options.settings))
    return gpu.sm, gpu


def consistent(settings: list[str]) -> list[str]:
    """The settings of ``--set``. Raises `ConfigError` if they give one field two values, perhaps by two names."""
    given: dict[str, str] = {}
    for setting in settings:
        name, value = parsed(setting)
        if not value:
            raise ConfigError(f"--set {shorten(setting)}: must be FIELD=VALUE, such as banks=4")
        name = name.removeprefix(f"{PIPES}.")
        part, _, short = name.partition(".")
        field = short if part in _PARTS else name
        if given.setdefault(field, value) != value and short != "copy":
            raise ConfigError(f"--set {shorten(setting)}: {shorten(field)} = {shorten(given[field])} is given, too: "
                              "give one of them")
    return settings
