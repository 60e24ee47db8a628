"""What is kept between runs, in one place on disk: whole, with what it was made of, or made again (`docs/cache.md`).

What is kept, an *entry*, has a key: its kind, a name, and named parts, all that it depends on. An entry is a folder,
and believed once it has a record: the parts, who made it and when, and the digests of its files. What is absent is made
without a word; what does not match, because a disk was full or flipped a bit, is made again after one line on standard
error.
"""

from warploom.store.entries import folder, get, text
from warploom.store.folders import run_folder, runs
from warploom.store.key import Key, Kind, digest, need_place, place, sources
from warploom.store.sealed import read, write

__all__ = [
    "Key", "Kind", "digest", "folder", "get", "need_place", "place", "read", "run_folder", "runs", "sources",
    "text", "write",
]
