"""The measured applications, each a program of its own that the benchmark starts."""
