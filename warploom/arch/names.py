"""Names that a user gives and that become parts of the names of files."""

LONGEST = 100
"""Bytes of such a name; a file's name has 255 at most."""

RULE = f"must be letters, digits, - and _, at most {LONGEST} bytes"
"""The rule in words."""


def names_a_file(name: object) -> bool:
    """Whether a name follows the rule."""
    return isinstance(name, str) and name.replace("-", "_").isidentifier() and len(name.encode()) <= LONGEST
