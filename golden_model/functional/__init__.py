"""Functional execution: what a kernel computes, apart from when. `executor.execute` is the door."""
