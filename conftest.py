"""What all tests have: a place of their tree for what is kept, a seed of their own (`warploom.tb.seeds`), at the end
how to get the same ones again, the worker that has their hardware, and garbage collected as rarely as by the command
line.
"""

import gc
import os
from pathlib import Path

import hypothesis
import pytest

from warploom.cli import YOUNG
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


@pytest.hookimpl(tryfirst=True)  # before xdist looks at groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that run on the same hardware go to the same worker, so that no other waits for its build: those of one
    core, and else those of one file."""
    for item in items:
        if item.get_closest_marker("rtl") and not item.get_closest_marker("xdist_group"):
            parameters = item.callspec.params if hasattr(item, "callspec") else {}
            item.add_marker(pytest.mark.xdist_group(parameters.get("core", item.path.stem)))


def pytest_report_header(config: pytest.Config) -> str:
    """The base."""
    return f"seeds: the same again with --seed {config.option.seed}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The base once more, where the end of a long log is read first."""
    terminalreporter.write_line(pytest_report_header(terminalreporter.config))


@pytest.fixture(scope="session")
def base(pytestconfig: pytest.Config) -> int:
    """The base of all seeds."""
    return pytestconfig.option.seed


@pytest.fixture
def seed(request: pytest.FixtureRequest, base: int) -> int:
    """The seed of the test."""
    return seeds.seed_of(f"{request.module.__name__}::{request.node.name}", base)
