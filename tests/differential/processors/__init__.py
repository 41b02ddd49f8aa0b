"""The processors of the Processor API topologies."""
