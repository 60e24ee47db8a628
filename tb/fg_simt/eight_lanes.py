"""Numbers of the engine with eight lanes, which the benches of its units have."""

from warploom.arch.fg_simt.sizes import EIGHT_LANES

LANES, GROUPS = EIGHT_LANES.lanes, EIGHT_LANES.groups
ROWS = EIGHT_LANES.rows
"""Of the SMRQ."""

CP_PORT, WIDE_PORT = EIGHT_LANES.cp_port, EIGHT_LANES.wide_port
