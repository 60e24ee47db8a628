"""Which cases of a test `make test` runs: the mark `sample(n)`."""

from pathlib import Path

import pytest

from warploom.origin import ROOT

pytest_plugins = ["pytester"]


def test_a_sample_is_evenly_spaced_and_the_rest_is_long(pytester: pytest.Pytester) -> None:
    """Cases that are long by themselves are not counted; both parts together are all cases."""
    pytester.makeconftest(Path(ROOT, "conftest.py").read_text())
    pytester.makeini("[pytest]\nmarkers = long:\n    sample(n):\n    rtl:")
    pytester.makepyfile("""
        import pytest

        @pytest.mark.sample(3)
        @pytest.mark.parametrize("n", [pytest.param(90, marks=pytest.mark.long), *range(7)])
        def test_many(n): pass

        @pytest.mark.sample(2)
        @pytest.mark.parametrize("n", range(2))
        def test_few(n): pass

        def test_plain(): pass
    """)

    def cases(marks: str) -> list[str]:
        run = pytester.runpytest_subprocess("--collect-only", "-q", "-m", marks)
        return [line.split("::")[1] for line in run.outlines if "::" in line]

    assert cases("not long") == ["test_many[0]", "test_many[2]", "test_many[4]", "test_few[0]", "test_few[1]",
                                 "test_plain"]
    assert cases("long") == ["test_many[90]", "test_many[1]", "test_many[3]", "test_many[5]", "test_many[6]"]
