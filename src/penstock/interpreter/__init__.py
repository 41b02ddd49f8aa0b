"""What a topology means: each node compiled to a function, event at a time, with exactly Kafka Streams' semantics."""
