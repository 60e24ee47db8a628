"""PTX files as they are written, whose lines are counted as if they were one file."""

from collections.abc import Mapping

from warploom.arch.errors import PtxError
from warploom.arch.program import place
from warploom.compiler import ptx
from warploom.compiler.excerpt import excerpt
from warploom.compiler.parser import parse


class Texts:
    """The texts of PTX files, by the names that messages have for them. `files` has these and the lines before each."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._text = "\n".join(texts.values())
        ends = [text.count("\n") + 1 for text in texts.values()]
        self.files = tuple((file, sum(ends[:number])) for number, file in enumerate(texts))

    def modules(self, entry: str | None) -> list[ptx.Module]:
        """The files, parsed, without the bodies of functions that `entry` does not need (see `excerpt`). Raises
        `PtxError`."""
        lines = excerpt(self._text, entry).split("\n")
        ends = [before for _, before in self.files[1:]] + [len(lines)]
        return [parse("\n".join(lines[before:end]), file, before)
                for (file, before), end in zip(self.files, ends, strict=True)]

    def placed(self, error: PtxError) -> PtxError:
        """An error whose line is among the lines of all files, as one of a file."""
        if not error.line:
            return error
        file, line = place(self.files, error.line)
        return PtxError(error.message, file=file, line=line, column=error.column)
