"""Configuration files: those that are bundled, by name, and a user's, by path."""

from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from warploom.arch.errors import ConfigError, nearest, shown

SUFFIX = ".toml"


@dataclass(frozen=True)
class PresetFiles:
    """The bundled files of one kind, in a folder of this package. Messages call the choice of a user `option`, and what
    a file describes `thing`."""

    folder: str
    option: str
    thing: str

    def names(self) -> list[str]:
        """Names of the bundled files."""
        return sorted(entry.name.removesuffix(SUFFIX) for entry in self._files.iterdir() if entry.name.endswith(SUFFIX))

    def text(self, name: str) -> str:
        """The text of a bundled file, or of a user's. Raises `ConfigError`."""
        if isinstance(name, str) and name.endswith(SUFFIX):
            try:
                return Path(name).read_text(encoding="utf-8-sig")  # editors of Windows write a byte order mark
            except (OSError, ValueError) as error:  # ValueError: no text, or no path
                reason = error.strerror if isinstance(error, OSError) else error
                raise ConfigError(f"{name}: {reason}: name {self.thing} ({', '.join(self.names())}) or a TOML "
                                  "file") from None
        if name not in self.names():
            similar = nearest(name, self.names()) if isinstance(name, str) else ""
            raise ConfigError(f"{self.option} = {shown(name)}: must be one of {', '.join(self.names())}, or a path "
                              f"ending in {SUFFIX}{similar}")
        return (self._files / f"{name}{SUFFIX}").read_text()

    @staticmethod
    def origin(name: str) -> str:
        """Where the text comes from, for messages."""
        return name if name.endswith(SUFFIX) else f"preset {name}"

    @property
    def _files(self) -> Traversable:
        return resources.files("warploom.arch") / self.folder
