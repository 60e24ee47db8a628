"""Every physical row is free, waits to be, or is mapped, and exactly once (docs/contract/renaming.md): proven by
induction on the netlist of the rename stage, with its memories as flip-flops, by a SAT solver.

Claims that hold together after reset, and from each cycle to the next, hold always. For each planted bug the solver
finds a run from reset after which a row has two owners, or none.
"""

from pathlib import Path
from typing import NamedTuple

import pytest
from support.proofs import verdicts
from support.row_owners import CLAIMS, LISTS, TABLE, Theorem, small, state

from warploom.rtl import verilog
from warploom.rtl.renaming.stage import RenameStage
from warploom.synth import yosys
from warploom.tb.mutants import Rewire, Tampered

NETLIST = """\
read_rtlil theorem.il
attrmap -remove init
hierarchy -top theorem
proc
memory_dff
memory -nomap
flatten
memory_map
opt_clean
{connections}
opt_clean
write_rtlil netlist.il
"""


class Bug(NamedTuple):
    """A bug around a part of the stage, and the cycles, that of reset included, after which it shows."""

    part: str
    rewire: Rewire
    cycles: int

    def plant(self, stage: RenameStage) -> None:
        """Replace the part."""
        if self.part == TABLE:
            stage.table = Tampered(stage.table, self.rewire)
        else:
            stage.lists = [Tampered(lists, self.rewire) for lists in stage.lists]


BUGS = {
    "a row is given twice": Bug(LISTS, lambda o, m: {"take": o.take & ~1}, 4),
    "a row is released while a register has it": Bug(TABLE, lambda o, m: {"unmap": o.unmap & ~1}, 6),
    "a swept row is lost": Bug(LISTS, lambda o, m: {"swept": 0}, 7),
}


class Prover:
    """The netlist of a stage with claims about it. Scripts and logs stay in `folder`."""

    def __init__(self, folder: Path, bug: Bug | None = None) -> None:
        self._folder, config = folder, small()
        stage, found = RenameStage(config=config), state(config)
        if bug is not None:
            bug.plant(stage)
        theorem = Theorem(stage, {name: shape for name, (shape, _) in found.items()})
        (folder / "theorem.il").write_text(verilog.to_rtlil(theorem, "theorem", source_lines=False))
        wires = [(name, wire if bug is None else wire.replace(f"{bug.part}.", f"{bug.part}.inner."))
                 for name, (_, wire) in found.items()]
        connections = "\n".join(f"connect -set {name} \\stage.{wire}" for name, wire in wires)
        yosys.run(NETLIST.format(connections=connections), folder, "netlist")

    def after_reset(self, claim: str) -> bool:
        """Whether a claim holds after a reset in any state."""
        return self._holds(claim, "-seq 2 -prove-skip 1 -set-at 1 rst 1")

    def goes_on(self, claim: str) -> bool:
        """Whether a claim holds in the cycle after one in which all hold."""
        before = " ".join(f"-set-at 1 {each} 1" for each in CLAIMS)
        return self._holds(claim, f"-seq 2 -prove-skip 1 -set legal 1 -set-at 1 rst 0 {before}")

    def reaches(self, claim: str, cycles: int) -> bool:
        """Whether a claim holds for so many cycles from a reset on."""
        runs = " ".join(f"-set-at {cycle} rst 0" for cycle in range(2, cycles + 1))
        return self._holds(claim, f"-seq {cycles} -prove-skip 1 -set legal 1 -set-at 1 rst 1 {runs}")

    def _holds(self, claim: str, assumptions: str) -> bool:
        """Run the solver: true for a proof, false for a counterexample, which the log shows."""
        yosys.run(f"read_rtlil netlist.il; sat {assumptions} -prove {claim} 1 -show-ports\n", self._folder, claim)
        (found,) = verdicts(self._folder / f"{claim}.log")
        return found


@pytest.fixture(scope="module")
def prover(tmp_path_factory: pytest.TempPathFactory) -> Prover:
    return Prover(tmp_path_factory.mktemp("proof"))


@pytest.mark.parametrize("claim", CLAIMS)
def test_always(prover: Prover, claim: str) -> None:
    assert prover.after_reset(claim) and prover.goes_on(claim)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", BUGS)
def test_planted_bugs(tmp_path: Path, name: str) -> None:
    """The induction fails, and there is a legal run from reset after which a row has two owners, or none."""
    bug = BUGS[name]
    prover = Prover(tmp_path, bug)
    assert not prover.goes_on("owned")
    assert prover.reaches("owned", bug.cycles - 1) and not prover.reaches("owned", bug.cycles)
