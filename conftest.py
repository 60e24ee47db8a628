"""What all tests have: a seed of their own (`tb.seeds`), and at the end how to get the same ones again."""

import pytest

from tb import seeds


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--seed`: the base of all seeds."""
    parser.addoption("--seed", type=seeds.read, default=seeds.FIXED, metavar="N",
                     help=f"base of all seeds, or {seeds.NEW} for a fresh one (default: {seeds.FIXED})")  # fmt: skip


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads its own
def pytest_configure(config: pytest.Config) -> None:
    """Hypothesis draws from the same base."""
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(config.option.seed)


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
