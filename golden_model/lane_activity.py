"""What an instruction makes the operand registers and the lanes do (docs/contract/counting.md, *Activity*)."""

from collections.abc import Mapping
from typing import Any

from warploom.arch.config import COLUMNS, SmConfig
from warploom.arch.interfaces import trivial_fields
from warploom.golden_model.activity import UNGATED, LaneMeter
from warploom.golden_model.trivial import NONE, outcomes, packed

_SLOTS = 3


class LaneActivity:
    """Counts work, and with a zero mask finds the lanes whose operation is trivial."""

    def __init__(self, config: SmConfig) -> None:
        self.meter = LaneMeter()
        self.operand_columns = 0  # of the operand registers behind the collectors, filled since reset
        self._gated, self.has_outcomes = config.gates_columns, bool(trivial_fields(config))
        self._outcomes = NONE  # of what is dispatched in this cycle

    def outcomes(self, dispatch: Mapping[str, Any], known_zero: tuple[int, int, int]) -> int:
        """What is found of the lanes, as the dispatch port shows it; `known_zero` are the lanes of each operand that
        are known to be zero."""
        self._outcomes = outcomes(dispatch, known_zero)
        return packed(self._outcomes)

    def dispatched(self, cycle: int, dispatch: Mapping[str, Any], holder: Any) -> None:
        """An instruction goes from its holder to the operand registers and lanes now: with gating, only the holder's
        `columns` of its operands."""
        if not self._gated:
            self.operand_columns += COLUMNS * _SLOTS
            self.meter.dispatch(cycle, dispatch, UNGATED, 0)
            return
        zero, a, b, c = self._outcomes
        executing, passing = dispatch["lanes"].bit_count(), (a | b | c).bit_count()
        trivial = zero.bit_count() + passing
        self.operand_columns += sum(holder.columns)
        self.meter.dispatch(cycle, dispatch, (executing - trivial, executing, passing), trivial)
