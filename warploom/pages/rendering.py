"""Templates, styles and scripts as one page; data packed into it."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from warploom.files import write_whole

FOLDER = Path(__file__).parent

MINUS = "\u2212"


def packed(content: str) -> str:
    """A text, compressed, in characters that HTML leaves alone; the same text, the same characters."""
    return base64.b64encode(gzip.compress(content.encode(), 9, mtime=0)).decode()


def packed_json(content: Any) -> str:
    """A JSON value, packed."""
    return packed(json.dumps(content, allow_nan=False, separators=(",", ":")))


def write(template: str, path: Path, **values: Any) -> None:
    """Write the page of a template atomically. Raises `OSError`."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True)
    environment.globals["included"] = _included
    environment.filters["typeset"] = typeset
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, environment.get_template(template).render(**values).encode())


def typeset(number: str) -> str:
    """A number in signs for print."""
    for plain, sign in (("<=", "≤"), (">=", "≥"), ("~", "≈"), ("-", MINUS)):
        number = number.replace(plain, sign)
    return number


def _included(name: str) -> Markup:
    """A style or a script of this folder, which no value of a page is part of."""
    return Markup((FOLDER / name).read_text(encoding="utf-8"))
