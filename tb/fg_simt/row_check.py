"""Checks the rows that the lanes bring to the memory unit."""

from typing import Any

from warploom.tb.bench import Checker, Observation, Ports
from warploom.tb.fg_simt.eight_lanes import LANES


class RowCheck:
    """Compares the row of a cycle. What nobody looks at may be anything: addresses and data of lanes with a fault, data
    of a load, the place of a store."""

    def __init__(self, ports: Ports, checker: Checker) -> None:
        self._codec, self._checker = ports.codecs["arriving"], checker

    def __call__(self, seen: Observation, expected: dict[str, Any] | None) -> bool:
        """Check one cycle; whether a lane has a fault."""
        equal = self._checker.equal
        equal("arrive", seen["arrive"], int(expected is not None))
        if expected is None or not seen["arrive"]:
            return False
        found, row = self._codec.unpack(seen["arriving"]), expected["row"]
        about = dict(row["instruction"])
        if not about["loads"]:
            found["row"]["instruction"]["place"] = about["place"]
        equal("instruction", found["row"]["instruction"], about)
        equal("executing lanes", found["row"]["execute"], row["execute"])
        lanes = [str(lane) for lane in range(LANES) if row["execute"] >> lane & 1]
        causes = {lane: expected["cause"][lane] for lane in lanes}
        equal("causes", {lane: found["cause"][lane] for lane in lanes}, causes)
        legal = [lane for lane in lanes if not causes[lane]]
        self._same("addresses", found["row"]["address"], row["address"], legal)
        if about["operation"] or about["vector"]:
            self._same("data", found["row"]["data"], row["data"], legal)
        return legal != lanes

    def _same(self, name: str, found: dict[str, int], expected: dict[str, int], lanes: list[str]) -> None:
        self._checker.equal(name, [found[lane] for lane in lanes], [expected[lane] for lane in lanes])
