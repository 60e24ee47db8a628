"""The interfaces between the parts of the machine, each a signature. `docs/contract/` defines the cycles in which
signals are valid.

Directions are those of the requesting part; the other end has the signature flipped.
"""

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES, SUB_BANKS, SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.interfaces import SIDES, TAG_BITS, WARP_BITS, early_fields, read_fields, write_fields, zero_fields
from warploom.arch.isa import Pipe
from warploom.arch.pipes import PipeConfig
from warploom.rtl.interfaces import (
    COMPACT_SLOTS,
    REGISTERS,
    SLOTS,
    address_layout,
    column_masks,
    coming_layout,
    delivery_layout,
    done_layout,
    eviction_layout,
    held_layout,
    issue_layout,
    result_layout,
    sent_layout,
    struct,
    unstoppable,
    words,
)
from warploom.rtl.lane_control import CONTROL


def accesses(config: SmConfig) -> int:
    """Accesses that a bank takes in a cycle: one, or one on each of its sides."""
    return len(SIDES) if config.has_sides else 1


def sp_pipes(config: SmConfig) -> tuple[PipeConfig, ...]:
    """The pipes of SP."""
    return tuple(pipe for pipe in config.pipes if pipe.kind is Pipe.SP)


def metadata(config: SmConfig) -> dict[str, data.StructLayout]:
    """The metadata of a warp register, by the cycle in which it is valid: `early`, in the cycle of its look-up, the
    encoding; `late`, one cycle later, the zero mask. Parts that a configuration does not have are absent."""
    fields = {"early": early_fields(config), "late": zero_fields(config)}
    return {name: struct(table) for name, table in fields.items() if table}


def lookup(config: SmConfig) -> wiring.Signature:
    """Operand store to register file: the metadata of the registers of the instruction at the issue port.

    address : physical addresses of the sources, then of the destination.
    taken : the registers that an instruction names which is taken at the end of the cycle.
    early, late : their `metadata`; the late part is that of registers that were `taken` in the previous cycle.
    """
    return wiring.Signature({
        "address": Out(data.ArrayLayout(address_layout(config), REGISTERS)),
        "taken": Out(REGISTERS),
        **{name: In(data.ArrayLayout(layout, REGISTERS)) for name, layout in metadata(config).items()},
    })


def instruction(config: SmConfig) -> wiring.Signature:
    """Operand store to its collectors: the instruction at the issue port.

    issue : its fields.
    address, early, late : addresses and metadata of its registers, as in `lookup`.
    """
    return wiring.Signature({
        "issue": Out(issue_layout(config)),
        "address": Out(data.ArrayLayout(address_layout(config), REGISTERS)),
        **{name: Out(data.ArrayLayout(layout, REGISTERS)) for name, layout in metadata(config).items()},
    })


def offer(config: SmConfig, *, stores: bool = True) -> wiring.Signature:
    """A holder of instructions to dispatch: the instruction that may leave it next.

    busy, ready : there is one, and all its operands are present.
    held : the instruction, and the metadata of its destination.
    operands : its operands, if the holder stores any.
    early, late : if these are not plain words, their `metadata`.
    needed : if columns are enabled one by one, the needed columns of each operand.
    dispatched : it leaves at the end of the cycle.
    """
    known = metadata(config) if stores and not config.has_window else {}
    return wiring.Signature({
        "busy": Out(1),
        "ready": Out(1),
        "held": Out(held_layout(config)),
        **({"operands": Out(words(SLOTS))} if stores else {}),
        **{name: Out(data.ArrayLayout(layout, SLOTS)) for name, layout in known.items()},
        **({"needed": Out(column_masks(SLOTS))} if config.gates_columns else {}),
        "dispatched": In(1),
    })


def row_entry(config: SmConfig) -> data.StructLayout:
    """A row of a bank, if `valid`."""
    return struct([("valid", 1), ("row", index_bits(config.rows))])


def released(config: SmConfig) -> data.ArrayLayout:
    """Register file to rename stage: for each access of each bank, the row whose last read was granted in the previous
    cycle."""
    return data.ArrayLayout(data.ArrayLayout(row_entry(config), accesses(config)), config.banks)


def renewal(config: SmConfig) -> wiring.Signature:
    """Write-back to metadata table: the new metadata of a register that is written, valid from the next cycle on.

    enable, address : a register is written, and its address; `left` is its new side.
    early, late : its `metadata`.
    """
    return wiring.Signature({
        "enable": Out(1), "address": Out(address_layout(config)),
        **{name: Out(layout) for name, layout in metadata(config).items()},
    })


