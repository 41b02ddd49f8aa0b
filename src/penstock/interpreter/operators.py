"""Loads the code of every operator, so that the compiler knows all builders."""

from penstock.interpreter import (  # noqa: F401 - imported for their registrations
    aggregate,
    combine,
    foreign_key_join,
    process,
    self_join,
    session_aggregate,
    sliding_aggregate,
    stateless,
    stream_global_join,
    stream_stream_join,
    stream_table_join,
    suppress,
    table_filter,
    table_group,
    table_join,
    table_map_values,
    table_source,
    table_to_stream,
    transform_values,
    window_aggregate,
)
