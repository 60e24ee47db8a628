"""Experiments: measurements beside the published numbers (docs/evaluation.md).

`experiments` lists them. One of several files is a package, whose module `experiment` has its machines and figures; one
of a single file lies beside the packages. They share `workloads`, what is counted in their `traces`, their
`simulations`, which are `cached` and `recorded`, `figures` with `metrics` and `published` values, and the `tables`,
`charts` and `pages` that show them.
"""
