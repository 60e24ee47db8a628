"""Settings: ``field=value``, as users give them; a field may be named with the part of the machine that it is of."""

from typing import NamedTuple


class Setting(NamedTuple):
    """What a setting says. `name` is that of the field, perhaps with its part; `value` is empty if there is none."""

    name: str
    value: str

    @property
    def field(self) -> str:
        """The name of the field alone."""
        return self.name.rpartition(".")[2]


def parsed(text: str) -> Setting:
    """The name and the value in a setting."""
    name, _, value = text.partition("=")
    return Setting(name.strip(), value.strip())
