"""Connectors on Spark: one streaming query for each, whose batches are plans for its tasks.

planner        on the driver: how far to read (`sink_planner`, `source_planner`), and where each connector stands
batch_query    the query: takes a batch's plans, runs one Spark task for each, gives their reports
task_client    in Spark's worker: hands a plan to the connector task's own process
task_server    that process: keeps the task with its connections from batch to batch
*_host         in that process: reads, converts, transforms, writes
connector_run  on the driver: the life of one connector
"""
