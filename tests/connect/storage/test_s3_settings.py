"""Settings of the S3 sink, by what arrives at the server."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from penstock.connect.api import CONNECTORS
from penstock.connect.errors import ConfigError, RetriableError
from tests.connect.storage.recording_proxy import RecordingProxy
from tests.connect.storage.running_sink import RunningSink, record
from tests.connect.storage.test_s3 import s3
from tests.servers.s3 import S3Server

KEY = "topics/orders/partition=0/orders+0+0000000000.json"
PASSWORD = "p@ss:w/rd %"


def written(server: S3Server, bucket: str, **config: str) -> Any:
    """A client of the server, after the sink has written an object."""
    with RunningSink("S3Sink", s3(server, bucket, **config)) as sink:
        assert sink.put(map(record, range(10))) == 10
    return server.client()


def test_who_may_read(s3_server: S3Server, bucket: str) -> None:
    client = written(s3_server, bucket, s3_acl_canned="public-read")
    grants = client.get_object_acl(Bucket=bucket, Key=KEY)["Grants"]
    everyone = "http://acs.amazonaws.com/groups/global/AllUsers"
    assert [grant["Permission"] for grant in grants if grant["Grantee"].get("URI") == everyone] == ["READ"]
    grants = written(s3_server, bucket).get_object_acl(Bucket=bucket, Key=KEY)["Grants"]
    assert [grant["Grantee"].get("URI") for grant in grants] == [None]


def test_encryption_on_the_server(s3_server: S3Server, bucket: str) -> None:
    client = written(s3_server, bucket, s3_ssea_name="AES256")
    assert client.head_object(Bucket=bucket, Key=KEY)["ServerSideEncryption"] == "AES256"
    key = "arn:aws:kms:us-east-1:123456789012:key/7a0c"
    client = written(s3_server, bucket, **{"s3.ssea.name": "aws:kms", "s3.sse.kms.key.id": key})
    found = client.head_object(Bucket=bucket, Key=KEY)
    assert (found["ServerSideEncryption"], found["SSEKMSKeyId"]) == ("aws:kms", key)


def config(proxy: RecordingProxy, **given: str) -> dict[str, str]:
    return {
        "s3.bucket.name": "lake",
        "format.class": "JsonFormat",
        "store.url": "http://s3.test:9000",
        "aws.access.key.id": "a",
        "aws.secret.access.key": "b",
        "s3.part.retries": "0",
        "s3.proxy.url": f"http://{proxy.host}",
        **{key.replace("_", "."): value for key, value in given.items()},
    }


def test_where_the_bucket_is_in_addresses() -> None:
    with RecordingProxy() as proxy:
        for path_style in ("true", "false"):
            with RunningSink("S3Sink", config(proxy, **{"s3.path.style.access.enabled": path_style})):
                pass
        assert proxy.asked == ["HEAD http://s3.test:9000/lake", "HEAD http://lake.s3.test:9000/"]
        assert proxy.credentials == [None, None]


@pytest.mark.parametrize("scheme", ["http://", ""])
def test_a_proxy_is_told_who_asks(scheme: str) -> None:
    with RecordingProxy() as proxy:
        given = {"s3.proxy.url": f"{scheme}{proxy.host}", "s3.proxy.user": "us/er", "s3.proxy.password": PASSWORD}
        with RunningSink("S3Sink", config(proxy, **given)) as sink:
            assert PASSWORD not in str(sink.task.settings)
        (told,) = proxy.credentials
    assert told == f"Basic {base64.b64encode(f'us/er:{PASSWORD}'.encode()).decode()}"


def test_a_proxy_that_is_away_and_no_password_in_what_is_said() -> None:
    with RecordingProxy() as proxy:
        given = config(proxy, **{"s3.proxy.user": "user", "s3.proxy.password": "hush-hush"})
    with pytest.raises(RetriableError, match="Failed to connect to proxy URL") as raised:
        RunningSink("S3Sink", given).__enter__()
    assert "hush" not in str(raised.value)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"s3.proxy.url": "http://me:hush@proxy:3128"}, "s3.proxy.url names a user or a password.*Set s3.proxy.user and"),
        ({"s3.proxy.url": "me:hush@proxy:3128"}, "s3.proxy.url names a user or a password"),
        ({"s3.proxy.url": "ftp://proxy"}, "Not a URL of a proxy"),
        ({"s3.proxy.url": "http://proxy:port"}, "Not a URL of a proxy"),
        ({"s3.proxy.user": "me"}, "belong together: one of them is missing"),
        ({"s3.proxy.url": "", "s3.proxy.user": "me", "s3.proxy.password": "hush"}, "belong together"),
        ({"s3.proxy.password": "hush"}, "belong together"),
        ({"s3.acl.canned": "everybody"}, "String must be one of"),
        ({"s3.ssea.name": "rot13"}, "String must be one of: , AES256, aws:kms"),
    ],
)  # fmt: skip
def test_settings_that_do_not_fit(given: dict[str, str], reason: str) -> None:
    with RecordingProxy() as proxy:
        settings = {**config(proxy), **given}
    with pytest.raises(ConfigError, match=reason) as raised:
        RunningSink("S3Sink", settings)
    assert "hush" not in str(raised.value)


def test_a_password_in_a_url_is_not_shown_by_validation() -> None:
    with RecordingProxy() as proxy:
        settings = {**config(proxy), "s3.proxy.url": "http://me:hush@proxy:3128"}
    connector: Any = CONNECTORS.find("S3Sink")
    found = {value.name: value for value in connector.CONFIG.validate(settings)}
    assert found["s3.proxy.url"].value is None
    assert "hush" not in str(found)
