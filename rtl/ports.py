"""The edges between the parts of the machine, each a signature. `docs/contract/` says in which cycle what is valid.

Directions are those of the part that asks; the other end has the signature flipped.
"""

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES, SUB_BANKS, SmConfig
from warploom.arch.interfaces import SIDES, WARP_BITS, WRITE_PATHS, WRITERS, index_bits
from warploom.arch.mechanisms import Coalescing, Gating
from warploom.rtl.bypass.interfaces import coming_layout, delivery_layout
from warploom.rtl.interfaces import (
    CODE,
    COMPACT_SLOTS,
    REGISTERS,
    column_masks,
    done_layout,
    place_layout,
    result_layout,
    sent_layout,
    unstoppable,
    words,
    zero_layout,
)
from warploom.rtl.lane_control import CONTROL


def accesses(config: SmConfig) -> int:
    """Accesses that a bank takes in a cycle: one, or one on each of its sides."""
    return len(SIDES) if config.coalescing is Coalescing.ON else 1


def has_lookup(config: SmConfig) -> bool:
    """Whether there are metadata to look up."""
    return config.coalescing is Coalescing.ON or config.gating.has_zero_mask


def lookup(config: SmConfig) -> wiring.Signature:
    """Operand store to register file: how the registers of the instruction at the issue port are stored.

    place : where they lie; the sources, then the destination.
    taken : those that are named by an instruction which is taken at the end of the cycle.
    code : with coalescing, how each is stored; in the same cycle.
    zero : with a zero mask, what of each is known to be zero; in the next cycle, of those that were `taken`.
    """
    return wiring.Signature({
        "place": Out(data.ArrayLayout(place_layout(config), REGISTERS)),
        "taken": Out(REGISTERS),
        **({"code": In(data.ArrayLayout(CODE, REGISTERS))} if config.coalescing is Coalescing.ON else {}),
        **({"zero": In(data.ArrayLayout(zero_layout(config), REGISTERS))} if config.gating.has_zero_mask else {}),
    })


def read(config: SmConfig) -> wiring.Signature:
    """A collector to the register file: what it wants of each access of each bank.

    request, row : whether it wants the access, and which row.
    mask : with coalescing, the sub-banks of that row.
    columns : with gating, the columns of it that are needed.
    grant : the accesses that it gets in this cycle.
    word : what was granted in the previous cycle, as it is stored.
    """
    def each(shape: object) -> data.ArrayLayout:
        return data.ArrayLayout(data.ArrayLayout(shape, accesses(config)), config.banks)

    return wiring.Signature({
        "request": Out(data.ArrayLayout(accesses(config), config.banks)),
        "row": Out(each(index_bits(config.rows))),
        **({"mask": Out(each(SUB_BANKS))} if config.coalescing is Coalescing.ON else {}),
        **({"columns": Out(data.ArrayLayout(column_masks(accesses(config)), config.banks))}
           if config.gating is not Gating.OFF else {}),
        "grant": In(data.ArrayLayout(accesses(config), config.banks)),
        "word": In(WARP_BITS),
    })


def write(config: SmConfig) -> wiring.Signature:
    """Write latches to banks: requests, and what is written in this cycle, zero where nothing is.

    request, bank, grant : for each writer, the bank it wants, and whether it gets it in this cycle; of the writers of a
        path only the first that requests may be granted.
    mask : with coalescing, the sub-banks of the bank that it wants.
    write, row : for each bank, whether it is written, and which row; with coalescing instead
    right, left : the write on each side of a bank.
    data : the word as it is stored.
    lanes, byte_enable : the lanes that are written; with coalescing or gating the bytes.
    """
    writers, banks, coalescing = len(WRITERS), config.banks, config.coalescing is Coalescing.ON
    row, by_bytes = index_bits(config.rows), coalescing or config.gating is not Gating.OFF
    side = data.ArrayLayout(write_layout(config), banks)
    return wiring.Signature({
        "request": Out(writers),
        "bank": Out(data.ArrayLayout(index_bits(banks), writers)),
        "grant": In(writers),
        **({"mask": Out(data.ArrayLayout(SUB_BANKS, writers)), "right": Out(side), "left": Out(side)} if coalescing
           else {"write": Out(banks), "row": Out(data.ArrayLayout(row, banks))}),
        "data": Out(words(banks)),
        **({"byte_enable": Out(data.ArrayLayout(WARP_BITS // 8, banks))} if by_bytes
           else {"lanes": Out(data.ArrayLayout(LANES, banks))}),
    })


def write_layout(config: SmConfig) -> data.StructLayout:
    """One of the two writes of a bank: `mask` is the sub-banks that it uses."""
    return data.StructLayout({"enable": 1, "row": index_bits(config.rows), "mask": SUB_BANKS})


def access_layout(config: SmConfig) -> data.StructLayout:
    """What a bench sees of an access of a bank: `reader` is the collector that reads, `mask` the sub-banks in use."""
    return data.StructLayout({
        "enable": 1, "write": 1, "row": index_bits(config.rows), "reader": index_bits(config.collectors),
        **({"mask": SUB_BANKS} if config.coalescing is Coalescing.ON else {}),
    })


def observed_banks(config: SmConfig) -> wiring.Signature:
    """Banks to a bench.

    diagonal : the arbiter's priority.
    access : for each bank, with coalescing each of its sides, what it does in this cycle; zero when idle.
    stored_data, stored_bytes : for each bank, the word that a write carries to its sub-banks, in the form in which they
        hold it, and the bytes of it that they store; zero when the bank is not written.
    read_columns, written_columns : for each bank, the columns that are enabled.
    """
    banks = config.banks
    return wiring.Signature({
        "diagonal": Out(index_bits(max(banks, config.collectors))),
        "access": Out(data.ArrayLayout(data.ArrayLayout(access_layout(config), accesses(config)), banks)),
        "stored_data": Out(words(banks)),
        "stored_bytes": Out(data.ArrayLayout(WARP_BITS // 8, banks)),
        "read_columns": Out(column_masks(banks)),
        "written_columns": Out(column_masks(banks)),
    })


def dispatch(config: SmConfig) -> wiring.Signature:
    """Operand store to pipes: an instruction that leaves the collectors with its operands, one cycle after it was
    chosen.

    sent : the instruction, and with a zero mask what is known of its lanes.
    control : what the integer lanes need to know of its operation.
    """
    return wiring.Signature({"sent": Out(unstoppable(sent_layout(config))), "control": Out(CONTROL)})


def delivery(config: SmConfig) -> wiring.Signature:
    """Write latches to windows: results that collectors may take.

    coming, coming_warp : for each writer, the result that its latch takes at the end of this cycle, and whose it is.
    deliver : for each of them, whether the collector of that warp takes it; in the same cycle.
    delivery, delivery_warp : for each path, what is delivered in this cycle, the cycle of completion, and to whom.
    """
    warp, writers, paths = index_bits(config.warps), len(WRITERS), len(WRITE_PATHS)
    return wiring.Signature({
        "coming": Out(data.ArrayLayout(coming_layout(config), writers)),
        "coming_warp": Out(data.ArrayLayout(warp, writers)),
        "deliver": In(writers),
        "delivery": Out(data.ArrayLayout(delivery_layout(), paths)),
        "delivery_warp": Out(data.ArrayLayout(warp, paths)),
    })


def memory(config: SmConfig) -> wiring.Signature:
    """Results of the load/store unit, on their way to their write latch, and completions on their way back. With
    evictions it passes through the operand store."""
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
