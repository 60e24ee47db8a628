"""docs/decisions.md."""

from collections.abc import Iterator

from support.committed import kernels, programs

from claims import Claim

PAGE = "docs/decisions.md"


def claims() -> Iterator[Claim]:
    refused = kernels("affine").mean("Affine, Table 1", "refused", note="execution")
    yield "Refusals are rare in the kernels ({} %)", refused
    each = programs("affine").each("Affine, Table 1", "refused", note="execution")
    yield "(`median` {} %, `strsearch` {} %)", each["median"], each["strsearch"]
