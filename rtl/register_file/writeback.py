# amaranth: UnusedElaboratable=no
"""Write-back: one latch for each pipe, between its results and the banks."""

from typing import Any

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect, flipped

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import address_fields
from warploom.rtl import ports
from warploom.rtl.bypass.delivery import Delivery
from warploom.rtl.observation import Shown
from warploom.rtl.register_file.bank_writes import BankWrites
from warploom.rtl.register_file.forms import form_of
from warploom.rtl.register_file.paths import Carried, Entering, write_paths
from warploom.rtl.register_file.result_queue import ResultQueue
from warploom.rtl.register_file.write_latch import WriteLatch
from warploom.rtl.shared import share
from warploom.rtl.slow_arbiter import is_slow


class Writeback(wiring.Component):
    """A write latch for each pipe, the write paths that they share, and the conversion of a path to the stored form.

    A path carries the word of its first latch that holds a register write, with slow rows that of a write that is open.
    Results of SP cannot wait: either the arbiter never refuses them, so that their latch is always free, or they have a
    result queue. With windows results may be delivered to collectors too.

    Parameters
    ----------
    config : sizes, the stored form, and whether there are windows.

    Members
    -------
    result_sp, ... : results of the pipes (`warploom.rtl.ports.result`).
    done_sp, ... : completions.
    write : requests and writes (`warploom.rtl.ports.write`).
    renewal : with metadata, for each path those of the register that is written (`warploom.rtl.ports.renewal`).
    delivery : with windows, results that collectors may take (`warploom.rtl.ports.delivery`).
    latches : the contents of latches (`warploom.rtl.ports.latches`).
    queued_sp, ... : for each pipe with a result queue, the results that wait in it.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        self.form = form_of(config)
        self.bank_writes = BankWrites(config)
        self.deliveries = Delivery(config) if config.has_window else None
        self.queues = {pipe.name: ResultQueue(config=config, depth=pipe.result_queue)
                       for pipe in config.pipes if pipe.result_queue}
        self._metadata = ports.metadata(config)
        super().__init__({
            **ports.results(config),
            **ports.completions(config),
            "write": Out(ports.write(config)),
            **({"renewal": Out(ports.renewal(config)).array(len(config.write_paths))} if self._metadata else {}),
            **({"delivery": Out(ports.delivery(config))} if config.has_window else {}),
            "latches": Out(ports.latches(config)),
            **{name: member.flip() for name, member in ports.queued(config).items()},
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        latches = [self._latch(m, platform, i) for i in range(len(self._config.pipes))]
        entering = [entering for entering, _ in latches]
        renewed = self.form.renew(m, platform, entering)
        held = [latch | known for (_, latch), known in zip(latches, renewed, strict=True)]
        paths = write_paths(m, self._config.write_paths, held)
        if self.deliveries:
            waits = self.deliveries.waits(m, self.write, entering, held)
            self.deliveries.connect_grants(m, self.write, held, waits)
            self.deliveries.deliver(m, self.delivery, held, waits, paths)
        self._request(m, held)
        if self._metadata:
            self._renew(m, paths)
        self.bank_writes.connect(m, self.write, [path | self.form.encode(m, i, path) for i, path in enumerate(paths)])
        return m

    def observe(self) -> Shown:
        """For each latch whether it holds a result, its tag, and the new metadata of its register; 0 if it writes
        none."""
        latches, shown = self.latches, {}
        for i, writer in enumerate(self._config.writers):
            held: Shown = {"valid": latches.valid[i], "tag": Mux(latches.valid[i], latches.tag[i], 0)}
            if "early" in self._metadata:
                held["encoding"] = latches.early[i].as_value()
            if "late" in self._metadata:
                held |= {name: latches.late[i][name] for name, _ in latches.late[i].shape()}
            shown |= {f"{writer}_latch_{name}": value for name, value in held.items()}
        return shown | {f"{pipe.name}_queued": getattr(self, f"queued_{pipe.name}")
                        for pipe in self._config.pipes if pipe.result_queue}

    def _latch(self, m: Module, platform: object, i: int) -> tuple[Entering, Carried]:
        """The latch of pipe i, connected to its results and its path."""
        writer, latch = self._config.pipes[i].name, WriteLatch(config=self._config)
        m.submodules[f"{writer}_latch"] = share(platform, "write_latch", latch)
        result, done, write = self._results(m, platform, i), getattr(self, f"done_{writer}"), self.write
        connect(m, latch.done, flipped(done))
        m.d.comb += [
            latch.result.valid.eq(result.valid),
            latch.result.payload.eq(result.payload),
            write.bank[i].eq(latch.bank),
            self.latches.valid[i].eq(latch.valid),
            self.latches.tag[i].eq(latch.tag),
        ]
        if self._config.pipes[i].credits or self._config.pipes[i].result_queue:
            m.d.comb += result.ready.eq(latch.result.ready)
        address = [name for name, _ in address_fields(self._config) if name != "left"]
        held = {name: getattr(latch, name) for name in ("request", *address, "data", "lanes")}
        held |= {"claim": self._claim(i, latch), "grant": write.grant[i]}
        if self.deliveries:
            held |= self.deliveries.enter(m, self.delivery, i, latch)
        else:
            m.d.comb += [write.request[i].eq(latch.request), latch.grant.eq(write.grant[i])]
        return Entering(writer, result), held

    def _claim(self, i: int, latch: WriteLatch) -> Value:
        """Whether the path carries the latch of pipe i rather than one behind it: a write that is open has its path."""
        if not self._config.tfet_rows:
            return latch.request
        path = next(path for path in self._config.write_paths if i in path)
        return latch.request & ~Cat(self.write.open[other] for other in path if other != i).any()

    def _results(self, m: Module, platform: object, i: int) -> Any:
        """The results for the latch of pipe i, directly or from a queue."""
        pipe = self._config.pipes[i]
        result = getattr(self, f"result_{pipe.name}")
        if not pipe.result_queue:
            return result
        queue = self.queues[pipe.name]
        m.submodules[f"{pipe.name}_queue"] = share(platform, f"result_queue_{pipe.result_queue}", queue)
        connect(m, flipped(result), queue.result)
        m.d.comb += getattr(self, f"queued_{pipe.name}").eq(queue.count)
        return queue.first

    def _request(self, m: Module, held: list[Carried]) -> None:
        """Drive the sub-banks and the kind of row of requests, and the observed metadata of latches."""
        for i, latch in enumerate(held):
            if self._config.has_sides:
                m.d.comb += self.write.mask[i].eq(latch["mask"])
            if self._config.yields_to_pending:
                m.d.comb += self.write.pending[i].eq(latch["request"])
            if self._config.tfet_rows:
                m.d.comb += self.write.slow[i].eq(is_slow(self._config, latch["row"]))
            if self._config.tfet_rows and self._config.has_sides:
                m.d.comb += self.write.left[i].eq(latch["left"])
            m.d.comb += [getattr(self.latches, name)[i].eq(Mux(latch["request"], latch[name], 0))
                         for name in self._metadata]

    def _renew(self, m: Module, paths: list[Carried]) -> None:
        """The metadata of registers that are written."""
        for path, renewal in zip(paths, self.renewal, strict=True):
            address = [name for name, _ in renewal.address.shape() if name in path]
            m.d.comb += [
                renewal.enable.eq(path["grant"]),
                *(renewal.address[name].eq(path[name]) for name in address),
                *(getattr(renewal, name).eq(path[name]) for name in self._metadata),
            ]
