"""The types of options: each reads the text of an argument. Raises `argparse.ArgumentTypeError`."""

import argparse
import math
from pathlib import Path

from warploom.arch.isa import GENERAL_REGISTERS
from warploom.arch.memory_map import LOCAL_BYTES
from warploom.evaluation.experiments import ALL


def folder(text: str) -> Path:
    """The path of a folder."""
    if not text:
        raise argparse.ArgumentTypeError("must name a folder")
    return Path(text)


def file(text: str) -> Path:
    """The path of a file."""
    if not text:
        raise argparse.ArgumentTypeError("must name a file")
    return Path(text)


def blocks(text: str) -> int:
    """A number of blocks that a sample may have."""
    try:
        count = int(text)
    except ValueError:
        count = 0
    if count < 2:
        raise argparse.ArgumentTypeError(
            f"{text}: must be a whole number of at least 2: the first block and the last one")
    return count


def blocks_or_all(text: str) -> int:
    """A number of blocks that a sample may have, or 0 for all blocks."""
    return 0 if text == ALL else blocks(text)


def address(text: str) -> int:
    """An address, decimal or hexadecimal."""
    try:
        return int(text, 0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: must be an address, such as 0xc0000000") from None


def registers(text: str) -> int:
    """A number of registers of a thread, as an option has it."""
    if not text.isdecimal() or not 1 <= int(text) <= GENERAL_REGISTERS:
        raise argparse.ArgumentTypeError(f"{text}: must be a whole number from 1 to {GENERAL_REGISTERS}")
    return int(text)


def stack(text: str) -> int:
    """The bytes of a thread's stack, as an option has them."""
    if not text.isdecimal() or not 1 <= int(text) <= LOCAL_BYTES:
        raise argparse.ArgumentTypeError(f"{text}: must be a whole number of bytes from 1 to {LOCAL_BYTES}")
    return int(text)


def picoseconds(text: str) -> float:
    """The length of a path."""
    try:
        length = float(text)
    except ValueError:
        length = 0.0
    if not 0 < length < math.inf:
        raise argparse.ArgumentTypeError(f"{text}: must be a positive number of picoseconds")
    return length


def positive(text: str) -> int:
    """A number of things, at least one."""
    if text.isdecimal() and int(text):
        return int(text)
    raise argparse.ArgumentTypeError(f"{text}: must be a positive number")
