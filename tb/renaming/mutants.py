"""Planted bugs in the stall predictor and in the lists of free rows."""

from amaranth import Cat

from warploom.rtl.renaming.lists import BankLists
from warploom.rtl.renaming.predictor import StallPredictor
from warploom.tb.mutants import Mutant, Rewire, Tampered
from warploom.tb.renaming.test_lists import SETTINGS
from warploom.tb.renaming.test_predictor import SLOTS

PREDICTOR, LISTS = "warploom.tb.renaming.test_predictor", "warploom.tb.renaming.test_lists"
MEASURED = ("renaming=mem_ra", f"warps={SLOTS}")


def _predictor(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("StallPredictor", f"{PREDICTOR}::random_accesses", bug,
                  lambda c: Tampered(StallPredictor(slots=c.warps), rewire), MEASURED)


def _lists(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("BankLists", f"{LISTS}::random_rows", bug,
                  lambda c: Tampered(BankLists(config=c), rewire), ("sp.result_queue=2", *SETTINGS))


MUTANTS = (
    _predictor("does not see that slot 3 begins", lambda o, m: {"began": o.began & ~0b1000}),
    _predictor("measures on after the last answer of slot 0", lambda o, m: {"ended": o.ended & ~1}),
    _predictor("counts no served request", lambda o, m: {"served": 0}),
    _predictor("wants TFET while a stall of one cycle is left", lambda o, m: {"wants": o.inner.stall}),
    _lists("gives a row twice", lambda o, m: {"take": o.take & ~1}),
    _lists("loses a row that is released while another one is swept",
           lambda o, m: {"released": o.released.as_value() & ~o.swept.valid.replicate(len(o.released.as_value()))}),
    _lists("gives one row more than are powered", lambda o, m: {"powered": o.powered + 1}),
    _lists("takes released rows for those of the other kind",
           lambda o, m: {"released": Cat(Cat(each.valid, each.row ^ 0b1000) for each in o.released)}),
    _lists("loses swept rows", lambda o, m: {"swept": 0}),
)
