"""Kafka Connect: what connectors are written against, records, converters, transforms, and workers that run them on Spark.

    api/          connectors and tasks, as people write them; connectors by name
    connectors/   those that come with penstock
    data/         schemas, structs, records, conversions between values
    converters/   bytes <-> Connect data
    transforms/   single message transforms and predicates
    config/       declarations of settings, validation, config providers
    failures/     tolerance, retries, dead letter queue
    pipelines/    the way of a record: converters and transforms under the error handler
    requests/     bodies of the REST API and what they mean, without a server
    spark/        planners, queries, task processes; runner.py drives them
    worker/       configurations, states and offsets of a worker, alone or in a group
    rest/         the server

Only spark/ and what starts it need Spark and Kafka; everything above it in this list is plain Python.
"""
