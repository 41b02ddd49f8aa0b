"""Topologies: logical graph, physical nodes and operators, names, checks and descriptions."""
