"""Kafka Connect's REST API over HTTP: routes, errors, authentication, servers. What it does is in worker/."""
