"""What an atomic of a bank stores (docs/contract/l1.md, *Operations*)."""

from warploom.arch.l1 import WORD_BITS, Operation

SIGN = 1 << WORD_BITS - 1


def updated(operation: Operation, old: int, data: int, compare: int) -> int:
    """The new word. All values are unsigned words of 32 bits; MIN and MAX take them as signed ones."""
    smaller = min(old ^ SIGN, data ^ SIGN) ^ SIGN
    return {
        Operation.ADD: (old + data) % (1 << WORD_BITS), Operation.AND: old & data, Operation.OR: old | data,
        Operation.XOR: old ^ data, Operation.EXCH: data, Operation.CAS: data if old == compare else old,
        Operation.MIN: smaller, Operation.MAX: old ^ data ^ smaller,
        Operation.UMIN: min(old, data), Operation.UMAX: max(old, data),
    }[operation]
