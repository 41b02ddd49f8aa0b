"""Jars that penstock needs beside those of PySpark, fetched once and checked against known sums.

    >>> from penstock.jars import fetch
    >>> fetch("spark-driver")  # doctest: +SKIP
    [PosixPath('.../hadoop-bare-naked-local-fs-0.1.0.jar')]

Settings, all from the environment:
    PENSTOCK_CACHE         folder for the jars (default: penstock/ in the user's cache folder)
    PENSTOCK_IVY_SETTINGS  an Ivy settings file, for a mirror (default: Ivy's public repository)
    JAVA_HOME              the Java to fetch with (default: java from PATH)
"""

from penstock.jars.errors import JarError, JavaError
from penstock.jars.jar_set import fetch
from penstock.jars.java import require_java

__all__ = ["JarError", "JavaError", "fetch", "require_java"]
