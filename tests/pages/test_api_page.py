"""Every example of docs/api.md runs."""

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
HARDWARE = "rtl=True"


def run(examples: list[str]) -> None:
    names: dict[str, Any] = {"__name__": "example"}
    for example in examples:
        exec(compile(example, str(PAGE), "exec"), names)


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    run([example for example in EXAMPLES if HARDWARE not in example])
    assert (tmp_path / "launches" / "0-vector_add" / "launch.toml").is_file()
    assert "module meter (" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.rtl
def test_examples_with_hardware() -> None:
    hardware = [example for example in EXAMPLES if HARDWARE in example]
    assert len(hardware) == 1
    run([EXAMPLES[0], *hardware])
