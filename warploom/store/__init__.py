"""The cache: results that later runs reuse, in one folder on disk, complete and checked (`docs/cache.md`).

A cached result, an *entry*, has a key: its kind, a name, and named parts, which are all its inputs. An entry is a
folder, and valid once it has a record: the parts, who made it and when, and the digests of its files. An absent entry
is made silently; one that does not match, because a disk was full or flipped a bit, is made again after one line on
standard error.
"""

from warploom.store.entries import cached, folder, get, text
from warploom.store.folders import run_folder, runs
from warploom.store.key import Key, Kind, digest, need_place, place, sources
from warploom.store.sealed import read, write

__all__ = [
    "Key", "Kind", "cached", "digest", "folder", "get", "need_place", "place", "read", "run_folder", "runs",
    "sources", "text", "write",
]
