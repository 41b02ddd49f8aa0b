"""Trips of a boat hire: rows of MariaDB to a topic to Parquet, read by Spark."""
