"""Constants in every operand slot of each form of each machine instruction: the effect is the same whether the compiler
knows the value or not."""

from collections.abc import Callable, Sequence

import pytest
from support.machine_trials import DATA_OPS, PLACES, WORDS, Trials, data_forms, memory_forms

from warploom.arch.isa import MEMORY_OPS, Instruction, Op
from warploom.arch.modifiers import Atom

FORMS_PER_BODY = 8
NEIGHBOURS = 3
"""Outside the long regression one in this number of forms is tried."""

ONE, ALL = 1, len(WORDS)
COUNTS = [ONE, pytest.param(ALL, marks=pytest.mark.long)]
"""Values of each slot of a form: one of them, in turn, or all."""


Slots = dict[int, Sequence[int]]
"""By operand slot, its possible words."""


def check(forms: Sequence[Instruction], slots_of: Callable[[Instruction], Slots], count: int, seed: int) -> None:
    """Every slot of every form with all words that it may be given; or of some forms, with one word. The seed says
    which."""
    if count == ONE:
        forms = forms[seed % min(NEIGHBOURS, len(forms)) :: NEIGHBOURS]
    for first in range(0, len(forms), FORMS_PER_BODY):
        trials = Trials()
        for number, form in enumerate(forms[first : first + FORMS_PER_BODY], first):
            for slot, words in slots_of(form).items():
                for n in range(count):
                    trials.add(form, slot, words[(seed + number + slot + n) % len(words)], alone=False)
                    trials.add(form, slot, words[(seed + number + slot + n + 1) % len(words)], alone=True)
        assert not [*trials.differences()]


@pytest.mark.sample(16)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("op", DATA_OPS, ids=lambda op: op.name)
def test_data(op, count, seed):
    forms = data_forms(op)
    assert forms
    check(forms, lambda form: dict.fromkeys(range(6 if form.latched else 3), WORDS), count, seed)


def memory_slots(form: Instruction) -> Slots:
    """Values of the slots of a memory instruction: addresses, a zero high word, and data."""
    found: Slots = {0: PLACES[form.space]}
    if form.wide:
        found[1] = (0,)
    data: tuple[int, ...] = () if form.op is Op.LD else (2,)
    if form.latched:
        cas, wide = form.atom is Atom.CAS, form.dst_type.is_wide
        data = ((2, 3, 4, 5) if wide else (2, 3)) if cas else (3, 4)
    return found | dict.fromkeys(data, WORDS)


@pytest.mark.sample(4)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("space", PLACES, ids=lambda space: space.name)
@pytest.mark.parametrize("op", MEMORY_OPS, ids=lambda op: op.name)
def test_memory(op, space, count, seed):
    check([form for form in memory_forms(space) if form.op is op], memory_slots, count, seed)
