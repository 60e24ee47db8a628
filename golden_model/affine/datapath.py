"""`AffineDatapath`: what the affine unit changes in a datapath (docs/timing.md, section 13)."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from golden_model.abstract_datapath import NO_INPUTS, AbstractDatapath, Inputs
from golden_model.affine.compact import Compact
from golden_model.affine.unit import AffineUnit, Answers
from golden_model.collector import Slots
from golden_model.integer import Evaluate
from warploom.arch.config import SmConfig
from warploom.arch.isa import Op


class AffineDatapath(AbstractDatapath):
    """An affine unit beside any register file with its collectors; `with_affine_unit` makes the classes.

    The issue port brings `reads` of all registers; collectors see those that are generic, and `compact`, the values of
    the other slots, travels with the instruction. `affine` is the unit. The address slot, where there is one, is the
    last of the holders, and `address_ready` a wire. `registers` is the number of a thread's registers, a static input;
    `uniform_unit` computes what all lanes have in common outside.
    """

    def __init__(
        self, config: SmConfig, stride: int, evaluate: Evaluate, registers: int, uniform_unit: Answers
    ) -> None:
        self.affine = AffineUnit(config, registers, uniform_unit)
        self._address_index = config.collectors
        super().__init__(config, stride, evaluate)

    def _holders(self) -> Sequence[Slots]:
        if not self.config.has_address_slot:
            return self.collectors
        return [*self.collectors, self._collector(self._address_index)]

    # ------------------------------------------------------------------ wires

    def settle(self) -> None:
        super().settle()
        self.affine.settle()

    @property
    def address_busy(self) -> bool:
        """An instruction is in the address slot."""
        return self.config.has_address_slot and self.holders[self._address_index].busy

    @property
    def address_ready(self) -> bool:
        """The address slot takes an instruction."""
        return self.config.has_address_slot and not self.address_busy

    @property
    def quiet(self) -> bool:
        return super().quiet and self.affine.next_event() != self.affine.cycle

    def next_event(self) -> int | None:
        events = (super().next_event(), self.affine.next_event())
        return min((event for event in events if event is not None), default=None)

    def advance(self, cycles: int) -> None:
        super().advance(cycles)
        self.affine.advance(cycles)

    def _operands_of(self, index: int) -> tuple[int, int, int]:
        a, b, c = map(_expanded, self.holders[index].fields["compact"], super()._operands_of(index))
        return a, b, c

    def _known_zero(self, index: int) -> tuple[int, int, int]:
        """Of a compact slot nothing is known, whatever the constant in its place."""
        known: tuple[int, int, int] = super()._known_zero(index)  # type: ignore[misc]
        a, b, c = (0 if compact is not None else zero
                   for compact, zero in zip(self.holders[index].fields["compact"], known, strict=True))  # fmt: skip
        return a, b, c

    # ------------------------------------------------------------------ the end of a cycle

    def clock(self, inputs: Inputs = NO_INPUTS) -> None:
        if inputs.issue is not None:
            inputs = inputs._replace(issue=self._masked(inputs.issue))
        super().clock(inputs)
        self.affine.clock(inputs.attempts)

    def _masked(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The instruction as collectors see it."""
        compact = self.affine.compact(fields)
        reads = fields["reads"] & ~sum(1 << slot for slot, value in enumerate(compact) if value is not None)
        return {**fields, "reads": reads, "compact": compact}

    def _takes(self, fields: Mapping[str, Any]) -> bool:
        return self.address_ready if self._addresses(fields) else super()._takes(fields)

    def _addresses(self, fields: Mapping[str, Any]) -> bool:
        """An instruction, as collectors see it, goes to the address slot."""
        return self.config.has_address_slot and fields["op"] == Op.LD and not fields["reads"]

    def _issue(self, fields: Mapping[str, Any]) -> None:
        self.affine.issued(fields)
        if self._addresses(fields):
            self._take(self._address_index, fields, *self._places_of(fields))
            self.dispatcher.issued(self._address_index)
        else:
            super()._issue(fields)

    def _release(self, index: int) -> None:
        if index == self._address_index:
            self.holders[index].release()
        else:
            super()._release(index)

    def _probe_collectors(self, values: dict[str, int]) -> None:
        super()._probe_collectors(values)
        values["address_busy"] = int(self.address_busy)


def _expanded(compact: Compact | None, word: int) -> int:
    """What the operand path of a slot shows; `word` is what the collector has."""
    return word if compact is None else _word(compact)


_word = lru_cache(maxsize=1 << 12)(Compact.word)


@cache
def with_affine_unit(datapath: type[AbstractDatapath]) -> type[AffineDatapath]:
    """A class of datapaths with an affine unit."""
    return type(f"Affine{datapath.__name__}", (AffineDatapath, datapath), {})
