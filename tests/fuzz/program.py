"""`Program`: a random kernel, as a tree that can be shrunk and as CUDA C."""

import re
from dataclasses import dataclass, field

from fuzz.given import stream
from fuzz.tree import Node

OWN_NAME = re.compile(r"\b(table|variable|small|pointers)_(?!\d)")
"""The module's variables: each program has its own."""


@dataclass
class Program:
    """A kernel: its launch, the types of its further parameters, and its text as a tree. `seed` gives its data, and
    names it unless `label` does."""

    seed: int
    grid: int
    block: tuple[int, int]
    scalars: tuple[str, ...]
    tree: Node
    functions: list[Node] = field(default_factory=list)
    label: int | None = None

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1]

    @property
    def dynamic_shared(self) -> int:
        """Bytes of dynamic shared memory."""
        return 4 * self.threads

    @property
    def kernel(self) -> str:
        """The name of its entry."""
        return f"k_{self.seed if self.label is None else self.label}"

    def source(self) -> str:
        """CUDA C, after `device.h` or `host.h`."""
        code = "".join(map(str, [*self.functions, self.tree]))
        names = set(OWN_NAME.findall(code)) | ({"variable"} if "pointers_" in code else set())
        declared = "".join(self._variable(name) for name in sorted(names, key=lambda name: (name == "pointers", name)))
        source = OWN_NAME.sub(rf"\1_{self.seed}", declared + code)
        if self.label is None:
            return source
        return re.sub(rf"(?<=[a-z])_{self.seed}(?=_\d|\b)", f"_{self.label}", source)

    def _variable(self, name: str) -> str:
        """The declaration of a variable, with values that the seed gives."""
        data = stream(self.seed, name, 64)
        words = [int.from_bytes(data[i : i + 4], "little") >> i % 25 for i in range(0, 64, 4)]
        if name == "table":
            return f"__constant__ u32 table_[16] = {{{', '.join(f'{word}u' for word in words)}}};\n"
        if name == "variable":
            return f"__device__ u32 variable_[8] = {{{', '.join(f'{word}u' for word in words[:6])}}};\n"
        if name == "small":
            return f"__constant__ s16 small_[8] = {{{', '.join(str(word % 65536 - 32768) for word in words[:8])}}};\n"
        places = f"variable_ + {words[0] % 8}, &variable_[{words[1] % 8}], variable_, variable_ + 7"
        return f"__device__ u32 *pointers_[4] = {{{places}}};\n"
