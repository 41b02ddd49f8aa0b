"""Benchmarks: each prints its figures with a header of the machine; results are kept under bench/results."""
