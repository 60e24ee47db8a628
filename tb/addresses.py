"""Addresses of registers as ports have them."""

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import address_fields
from warploom.golden_model.placement import Address


def shown(config: SmConfig, address: Address) -> dict[str, int]:
    """The fields of an address; where metadata tables are not divided, without those of its metadata."""
    return {name: int(getattr(address, name)) for name, _ in address_fields(config)}
