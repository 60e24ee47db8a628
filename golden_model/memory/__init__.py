"""The load/store unit and what lies behind it."""
