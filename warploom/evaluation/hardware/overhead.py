"""Storage and code size of the designs beside the register file ([RADAIDEH], Tables 3.4 and 4.1, and [AFFINE])."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2
from statistics import fmean
from typing import ClassVar

from warploom.arch.config import LANES, SUB_BANKS, SmConfig
from warploom.arch.encoding import INSTRUCTION_BITS
from warploom.arch.fields import index_bits, width
from warploom.arch.interfaces import COMPACT_FIELDS, SIDES, zero_fields
from warploom.arch.layout import metadata_banks, metadata_rows
from warploom.arch.mechanisms import Alignment, Coalescing
from warploom.arch.program import Program
from warploom.compiler.compile import compile_file
from warploom.evaluation.metrics import share
from warploom.kernels.library import kernels

NAMED = 63
"""Registers that a thread of a Fermi GPU can name: CORF's tables have a row for each register of every warp slot."""

CODE_BITS = 3
"""Width and sign of a warp register."""

CORF_SHIFTERS = 2
"""CORF's shifters for each collector."""


def mask_buffer(config: SmConfig) -> tuple[int, int]:
    """Rows and bits of a row, in all groups: one for each warp register, with `alignment = write` the side too."""
    entries = config.issue_ports * metadata_banks(config) * metadata_rows(config)
    return entries, CODE_BITS + (config.alignment is Alignment.WRITE)


def rename_table(config: SmConfig) -> tuple[int, int]:
    """Rows and bits of a row: the entry that holds a register."""
    return config.warps * NAMED, ceil(log2(config.banks * config.rows))


def rename_table_copies(config: SmConfig) -> int:
    """Copies of the rename table: one for each register that an instruction names, and for each write path."""
    return NAMED_REGISTERS + len(config.write_paths)


def allocation_table(config: SmConfig) -> tuple[int, int]:
    """Rows and bits of a row: the sub-banks of its entry that hold a register."""
    return config.warps * NAMED, SUB_BANKS


def free_map(config: SmConfig) -> tuple[int, int]:
    """Rows and bits of a row: the sub-banks of an entry that are free."""
    return config.banks * config.rows, SUB_BANKS


def shifters(config: SmConfig) -> int:
    """CORF's byte-level shifters: some for each collector, one for each write path."""
    return CORF_SHIFTERS * config.collectors + len(config.write_paths)


def multiplexers(config: SmConfig) -> int:
    """Our byte multiplexers: one for each operand path of a dispatch port, one for each write path."""
    return SOURCES * len(config.dispatch_ports) + len(config.write_paths)


def operand_registers(config: SmConfig) -> int:
    """Operand registers of 1,024 bits: one in front of each operand path."""
    return SOURCES * len(config.dispatch_ports)


def dispatch_inputs(config: SmConfig) -> int:
    """Inputs of 1,024 bits of the multiplexers in front of the operand registers, the crossbar from collectors to
    pipes: a port selects among the collectors that hold instructions for its pipes."""
    return SOURCES * sum(len(config.holders_of(port)) for port in range(len(config.dispatch_ports)))


SOURCES = 3
"""The maximum registers that an instruction reads; the affine register file has this number of copies."""

NAMED_REGISTERS = SOURCES + 1
"""The registers that an instruction names, three sources and a destination."""


def read_ports(config: SmConfig) -> int:
    """Read ports of the metadata of an issue port's warps: one for each register that its instructions name. In the
    zero buffer each is a copy."""
    return NAMED_REGISTERS * config.issue_per_warp


def zero_buffer(config: SmConfig) -> tuple[int, int]:
    """Rows and bits of a row of one SRAM of the zero buffer."""
    return metadata_rows(config), width(zero_fields(config))


def zero_buffer_srams(config: SmConfig) -> int:
    """The number of SRAMs in one copy of the zero buffer: one for each bank of each group, and with coalescing for each
    side."""
    return config.issue_ports * metadata_banks(config) * (len(SIDES) if config.coalescing is Coalescing.ON else 1)


