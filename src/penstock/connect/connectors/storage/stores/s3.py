"""A bucket of S3, or of a server that speaks its language."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import Any, BinaryIO
from urllib.parse import quote, urlencode

import boto3
from boto3.exceptions import S3UploadFailedError
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as BotoConnectionError

from penstock.connect.config.password import Password
from penstock.connect.connectors.storage.s3_keys import proxy_address
from penstock.connect.connectors.storage.stores.spool import spool_failure, spool_file
from penstock.connect.errors import ConnectError, RetriableError

_CONNECT_SECONDS, _READ_SECONDS = 5, 60
_KEY_BYTES = 1024
_LATER = frozenset({
    "SlowDown", "InternalError", "ServiceUnavailable", "RequestTimeout", "RequestTimeTooSkewed", "Throttling",
    "ThrottlingException", "OperationAborted",
})  # fmt: skip
_HINTS = {
    "404": "Create the bucket, or correct s3.bucket.name and store.url.",
    "NoSuchBucket": "Create the bucket, or correct s3.bucket.name and store.url.",
    "InvalidAccessKeyId": "Correct aws.access.key.id.",
    "SignatureDoesNotMatch": "Correct aws.secret.access.key.",
    "403": "Correct the credentials, or allow them to write to the bucket.",
    "AccessDenied": "Correct the credentials, or allow them to write to the bucket.",
    "301": "Correct s3.region: the bucket is in another one.",
    "PermanentRedirect": "Correct s3.region: the bucket is in another one.",
}


_session = cache(boto3.session.Session)  # it reads descriptions of all services, which takes a while


class S3Store:
    """Objects of a bucket.

    Args:
        settings: The settings of the connector.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._bucket: str = settings["s3.bucket.name"]
        self._client: Any = _client(settings)
        part = settings["s3.part.size"]
        self._transfer = TransferConfig(multipart_threshold=part, multipart_chunksize=part, max_concurrency=2)
        self._extra = _extra(settings)
        self._with_tags: bool = settings["s3.object.tagging"]

    def check(self) -> None:
        try:
            self._client.head_bucket(Bucket=self._bucket)
        except (BotoCoreError, ClientError) as error:
            raise self._failure(error, "cannot be used") from error

    def name_problem(self, path: str) -> str | None:
        size = len(path.encode("utf-8", "surrogatepass"))
        return f"its key has {size} bytes, and {_KEY_BYTES} are the most" if size > _KEY_BYTES else None

    def create(self, path: str) -> BinaryIO:
        return spool_file()

    def complete(self, file: BinaryIO, path: str, tags: Mapping[str, str] | None = None) -> None:
        try:
            file.flush()
        except OSError as error:
            raise spool_failure(error) from error
        extra = {**self._extra, "Tagging": urlencode(tags)} if tags and self._with_tags else self._extra
        # The transfer closes what it is given, and it may have to be given again.
        with open(os.dup(file.fileno()), "rb") as copy:  # noqa: PTH123 - a file that has no path
            copy.seek(0)
            try:
                self._client.upload_fileobj(copy, self._bucket, path, ExtraArgs=extra, Config=self._transfer)
            except (BotoCoreError, ClientError, S3UploadFailedError) as error:
                raise self._failure(error, f"does not take {path}") from error

    def write_failure(self, error: OSError) -> Exception:
        return spool_failure(error)

    def close(self) -> None:
        self._client.close()

    def _failure(self, error: Exception, what: str) -> Exception:
        cause = error.__cause__ or error.__context__ if isinstance(error, S3UploadFailedError) else error
        where = f"The bucket {self._bucket} {what}"
        if isinstance(cause, (BotoConnectionError, HTTPClientError)):
            # Its text names the address, which has no secret in it.
            return RetriableError(f"{where}: {cause}", hint="It is tried again.")
        if isinstance(cause, ClientError):
            code = str(cause.response.get("Error", {}).get("Code", ""))
            status = cause.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            if status >= 500 or status == 429 or code in _LATER:
                return RetriableError(f"{where}: {cause}", hint="It is tried again.")
            return ConnectError(f"{where}: {cause}", hint=_HINTS.get(code, ""))
        return ConnectError(f"{where}: {error}")


def _client(settings: Mapping[str, Any]) -> Any:
    secret: Password | None = settings["aws.secret.access.key"]
    proxy = _proxy(settings)
    config = Config(
        region_name=settings["s3.region"],
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=_READ_SECONDS,
        retries={"total_max_attempts": settings["s3.part.retries"] + 1, "mode": "standard"},
        s3={"addressing_style": "path" if settings["s3.path.style.access.enabled"] else "virtual"},
        proxies={"http": proxy, "https": proxy} if proxy else None,
        # Other servers than Amazon's do not all know the newer checksums.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    return _session().client(
        "s3",
        endpoint_url=settings["store.url"] or None,
        aws_access_key_id=settings["aws.access.key.id"] or None,
        aws_secret_access_key=secret.value if secret is not None and secret.value else None,
        config=config,
    )


def _proxy(settings: Mapping[str, Any]) -> str | None:
    """The URL of the proxy, with user and password in it: so botocore wants it, which shows neither."""
    if not settings["s3.proxy.url"]:
        return None
    url = proxy_address(settings["s3.proxy.url"])
    user, password = settings["s3.proxy.user"], settings["s3.proxy.password"]
    if not user:
        return url
    scheme, _, host = url.partition("//")
    return f"{scheme}//{quote(user, safe='')}:{quote(password.value, safe='')}@{host}"


def _extra(settings: Mapping[str, Any]) -> dict[str, str]:
    given = {
        "ACL": settings["s3.acl.canned"],
        "ServerSideEncryption": settings["s3.ssea.name"],
        "SSEKMSKeyId": settings["s3.sse.kms.key.id"],
    }
    return {name: value for name, value in given.items() if value}
