"""Events of the renaming stage, and of its predictor (docs/contract/renaming.md)."""

from dataclasses import dataclass


@dataclass
class Counts:
    """Since reset: new `values`; of these the `requests` for a TFET row and those that were `served`; and `stalls`,
    cycles in which an instruction could not leave."""

    values: int = 0
    requests: int = 0
    served: int = 0
    stalls: int = 0


@dataclass
class Accuracy:
    """How well stalls are predicted: `compared` predictions, each with the next access of its warp slot, and the
    sum of their `errors`, each in thousandths of that access."""

    compared: int = 0
    errors: int = 0
