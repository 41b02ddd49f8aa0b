from __future__ import annotations

import io
import logging

from penstock.connect.config.redacted_log import RedactedLog
from penstock.connect.config.secrets import Secrets


def test_secrets_are_in_no_line() -> None:
    secrets = Secrets(["s3cret"])
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.addFilter(RedactedLog(lambda: secrets))
    logger = logging.getLogger("org.example.redacted")
    logger.propagate = False
    logger.addHandler(handler)
    try:
        logger.warning("%s and %d", "password=s3cret", 1)
        logger.warning("nothing to hide")
        try:
            raise ValueError("refused s3cret")
        except ValueError:
            logger.exception("it failed")
        secrets = secrets.union(Secrets(["other-word"]))
        logger.warning("s3cret other-word")
    finally:
        logger.removeHandler(handler)
        logger.propagate = True
    text = out.getvalue()
    assert "s3cret" not in text
    assert "other-word" not in text
    assert text.startswith("password=[hidden] and 1\nnothing to hide\nit failed\nTraceback")
    assert "ValueError: refused [hidden]" in text
