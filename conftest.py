"""What all tests have: a cache in their tree, a seed of their own (`warploom.tb.seeds`), at the end
how to get the same ones again and the processor time that they took, the worker that has their hardware, and garbage
collected as rarely as by the command line.
"""

import gc
import os
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

from warploom.command import YOUNG
from warploom.tb import seeds

os.environ.setdefault("WARPLOOM_CACHE", str(Path(__file__).parent / "build"))  # of this tree alone


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--seed`: the base of all seeds."""
    parser.addoption("--seed", type=seeds.read, default=seeds.FIXED, metavar="N",
                     help=f"base of all seeds, or {seeds.NEW} for a fresh one (default: {seeds.FIXED})")


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads its own
def pytest_configure(config: pytest.Config) -> None:
    """Hypothesis draws from the same base, on every machine: by itself it takes no seed where it finds a continuous
    integration (`CI` in the environment), and elsewhere draws again what failed before."""
    gc.set_threshold(YOUNG)
    hypothesis.settings.register_profile("seeded", derandomize=False, database=None, deadline=None)
    hypothesis.settings.load_profile("seeded")
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(config.option.seed)


@pytest.hookimpl(tryfirst=True)  # before xdist looks at groups, and pytest at `-m`
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that run on the same hardware go to the same worker, so that no other waits for its build: those of one
    core, and else those of one file. They come first, since builds take longest. Of the cases of a test with the mark
    `sample(n)`, all but n are long."""
    for case in _left_out(items):
        case.add_marker(pytest.mark.long)
    for item in items:
        if item.get_closest_marker("rtl") and not item.get_closest_marker("xdist_group"):
            parameters = item.callspec.params if hasattr(item, "callspec") else {}
            item.add_marker(pytest.mark.xdist_group(parameters.get("core", item.path.stem)))
    items.sort(key=lambda item: item.get_closest_marker("rtl") is None)


def _left_out(items: list[pytest.Item]) -> list[pytest.Item]:
    """Cases of tests that no sample has. A sample is evenly spaced, and begins with the first case."""
    families: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sample") and not item.get_closest_marker("long"):
            families.setdefault((item.path, item.originalname), []).append(item)
    left_out = []
    for cases in families.values():
        (count,) = cases[0].get_closest_marker("sample").args
        chosen = {len(cases) * number // count for number in range(count)}
        left_out += [case for number, case in enumerate(cases) if number not in chosen]
    return left_out


def pytest_report_header(config: pytest.Config) -> str:
    """The base."""
    return f"seeds: the same again with --seed {config.option.seed}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The processor time of all workers, and the base once more, where the end of a long log is read first."""
    seconds = sum(dict(report.user_properties).get(PROCESSOR, 0) for reports in terminalreporter.stats.values()
                  for report in reports if getattr(report, "when", None) == "teardown")
    terminalreporter.write_line(f"processor time of the tests and their child processes: {seconds / 60:.1f} minutes")
    terminalreporter.write_line(pytest_report_header(terminalreporter.config))


PROCESSOR = "processor"
"""The property of a test with the seconds that it and its child processes took, on all processors."""

STARTED = pytest.StashKey[float]()


def _processor() -> float:
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Start the measurement, before fixtures are set up."""
    item.stash[STARTED] = _processor()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """End it."""
    report = yield
    if call.when == "teardown":
        report.user_properties.append((PROCESSOR, _processor() - item.stash[STARTED]))
    return report


@pytest.fixture(scope="session")
def base(pytestconfig: pytest.Config) -> int:
    """The base of all seeds."""
    return pytestconfig.option.seed


@pytest.fixture
def seed(request: pytest.FixtureRequest, base: int) -> int:
    """The seed of the test: the same by whichever of their two paths its file is named."""
    module = request.module.__name__
    package = "warploom." if module.startswith("tb.") else ""
    return seeds.seed_of(f"{package}{module}::{request.node.name}", base)
