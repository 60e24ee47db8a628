"""docs/comparators.md."""

from collections.abc import Iterator

from support.committed import Group, column, mean, printed

from claims import Claim

PAGE = "docs/comparators.md"


SPEED = "HAWS, Fig. 6.10"


def claims() -> Iterator[Claim]:
    both = Group("locality"), Group("locality_type_3")
    cta, mascar = ({name: gain for group in both for name, gain in group.each(SPEED, key).items()}
                   for key in ("cta_aware", "mascar"))
    cycles = column("locality", "mshrs", "cycles") | column("locality_type_3", "mshrs", "cycles")
    for name in ("scan", "transpose"):
        yield f"| {name} | {{}} | +{{}} % | +{{}} % |", cycles[name], cta[name], mascar[name]
    yield ("The source finds {} % for CTA-aware scheduling and {} % for MASCAR", printed(SPEED, "cta_aware"),
           printed(SPEED, "mascar"))
    yield "over the same ten we have [{} and {} %]", mean(cta), mean(mascar)
    yield ("{} % for hints, {} % for pre-execution and {} % for CTA-aware scheduling",
           *(printed("HAWS, Fig. 5.10", key) for key in ("hints", "preexecution", "cta_aware")))
