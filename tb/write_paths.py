"""Settings of write paths that no preset has, for benches."""

import pytest

ONE_FOR_ALL = ["mem.write_path=0"]
ONE_EACH = ["sfu.write_path=1", "mem.write_path=2"]
SP_ALONE = ["sfu.write_path=1"]

OTHERS = {"one for all": ONE_FOR_ALL, "one each": ONE_EACH, "sp alone": SP_ALONE}
"""Settings by the description of their paths."""

for_each = pytest.mark.parametrize("paths", ["one each", *(
    pytest.param(name, marks=pytest.mark.long) for name in OTHERS if name != "one each")])
"""A test for each of them, most of which belong to the long regression."""
