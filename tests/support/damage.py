"""Kinds of damage to a file."""


def flip(data: bytes) -> bytes:
    """One bit of the last byte."""
    return data[:-1] + bytes([data[-1] ^ 1])


DAMAGE = {
    "empty": lambda data: b"", "half": lambda data: data[: len(data) // 2], "a byte short": lambda data: data[:-1],
    "longer": lambda data: data + b" ", "last bit": flip, "first bit": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "braces": lambda data: b"{}", "a list": lambda data: b"[1,2]", "binary": lambda data: bytes(range(256)),
}
