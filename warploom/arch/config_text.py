"""Configurations as text: TOML files, with a table for each part of the machine, and settings of the command line.

`known` are the parameters of a configuration by field name, without the configuration's own name.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from warploom.arch.errors import ConfigError, nearest, shorten, shown
from warploom.arch.parameters import PARTS, Parameter
from warploom.arch.pipes import PIPES, TIMING, PipeConfig, changed_pipes, checked_pipes
from warploom.arch.settings import parsed

Known = Mapping[str, Parameter]

_EXAMPLE = "warploom presets fermi shows how"

_FORMER = {
    "sfu_queue": "pipes.sfu.credits", "memory_queue": "pipes.mem.credits",
    TIMING: "the classes of the pipes, timing.CLASS in a setting",
}
"""Fields of earlier configurations, and their present names."""


def read(text: str, where: str, known: Known) -> dict[str, Any]:
    """The fields in a TOML text, each in the table of its part or at the top level. Raises `ConfigError`."""
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # RecursionError: brackets nested too deeply
        raise ConfigError(f"{where}: not TOML: {error}") from None
    values: dict[str, Any] = {}
    parts = _parts(known)
    for name, value in table.items():
        if name == PIPES and isinstance(value, dict):
            raise ConfigError(f"{where}: pipes is a list: begin each pipe with [[pipes]]; {_EXAMPLE}")
        is_part = name in parts and isinstance(value, dict)
        for field, given in (value if is_part else {name: value}).items():
            if is_part:
                _check_part(where, name, field, known)
            if field in values:
                raise ConfigError(f"{where}: {field} is given twice")
            values[field] = given
    return values


def write(name: str, values: Mapping[str, Any], known: Known) -> str:
    """A configuration of this name as TOML, readable by `read`."""
    lines = [f'name = "{name}"']
    for part in PARTS:
        if part == PIPES:
            lines += [line for pipe in values[PIPES] for line in pipe.to_toml()]
        else:
            fields = [field for field, parameter in known.items() if parameter.part == part]
            lines += ["", f"[{part}]", *(f"{field} = {_as_toml(values[field])}" for field in fields)]
    return "\n".join(lines) + "\n"


def changes(settings: Iterable[str], pipes: Sequence[PipeConfig], known: Known, where: str) -> dict[str, Any]:
    """The fields that settings (``field=value``) change, and always the pipes. Raises `ConfigError`."""
    changed, own, parts = dict[str, Any](), tuple(pipes), _parts(known)
    for setting in settings:
        if "=" not in setting:
            raise ConfigError(f"{shown(setting)}: write a setting as field=value")
        name, text = parsed(setting)
        value = _value(name, text)
        part, _, short = name.partition(".")
        if part in parts and short:
            _check_part(where, part, short, known)
        else:
            short = name
        try:
            if short == PIPES:
                own = checked_pipes(value)
            elif "." in short and part in (PIPES, TIMING, *(pipe.name for pipe in own)):
                own = changed_pipes(own, short, value)
            else:
                changed[short] = value
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from None
    return {**changed, PIPES: own}


def check_names(given: Iterable[str], where: str, fields: Sequence[str]) -> None:
    """Raise `ConfigError` if a name is not a field."""
    for name in given:
        if name in _FORMER:
            raise ConfigError(f"{where}: {name} is not a configuration field: it is {_FORMER[name]}; {_EXAMPLE}")
        if name not in fields:
            raise ConfigError(f"{where}: {shown(name)} is not a configuration field; fields are "
                              f"{', '.join(sorted(fields))}{nearest(name, fields)}")


def _parts(known: Known) -> set[str]:
    """The parts of the machine that the fields belong to."""
    return {parameter.part for parameter in known.values()}


def _check_part(where: str, part: str, name: str, known: Known) -> None:
    """Raise `ConfigError` if a field is named with the wrong part."""
    parameter = known.get(name)
    if parameter is not None and parameter.part != part:
        raise ConfigError(f"{where}: {part}.{name} is not a configuration field: it is {parameter.part}.{name}")


def _value(name: str, text: str) -> Any:
    """A TOML value; a bare word (an enum member) is taken as a string."""
    try:
        (value,) = tomllib.loads(f"value = {text}").values()  # further lines would be further values
        return value
    except (ValueError, RecursionError):
        if text.replace("_", "").replace("-", "").isalnum():
            return text
        raise ConfigError(f"{shorten(name)} = {shorten(text)}: not a TOML value, such as 4, on or [4, 1]") from None


def _as_toml(value: object) -> str:
    return str(value) if isinstance(value, int) else f'"{value}"'
