"""Progress where standard error is no terminal: a line in a minute, with an estimate of the time that is left."""

import pytest

from warploom import report


def test_a_log_gets_a_line_in_a_minute(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0, 1, 59, 60, 90, 200, 3660])
    monkeypatch.setattr("warploom.report.time.monotonic", lambda: next(times))
    with report.counting("simulating", 1_002) as done:
        for number in range(6):
            done(f"case {number}")
    assert capsys.readouterr().err.splitlines() == [
        "simulating: 3 of 1,002 in 0:01:00, about 5:33:00 left",
        "simulating: 5 of 1,002 in 0:03:20, about 11:04:40 left",
        "simulating: 6 of 1,002 in 1:01:00, about 7 days, 0:46:00 left",
    ]


def test_the_estimate_follows_the_last_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A thousand items are cached, the others take a minute each."""
    now = 0
    monkeypatch.setattr("warploom.report.time.monotonic", lambda: now)
    with report.counting("simulating", 1_100) as done:
        for _ in range(1_000):
            done("a cached item")
        for _ in range(50):
            now += 60
            done("an item")
    assert capsys.readouterr().err.splitlines()[-1] == "simulating: 1,050 of 1,100 in 0:50:00, about 0:50:00 left"
