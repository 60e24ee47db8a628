"""`AffineCounts`: what the affine unit does, and saves ([AFFINE], Table 1)."""

from dataclasses import dataclass, field


@dataclass
class AffineCounts:
    """Events since reset, warp instructions unless said otherwise.

    `attempts` are *accepted* or *refused*; those `suppressed` were not attempted only because they were not full.
    `expansions` are instructions beside those of the program. `compact_reads` are warp registers that came from the
    affine register file, to accepted attempts and to the datapath, each register of an instruction once;
    `compact_writes` those that accepted attempts wrote there. Of all `compares` (ISETP, FSETP, TESTP) accepted
    attempts `resolved` some. Of all `loads` the address of `affine_loads` took no read of the register file, and
    `vector_requests` needed no coalescer. `operands` is a histogram of the instructions that entered the datapath,
    expansions included, by the generic registers that they read (0..3).
    """

    attempts: int = 0
    accepted: int = 0
    refused: int = 0
    suppressed: int = 0
    expansions: int = 0
    compact_reads: int = 0
    compact_writes: int = 0
    resolved: int = 0
    compares: int = 0
    affine_loads: int = 0
    vector_requests: int = 0
    loads: int = 0
    operands: list[int] = field(default_factory=lambda: [0] * 4)
