"""What is counted in the traces of a workload, and is the same on any machine."""
