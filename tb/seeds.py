"""Where seeds come from: each test, and each case of the long regression, has one of its own.

All follow from one number, the *base*. `make test` always takes `FIXED`; every long regression takes a fresh one and
prints it, and given again (``--seed``) it brings the same seeds.
"""

import argparse
import hashlib
import secrets
import sys

FIXED = 1
"""The base that is the same every time."""

NEW = "new"
"""What asks for another base than ever before."""

LIMIT = 1 << 31
"""Bases and seeds are natural numbers below this."""


def read(text: str) -> int:
    """The base that a command line asks for: its number, or a fresh one for `NEW`. Raises `ArgumentTypeError`, which
    argument parsers print, for anything else."""
    if text == NEW:
        return secrets.randbelow(LIMIT)
    if text.isdecimal() and int(text) < LIMIT:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text}: must be a number from 0 to {LIMIT - 1}, or {NEW}")


def seed_of(name: str, base: int = FIXED) -> int:
    """The seed of what has this name: the same for one base, and another one for every name."""
    digest = hashlib.sha256(f"{base} {name}".encode()).digest()
    return int.from_bytes(digest[:8]) % LIMIT


if __name__ == "__main__":
    try:
        print(read(*sys.argv[1:]))
    except argparse.ArgumentTypeError as error:
        sys.exit(f"error: {error}")
