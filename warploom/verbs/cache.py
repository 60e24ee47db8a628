"""``warploom cache``: the entries of the cache, and their removal (`docs/cache.md`)."""

import argparse
from dataclasses import asdict

from rich.filesize import decimal

from warploom import report, store
from warploom.arch.errors import ConfigError
from warploom.store import Kind
from warploom.store.holdings import clear, holding
from warploom.verbs import Body


def main(options: argparse.Namespace) -> Body:
    """List the entries, or remove them."""
    if store.place().exists() and not store.place().is_dir():
        raise ConfigError(f"{store.place()}: is a file: set WARPLOOM_CACHE to a folder")
    body = _clear(options.kind) if options.action else _list()
    return {"place": str(store.place()), **body}


def _list() -> Body:
    found = [holding(kind) for kind in Kind]
    report.table(f"Stored in {store.place()}", ("kind", "what", "entries", "incomplete", "size", "newest (UTC)"), [
        (one.kind, one.kind.what, one.entries, one.incomplete, decimal(one.bytes),
         one.newest and f"{one.newest:%Y-%m-%d %H:%M}") for one in found])
    return {"kinds": [{**asdict(one), "newest": one.newest and one.newest.isoformat(timespec="seconds")}
                      for one in found]}


def _clear(kind: str | None) -> Body:
    """Remove one kind; without a kind, all but runs."""
    if kind not in (None, *Kind):
        raise ConfigError(f"{kind!r}: must be one of {', '.join(Kind)}")
    kinds = [one for one in Kind if one is not Kind.RUNS] if kind is None else [Kind(kind)]
    removed = [clear(one) for one in kinds]
    report.table(f"Removed from {store.place()}", ("kind", "entries", "size", "in use, left"),
                 [(one.kind, one.entries, decimal(one.bytes), one.in_use) for one in removed])
    return {"removed": [asdict(one) for one in removed]}
