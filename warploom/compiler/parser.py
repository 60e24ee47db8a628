"""PTX text to a `ptx.Module`, by the grammar in ``ptx.lark``."""

import re
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, UnexpectedInput, UnexpectedToken

from warploom.arch.errors import PtxError, shorten
from warploom.compiler import ptx
from warploom.compiler.builder import Alias, Builder


def parse(text: str, file: str = "<ptx>", before: int = 0) -> ptx.Module:
    """Parse PTX `text`; `file` is its name in messages, and its lines are counted from `before`.

    A bare name becomes a `ptx.Symbol`, even if it is a register: only the linker knows the declarations. Debug
    sections, `.loc`, `.file` and `.pragma` are skipped, an aliased function appears under both names. Raises `PtxError`
    with line and column for anything that is not 64-bit PTX.
    """
    padded = "\n" * before + text
    try:
        items: Any = _parser().parse(padded)  # what `Builder.file` returns; Lark's signature says a tree
    except UnexpectedInput as error:
        raise _explain(error, padded, file) from None
    except PtxError as error:
        raise PtxError(error.message, file=file, line=error.line, column=error.column) from None
    header: dict[str, str] = {}
    variables: list[ptx.Variable] = []
    functions: list[ptx.Function] = []
    aliases: dict[str, str] = {}
    for item in items:
        if isinstance(item, dict):
            header |= item
        elif isinstance(item, list):
            variables += item
        elif isinstance(item, Alias):
            aliases[item.name] = item.target
        else:
            functions.append(item)
    defined = {function.name: function for function in functions if function.body}
    linkages = {function.name: function.linkage for function in functions}
    functions += [replace(defined[target], name=name, linkage=linkages.get(name, defined[target].linkage))
                  for name, target in aliases.items() if target in defined]
    version, target = header.get("version", ""), header.get("target", "")
    return ptx.Module(file, version, target, tuple(variables), tuple(functions), text, before)


@cache
def skipped() -> re.Pattern[str]:
    """What the grammar skips: comments, debug information and hints to ptxas, which may contain anything."""
    return re.compile(_parser().get_terminal("SKIPPED").pattern.to_regexp())


@cache
def _parser() -> Lark:
    grammar = (Path(__file__).parent / "ptx.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", start="file", transformer=Builder())


# ---------------------------------------------------------------- errors

_WORDS = {
    "NAME": "a name", "INT": "an integer", "FLOAT": "a floating-point literal", "OPCODE": "an instruction",
    "PLAIN": "an instruction", "INTEGERS": "'{'", "CALL": "an instruction", "LABEL": "a label", "TYPE": "a type",
    "SPACE": "a state space", "PARAM": "'.param'", "VECTOR": "'.v2' or '.v4'", "LINKAGE": "'.visible' or '.extern'",
    "KIND": "'.entry' or '.func'",
    "DIRECTIVE": "a performance directive", "VERSION": "'.version'", "TARGET": "'.target'",
    "ADDRESS_SIZE": "'.address_size'", "$END": "the end of the file", "OPERATOR": "an operator",
    "UNSIGNED": "an integer", "WARP_SZ": "'WARP_SZ'", "_GENERIC": "'generic'",
}

_OF_EXPRESSIONS = {"WARP_SZ", "LPAR", "NOT", "TILDE", "PLUS", "CAST"}
"""What constant expressions begin with beside a number, which messages name, and a minus."""

_OPERATORS = {"MINUS", "PLUS", "BAR"}
"""Those with a terminal of their own."""


_LONG = re.compile(r"0[xX]0*[1-9a-fA-F][0-9a-fA-F]{16,}|0[bB]0*1[01]{64,}|0+[1-7][0-7]{21,}|[1-9]\d{20,}")

_SELECTOR = re.compile(r"\.(b[0-3]|h[01])(?!\w)")
"""A byte or half of a register, which only video instructions take."""


_VECTOR = re.compile(r"\.reg\s+$")
"""What stands before the `.v2` of a register that is a vector."""


def _explain(error: UnexpectedInput, text: str, file: str) -> PtxError:
    """The parser's error in words: the token found and the tokens expected."""
    acceptable = _acceptable(text)
    acceptable -= _OF_EXPRESSIONS if "TILDE" in acceptable else _OPERATORS if "OPERATOR" in acceptable else set()
    words = {_WORDS.get(name) or f"'{_parser().get_terminal(name).pattern.value}'" for name in acceptable}
    expected = " or ".join(sorted(words))
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        lines = text.rstrip().split("\n")
        message = f"unexpected end of file; expected {expected}"
        return PtxError(message, file=file, line=len(lines), column=len(lines[-1]) + 1)
    found = text[error.pos_in_stream :].split(maxsplit=1)[0]
    if found.startswith("/*"):
        message = "the comment does not end: '*/' is missing"
    elif long := _LONG.match(found):
        message = f"integer {shorten(long[0])} does not fit 64 bits"
    elif found.startswith(".v") and _VECTOR.search(text[: error.pos_in_stream][-80:]):
        message = f"unexpected {found!r}: registers that are vectors are not supported: declare one for each element"
    elif selector := _SELECTOR.match(found):
        message = f"unexpected {selector[0]!r}: video instructions on bytes and halves of registers are not supported"
    else:
        message = f"unexpected {found[:40]!r}; expected {expected}"
    return PtxError(message, file=file, line=error.line, column=error.column)


def _acceptable(text: str) -> set[str]:
    """The terminals that are legal where parsing fails (the exception's own set includes some that are not)."""
    interactive = _parser().parse_interactive(text)
    with suppress(UnexpectedInput):
        interactive.exhaust_lexer()
    return interactive.accepts()  # type: ignore[no-untyped-call] # Lark's own
