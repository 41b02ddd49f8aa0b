"""Changes of PostgreSQL's tables by logical decoding, as Debezium tells them."""