def table_lookup(config: SmConfig, layout: data.StructLayout) -> wiring.Signature:
    """`lookup` in a table of one part of the metadata, early or late, of all instructions of an issue port: `found` has
    this layout."""
    count = REGISTERS * config.issue_per_warp
    return wiring.Signature({
        "address": Out(data.ArrayLayout(address_layout(config), count)),
        "taken": Out(count),
        "found": In(data.ArrayLayout(layout, count)),
    })


def table_renewal(config: SmConfig, layout: data.StructLayout) -> wiring.Signature:
    """`renewal` of an entry of such a table: `metadata` has this layout."""
    return wiring.Signature({"enable": Out(1), "address": Out(address_layout(config)), "metadata": Out(layout)})


def read(config: SmConfig) -> wiring.Signature:
    """A collector to the register file: its request for each access of each bank.

    request, row : whether it requests the access, and the row.
    mask : with sides, the sub-banks of that row.
    columns : if columns are enabled one by one, the needed ones of the row.
    release : with renaming, no register has the row any more: it is released at the grant.
    grant : the accesses that are granted in this cycle; if banks select reads first, those that select this one.
    word : the word that was read in the previous cycle, in its stored form.
    arrives : if banks select reads first, whether there is such a word.
    """
    def each(shape: object) -> data.ArrayLayout:
        return data.ArrayLayout(data.ArrayLayout(shape, accesses(config)), config.banks)

    return wiring.Signature({
        "request": Out(data.ArrayLayout(accesses(config), config.banks)),
        **{name: Out(each(bits)) for name, bits in read_fields(config)},
        "grant": In(data.ArrayLayout(accesses(config), config.banks)),
        "word": In(WARP_BITS),
        **({"arrives": In(1)} if config.selects_reads else {}),
    })


def single_read(config: SmConfig) -> wiring.Signature:
    """A collector that reads one register at a time: `read`, with one row, mask and columns for all banks, and one
    grant."""
    return wiring.Signature({
        "request": Out(data.ArrayLayout(accesses(config), config.banks)),
        **{name: Out(bits) for name, bits in read_fields(config)},
        "grant": In(1),
        "word": In(WARP_BITS),
        **({"arrives": In(1)} if config.selects_reads else {}),
    })


