"""Instructions and results on their way through a datapath: dicts that have the fields of its ports by name.

Fields that only some configurations have are not required. Those that no port has, since only the model needs them, are
described with the class.
"""

from typing import Literal, NotRequired, TypedDict

from warploom.golden_model.compact import Compact

Source = Literal["src0", "src1", "src2"]

SOURCES: tuple[Source, Source, Source] = ("src0", "src1", "src2")
"""Fields that name the register of each slot."""


class IssueFields(TypedDict):
    """The fields of an issue port (`interfaces.issue_fields`).

    Beside them are `unit`, the timing class by which the pipe is chosen; with an affine unit `compact`, the values of
    compact slots (which are not in `reads`); with renaming `releases`, the slots whose read releases its row, and
    `given`, whether the destination has got its row from a list.
    """

    tag: int
    warp: int
    op: int
    modifiers: int
    pipe: int
    timing: int
    dst: int
    writes: int
    reads: int
    src0: int
    src1: int
    src2: int
    imm_slot: int
    imm: int
    lanes: int
    full: int
    pred: int
    first: NotRequired[int]
    aside: NotRequired[int]
    compact: NotRequired[int]
    last: NotRequired[int]
    to_collector: NotRequired[int]
    to_file: NotRequired[int]
    unit: NotRequired[int]
    values: NotRequired[tuple[Compact | None, ...]]
    releases: NotRequired[int]
    given: NotRequired[bool]


class AttemptFields(IssueFields):
    """The fields of an attempt of the affine unit (`interfaces.attempt_fields`), and others of the instruction."""

    writes_predicate: int
    step: int


class StoredFields(TypedDict, total=False):
    """The metadata of a register (`interfaces.stored_fields`), and its side if its number does not give it."""

    size: int
    sign: int
    left: int
    zero: int
    reorder: int


class DestinationFields(TypedDict):
    """The address of a destination, and its metadata if there are several stored forms."""

    bank: int
    row: int
    left: int
    group: int
    entry: int
    size: NotRequired[int]
    sign: NotRequired[int]
    zero: NotRequired[int]
    reorder: NotRequired[int]


class DispatchFields(IssueFields, DestinationFields):
    """The fields of a dispatch port (`interfaces.dispatch_fields`), and those of the issue port that it does not have:
    the instruction, extended by the address and the metadata of its destination. `operands` are three 1024-bit words;
    `trivial`, with gating, has a port of its own."""

    collector: int
    operands: tuple[int, int, int]
    trivial: NotRequired[int]


class Result(DestinationFields):
    """The fields of a result port (`interfaces.result_fields`) and `data`, the 1024-bit word."""

    tag: int
    writes: int
    lanes: int
    full: int
    pred: int
    warp: int
    dst: int
    to_collector: NotRequired[int]
    to_file: NotRequired[int]
    data: int
