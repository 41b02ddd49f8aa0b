"""Sinks that write files: to a local folder, to S3, to HDFS."""
