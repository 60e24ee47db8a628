"""Pages in HTML for people: the report of the evaluation, and the gallery of the bundled programs.

Each is one file that needs no network: styles, scripts and data are inside it.
"""
