"""The kernel in lockstep, inside the simulator: golden front end, hardware datapath, and the golden model beside it.

`warploom.tb.lockstep` starts this module with the job in the environment. Outputs are sampled at the falling edge, as
they are before the inputs of the cycle are put on the ports: one trigger a cycle.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cocotb

from warploom.files import write_whole
from warploom.kernels.launchfile import Options, load
from warploom.tb.bench import Driver, Ports
from warploom.tb.difference import lanes_equal, port_equal
from warploom.tb.identity import identity
from warploom.tb.kernel_run import KernelRun
from warploom.tb.lockstep import JOB, RESULT, need_room
from warploom.tb.shadow import Address, Form, Shadow


class Simulated:
    """The hardware in the simulator. So many bytes of the disk have to stay free: `room`, 0 for any number."""

    def __init__(self, ports: Ports, room: int = 0) -> None:
        self.config, self.codecs = ports.config, ports.codecs
        self._outputs, self._driver, self._room = ports.outputs, Driver(ports), room

    def drive(self, stimulus: Mapping[str, Any]) -> None:
        """Put the inputs of the cycle on the ports. Raises `OSError` without room."""
        need_room(Path.cwd(), self._room)
        self._driver.drive(stimulus)

    def read(self, port: str) -> int:
        """What an output shows."""
        return int(self._outputs[port].value)

    def expect(self, cycle: int, port: str, word: int, mask: int | None = None) -> int:
        """What an output shows, if it is as expected. Raises `Difference`."""
        shown = self.read(port)
        if shown != word:
            port_equal(cycle, self.codecs[port], word, shown, -1 if mask is None else mask)
        return shown

    def expect_stored(self, cycle: int, address: Address, form: Form, shadow: Shadow) -> None:
        """The shadow takes what a bank takes. Raises `Difference` where the register then is not what it has to be."""
        bank, row = address
        shadow.store(address, form, *(self.codecs[port].field(self.read(port), str(bank))
                                      for port in ("stored_data", "stored_bytes")))
        lanes_equal(cycle, f"bank{bank}_row{row}", shadow.value(address), shadow.stored(address, form),
                    shadow.known[address])


@cocotb.test()
async def kernels(dut: cocotb.handle.SimHandleBase) -> None:
    """The kernels of the job, one after the other."""
    job, ports, seed = json.loads(os.environ[JOB]), Ports(dut), int(os.environ["COCOTB_RANDOM_SEED"])
    outcomes: list[dict[str, Any]] = []
    try:
        for launch in job["launches"]:
            outcomes.append({"found": None})
            file = load(launch["path"]).changed(Options(**launch["options"]))
            run = KernelRun(Simulated(ports, job["room"]), file)
            outcomes[-1] = run.outcome
            run.outcome["identity"] = identity(ports.config, file, seed)
            await ports.reset()
            for _ in run.cycles(job["cycles"]):
                await ports.next_cycle()
    finally:
        write_whole(Path(RESULT), json.dumps(outcomes).encode())
