"""The verbs of the command line, one module each, imported when called.

A verb is a function `main(options)` that prints its tables and returns the body of its JSON document. A body with a
`failure` (one line) makes the command fail after everything has been printed and written.
"""

import argparse
from typing import Any

from warploom import store
from warploom.arch.config import DEFAULT_PRESET, SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.gpu import GpuConfig

Body = dict[str, Any]


def need_simulator() -> None:
    """Raise `ToolError` now, rather than after minutes of work, if the machine cannot simulate hardware."""
    from warploom.tb.toolchain import versions  # noqa: PLC0415  (running the model needs no simulator)
    versions()
    store.need_place()


def configuration(options: argparse.Namespace) -> SmConfig:
    """The configuration selected by ``--preset`` and ``--set``. Raises `ConfigError`."""
    return SmConfig.preset(options.preset or DEFAULT_PRESET).with_settings(options.settings)


def machine(options: argparse.Namespace) -> tuple[SmConfig, GpuConfig | None]:
    """The SM, and the GPU around it that ``--gpu`` selects, if any. Raises `ConfigError`."""
    if options.gpu is None:
        return configuration(options), None
    if options.preset is not None:
        raise ConfigError(f"--preset: the SMs of --gpu {options.gpu} are part of it: change them with --set, or in a "
                          "file like that which warploom presets shows")
    gpu = GpuConfig.preset(options.gpu).with_settings(options.settings)
    return gpu.sm, gpu
