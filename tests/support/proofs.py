"""Proofs on netlists, by the SAT solver of Yosys. A theorem is a component whose output `holds` shall always be 1."""

import re
from pathlib import Path

from amaranth.lib import wiring

from warploom.rtl import verilog
from warploom.synth import yosys


def holds(theorem: wiring.Component, folder: Path, steps: int = 0) -> bool:
    """Whether a theorem holds: without registers for all inputs, with `steps` by induction over so many cycles, from
    registers that are zero. Script and log stay in `folder`."""
    (folder / "theorem.sv").write_text(verilog.to_verilog(theorem, "theorem"))
    registers = "; async2sync; dffunmap" if steps else ""
    induction = f"-tempinduct -maxsteps {steps} -set-init-zero -set rst 0 " if steps else ""
    yosys.run(f"read_verilog -sv theorem.sv; hierarchy -top theorem; proc; flatten; opt -full{registers}\n"
              f"sat {induction}-prove holds 1\n", folder, "proof")
    (found,) = verdicts(folder / "proof.log")
    return found


def verdicts(log: Path) -> list[bool]:
    """What the solver found in each run: true for a proof, false for a counterexample, which the log shows."""
    found = re.findall(r"(SUCCESS|FAIL)!", text := log.read_text())
    assert found and "maximum number of time steps" not in text, text  # an induction that ends without either
    return [verdict == "SUCCESS" for verdict in found]
