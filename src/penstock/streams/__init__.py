"""The DSL: StreamsBuilder, streams, tables, and the objects that configure them."""
