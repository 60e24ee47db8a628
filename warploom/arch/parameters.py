"""The fields of a configuration: part of the machine, legal values, unit and source of each."""

import dataclasses
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from warploom.arch.errors import ConfigError, shown
from warploom.arch.mechanisms import Switch

PARTS = ("front_end", "register_file", "operands", "pipes", "memory", "affine", "engine")
"""Parts of the machine (docs/architecture.md); each has a table in a configuration file."""

KEY = "parameter"

TABLE_3_5, GTX_480, AFFINE, OURS = "[RADAIDEH], Table 3.5", "GPGPU-Sim, GTX 480", "[AFFINE]", "ours"
"""Sources of the values of `narrow`."""


@dataclass(frozen=True)
class Parameter:
    """One field. A number has its lowest and highest value, a choice its enumeration."""

    part: str
    meaning: str
    source: str
    unit: str = ""
    low: int = 0
    high: int = 0
    is_power: bool = False
    choices: type[StrEnum] | None = None

    @property
    def legal(self) -> str:
        """The legal values, in words."""
        if self.choices is not None:
            return ", ".join(member.value for member in self.choices)
        if not self.high:
            return "latency, interval"
        return f"{'a power of two ' if self.is_power else ''}{self.low:,} to {self.high:,}"

    def check(self, name: str, value: object) -> Any:
        """The value in the field's type. Raises `ConfigError` if it is illegal."""
        if self.choices is not None:
            legal = [member.value for member in self.choices]
            if value not in legal:
                raise ConfigError(f"{name} = {shown(value)}: must be one of {', '.join(legal)}")
            return self.choices(value)
        check_range(name, value, self.low, self.high)
        assert isinstance(value, int)
        if self.is_power and value & (value - 1):
            raise ConfigError(f"{name} = {value}: must be a power of two")
        return value


def check_range(name: str, value: object, low: int, high: int) -> None:
    """Raise `ConfigError` unless a value is a whole number of a range."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ConfigError(f"{name} = {shown(value)}: must be a whole number from {low} to {high}")


def number(default: int, part: str, meaning: str, legal: tuple[int, int], source: str, **more: Any) -> Any:
    """A numeric dataclass field, in `unit` if it has one; `is_power`: it must be a power of two."""
    low, high = legal
    parameter = Parameter(part, meaning, source, low=low, high=high, **more)
    return dataclasses.field(default=default, metadata={KEY: parameter})


def choice(switch: Switch) -> Any:
    """A dataclass field with a value of an enumeration."""
    parameter = Parameter(switch.part, switch.meaning, switch.source, choices=type(switch.default))
    return dataclasses.field(default=switch.default, metadata={KEY: parameter})


def parameters(kind: type) -> dict[str, Parameter]:
    """The parameters of a dataclass by field name, in order of its fields."""
    return {field.name: field.metadata[KEY] for field in dataclasses.fields(kind) if KEY in field.metadata}
