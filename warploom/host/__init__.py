"""The library: a GPU with memory, modules and launches, driven from Python."""
