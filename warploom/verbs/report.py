"""``warploom report``: the documents of experiments as one page."""

import argparse

from warploom import report
from warploom.pages.document import read
from warploom.pages.report import write_checked
from warploom.verbs import Body


def main(options: argparse.Namespace) -> Body:
    """Read the documents and write the page."""
    documents = [read(path) for path in options.documents]
    with report.working("writing the page"):
        write_checked(documents, options.page)
    size = options.page.stat().st_size
    figures = sum(len(document.figures) for document in documents)
    report.fields("Report", {"page": options.page, "documents": len(documents), "figures": figures, "bytes": size})
    return {"page": str(options.page), "experiments": [document.experiment for document in documents],
            "figures": figures, "bytes": size}
