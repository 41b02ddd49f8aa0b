"""State that survives: an LMDB cache on the node's disk, and Arrow segments in the checkpoint as the truth."""
