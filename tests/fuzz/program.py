"""`Program`: a random kernel, as a tree that can be shrunk and as CUDA C."""

import re
from dataclasses import dataclass, field

from fuzz.tree import Node
from fuzz.variables import with_variables


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
        source = with_variables("".join(map(str, [*self.functions, self.tree])), self.seed)
        if self.label is None:
            return source
        return re.sub(rf"(?<=[a-z])_{self.seed}(?=_\d|\b)", f"_{self.label}", source)
