"""What every part needs of Kafka: settings, clients, topics, offset ranges, transactions, Kafka's partitioner.

May import `penstock.errors` and the core value types, nothing above. Importing the package imports no client library.
"""
