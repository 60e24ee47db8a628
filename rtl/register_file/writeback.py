# amaranth: UnusedElaboratable=no
"""Write-back: one latch for each pipe, between its results and the banks."""

from amaranth import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import TAG_BITS, WRITERS, index_bits
from warploom.arch.mechanisms import Coalescing
from warploom.rtl.bypass.delivery import Delivery
from warploom.rtl.interfaces import done_layout, result_layout, unstoppable
from warploom.rtl.register_file.accesses import SidedAccess, SingleAccess
from warploom.rtl.register_file.forms import form_of
from warploom.rtl.register_file.paths import Carried, write_paths
from warploom.rtl.register_file.write_latch import WriteLatch
from warploom.rtl.shared import share


class Writeback(wiring.Component):
    """Three write latches on two write paths, and what brings a path to its bank, in stored form.

    A path carries the word of its first latch that holds a register write (`WRITE_PATHS`). The arbiter never refuses
    SP, so its latch is always free for the result of a cycle. With windows results may be delivered to collectors too.

    Parameters
    ----------
    config : sizes, and the mechanisms.

    Members
    -------
    result_sp, result_sfu, result_mem : results of the pipes; SP may not stall.
    request, bank, grant : for each writer, the bank it wants, and whether it gets it in this cycle; of the writers of
        a path only the first that requests may be granted.
    valid, tag : for each writer, whether its latch holds a result, and whose.
    done_sp, done_sfu, done_mem : completions.
    others : those of the stored form (`form`), of `accesses` to banks and, with windows, of `deliveries`.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        self.form = form_of(config)
        self.accesses = SidedAccess(config) if config.coalescing is Coalescing.ON else SingleAccess(config)
        self.deliveries = Delivery(config) if config.bypass.has_window else None
        result = result_layout(config)
        super().__init__({
            "result_sp": In(unstoppable(result)),
            "result_sfu": In(stream.Signature(result)),
            "result_mem": In(stream.Signature(result)),
            "request": Out(len(WRITERS)),
            "bank": Out(data.ArrayLayout(index_bits(config.banks), len(WRITERS))),
            "grant": In(len(WRITERS)),
            "valid": Out(len(WRITERS)),
            "tag": Out(data.ArrayLayout(TAG_BITS, len(WRITERS))),
            **{f"done_{writer}": Out(unstoppable(done_layout(config))) for writer in WRITERS},
            **self.form.members,
            **self.accesses.members,
            **(self.deliveries.members if self.deliveries else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        latches = {writer: self._latch(m, platform, writer) for writer in WRITERS}
        paths, held = write_paths(m, latches), list(latches.values())
        if self.deliveries:
            self.deliveries.connect_grants(m, self, held, paths)
            self.deliveries.deliver(m, self, paths)
        self.form.show(m, self, held, paths)
        self.accesses.write(m, self, [path | self.form.encode(m, i, path) for i, path in enumerate(paths)])
        return m

    def _latch(self, m: Module, platform: object, writer: str) -> Carried:
        """The latch of a writer, with its ports connected; what it puts on its path."""
        i, latch = WRITERS.index(writer), WriteLatch(config=self._config)
        m.submodules[f"{writer}_latch"] = share(platform, "write_latch", latch)
        result, done = getattr(self, f"result_{writer}"), getattr(self, f"done_{writer}")
        m.d.comb += [
            latch.result.valid.eq(result.valid),
            latch.result.payload.eq(result.payload),
            self.bank[i].eq(latch.bank),
            self.valid[i].eq(latch.valid),
            self.tag[i].eq(latch.tag),
            done.valid.eq(latch.done.valid),
            done.payload.eq(latch.done.payload),
        ]
        if writer != "sp":
            m.d.comb += result.ready.eq(latch.result.ready)
        held = {name: getattr(latch, name) for name in ("request", "bank", "row", "data", "lanes")}
        held |= {"claim": latch.request, "grant": self.grant[i]}
        if self.deliveries:
            held |= self.deliveries.enter(m, self, i, latch)
        else:
            m.d.comb += [self.request[i].eq(latch.request), latch.grant.eq(self.grant[i])]
        return held | self.form.renew(m, platform, writer, result)
