"""The internal energies of a library's cells, read from Liberty: what a cell takes inside when a pin switches."""

import json
from dataclasses import asdict, dataclass

from liberty.parser import parse_liberty
from liberty.types import Group

from warploom import store
from warploom.store import Key, Kind
from warploom.synth.liberty import Library, Table, Units, plain_text


@dataclass(frozen=True)
class Energy:
    """Of a rising and of a falling edge, fJ by input slew (ps) and load (fF). `source` is the input that causes an edge
    of an output; it is empty for an edge of an input that changes no output."""

    source: str
    rise: Table | None
    fall: Table | None


Energies = dict[str, dict[str, list[Energy]]]
"""For each cell and pin its tables; several if they depend on the state of other pins."""


def load(library: Library) -> Energies:
    """The tables of a library that was read already; the result is cached."""
    key = Key(Kind.CELLS, "energies", {"file": library.digest, "sources": store.sources(
        "warploom/synth/cell_energy.py", "warploom/synth/liberty.py")})

    def read(_: object) -> str:
        with open(library.path, encoding="utf-8", errors="replace") as file:
            top = parse_liberty(file.read())
        units = Units(top)
        return json.dumps({plain_text(group.args[0]): {
            pin: [asdict(one) for one in found] for pin, found in _pins(group, units).items()}
            for group in top.get_groups("cell")})

    return store.text(key, read, _from_json)


def _from_json(text: str) -> Energies:
    return {cell: {pin: [Energy(**one) for one in found] for pin, found in pins.items()}
            for cell, pins in json.loads(text).items()}


def _pins(cell: Group, units: Units) -> dict[str, list[Energy]]:
    return {plain_text(name): found for pin in cell.get_groups("pin") for name in pin.args
            if (found := [_energy(group, units) for group in pin.get_groups("internal_power")])}


def _energy(group: Group, units: Units) -> Energy:
    edges = [units.energy(tables[0]) if (tables := group.get_groups(f"{edge}_power")) else None
             for edge in ("rise", "fall")]
    return Energy(plain_text(group["related_pin"] or ""), *edges)
