"""The load/store unit and the memory behind it."""
