"""Runs a command until it ends, or until whoever started this is gone: then nothing of the command is left.

Started by `warploom.processes` with a pipe for standard input of which only its parent has the other end. The pipe ends
when the parent does, however it ends, or when the parent closes it.
"""

import os
import signal
import subprocess
import sys
import threading
import time

PATIENCE = 5.0
"""Seconds that killed processes may take to end. Longer waits one whose parent has ended and whom nobody reaps."""


def main() -> None:
    """Exit as the command does: with its status, or by its signal."""
    process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, process_group=0)
    threading.Thread(target=_kill_when_alone, args=(process.pid,), daemon=True).start()
    status = process.wait()
    if status == -signal.SIGKILL:
        _await_end(process.pid)
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


def _kill_when_alone(group: int) -> None:
    os.read(0, 1)
    os.killpg(group, signal.SIGKILL)


def _await_end(group: int) -> None:
    """Wait until no process of a group is left: while one ends it still has its files and may write to them."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)


if __name__ == "__main__":
    main()
