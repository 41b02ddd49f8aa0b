"""The source: polls tables and queries for new and changed rows."""
