"""The command line: the entry of `warploom` and of ``python -m warploom.cli``.

It imports the command inside a try: an interrupt during that half a second is one line, too.
"""

import sys


def main(arguments: list[str] | None = None) -> int:
    """Run one verb; returns the exit status, as `warploom.command.main`."""
    try:
        from warploom import command  # noqa: PLC0415
    except (KeyboardInterrupt, RuntimeError) as error:
        # Python 3.11 makes a RuntimeError of an interrupt while it creates a class.
        if isinstance(error, RuntimeError) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        print("warploom: interrupted", file=sys.stderr)
        return 130
    return command.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
