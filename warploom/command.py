"""The command: parses arguments, calls the verb, and turns errors into one line and an exit status.

Verbs live in `warploom.verbs`, one module each, imported when called, so that ``--help`` answers at once.
"""

import argparse
import atexit
import errno
import functools
import gc
import importlib
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence

from warploom import targets
from warploom.arch.errors import WarploomError, one_line
from warploom.options import parser

FAILURE, INTERRUPTED, TERMINATED = 1, 130, 143
"""Exit statuses other than 0; argparse exits with 2 on wrong usage."""

AGAIN = 0.05
"""Seconds until a signal comes again that Python has dropped."""

YOUNG = 500_000
"""New objects between two garbage collections: compiling and timing create many lasting objects, and with Python's 700
the collector takes a fifth of the time scanning them. With 50,000 it takes a third of the time in which Amaranth writes
RTLIL, and 80 MB less."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; returns the exit status: 0, 1 for an error or a failed check, 130 when interrupted, 143 when
    asked to end (SIGTERM)."""
    previous, hook = signal.getsignal(signal.SIGTERM), sys.unraisablehook
    try:
        gc.set_threshold(YOUNG)
        for late in (signal.SIGINT, signal.SIGTERM):
            atexit.register(signal.signal, late, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, _terminate)
        sys.unraisablehook = functools.partial(_send_again, hook)
        return _run(arguments)
    except KeyboardInterrupt as interrupt:
        status, what = interrupt.args or (INTERRUPTED, "interrupted")
        print(f"warploom: {what}", file=sys.stderr)
        return status
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGTERM, previous)


def _terminate(*_: object) -> None:
    """SIGTERM is an interrupt with another exit status."""
    raise KeyboardInterrupt(TERMINATED, "terminated")


def _send_again(hook: Callable[["sys.UnraisableHookArgs"], object], ignored: "sys.UnraisableHookArgs") -> None:
    """Python drops an interrupt that comes during a destructor or the callback of a weak reference: the signal comes
    again, a little later. Everything else goes to the hook."""
    if isinstance(ignored.exc_value, KeyboardInterrupt):
        number = signal.SIGTERM if ignored.exc_value.args else signal.SIGINT
        again = threading.Timer(AGAIN, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()
    else:
        hook(ignored)


def _run(arguments: Sequence[str] | None) -> int:
    _prepare_streams()
    options = parser().parse_args(arguments)
    try:
        failure = _call(options)
        sys.stdout.flush()
        if failure is None:
            return 0
        message = failure
    except WarploomError as error:
        message = str(error)
    except BrokenPipeError:
        _discard_output()  # its reader, for example `head`, has closed it: print nothing
        return FAILURE
    except OSError as error:
        message = f"{_place(error)}{error.strerror or error}"
    except ModuleNotFoundError as error:
        message = f"{error.name}: a required Python package is not installed: pip install -r requirements.txt"
    except MemoryError:
        message = "out of memory: use smaller buffers or a smaller grid"
    print(f"warploom: error: {one_line(message)}", file=sys.stderr)
    return FAILURE


def _place(error: OSError) -> str:
    """What cannot be read or written: a file, standard output if its disk is full and takes no line end, or something
    that has no name."""
    if error.filename:
        return f"{error.filename}: "
    if error.errno == errno.ENOSPC:
        try:
            print(flush=True)
        except OSError:
            _discard_output()
            return "standard output: "
    return ""


def _discard_output() -> None:
    """Standard output takes nothing more: what is left in its buffer must not fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _prepare_streams() -> None:
    """Discard output to a closed stream, and write characters that its encoding lacks as escapes."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  (for as long as the process lives)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _call(options: argparse.Namespace) -> str | None:
    """Run the verb and write its JSON; returns the line of a failure, None without one."""
    targets.check(options)
    importlib.import_module("warploom.compiled").use()
    body = importlib.import_module(f"warploom.verbs.{options.verb}").main(options)
    if options.json:
        report = importlib.import_module("warploom.report")
        report.write_json(options.json, report.document(options.verb, body))
    return body.get("failure")
