"""Tables of databases: a source that polls them, and what it shares with the sink. Needs the extra `penstock[jdbc]`."""
