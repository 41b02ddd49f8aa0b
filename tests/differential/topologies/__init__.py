"""The topologies, one module a family. The class of the same name in ../java holds Kafka's side of each."""
