"""`AffineCounts`: what the affine unit does and saves ([AFFINE], Table 1)."""

from dataclasses import dataclass, field


@dataclass
class AffineCounts:
    """Events since reset, warp instructions unless said otherwise.

    `attempts` are *accepted*, *refused*, *squashed* after a refused one of their warp, or *suppressed*: executed, but
    the result went into the datapath, because not all live lanes executed. `expansions` are instructions in addition to
    those of the program. `compact_reads` counts the warp registers that attempts and the datapath read in the affine
    register file, each register of an instruction once, and `expanded` those of the datapath alone; `compact_writes`
    counts those that accepted attempts wrote there. `compares` counts all ISETP, FSETP and TESTP, `resolved` those that
    accepted attempts executed. `loads` counts all loads, `affine_loads` those whose address needed no read of the
    register file, `vector_requests` those that needed no coalescer. `operands` is a histogram of the instructions that
    entered the datapath, expansions included, by the number of generic registers that they read (0..3).
    """

    attempts: int = 0
    accepted: int = 0
    refused: int = 0
    squashed: int = 0
    suppressed: int = 0
    expansions: int = 0
    compact_reads: int = 0
    expanded: int = 0
    compact_writes: int = 0
    resolved: int = 0
    compares: int = 0
    affine_loads: int = 0
    vector_requests: int = 0
    loads: int = 0
    operands: list[int] = field(default_factory=lambda: [0] * 4)
