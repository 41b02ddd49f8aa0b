"""Recorded cases of Kafka Streams' behaviour: a topology in words, inputs, and the outputs Kafka gives."""
