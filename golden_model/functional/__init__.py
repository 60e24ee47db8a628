"""Functional execution: what a kernel computes, without timing. The entry point is `executor.execute`."""
