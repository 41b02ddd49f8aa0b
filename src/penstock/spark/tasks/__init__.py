"""Inside Spark's workers: tasks of the interpreter, their input, state and output."""
