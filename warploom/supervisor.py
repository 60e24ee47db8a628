"""Runs a command until it ends, or until the parent process has ended: then all processes of the command have ended.

`warploom.processes` starts it with a pipe for standard input, of which only the parent has the other end. The pipe
closes when the parent ends, however it ends, or closes it.
"""

import os
import signal
import subprocess
import sys
import threading
import time

PATIENCE = 5.0
"""Seconds that killed processes may take to end. A process that waits longer has no parent left to reap it."""


def main() -> None:
    """Exit as the command does: with its status, or by its signal."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
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
    """Wait until all processes of a group have ended: an ending process still has its files and may write to them."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)


if __name__ == "__main__":
    main()
