"""docs/comparators.md."""

from collections.abc import Iterator

from support.committed import Group, mean, printed

from claims import Claim, Within
from warploom.quoted import found

PAGE = "docs/comparators.md"


SPEED = "HAWS, Fig. 6.10"


def claims() -> Iterator[Claim]:
    both = Group("locality"), Group("locality_type_3")
    cta, mascar = ({name: gain for group in both for name, gain in group.each(SPEED, key).items()}
                   for key in ("cta_aware", "mascar"))
    yield ("The source finds {} % for CTA-aware scheduling and {} % for MASCAR", printed(SPEED, "cta_aware"),
           printed(SPEED, "mascar"))
    yield "over the same ten we have [{} and {} %]", mean(cta), mean(mascar)
    yield ("{} % for hints, {} % for pre-execution and {} % for CTA-aware scheduling",
           *(printed("HAWS, Fig. 5.10", key) for key in ("hints", "preexecution", "cta_aware")))
    yield from search()


def search() -> Iterator[Claim]:
    looked, executed = (found("what pre-execution does", "--set hints=preexecution", f"timing.order.{what}")
                        for what in ("looked", "executed"))
    yield ("In `sgemm`, `mvt` and `two_mm` hardware looks at {}, {} and {} instructions",
           *(looked[name] / executed[name] for name in ("sgemm", "mvt", "two_mm")))
    yield "and search finds {} instructions", executed["fft"]
    hints, found_by_hardware = (found("hints, programs", f"--set scheduler=gto --set hints={kind}", "timing.cycles")
                                for kind in ("on", "preexecution"))
    more = sum(found_by_hardware[name] < cycles for name, cycles in hints.items())
    yield "But in five of these programs search gains more", Within(4.5, more, 5.5)
