"""Connectors that come with penstock: files, generated data, and ones that only fail."""
