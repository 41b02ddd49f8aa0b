"""The settings of the S3 sink that others do not have."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.config.validators import Check, NonEmpty, OneOf, Range
from penstock.connect.errors import ConfigError, invalid_value

DEFAULT_PROVIDER = "com.amazonaws.auth.DefaultAWSCredentialsProviderChain"


def _check_proxy(key: str, url: Any) -> None:
    if not url:
        return
    try:
        parts = urlsplit(proxy_address(url))
        is_bad = parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0
    except ValueError:
        is_bad = True
    if "@" in url:
        # The URL is left out on purpose: it may have a password in it.
        raise ConfigError(
            f"The URL of {key} names a user or a password.",
            key=key,
            hint="Set s3.proxy.user and s3.proxy.password instead.",
        )
    if is_bad:
        raise invalid_value(key, url, "Not a URL of a proxy", hint="Write it like http://proxy:3128.")


def proxy_address(url: str) -> str:
    """The URL of a proxy; one without a scheme is a host.

    >>> proxy_address("proxy:3128")
    'http://proxy:3128'
    """
    return url if "//" in url else f"http://{url}"


S3_KEYS = ConfigDef(
    ConfigKey(name="s3.bucket.name", importance=Importance.HIGH, validator=NonEmpty(), doc="The bucket; it must exist."),
    ConfigKey(name="s3.region", default="us-west-2", importance=Importance.HIGH, doc="The region of the bucket."),
    ConfigKey(
        name="store.url", default="", importance=Importance.HIGH, doc="The address of a server that is not Amazon's."
    ),
    ConfigKey(
        name="s3.path.style.access.enabled",
        type=ConfigType.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Whether the bucket is in the path of addresses, or else in the name of the host.",
    ),
    ConfigKey(
        name="aws.access.key.id",
        default="",
        importance=Importance.HIGH,
        doc="The access key. Without one: what environment, files or machine give, as for all AWS tools.",
    ),
    ConfigKey(
        name="aws.secret.access.key",
        type=ConfigType.PASSWORD,
        default="",
        importance=Importance.HIGH,
        doc="The secret that belongs to the access key.",
    ),
    ConfigKey(
        name="s3.credentials.provider.class",
        type=ConfigType.CLASS,
        default=DEFAULT_PROVIDER,
        importance=Importance.LOW,
        doc="Only the default is understood: environment, files and machine are asked in the usual order.",
    ),
    ConfigKey(
        name="s3.part.size",
        type=ConfigType.INT,
        default=26_214_400,
        importance=Importance.HIGH,
        validator=Range(at_least=5 << 20),
        doc="Larger files are sent in parts of so many bytes.",
    ),
    ConfigKey(
        name="s3.part.retries",
        type=ConfigType.INT,
        default=3,
        validator=Range(at_least=0, at_most=100),
        doc="How often a request is tried again at once. Then the task waits, and tries again for as long as it takes.",
    ),
    ConfigKey(
        name="s3.retry.backoff.ms",
        type=ConfigType.LONG,
        default=200,
        importance=Importance.LOW,
        doc="Kafka Connect's time between two tries. Here AWS's own rules count.",
    ),
    ConfigKey(
        name="s3.acl.canned",
        default="",
        importance=Importance.LOW,
        validator=OneOf(
            "", "private", "public-read", "public-read-write", "authenticated-read", "aws-exec-read",
            "bucket-owner-read", "bucket-owner-full-control",
        ),
        doc="Who may read the objects.",
    ),
    ConfigKey(
        name="s3.ssea.name",
        default="",
        importance=Importance.LOW,
        validator=OneOf("", "AES256", "aws:kms"),
        doc="Encryption on the server.",
    ),
    ConfigKey(name="s3.sse.kms.key.id", default="", importance=Importance.LOW, doc="The key of that encryption."),
    ConfigKey(
        name="s3.proxy.url",
        default="",
        importance=Importance.LOW,
        validator=Check(_check_proxy, "URL without user and password"),
        doc="A proxy: `http://host:port`.",
    ),
    ConfigKey(name="s3.proxy.user", default="", importance=Importance.LOW, doc="Who asks the proxy."),
    ConfigKey(
        name="s3.proxy.password",
        type=ConfigType.PASSWORD,
        default="",
        importance=Importance.LOW,
        doc="The password of s3.proxy.user.",
    ),
    ConfigKey(
        name="s3.object.tagging",
        type=ConfigType.BOOLEAN,
        default=False,
        importance=Importance.LOW,
        doc="Whether objects get the tags startOffset, endOffset and recordCount.",
    ),
    ConfigKey(
        name="enable.conditional.writes",
        type=ConfigType.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Kafka Connect's way not to write an object twice. Here an object is replaced by one with the same records.",
    ),
    ConfigKey(
        name="max.files.scan.limit",
        type=ConfigType.INT,
        default=100,
        importance=Importance.LOW,
        doc="Belongs to the setting before; nothing is scanned here.",
    ),
)  # fmt: skip
