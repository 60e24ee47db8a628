"""Seeds: each test, and each case of the long regression, has its own.

All follow from one number, the *base*. `make test` always uses `FIXED`. Every long regression uses a new base and
prints it; given again (``--seed``), it leads to the same seeds.
"""

import argparse
import hashlib
import secrets
import sys

FIXED = 1
"""The constant base."""

NEW = "new"
"""The argument that requests a new base."""

LIMIT = 1 << 31
"""Bases and seeds are non-negative integers below this."""


def read(text: str) -> int:
    """The base that a command line requests: its number, or a new one for `NEW`. Raises `ArgumentTypeError`, which
    argument parsers print, for anything else."""
    if text == NEW:
        return secrets.randbelow(LIMIT)
    if text.isdecimal() and len(text) <= len(str(LIMIT)) and int(text) < LIMIT:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text}: must be a number from 0 to {LIMIT - 1}, or {NEW}")


def seed_of(name: str, base: int = FIXED) -> int:
    """The seed for a name: always the same for one base, and different for every name."""
    digest = hashlib.sha256(f"{base} {name}".encode()).digest()
    return int.from_bytes(digest[:8]) % LIMIT


if __name__ == "__main__":
    try:
        print(read(*sys.argv[1:]))
    except argparse.ArgumentTypeError as error:
        sys.exit(f"error: {error}")
