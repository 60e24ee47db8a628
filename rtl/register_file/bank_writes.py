"""Connects the write paths to the banks."""

from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.rtl import ports
from warploom.rtl.byte_order import SLICE_BITS
from warploom.rtl.register_file.paths import Carried
from warploom.rtl.select import merge


class BankWrites:
    """Connects each path to the access of the bank that it was granted. With sides two paths may write one bank in one
    cycle, each on its side; otherwise they never do."""

    def __init__(self, config: SmConfig) -> None:
        self._has_sides, self._enables = config.has_sides, ports.write_enables(config)
        self._first_waits = config.rotating_paths > 1 or config.tfet_rows > 0

    def connect(self, m: Module, write: Any, paths: list[Carried]) -> None:
        """Drive the writes of the banks in a port `warploom.rtl.ports.write`."""
        for bank, accesses in enumerate(write.access):
            here = Signal(len(paths), name=f"paths_to_bank_{bank}")
            m.d.comb += here.eq(Cat(path["grant"] & (path["bank"] == bank) for path in paths))
            for side, access in enumerate(accesses):
                granted = [chosen & self._is_on(side, path) for chosen, path in zip(here, paths, strict=True)]
                m.d.comb += [access.enable.eq(Cat(granted).any()), *(
                    access[name].eq(merge(granted, [path[name] for path in paths]))
                    for name, _ in access.shape() if name != "enable")]
            m.d.comb += [
                write.data[bank].eq(self._data(bank, list(here), paths)),
                getattr(write, self._enables)[bank].eq(merge(list(here), [path[self._enables] for path in paths])),
            ]

    def _is_on(self, side: int, path: Carried) -> Value:
        """Whether a path writes to this access of its bank."""
        return path["left"] == side if self._has_sides else Const(1, 1)

    def _data(self, bank: int, here: list[Value], paths: list[Carried]) -> Value:
        """The data of a bank. With sides it need not wait for a grant, and bytes that are not enabled are unspecified.
        The first path is never refused unless it takes turns or there are slow rows, so the sub-banks that it requests
        get its word. The others get the word of a granted path, or that of the last one."""
        if not self._has_sides:
            return merge(here, [path["data"] for path in paths])
        first, last = paths[0], paths[-1]
        wanted = here if self._first_waits else [first["request"] & (first["bank"] == bank), *here[1:]]
        joined = _slices(last["data"])
        for path, wants in reversed(list(zip(paths[:-1], wanted, strict=False))):
            slices = zip(path["mask"], _slices(path["data"]), joined, strict=True)
            joined = [Mux(wants & used, ours, theirs) for used, ours, theirs in slices]
        return Cat(joined)


def _slices(form: Value) -> list[Value]:
    """The slices of a word in sub-bank form."""
    return [form.word_select(k, SLICE_BITS) for k in range(SUB_BANKS)]
