"""`Counts`: events of the renaming stage (docs/contract/renaming.md, *What happens in s*)."""

from dataclasses import dataclass


@dataclass
class Counts:
    """Since reset: new `values`; of these the `requests` for a TFET row and those that were `served`; and `stalls`,
    cycles in which an instruction could not leave."""

    values: int = 0
    requests: int = 0
    served: int = 0
    stalls: int = 0
