"""A SystemVerilog package with packed types of a unit's ports, bit for bit those of the sidecar."""

from typing import Any

from warploom.rtl.readable import bits

_KEYWORDS = {"local", "register", "signed", "table"}
"""Names of fields that are keywords, of SystemVerilog or of the C++ that Verilator makes; lint finds others."""


def package(module: str, ports: list[dict[str, Any]]) -> str:
    """Package `<module>_pkg`: for each port with fields, as `warploom.rtl.verilog.ports` describes it, the type
    `<port>_t`.

    A struct is a packed struct, with its last field in the highest bits; an array is a packed array of its elements'
    type.
    """
    types = [line for port in ports if port["fields"] for line in _type(port["name"], port["fields"])]
    return "\n".join([f"package {module}_pkg;", *types, "endpackage", ""])


def _type(name: str, fields: list[dict[str, Any]]) -> list[str]:
    """The lines that define `name`_t, after those of the types in it."""
    if fields[0]["name"] == "0":  # an array: its elements are alike
        inner, kind = _member(name, "element", fields[0])
        return [*inner, f"  typedef {_array(kind, len(fields))} {name}_t;"]
    before, members = [], []
    for field in reversed(fields):
        inner, kind = _member(name, field["name"], field)
        before += inner
        place = bits(field["offset"] + field["width"] - 1, field["offset"])
        members.append(f"    {kind} {member_name(field['name'])};  // {place}")
    return [*before, "  typedef struct packed {", *members, f"  }} {name}_t;"]


def _member(outer: str, name: str, field: dict[str, Any]) -> tuple[list[str], str]:
    """The lines that define the type of a field, and its name."""
    if "fields" in field:
        return _type(f"{outer}_{name}", field["fields"]), f"{outer}_{name}_t"
    width = f" [{field['width'] - 1}:0]" if field["width"] > 1 else ""
    return [], f"logic{' signed' if field.get('signed') else ''}{width}"


def member_name(field: str) -> str:
    """The name of a field, with an underscore at the end if it is a keyword."""
    return f"{field}_" if field in _KEYWORDS else field


def _array(kind: str, count: int) -> str:
    """A packed array: its dimension stands before that of its elements."""
    word, bracket, width = kind.partition(" [")
    return f"{word} [{count - 1}:0]{bracket[1:]}{width}"
