"""The check of sizes in constructors."""


def check_positive(**sizes: object) -> None:
    """Raise `ValueError`, with the size and its value, if one is not a positive integer."""
    for name, value in sizes.items():
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be a positive integer, not {value!r}")
