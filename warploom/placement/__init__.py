"""Threads on the cores of a multi-core machine, and the scheduler that places them ([RADAIDEH], chapter 5)."""
