"""Documents in Elasticsearch and OpenSearch: a sink that writes with the bulk API both have."""
