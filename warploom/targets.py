"""The files that a command writes: they can be written, and are no files that it reads, before hours of work."""

import argparse
import errno
import os
from collections.abc import Iterable
from pathlib import Path

from warploom.arch.errors import ConfigError
from warploom.files import why_not

FILES = {"json": "--json", "csv": "--csv", "gallery": "--gallery", "waves": "--waves", "trace": "--out",
         "record": "--record"}
"""Options that name a file to write, as they are called on the command line."""

PAGE = {"page": "--out"}
"""Another one, whose folder is made."""

FOLDERS = ("out", "launches")

READ = ("kernel", "files", "documents", "points", "liberty", "against", "source", "preset", "gpu", "name")
"""Options that name files to read; text without .toml at its end is the name of something that is bundled."""


def check(options: argparse.Namespace) -> None:
    """Raise `OSError` if output cannot be written, and `ConfigError` if it would replace a file that the command line
    names."""
    for names, wrong_with in ((FILES, why_not), (FOLDERS, _wrong_with_folder)):
        for path in filter(None, (getattr(options, name, None) for name in names)):
            if wrong := wrong_with(path):
                raise OSError(wrong, os.strerror(wrong), str(path))
    _differ(_written(options), _read(options))
    _check_folders(options)
    _check_launches(options)


def check_launch(options: argparse.Namespace, read: Iterable[Path], buffers: Iterable[str] = ()) -> None:
    """Raise `ConfigError` if output, also that of buffers to ``--out``, would replace a file that a launch reads."""
    _differ([*_written(options), *(("--out", options.out / f"{name}.npy") for name in buffers)], read)


def check_made(options: argparse.Namespace, made: Iterable[Path]) -> None:
    """Raise `ConfigError` if output would replace a file that the command makes in a folder."""
    _differ([*_written(options), *(("--out", path) for path in made)], ())


def _check_folders(options: argparse.Namespace) -> None:
    """Raise `ConfigError` for a file where a folder will be made."""
    for name in FOLDERS:
        for option, path in _written(options) if getattr(options, name, None) else ():
            folder = getattr(options, name)
            if Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(path)):
                raise ConfigError(f"{option}: {path} will be a folder, for --{name} {folder}: name another file")


def _check_launches(options: argparse.Namespace) -> None:
    """Raise `ConfigError` for output in the folder of launch files, which have names of their own, and for a folder
    with the launches of another run, which would be among those of this one."""
    launches, out = (getattr(options, name, None) for name in ("launches", "out"))
    for option, path in [*_written(options), *([("--out", out)] if out else [])]:
        if launches and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(launches)):
            raise ConfigError(f"{option}: {path} is in {launches}, the folder of --launches: name another one")
    if launches and launches.is_dir() and any(launches.iterdir()):
        raise ConfigError(f"--launches: {launches} is not empty: name another folder, or remove what is in it")


def _written(options: argparse.Namespace) -> list[tuple[str, Path]]:
    named = [(option, getattr(options, name, None)) for name, option in {**FILES, **PAGE}.items()]
    waves = getattr(options, "waves", None)
    saved = [("--waves", waves.with_suffix(".gtkw"))] if waves else []  # how GTKWave shows them
    return [*((option, path) for option, path in named if path), *saved]


def _read(options: argparse.Namespace) -> list[Path]:
    given = (getattr(options, name, None) for name in READ)
    every = (one for value in given for one in (value if isinstance(value, list) else [value]) if one)
    return [Path(one) for one in every if isinstance(one, Path) or str(one).endswith(".toml")]


def _differ(written: Iterable[tuple[str, Path]], read: Iterable[Path]) -> None:
    """Raise `ConfigError` if one of the files to write, beside the option that names it, is another one of all; devices
    and pipes may be."""
    taken = {os.path.realpath(path): "the command reads it" for path in read}
    for option, path in written:
        place = os.path.realpath(path)
        if place in taken and (path.is_file() or not path.exists()):
            raise ConfigError(f"{option}: {path} would be replaced, but {taken[place]}: name another file")
        taken[place] = f"{option} writes it"


def _wrong_with_folder(path: Path) -> int | None:
    """The error number if writing to a folder, which is made with its parents, would fail, else None."""
    folder = next(p for p in (path, *path.parents) if p.exists())
    return errno.ENOTDIR if not folder.is_dir() else None if os.access(folder, os.W_OK) else errno.EACCES
