"""The observed values of a cycle, collected from the tree of parts (docs/contract/counting.md, *Observation*).

A part with observed values has a method `observe`, which returns them by name. If they are functions of its ports, any
neighbouring part can read them. A part that is a separate module and shows internal values, such as those of its own
parts, also has a port `probe`: `probe_port` makes it and `show` drives it.
"""

from collections.abc import Iterator
from typing import Any

from amaranth import Module, Value, ValueLike
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out

Shown = dict[str, Value]
"""Values by name."""


def gather(*parts: Any, **named: Any) -> Shown:
    """The observed values of several parts; parts without any are left out.

    The names of a part given by keyword get the keyword as prefix: `evict=unit` shows `evict_valid`, and a list
    `collector=units` shows `collector0_busy` and so on. Raises `ValueError` if two parts show the same name.
    """
    shown: Shown = {}
    for prefix, part in [*(("", part) for part in parts), *_prefixed(named)]:
        for name, value in _seen(part).items():
            if prefix + name in shown:
                raise ValueError(f"two parts show {prefix}{name}")
            shown[prefix + name] = value
    return shown


def _prefixed(named: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, given in named.items():
        if isinstance(given, list):
            yield from ((f"{name}{number}_", part) for number, part in enumerate(given))
        else:
            yield f"{name}_", given


def _seen(part: Any) -> Shown:
    """The values of a part, as another part can read them."""
    if hasattr(part, "probe"):
        return {name: part.probe[name] for name, _ in part.probe.shape()}
    return part.observe() if hasattr(part, "observe") else {}


def probe_port(shown: dict[str, ValueLike]) -> dict[str, wiring.Member]:
    """The port `probe`, with a field for each value; no port if there are none."""
    if not shown:
        return {}
    return {"probe": Out(data.StructLayout({name: len(Value.cast(value)) for name, value in shown.items()}))}


def show(m: Module, part: Any) -> None:
    """Drive the port `probe` of a part with its observed values."""
    m.d.comb += [part.probe[name].eq(value) for name, value in part.observe().items()]
