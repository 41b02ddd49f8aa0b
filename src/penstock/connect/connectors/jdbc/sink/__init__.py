"""A sink that writes records to tables of a database. Needs the extra `penstock[jdbc]`."""
