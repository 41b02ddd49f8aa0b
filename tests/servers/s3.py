"""An S3 server for tests, in a process of its own.

moto's server, unless PENSTOCK_S3_SERVER names the program of versitygw: that is a real server, but building it takes minutes
(`go install github.com/versity/versitygw/cmd/versitygw@latest`).
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from typing_extensions import Self

from penstock.broker.ports import free_port
from penstock.broker.process import Watchdog, log_tail

ACCESS, SECRET = "penstock-access", "sw0rdf1sh-secret"
REGION = "us-east-1"
FIRST_BUCKET = "first-bucket"
"""Made by a server that checks credentials."""
_PATIENCE_SECONDS = 180
_buckets = itertools.count(1)
_SESSION = boto3.session.Session()


class S3Server:
    """A server for the length of a `with` block; the same port after `stop` and `start`.

    Args:
        checks_credentials: Whether moto checks who asks, after the first bucket was made. versitygw always does.
    """

    def __init__(self, *, checks_credentials: bool = False) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._checks = checks_credentials
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog: Watchdog | None = None

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="penstock-s3-"))
        (self.folder / "data").mkdir()
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _command(self) -> list[str]:
        program = os.environ.get("PENSTOCK_S3_SERVER")
        if program:
            keys = ["--access", ACCESS, "--secret", SECRET]
            return [
                program,
                "--port",
                f"127.0.0.1:{self.port}",
                *keys,
                "--region",
                REGION,
                "posix",
                str(self.folder / "data"),
            ]
        return [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]

    def start(self) -> None:
        """Start it and wait until it answers. moto has forgotten everything."""
        environment = {**os.environ, **({"INITIAL_NO_AUTH_ACTION_COUNT": "1"} if self._checks else {})}
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=environment,
            )
        self._watchdog = Watchdog(self._process.pid, delete=self.folder)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The S3 server does not start: {log_tail(self.folder / 'server.log', lines=20)}")
            time.sleep(0.05)

    def stop(self) -> None:
        """End it as a crash would."""
        process, self._process = self._process, None
        watchdog, self._watchdog = self._watchdog, None
        if process is not None:
            process.kill()
            process.wait()
        if watchdog is not None:
            watchdog.dismiss()

    def pause(self) -> None:
        """It accepts connections and answers nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def client(self, retries: int = 1) -> Any:
        """A client of AWS's own."""
        return _SESSION.client(
            "s3",
            endpoint_url=self.url,
            aws_access_key_id=ACCESS,
            aws_secret_access_key=SECRET,
            region_name=REGION,
            config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": retries}),
        )

    def _answers(self) -> bool:
        client = self.client()
        try:
            client.create_bucket(Bucket=FIRST_BUCKET) if self._checks else client.list_buckets()
        except ClientError:
            return True
        except BotoCoreError:
            return False
        return True

    def create_bucket(self) -> str:
        """A bucket nobody else uses; its name."""
        name = f"bucket-{os.getpid()}-{next(_buckets)}"
        self.client().create_bucket(Bucket=name)
        return name

    def config(self, bucket: str) -> dict[str, str]:
        """The settings with which a connector reaches a bucket."""
        return {
            "s3.bucket.name": bucket,
            "s3.region": REGION,
            "store.url": self.url,
            "aws.access.key.id": ACCESS,
            "aws.secret.access.key": SECRET,
        }

    def objects(self, bucket: str) -> dict[str, bytes]:
        """All objects of a bucket."""
        client = self.client()
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket)
        keys = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
        return {key: client.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys}
