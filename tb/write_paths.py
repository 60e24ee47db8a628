"""Write paths as no preset has them, for benches."""

ONE_FOR_ALL = ["mem.write_path=0"]
ONE_EACH = ["sfu.write_path=1", "mem.write_path=2"]
SP_ALONE = ["sfu.write_path=1"]

OTHERS = {"one for all": ONE_FOR_ALL, "one each": ONE_EACH, "sp alone": SP_ALONE}
"""Settings by what they make of the paths."""
