"""Planted bugs in what fetches for the lanes of the SIMT engine: each bench must catch its own."""

from collections.abc import Callable
from typing import Any

from amaranth import Const, Module
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.sizes import FETCH_ENTRIES, FETCH_REQUESTS
from warploom.arch.modifiers import Special
from warploom.rtl.fg_simt.fetch import Fetch
from warploom.rtl.fg_simt.forward_stack import ForwardStack
from warploom.rtl.fg_simt.fragments import Fragments
from warploom.rtl.fg_simt.shared_loads import SharedLoads
from warploom.rtl.fg_simt.threads import Threads
from warploom.tb.l1.mutants import changed
from warploom.tb.mutants import Mutant, Part, Rewire, Tampered

Change = Callable[[Any, Module], None]


def _fragments(bug: str, change: Change, part: Part | None = None) -> Mutant:
    def made(config: SmConfig) -> wiring.Component:
        return changed(Fragments(probe=True), change)

    return Mutant("Fragments", "warploom.tb.fg_simt.test_fragments::random_moves", bug, made, part=part)


def _never_joins(unit: Any, m: Module) -> None:
    """What is pushed never joins an entry."""
    correct = unit.forward.elaborate

    def elaborate(platform: object) -> Module:
        inner: Module = correct(platform)
        inner.d.comb += unit.forward.joins.eq(0)
        return inner

    unit.forward.elaborate = elaborate


def _keeps_lanes(unit: Any, m: Module) -> None:
    """Rule 1 takes the entry, and loses its lanes."""
    m.d.comb += unit.mask.eq(unit._mask)


def _top_stays(unit: Any, m: Module) -> None:
    """An entry that joins stays on the stack when the active lanes exit."""
    with m.If(unit.forward.pop):
        m.d.comb += unit.forward.drop.eq(0)


def _always_first(unit: Any, m: Module) -> None:
    """After a backward branch the lowest fragment goes on."""
    with m.If(unit.step & unit.changes & unit.forward.top.valid):
        m.d.comb += unit.following.eq(unit.forward.top.pc)


def _own_pc_is_ahead(unit: Any, m: Module) -> None:
    """A branch to itself goes to the forward stack."""
    with m.If(unit.target == unit.pc):
        m.d.comb += unit.forward.push.eq(unit.step)


def _no_redirect(unit: Any, m: Module) -> None:
    """A change of fragments does not redirect."""
    with m.If(unit.changes & ~unit.start):
        m.d.comb += unit.redirect.eq(0)


def _still_live(unit: Any, m: Module) -> None:
    """Lanes that exit are elsewhere."""
    with m.If(unit.step & ~unit.start):
        m.d.sync += unit._live.eq(unit._live)


def _fetch(bug: str, change: Change) -> Mutant:
    def made(config: SmConfig) -> wiring.Component:
        return changed(Fetch(probe=True), change)

    return Mutant("Fetch", "warploom.tb.fg_simt.test_fetch", bug, made)


def _owns_what_comes(unit: Any, m: Module) -> None:
    """What is answered in the cycle of a redirect still counts as outstanding, and is taken for disowned later."""
    with m.If(unit.redirect & unit.answer.valid & (unit.disowned != FETCH_REQUESTS)):
        m.d.sync += unit.disowned.eq(unit.outstanding)


def _drops_too_late(unit: Any, m: Module) -> None:
    """An instruction that comes in the cycle of a redirect enters the queue."""
    with m.If(unit.redirect & unit.arrives):
        m.d.sync += [unit.level.eq(1), unit.used.eq(1), unit.oldest.eq(unit.newest)]


def _goes_on(unit: Any, m: Module) -> None:
    """A stop does not end requests."""
    with m.If(unit.stop & ~unit.redirect):
        m.d.sync += unit._on.eq(unit._on)


def _counts_the_queue_alone(unit: Any, m: Module) -> None:
    """Requests of which the answer has no place."""
    with m.If((unit.used == FETCH_ENTRIES) & (unit.level == 0) & unit._on & unit.request.ready
              & (unit.outstanding != FETCH_REQUESTS)):
        m.d.comb += [unit.request.valid.eq(1)]


def _waits_for_ready(unit: Any, m: Module) -> None:
    """A request is valid although the cache is not ready."""
    with m.If(unit._on & (unit.used != FETCH_ENTRIES) & (unit.outstanding != FETCH_REQUESTS)):
        m.d.comb += unit.request.valid.eq(1)


def _shared_loads(bug: str, rewire: Rewire) -> Mutant:
    def made(config: SmConfig) -> wiring.Component:
        return Tampered(SharedLoads(second=True, probe=True), rewire)

    return Mutant("SharedLoads", "warploom.tb.fg_simt.test_shared_loads", bug, made)


def _threads(bug: str, rewire: Rewire) -> Mutant:
    def made(config: SmConfig) -> wiring.Component:
        return Tampered(Threads(), rewire)

    return Mutant("Threads", "warploom.tb.fg_simt.test_threads", bug, made)


MUTANTS = (
    _threads("gives all lanes to every warp", lambda o, m: {"launched": Const(-1, 32)}),
    _threads("is ready before the walk is over", lambda o, m: {"ready": o.inner.ready | (o.position.thread == 30)}),
    _threads("begins a warp too many", lambda o, m: {"begins": o.inner.begins | (o.start & (o.count < 32))}),
    _threads("has no stride in rows", lambda o, m: {"stride": Const(0)}),
    _threads("ignores that planes of 32 threads have one z",
             lambda o, m: {"walked": o.inner.walked | ((o.special == Special.TID_Z) & (o.block.block_x == 16)
                                                 & (o.block.block_y == 2))}),
    _threads("takes planes of 16 threads for planes of 32",
             lambda o, m: {"walked": o.inner.walked & ~((o.special == Special.TID_Z)
                                                      & ((o.block.block_x * o.block.block_y)[:4] == 0))}),
    _shared_loads("ignores the highest bit of the tag", lambda o, m: {"number": o.number[:-1]}),
    _shared_loads("ignores the lowest bit of the place", lambda o, m: {"number": o.number & ~1}),
    _shared_loads("is never invalid", lambda o, m: {"invalidate": Const(0)}),
    _shared_loads("keeps a word that is filled while all become invalid",
                  lambda o, m: {"invalidate": o.invalidate & ~o.fill}),
    _shared_loads("hits any word", lambda o, m: {"hit": Const(1)}),
    _shared_loads("looks up one word twice", lambda o, m: {"second_number": o.number}),
    _fetch("disowns one too many", _owns_what_comes),
    _fetch("keeps what comes in the cycle of a redirect", _drops_too_late),
    _fetch("goes on after a stop", _goes_on),
    _fetch("requests what has no place", _counts_the_queue_alone),
    _fetch("offers what is not taken", _waits_for_ready),
    _fragments("does not join what it inserts", _never_joins, ForwardStack),
    _fragments("loses lanes that join", _keeps_lanes),
    _fragments("executes lanes twice that joined and left", _top_stays),
    _fragments("goes on with the lowest fragment after a backward branch", _always_first),
    _fragments("takes a branch to itself for a forward one", _own_pc_is_ahead),
    _fragments("does not redirect when fragments change", _no_redirect),
    _fragments("looks for lanes that have left", _still_live),
)
