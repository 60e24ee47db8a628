"""docs/workloads.md: averages over the seven kernels and over the list of [RADAIDEH]."""

from collections.abc import Iterator

from support.committed import kernels, printed, programs, record

from claims import Claim

PAGE = "docs/workloads.md"

SMALL, LIST = "seven kernels", "13 of [RADAIDEH]"


def claims() -> Iterator[Claim]:
    wide = [(of(group, figure, "4 bytes"), printed(figure, "4 bytes")) for figure in ("Fig. 3.3a", "Fig. 3.3b")
            for group in (SMALL, LIST)]
    (small, source), (listed, _), (small_results, source_results), (listed_results, _) = wide
    yield "{} % of their source operands need four bytes, {} % of those of the 13 workloads", small, listed
    yield "and {} % in the source. Of destinations these are {}, {} and {} %", source, small_results, listed_results, (
        source_results)
    saved = [group("coalescing").mean("Fig. 3.21", "reg") for group in (programs, kernels)]
    yield ("saves {} % of their accesses and {} % of the kernels' (published {})", *saved,
           printed("Fig. 3.21", "reg"))
    idle = "Fig. 4.1a", "inactive"
    yield ("{} % in the kernels, {} % in the workloads of [RADAIDEH], {} % in the source; {} % over all programs",
           of(SMALL, *idle), of(LIST, *idle), printed(*idle), of("all 56 programs", *idle))
    full = "Fig. 4.1b", "32 bits"
    yield ("**Results of 32 bits.** {} % in the kernels, {} % in the workloads of [RADAIDEH], {} % in the source",
           of(SMALL, *full), of(LIST, *full), printed(*full))
    yield "{} % against {} %", listed, source
    yield ("have {} % by operands and {} % by results", of(LIST, "Fig. 4.1, operands", "zero operand"),
           of(LIST, "Fig. 4.1b", "zero"))


def of(group: str, figure: str, quantity: str) -> float:
    return record("workloads", "averages", figure=figure, quantity=quantity)[group]
