"""Kafka Streams itself as the judge: random inputs through both, the answers compared row by row.

Run it with `python -m tests.differential --seed 1 --count 2000`. The Java side (java/) runs Kafka's own test driver;
the Python side (topologies/) has a topology of the same name for each of its. Where they differ, Kafka is right, but
for the departures listed in departures.py.
"""
