"""Runs a command until it ends, or until whoever started this is gone: then nothing of the command is left.

Started by `warploom.processes` as the first of a group of processes, with a pipe for standard input of which only its
parent has the other end. The pipe ends when the parent does, however it ends.
"""

import os
import signal
import subprocess
import sys
import threading


def main() -> None:
    """Exit as the command does: with its status, or by its signal."""
    process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    threading.Thread(target=_watch, daemon=True).start()
    status = process.wait()
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


def _watch() -> None:
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
