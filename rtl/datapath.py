"""The datapath of one SM: from an issued warp instruction to its write-back (seed 000, Fig. 2.5)."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from rtl.arbiter import Arbiter
from rtl.bank import Bank, powerup_words
from rtl.collector import Collector
from rtl.crossbar import Crossbar
from rtl.dispatch import Dispatcher
from rtl.integer import IntegerUnit
from rtl.interfaces import dispatch_layout, done_layout, issue_layout, probe_layout, result_layout, unstoppable, words
from rtl.placement import STRIDE_BITS
from rtl.writeback import Writeback
from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WRITERS


class Datapath(wiring.Component):
    """Collectors, arbiter, banks, crossbar, dispatcher, integer unit and write-back of one SM.

    Every output is a function of registers alone. `docs/timing.md` is the contract, cycle by cycle.

    Parameters
    ----------
    config : the machine.
    probe : add the ports of a lockstep bench, `probe` and `write_data`.
    powerup_seed : seed of random power-up contents of the register file; zeros without it.

    Members
    -------
    issue : decoded warp instructions, one a cycle at most.
    stride : rows of one warp in each bank that holds it (`warploom.arch.layout.rows_per_warp`); static during a launch.
    dispatch : every instruction that leaves the collectors, with its operands.
    result_sp, result_sfu, result_mem : results of the units outside; an SP result comes in the cycle of its write-back slot.
    credit_sfu, credit_mem : the unit outside has room for one more instruction.
    done_sp, done_sfu, done_mem : completions, with the predicate result.
    probe : the state of the cycle, `warploom.arch.interfaces.probe_fields`.
    write_data : for each writer, the word in its latch.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False, powerup_seed: int | None = None) -> None:
        self._config, self._probe, self._powerup_seed = config, probe, powerup_seed
        result = result_layout(config)
        super().__init__({
            "issue": In(stream.Signature(issue_layout(config))),
            "stride": In(STRIDE_BITS),
            "dispatch": Out(unstoppable(dispatch_layout(config))),
            "result_sp": In(unstoppable(result)),
            "result_sfu": In(stream.Signature(result)),
            "result_mem": In(stream.Signature(result)),
            "credit_sfu": In(1),
            "credit_mem": In(1),
            **{f"done_{writer}": Out(unstoppable(done_layout(config))) for writer in WRITERS},
            **({"probe": Out(probe_layout(config)), "write_data": Out(words(len(WRITERS)))} if probe else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        m.submodules.arbiter = self._arbiter = Arbiter(banks=config.banks, collectors=config.collectors)
        m.submodules.crossbar = self._crossbar = Crossbar(banks=config.banks, collectors=config.collectors)
        m.submodules.dispatcher = self._dispatcher = Dispatcher(config=config)
        m.submodules.integer = self._integer = IntegerUnit(config=config)
        m.submodules.writeback = self._writeback = Writeback(config=config)
        self._collectors, self._banks = [], []
        for c in range(config.collectors):
            m.submodules[f"collector_{c}"] = collector = Collector(config=config)
            self._collectors.append(collector)
        for b in range(config.banks):
            init = () if self._powerup_seed is None else powerup_words(config.rows, self._powerup_seed * config.banks + b)
            m.submodules[f"bank_{b}"] = bank = Bank(rows=config.rows, init=init)
            self._banks.append(bank)
        self._connect_collectors(m)
        self._connect_banks(m)
        self._connect_dispatch(m)
        self._connect_writeback(m)
        if self._probe:
            self._connect_probe(m)
        return m
