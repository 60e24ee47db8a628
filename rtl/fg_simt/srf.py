# amaranth: UnusedElaboratable=no
"""The SIMT register file with its forwarding (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import LANES
from warploom.rtl.fg_simt.memory_ports import WORDS
from warploom.rtl.fg_simt.register_bank import READERS, ROW, WRITERS, RegisterBank
from warploom.rtl.fg_simt.sau_ports import RESULT
from warploom.rtl.select import merge
from warploom.rtl.shared import share

RESULTS = data.ArrayLayout(RESULT, WRITERS)
"""Results of SAU0, SAU1 and SLU."""


class Forwarding(wiring.Component):
    """The newest words of a row for one reader. Combinational.

    Of the results of a stage at most one has a row. A lane for which a result has nothing takes an older one.

    Members
    -------
    row, stored : the row, and what the banks have in it.
    results, writes : results that are just computed, and those that are being written.
    words : what the reader gets.
    """

    def __init__(self) -> None:
        super().__init__({"row": In(ROW), "stored": In(WORDS), "results": In(RESULTS), "writes": In(RESULTS),
                          "words": Out(WORDS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for lane in range(LANES):
            word: Value = self.stored[lane]
            for stage in (self.writes, self.results):
                chosen = Cat(self._is_row(result) & result.execute[lane] for result in stage)
                word = Mux(chosen.any(), merge(chosen, [result.words[lane] for result in stage]), word)
            m.d.comb += self.words[lane].eq(word)
        return m

    def _is_row(self, result: data.View) -> Value:
        written = result.destination
        return written.valid & (written.number == self.row.number) & (result.group == self.row.group)


class SimtRegisterFile(wiring.Component):
    """A bank in each of eight lanes. Words are read in the cycle in which their rows are given.

    Members
    -------
    rows, words : of each reader; words of all lanes.
    results, writes : results that are just computed, to be forwarded; those that are written at the end of the cycle,
        and forwarded before.
    """

    def __init__(self) -> None:
        self._forwarding = [Forwarding() for _ in range(READERS)]
        super().__init__({"rows": In(data.ArrayLayout(ROW, READERS)), "words": Out(data.ArrayLayout(WORDS, READERS)),
                          "results": In(RESULTS), "writes": In(RESULTS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        banks = [RegisterBank() for _ in range(LANES)]
        for lane, bank in enumerate(banks):
            m.submodules[f"bank_{lane}"] = share(platform, "register_bank", bank)
            m.d.comb += bank.rows.eq(self.rows)
            for write, result in zip(bank.writes, self.writes, strict=True):
                m.d.comb += [
                    write.enable.eq(result.destination.valid & result.execute[lane]),
                    write.row.number.eq(result.destination.number), write.row.group.eq(result.group),
                    write.word.eq(result.words[lane]),
                ]
        for reader, forwarding in enumerate(self._forwarding):
            m.submodules[f"forwarding_{reader}"] = share(platform, "forwarding", forwarding, clocked=False)
            m.d.comb += [
                forwarding.row.eq(self.rows[reader]),
                forwarding.results.eq(self.results), forwarding.writes.eq(self.writes),
                *(forwarding.stored[lane].eq(bank.words[reader]) for lane, bank in enumerate(banks)),
                self.words[reader].eq(forwarding.words),
            ]
        return m
