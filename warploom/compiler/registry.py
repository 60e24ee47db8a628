"""The table from (PTX mnemonic, type) to the function that lowers it; the families `lower_*.py` fill it in."""

from collections.abc import Callable
from dataclasses import dataclass

from warploom.compiler.emitter import Emitter

Lowering = Callable[[Emitter], None]

NO_TYPE: tuple[str | None, ...] = (None,)
"""For instructions without a type, such as `bra`."""

INTEGERS = ("b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64")
SCALARS = (*INTEGERS, "b8", "u8", "s8", "f32", "f64")


@dataclass(frozen=True)
class Entry:
    """A lowering, its supported forms in words (for messages), and the maximum number of types of its opcode."""

    lower: Lowering
    supports: str
    type_count: int


TABLE: dict[str, dict[str | None, Entry]] = {}
"""Mnemonic -> last type of the opcode (None without one) -> entry."""


def lowers(*mnemonics: str, types: tuple[str | None, ...], supports: str,
           type_count: int = 1) -> Callable[[Lowering], Lowering]:
    """Register a lowering for the mnemonics with these (last) types; `supports` completes "supported: ..."."""

    def register(lower: Lowering) -> Lowering:
        for mnemonic in mnemonics:
            forms = TABLE.setdefault(mnemonic, {})
            for type_ in types:
                assert type_ not in forms, (mnemonic, type_)
                forms[type_] = Entry(lower, supports, type_count)
        return lower

    return register


def supported(mnemonic: str) -> str:
    """The supported forms of a mnemonic, in words; empty for an unknown one."""
    parts = (part for entry in TABLE.get(mnemonic, {}).values() for part in entry.supports.split("; "))
    return "; ".join(dict.fromkeys(parts))


def listing() -> list[tuple[str, str]]:
    """Mnemonics that have the same supported forms, and these in words, in order of the first mnemonic."""
    found: dict[str, list[str]] = {}
    for mnemonic in sorted(filter(str.isidentifier, TABLE)):  # others stand for what no PTX can name
        found.setdefault(supported(mnemonic), []).append(mnemonic)
    return [(", ".join(mnemonics), forms) for forms, mnemonics in found.items()]
