"""The same answers everywhere: operators and recorded cases on Spark, held against the test driver."""
