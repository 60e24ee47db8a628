"""The activity of operand registers and lanes for an instruction (docs/contract/counting.md, *Activity*)."""

from typing import Any

from warploom.arch.config import COLUMNS, SmConfig
from warploom.arch.interfaces import trivial_fields
from warploom.arch.isa import Pipe
from warploom.golden_model.activity import UNGATED, LaneMeter
from warploom.golden_model.records import DispatchFields
from warploom.golden_model.trivial import NONE, outcomes, packed

_ALL_COLUMNS = 3 * COLUMNS
"""Columns of the operands of an instruction."""


class LaneActivity:
    """Counts work, and with a zero mask finds the lanes whose operation is trivial."""

    def __init__(self, config: SmConfig) -> None:
        self._sp = len(config.numbers(Pipe.SP))
        self.meter = LaneMeter(self._sp, len(config.numbers(Pipe.SFU)), config.lane_stages)
        self.operand_columns = 0  # of the operand registers behind the collectors, filled since reset
        self._gated, self.has_outcomes = config.gates_columns, bool(trivial_fields(config))
        self._outcomes = [NONE] * len(config.dispatch_ports)  # of the instructions dispatched in this cycle

    def outcomes(self, port: int, dispatch: DispatchFields, known_zero: tuple[int, int, int]) -> int:
        """The outcomes of the lanes, in the format of a dispatch port; `known_zero` are the lanes of each operand that
        are known to be zero."""
        self._outcomes[port] = outcomes(dispatch, known_zero, self._sp)
        return packed(self._outcomes[port])

    def dispatched(self, port: int, cycle: int, dispatch: DispatchFields, holder: Any) -> None:
        """An instruction moves from its holder to the operand registers and lanes in this cycle; with gating, only the
        holder's `columns` of its operands."""
        if not self._gated:
            self.operand_columns += _ALL_COLUMNS
            self.meter.dispatch(cycle, dispatch, UNGATED, 0)
            return
        self.operand_columns += holder.columns
        executing, found = dispatch["lanes"].bit_count(), self._outcomes[port]
        if found is NONE:
            self.meter.dispatch(cycle, dispatch, (executing, executing, 0), 0)
            return
        zero, a, b, c = found
        passing = (a | b | c).bit_count()
        trivial = zero.bit_count() + passing
        self.meter.dispatch(cycle, dispatch, (executing - trivial, executing, passing), trivial)
