"""Who clicked on what, and what they had searched for: clicks joined with profiles and with searches.

    penstock run examples.clickstream:topology

Profiles are a table: a click sees the profile as it is when the click comes. Searches are a stream: a click belongs to
the searches of the same user in the second before it. Both joins keep clicks that find nothing.
"""

from __future__ import annotations

from typing import Any

from penstock import StreamsBuilder, Topology

CLICKS, SEARCHES, PROFILES, ACTIVITY = "clicks", "searches", "profiles", "activity"

Json = dict[str, Any]


def topology() -> Topology:
    """Clicks, searches and profiles by user in, one record of activity for each click (and search) out."""
    builder = StreamsBuilder()
    clicks = builder.stream(CLICKS, value_serde="json")
    searches = builder.stream(SEARCHES, value_serde="json")
    profiles = builder.table(PROFILES, value_serde="json")

    known = clicks.left_join(profiles, with_profile)
    activity = known.left_join(searches, with_search, before="1s", after=0, grace="2s", value_serde="json")
    activity.to(ACTIVITY, value_serde="json")
    return builder.build()


def with_profile(click: Json, profile: Json | None) -> Json:
    """A click and its user, or only the click."""
    return {"page": click["page"], "user": None if profile is None else profile["name"]}


def with_search(click: Json, search: Json | None) -> Json:
    """A click of a user and the search that led to it, if any."""
    return {**click, "search": None if search is None else search["text"]}
