"""Views of one run: what happens in each cycle, by instruction and by line of the source (docs/seeing_a_run.md)."""
