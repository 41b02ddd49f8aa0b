"""Bodies of the REST API: read, checked and answered, without a server or a worker."""
