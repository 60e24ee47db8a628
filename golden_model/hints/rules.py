"""What the compiler promises of hints, as an instruction that issues in order can see it (docs/contract/hints.md,
*Asserted*)."""

from collections.abc import Sequence

from warploom.arch.isa import PT, RZ, Instruction, Op
from warploom.golden_model.hints.collection import Entry

_LEAVES = frozenset({Op.BRA, Op.EXIT, Op.TRAP})


def assert_promised(
    code: Sequence[Instruction], base: int, entries: Sequence[Entry], issued: Instruction, *, copy: bool
) -> None:
    """An instruction issues in order, perhaps a `copy` of a renamed result, and these entries are left of the group of
    the stall point `base`. Raises `AssertionError` if a hint is wrong."""
    assert issued.op not in _LEAVES, "hints: no branch and no exit is before what is left of a group"
    stale = set() if copy else {issued.dst} - {RZ}
    set_predicate = {issued.pdst} - {PT}
    stale_predicates = set(set_predicate)
    for entry in entries:
        done = code[base + entry.offset]
        assert not stale.intersection(done.sources), "hints: what was read in hint mode is written later"
        assert not stale_predicates & done.predicates_read, "hints: a predicate read in hint mode is written later"
        assert not entry.writes or entry.renamed not in {*issued.sources, issued.dst}, "hints: a result is disturbed"
        assert done.pdst == PT or done.pdst not in set_predicate | issued.predicates_read, "hints: a predicate is set"
        stale.discard(done.dst)
        stale_predicates.discard(done.pdst)
