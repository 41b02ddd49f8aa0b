"""Spark as the host of a topology: session, planner, data source and tasks. Importing it starts nothing."""
