"""State stores: ordered maps of bytes, and the key-value, window, session and versioned stores on top of them.

Imports serdes, records and errors; knows nothing of operators, Spark or Kafka clients.
"""