def renamed_rows(config: SmConfig) -> tuple[int, int]:
    """Rows and bits of a row of what a rename stage stores: whether a register has a row, the row in a copy for each
    register that an instruction names, and an entry of the lists."""
    return config.banks * config.rows, 1 + (NAMED_REGISTERS + 1) * index_bits(config.rows)


@dataclass(frozen=True)
class Overhead:
    """One row of the table: the needs of CORF and of ours, in `unit`, each beside the published value."""

    COLUMNS: ClassVar = ("what", "unit", "CORF", "published", "ours", "published ")

    what: str
    unit: str
    corf: float
    corf_published: str
    ours: float
    ours_published: str


def code_growth(programs: Sequence[Program]) -> float:
    """Percentage by which the hints of CORF++ enlarge machine code, mean over programs."""
    return fmean(100 * program.hint_bits(sides=True) / (INSTRUCTION_BITS * len(program.instructions))
                 for program in programs)


def coalescing_overheads(config: SmConfig) -> list[Overhead]:
    """Beside CORF; code size is that of the bundled kernels. The source counts its tables and shifters for a machine
    with one dispatch port and two write paths."""
    launches = [kernel.load("tiny") for kernel in kernels()]
    programs = [compile_file(launch.ptx, launch.entry) for launch in launches]
    return [
        Overhead("rename table", "bytes", _bytes(rename_table(config)), "3.7 KB", 0, "0"),
        Overhead("free register map", "bytes", _bytes(free_map(config)), "512 B", 0, "0"),
        Overhead("allocation table, mask buffer", "bytes", _bytes(allocation_table(config)), "1.47 KB",
                 _bytes(mask_buffer(config)), "384 B"),
        Overhead("their read ports, by issue port", "ports", read_ports(config), "-", read_ports(config), "-"),
        Overhead("code size", "%", code_growth(programs), "1.3", 0, "0"),
        Overhead("byte-level shifters, byte multiplexers", "parts", shifters(config), "10", multiplexers(config), "5"),
    ]


@dataclass(frozen=True)
class Need:
    """One row of a mechanism's needs, in `unit`, beside the published value."""

    COLUMNS: ClassVar = ("what", "unit", "ours", "published")

    what: str
    unit: str
    ours: float
    published: str


def gating_overheads(config: SmConfig) -> list[Need]:
    """Storage of the zero masks of a configuration ([RADAIDEH], Table 4.1 and section 4.5)."""
    copy, entry = zero_buffer_srams(config) * _bytes(zero_buffer(config)), width(zero_fields(config))
    return [
        Need("zero buffer, one copy", "bytes", copy, "2.25 KB"),
        Need("zero buffer, one copy, of the register file", "%", 100 * copy / config.register_file_bytes,
                       "about 1/32, 3.1 %"),
        Need("zero buffer, all copies", "bytes", read_ports(config) * copy, "-"),
        Need("collector: active mask and entries of the sources", "bits", LANES + SOURCES * entry,
                       "152"),
        Need("collector: entry of the destination", "bits", entry, "-"),
    ]


def affine_register_file(config: SmConfig) -> tuple[int, int]:
    """Rows and bits of a row of the values, all sets together; one copy of them."""
    return config.schedulers * config.affine_entries, width(COMPACT_FIELDS)


def affine_overheads(config: SmConfig) -> list[Need]:
    """Storage of the affine registers of a configuration ([AFFINE], section 4.1). A tag is one bit: what is uniform
    shows in the stride."""
    rows, _ = shape = affine_register_file(config)
    values, tags = _bytes(shape), rows / 8
    return [
        Need("values, one copy", "bytes", values, "-"),
        Need("values, a copy for each source, SRAM", "bytes", SOURCES * values, "-"),
        Need("tags, flip-flops", "bytes", tags, "-"),
        Need("tags, read ports of a set", "ports", SOURCES * config.issue_per_warp, "-"),
        Need("one copy and tags, of the register file", "%", share(values + tags, config.register_file_bytes), "-"),
        Need("all copies and tags", "%", share(SOURCES * values + tags, config.register_file_bytes), "-"),
    ]


def _bytes(shape: tuple[int, int]) -> float:
    rows, bits = shape
    return rows * bits / 8
