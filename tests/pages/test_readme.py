"""README's tour: its example runs, and the command line takes its commands."""

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

from warploom.options import parser

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^    warploom (.*)$", TEXT, re.MULTILINE)


def test_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    example, = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    exec(compile(example, "README.md", "exec"), {"__name__": "example"})
    values, _, rest = capsys.readouterr().out.partition("]")
    assert values == "[0. 3. 6. 9."
    ipc, cycles = rest.split()
    assert 0 < float(ipc) < 2
    assert int(cycles) > 1000


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str) -> None:
    verb = parser().parse_args(shlex.split(command)).verb
    assert find_spec(f"warploom.verbs.{verb}")


def test_the_tour_has_commands() -> None:
    assert len(COMMANDS) > 8
