"""Settings of write paths that no preset has, for benches."""

ONE_FOR_ALL = ["mem.write_path=0"]
ONE_EACH = ["sfu.write_path=1", "mem.write_path=2"]
SP_ALONE = ["sfu.write_path=1"]

OTHERS = {"one for all": ONE_FOR_ALL, "one each": ONE_EACH, "sp alone": SP_ALONE}
"""Settings by the description of their paths."""
