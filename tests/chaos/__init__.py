"""Killing what runs an application, at random moments and at every step of a commit, and counting what comes out."""
