"""A kernel in PTX with its launch and its core, as text, as files, and executed."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from support.ptx_interpreter import run_sequentially

from warploom.arch.config import SmConfig
from warploom.arch.launch import Buffer, Launch
from warploom.arch.program import Program
from warploom.compiler.compile import compile_ptx
from warploom.compiler.prepare import prepared
from warploom.golden_model.functional.executor import Execution, execute
from warploom.kernels.launchfile import LaunchFile, load

OWN_BYTES = 128
"""Bytes of global memory of each thread."""

INPUT = np.random.default_rng(1).integers(0, 1 << 32, 64, np.uint32) >> np.repeat([0, 8, 16, 24, 31, 0, 28, 20], 8)
"""The input of kernels: words of all widths."""


@dataclass(frozen=True)
class Case:
    """A kernel, its launch, and the core that runs it. As text it is a PTX file with the others in its first lines."""

    preset: str
    settings: tuple[str, ...]
    grid: int
    block: tuple[int, int, int]
    body: str

    @property
    def config(self) -> SmConfig:
        """The core."""
        return SmConfig.preset(self.preset).with_settings(list(self.settings))

    @property
    def launch(self) -> Launch:
        """The launch, with the two buffers."""
        output = np.zeros(self.output_bytes, np.uint8)
        return Launch((self.grid, 1, 1), self.block, (Buffer("input", INPUT), Buffer("output", output)))

    @property
    def output_bytes(self) -> int:
        """Size of the second buffer."""
        return self.grid * math.prod(self.block) * OWN_BYTES

    def __str__(self) -> str:
        return (f"// core: {' '.join((self.preset, *self.settings))}\n"
                f"// launch: {self.grid} {'x'.join(map(str, self.block))}\n{self.body}")

    @classmethod
    def read(cls, path: Path) -> "Case":
        """The case that a file holds."""
        core, launch, body = path.read_text(encoding="utf-8").split("\n", 2)
        preset, *settings = core.removeprefix("// core: ").split()
        grid, block = launch.removeprefix("// launch: ").split()
        x, y, z = map(int, block.split("x"))
        return cls(preset, tuple(settings), int(grid), (x, y, z), body)

    def save(self, folder: Path) -> LaunchFile:
        """Write the case as files that a bench reads."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "random.ptx").write_text(str(self), encoding="utf-8")
        np.save(folder / "input.npy", INPUT)
        (folder / "launch.toml").write_text(
            f'ptx = "random.ptx"\ngrid = {self.grid}\nblock = {list(self.block)}\n'
            '[[arguments]]\nname = "input"\nfile = "input.npy"\n'
            '[[arguments]]\nname = "output"\ndtype = "uint8"\n'
            f'shape = {self.output_bytes}\ngenerator = {{ kind = "zeros" }}\n'
        )
        return load(folder / "launch.toml")

    def compile(self) -> Program:
        """Its machine code, with hints if the core needs them."""
        return prepared(compile_ptx(self.body, "random.ptx"), self.config)

    def execute(self) -> Execution:
        """Run it. Raises `AssertionError` unless memory equals that of sequential execution of the threads."""
        execution = execute(self.compile(), self.launch)
        expected = run_sequentially(self.body, self.grid, self.block, INPUT, len(execution.buffers["output"]))
        wrong = np.flatnonzero(execution.buffers["output"] != np.frombuffer(expected, np.uint8))
        if len(wrong):
            thread, byte = divmod(int(wrong[0]), OWN_BYTES)
            raise AssertionError(f"thread {thread}, byte {byte}: not what one thread after the other leaves there")
        return execution
