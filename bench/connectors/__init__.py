"""What connectors cost beside plain loops that do the same: one module for each kind of connector, see `__main__`."""
