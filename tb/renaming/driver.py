"""What renaming asks of a front end, in random instruction streams of the datapath: `last` bits, warps that end, and
accesses beyond the L1 cache."""

from random import Random
from typing import Any

from warploom.arch.config import SmConfig
from warploom.golden_model.records import SOURCES
from warploom.golden_model.words import ALL_LANES
from warploom.tb.renaming.accesses import Accesses

Fields = dict[str, int]


class Lives:
    """Plans instructions, in the order in which they issue: which reads are the last ones, and when another warp takes
    a slot. A register without a row is not read, and a new value is written in all lanes, since the others would be
    those of whichever value had the row before."""

    def __init__(self, config: SmConfig, rng: Random) -> None:
        self._rng, self._predicts = rng, config.predicts_stalls
        self._mapped: list[set[int]] = [set() for _ in range(config.warps)]
        self._following: dict[int, bool] = {}  # by tag, instructions of new warps: whether the former one has retired
        self._retired = 0
        self._accesses = Accesses(config.warps, rng)

    def plan(self, fields: Fields) -> Fields:
        """Complete the fields of an instruction."""
        rng, mapped = self._rng, self._mapped[fields["warp"]]
        if mapped and rng.random() < 0.004:
            mapped.clear()
            self._following[fields["tag"]] = False
        slots = {slot: fields[name] for slot, name in enumerate(SOURCES) if fields["reads"] >> slot & 1}
        slots = {slot: register for slot, register in slots.items() if register in mapped}
        ends = {register for register in sorted({*slots.values()}) if rng.random() < 0.15}
        fields["reads"] = sum(1 << slot for slot in slots)
        fields["last"] = sum(1 << slot for slot, register in slots.items() if register in ends)
        mapped -= ends
        if fields["writes"]:
            if fields["dst"] not in mapped:
                fields |= {"lanes": ALL_LANES, "full": 1}
            mapped.add(fields["dst"])
        return fields

    def hinders(self, fields: Fields, *, runs: bool, sweeping: int) -> bool:
        """Whether an instruction waits until its slot is swept, whose former warp first has to end: it `runs` as long
        as it has an instruction in flight."""
        tag, warp = fields["tag"], fields["warp"]
        if tag not in self._following:
            return False
        if self._following[tag] and not sweeping >> warp & 1:
            del self._following[tag]
            return False
        if not (runs or self._following[tag]):
            self._following[tag], self._retired = True, 1 << warp
        return True

    def events(self) -> dict[str, Any]:
        """The inputs of the cycle."""
        retired, self._retired = self._retired, 0
        if not self._predicts:
            return {"retired": retired}
        self._accesses.advance()
        return {"retired": retired, "began": self._accesses.began, "ended": self._accesses.ended}
