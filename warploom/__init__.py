"""Warploom: value-aware GPU register files as hardware you can read, simulate and synthesise."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warploom.arch.launch import Locality as Locality
    from warploom.host.gpu import Gpu as Gpu

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`Gpu` and `Locality`, imported when they are first used: parts of the hardware are imported without the golden
    model, and without numpy."""
    if name == "Gpu":
        from warploom.host.gpu import Gpu  # noqa: PLC0415

        return Gpu
    if name == "Locality":
        from warploom.arch.launch import Locality  # noqa: PLC0415

        return Locality
    raise AttributeError(f"module 'warploom' has no attribute {name!r}")