def write(config: SmConfig) -> wiring.Signature:
    """Write-back to banks: requests, and the writes of this cycle, zero without one.

    request, bank, grant : for each writer, the bank that it requests, and whether it is granted in this cycle; of the
        writers of a path only the first requesting one may be granted.
    mask : with sides, the requested sub-banks of the bank.
    pending : if reads give way to all writes in latches, the writers that have one, whether they request it or not.
    slow : with slow rows, for each writer whether it requests one.
    left : with slow rows and sides, for each writer the side of its row.
    open : with slow rows, the writers whose write was opened in the previous cycle.
    first_path : if write paths take turns, the one that is served first.
    access : for each bank, the write of each of its accesses.
    data : for each bank, the word in its stored form. With sides it need not wait for a grant: bytes that are not
        written are unspecified.
    lanes, byte_enable : for each bank, the lanes that are written or, with sides or if columns are enabled one by one,
        the bytes.
    """
    writers, banks, enables = len(config.pipes), config.banks, write_enables(config)
    return wiring.Signature({
        "request": Out(writers),
        "bank": Out(data.ArrayLayout(index_bits(banks), writers)),
        **({"mask": Out(data.ArrayLayout(SUB_BANKS, writers))} if config.has_sides else {}),
        **({"pending": Out(writers)} if config.yields_to_pending else {}),
        **({"slow": Out(writers), "open": In(writers)} if config.tfet_rows else {}),
        **({"left": Out(writers)} if config.tfet_rows and config.has_sides else {}),
        "grant": In(writers),
        "access": Out(data.ArrayLayout(data.ArrayLayout(struct(write_fields(config)), accesses(config)), banks)),
        "data": Out(words(banks)),
        **turns(config),
        enables: Out(data.ArrayLayout(LANES if enables == "lanes" else WARP_BITS // 8, banks)),
    })


def write_enables(config: SmConfig) -> str:
    """Whether writes name the lanes or the bytes that they store."""
    return "byte_enable" if config.has_sides or config.gates_columns else "lanes"


def latches(config: SmConfig) -> wiring.Signature:
    """Write latches to a bench: for each writer, whether its latch holds a result, of which instruction, and the new
    `metadata` of its register, zero if it writes none."""
    writers = len(config.pipes)
    return wiring.Signature({
        "valid": Out(writers),
        "tag": Out(data.ArrayLayout(TAG_BITS, writers)),
        **{name: Out(data.ArrayLayout(layout, writers)) for name, layout in metadata(config).items()},
    })


def observed_banks(config: SmConfig) -> wiring.Signature:
    """Banks to a bench.

    stored_data, stored_bytes : for each bank, the word of a write in its stored form, and the bytes of it that are
        stored; zero if the bank is not written.
    read_columns, written_columns : for each bank, the columns that are enabled.
    """
    banks = config.banks
    return wiring.Signature({
        "stored_data": Out(words(banks)),
        "stored_bytes": Out(data.ArrayLayout(WARP_BITS // 8, banks)),
        "read_columns": Out(column_masks(banks)),
        "written_columns": Out(column_masks(banks)),
    })


def dispatch(config: SmConfig) -> wiring.Signature:
    """Operand store to pipes: an instruction that leaves the collectors with its operands, one cycle after it was
    chosen.

    sent : the instruction, and with a zero mask the outcomes of its lanes.
    control : control signals of the integer lanes.
    """
    return wiring.Signature({"sent": Out(unstoppable(sent_layout(config))), "control": Out(CONTROL)})


def delivery(config: SmConfig) -> wiring.Signature:
    """Write latches to windows: results that collectors may take.

    coming, coming_warp : for each writer, the result for a register at the input of its latch, and its warp.
    deliver : for each of them, whether it will be delivered to the collector of that warp; in the same cycle, and
        unspecified without a result.
    delivery, delivery_warp : for each path, the result that is delivered in this cycle (of its completion), and its
        warp.
    due : the paths whose result is delivered when it completes, of those with the same warp only the first; early in
        the cycle.
    """
    warp, writers, paths = index_bits(config.warps), len(config.pipes), len(config.write_paths)
    return wiring.Signature({
        "coming": Out(data.ArrayLayout(coming_layout(config), writers)),
        "coming_warp": Out(data.ArrayLayout(warp, writers)),
        "deliver": In(writers),
        "delivery": Out(data.ArrayLayout(delivery_layout(), paths)),
        "delivery_warp": Out(data.ArrayLayout(warp, paths)),
        "due": Out(paths),
    })


def result(config: SmConfig, pipe: PipeConfig) -> wiring.Signature:
    """A pipe to its write latch: results. Without credits each comes in exactly its write-back slot."""
    layout = result_layout(config)
    return stream.Signature(layout) if pipe.credits else unstoppable(layout)


def results(config: SmConfig) -> dict[str, wiring.Member]:
    """For each pipe its results."""
    return {f"result_{pipe.name}": In(result(config, pipe)) for pipe in config.pipes}


def completions(config: SmConfig) -> dict[str, wiring.Member]:
    """For each pipe its completions, with the predicate result."""
    return {f"done_{pipe.name}": Out(unstoppable(done_layout(config))) for pipe in config.pipes}


def queued(config: SmConfig) -> dict[str, wiring.Member]:
    """Write-back to operand store, for each pipe with a result queue: the number of results in it."""
    return {f"queued_{pipe.name}": In(range(pipe.result_queue + 1)) for pipe in config.pipes if pipe.result_queue}


def turns(config: SmConfig) -> dict[str, wiring.Member]:
    """Banks to write-back, if write paths take turns: the one that is served first."""
    return {"first_path": In(range(config.rotating_paths))} if config.rotating_paths > 1 else {}


def credits(config: SmConfig) -> dict[str, wiring.Member]:
    """For each pipe with credits: the unit outside gives one back at the end of the cycle."""
    return {f"credit_{pipe.name}": In(1) for pipe in config.pipes if pipe.credits}


def forward(config: SmConfig) -> wiring.Signature:
    """The part of `delivery` for the collector of one warp.

    coming, deliver : for each writer, the result at the input of its latch, and whether it will be delivered; without a
        result `deliver` is unspecified.
    delivery : the result that is delivered.
    """
    return wiring.Signature({
        "coming": Out(data.ArrayLayout(coming_layout(config), len(config.pipes))),
        "deliver": In(len(config.pipes)),
        "delivery": Out(delivery_layout()),
    })


def eviction(config: SmConfig) -> wiring.Signature:
    """A collector to the eviction unit.

    request : an entry requests its eviction.
    taken : it leaves at the end of the cycle.
    entry : that which requested its eviction in the previous cycle.
    blocked : an eviction of the warp is pending.
    """
    return wiring.Signature({
        "request": Out(1), "entry": Out(eviction_layout(config)), "taken": In(1), "blocked": In(1),
    })


def memory(config: SmConfig) -> wiring.Signature:
    """Results of the load/store unit to their write latch, and completions back. With evictions it passes through the
    operand store."""
    return wiring.Signature({
        "result": Out(stream.Signature(result_layout(config))), "done": In(unstoppable(done_layout(config))),
    })


def compact() -> wiring.Signature:
    """Affine unit to operand store.

    slots : the compact slots of the instruction at the issue port, and base and stride of those of the instruction that
        was taken in the previous cycle.
    taken : the instruction at the issue port is taken at the end of the cycle.
    """
    return wiring.Signature({"slots": Out(COMPACT_SLOTS), "taken": In(1)})
