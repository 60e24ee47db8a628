"""What parts show a bench of each cycle, collected from the tree of parts (docs/contract/counting.md, *Observation*).

A part that shows something has a method `observe`, which gives values by name. Those of a part in which they are made
of its ports, any part beside it can read. A part that is a module of its own and shows what is inside it, such as what
its own parts show, has a port `probe` besides: `probe_port` makes it and `show` drives it.
"""

from collections.abc import Iterator
from typing import Any

from amaranth import Module, Value, ValueLike
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out

Shown = dict[str, Value]
"""Values by name."""


def gather(*parts: Any, **named: Any) -> Shown:
    """What several parts show; those that show nothing are left out.

    Names of a part given by keyword come behind the keyword: `evict=unit` shows `evict_valid`, and `collector=units`,
    of which there are several, `collector0_busy`. Raises `ValueError` where two parts show the same name.
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
    """What a part shows, as others see it."""
    if hasattr(part, "probe"):
        return {name: part.probe[name] for name, _ in part.probe.shape()}
    return part.observe() if hasattr(part, "observe") else {}


def probe_port(shown: dict[str, ValueLike]) -> dict[str, wiring.Member]:
    """The port `probe`, with a field for each value; none without any."""
    if not shown:
        return {}
    return {"probe": Out(data.StructLayout({name: len(Value.cast(value)) for name, value in shown.items()}))}


def show(m: Module, part: Any) -> None:
    """Drive the port `probe` of a part with what it shows."""
    m.d.comb += [part.probe[name].eq(value) for name, value in part.observe().items()]
