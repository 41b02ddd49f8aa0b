"""Small applications, complete with data: each has a `topology()` and a generator. See docs/examples.md."""
