"""Warploom: value-aware GPU register files as hardware you can read, simulate and synthesise."""

__version__ = "0.1.0"
