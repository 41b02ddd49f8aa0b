"""S3Sink: records to objects of a bucket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.connect.api import SinkTask, TopicPartition
from penstock.connect.config import ConfigDef
from penstock.connect.connectors.storage.delivery import ObjectDelivery
from penstock.connect.connectors.storage.file_names import FileNames
from penstock.connect.connectors.storage.keys import STORAGE_KEYS, compression_keys
from penstock.connect.connectors.storage.s3_keys import DEFAULT_PROVIDER, S3_KEYS
from penstock.connect.connectors.storage.storage_connector import StorageSinkConnector
from penstock.connect.connectors.storage.storage_task import StorageSinkTask
from penstock.connect.connectors.storage.stores.store import ObjectStore
from penstock.connect.errors import ConfigError


class S3SinkTask(StorageSinkTask):
    """Writes objects to a bucket."""

    NAMES_HAVE_END: ClassVar[bool] = False

    def open_store(self) -> ObjectStore:
        try:
            from penstock.connect.connectors.storage.stores.s3 import S3Store
        except ImportError as error:
            raise ConfigError("The S3 sink needs boto3", hint="pip install 'penstock[storage]'") from error
        return S3Store(self.settings)

    def delivery(self, store: Any, names: FileNames, at: TopicPartition) -> ObjectDelivery:
        return ObjectDelivery(store)


class S3SinkConnector(StorageSinkConnector):
    """Writes records to objects of an S3 bucket."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(*S3_KEYS, *STORAGE_KEYS, *compression_keys("s3."))
    TASK: ClassVar[type[SinkTask]] = S3SinkTask

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        if settings["s3.credentials.provider.class"] != DEFAULT_PROVIDER:
            raise ConfigError(
                "Classes of Java that give credentials cannot be used: s3.credentials.provider.class",
                key="s3.credentials.provider.class",
                hint="Set aws.access.key.id and aws.secret.access.key, or leave it to the environment as all AWS tools do.",
            )
        secret = settings["aws.secret.access.key"]
        if bool(settings["aws.access.key.id"]) != bool(secret is not None and secret.value):
            raise ConfigError(
                "aws.access.key.id and aws.secret.access.key belong together: one of them is missing",
                key="aws.access.key.id",
            )
        proxy, user, password = (settings[f"s3.proxy.{part}"] for part in ("url", "user", "password"))
        has_password = password is not None and bool(password.value)
        if bool(user) != has_password or (user and not proxy):
            raise ConfigError(
                "s3.proxy.user, s3.proxy.password and s3.proxy.url belong together: one of them is missing",
                key="s3.proxy.user",
            )


S3SinkTask.CONFIG = S3SinkConnector.CONFIG
