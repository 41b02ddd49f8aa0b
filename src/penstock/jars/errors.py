"""Errors of Java and of the jars, and the texts of their messages."""

from __future__ import annotations

from pathlib import Path

from penstock.errors import PenstockError

MIRROR_HINT = (
    "Check the network; behind a proxy set JAVA_TOOL_OPTIONS='-Dhttps.proxyHost=... -Dhttps.proxyPort=...', "
    "and to use a mirror set PENSTOCK_IVY_SETTINGS to your Ivy settings file"
)


class JavaError(PenstockError):
    """There is no Java that can run Kafka or Spark."""


class JarError(PenstockError):
    """A set of jars that cannot be fetched or must not be used."""


def no_java(searched: str) -> JavaError:
    return JavaError(f"no Java found ({searched})", hint="Install Java 17 or newer, or point JAVA_HOME at one")


def java_too_old(java: Path, found: int, needed: int) -> JavaError:
    return JavaError(
        f"{java} is Java {found}, but Java {needed} is needed",
        hint=f"Install Java {needed} or newer, or point JAVA_HOME at one",
    )


def java_broken(java: Path, output: str) -> JavaError:
    said = " ".join(output.split())[-200:] or "nothing"
    return JavaError(
        f"{java} -version does not tell a version, it says: {said}",
        hint="Repair that Java, or point JAVA_HOME at another one",
    )


def no_ivy(place: str) -> JarError:
    return JarError(
        f"{place} holds no Ivy jar to fetch other jars with",
        hint="Install the full PySpark again: pip install --force-reinstall pyspark==4.2.0",
    )


def unknown_set(name: str, known: list[str]) -> JarError:
    return JarError(f"unknown jar set '{name}'", hint=f"The known ones are: {', '.join(known)}")


def missing_settings(path: Path) -> JarError:
    return JarError(
        f"PENSTOCK_IVY_SETTINGS names {path}, which is not a file",
        hint="Give the path of an Ivy settings file, or unset it to use the public repository",
    )


def cannot_fetch(name: str, reason: str, log: Path) -> JarError:
    return JarError(f"cannot fetch the jars of '{name}': {reason}", hint=f"{MIRROR_HINT}. Ivy's log is {log}")


def wrong_download(name: str, difference: str) -> JarError:
    return JarError(
        f"the fetched jars of '{name}' are not the expected ones: {difference}",
        hint="Nothing was kept. The repository or mirror serves other files: fetch from another one",
    )


def wrong_cache(name: str, difference: str, folder: Path) -> JarError:
    return JarError(
        f"the cached jars of '{name}' were changed: {difference}",
        hint=f"Delete {folder} and try again, the jars are then fetched anew",
    )
