"""The model's lanes work from the bits of a micro-operation alone."""

from collections import Counter

import pytest
from support.fg_simt_runs import WAYS, check
from support.random_programs import samples

from warploom.arch.fg_simt.micro import MICRO_FIELDS, OPERAND_FIELDS
from warploom.arch.fields import width
from warploom.golden_model.fg_simt.control import ControlProcessor
from warploom.golden_model.fg_simt.micro import Micro
from warploom.golden_model.fg_simt.micro_bits import decoded, encoded
from warploom.golden_model.fg_simt.steps import Steps


def test_random_kernels_run_from_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    send, seen = ControlProcessor._send, Counter[str]()

    def through_bits(self: ControlProcessor, sent: Micro) -> Steps[None]:
        word = encoded(sent)
        assert word < 1 << width(MICRO_FIELDS) + 3 * width(OPERAND_FIELDS)
        got = decoded(word)
        assert repr(got) == repr(sent)
        seen.update(type(operand).__name__ for operand in got.operands)
        return send(self, got)

    monkeypatch.setattr(ControlProcessor, "_send", through_bits)
    for case in samples(4, 3, affines=("off", "a")):
        check(case, WAYS[::3])
    assert seen["Register"] and seen["Compact"]
