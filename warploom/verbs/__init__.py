"""The verbs of the command line, one module each, imported when called.

A verb is a function `main(options)` that prints its tables and returns the body of its JSON document. A body with a
`failure` (one line) makes the command fail after everything has been printed and written.
"""

import argparse
from typing import Any

from warploom import store
from warploom.arch.config import SmConfig

Body = dict[str, Any]


def need_simulator() -> None:
    """Raise `ToolError` now, rather than after minutes of work, if the machine cannot simulate hardware."""
    from warploom.tb.toolchain import versions  # noqa: PLC0415  (running the model needs no simulator)
    versions()
    store.need_place()


def configuration(options: argparse.Namespace) -> SmConfig:
    """The configuration selected by ``--preset`` and ``--set``. Raises `ConfigError`."""
    return SmConfig.preset(options.preset).with_settings(options.settings)
