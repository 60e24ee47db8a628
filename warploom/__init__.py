"""Warploom: value-aware GPU register files as hardware you can read, simulate and synthesise."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warploom.host.gpu import Gpu as Gpu

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`Gpu`, imported when it is first used: parts of the hardware are imported without the golden model."""
    if name == "Gpu":
        from warploom.host.gpu import Gpu  # noqa: PLC0415

        return Gpu
    raise AttributeError(f"module 'warploom' has no attribute {name!r}")
