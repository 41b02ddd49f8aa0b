"""Errors of Connect. Each stands for one Java class, named by `java_name`, so that tools and readers find what they know.

PenstockError
├── ConfigError              ConfigException: a setting is missing or has a value that cannot be used
├── IllegalArgumentError     IllegalArgumentException: a name or argument that does not exist
└── ConnectError             ConnectException: anything else a connector or the worker refuses
    ├── DataError            DataException: a value that does not fit its schema or cannot be converted
    │   ├── SchemaBuilderError    SchemaBuilderException: a schema that cannot be built
    │   └── SchemaProjectorError  SchemaProjectorException: two schemas that do not fit
    ├── RetriableError       RetriableException: the same call may work later
    ├── NotFoundError        NotFoundException: no such connector, task or plugin
    ├── AlreadyExistsError   AlreadyExistsException
    ├── BadRequestError      BadRequestException: a REST request that cannot be served
    ├── ForbiddenError       ForbiddenException: a REST request for something the worker's settings switch off
    └── RequestTimeoutError  ConnectRestException: a REST request that was not answered in time
"""

from __future__ import annotations

from typing import ClassVar

from penstock import errors

MAX_SHOWN = 200
"""Characters after which errors cut a value."""


class ConfigError(errors.ConfigError):
    """A setting is missing or has a value that cannot be used.

    Attributes:
        key: Name of the setting, if one setting is to blame.
    """

    java_name: ClassVar[str] = "org.apache.kafka.common.config.ConfigException"

    def __init__(self, message: str, *, key: str | None = None, hint: str = "") -> None:
        self.key = key
        super().__init__(message, hint=hint)


class IllegalArgumentError(errors.PenstockError):
    """A name or an argument that does not exist."""

    java_name: ClassVar[str] = "java.lang.IllegalArgumentException"


class ConnectError(errors.PenstockError):
    """A connector, converter, transform or the worker cannot go on."""

    java_name: ClassVar[str] = "org.apache.kafka.connect.errors.ConnectException"


class DataError(ConnectError):
    """A value that does not fit its schema, or cannot be converted."""

    java_name: ClassVar[str] = "org.apache.kafka.connect.errors.DataException"


class SchemaBuilderError(DataError):
    """A schema that cannot be built."""

    java_name: ClassVar[str] = "org.apache.kafka.connect.errors.SchemaBuilderException"


class SchemaProjectorError(DataError):
    """A value of one schema that cannot become one of another."""

    java_name: ClassVar[str] = "org.apache.kafka.connect.errors.SchemaProjectorException"


class RetriableError(ConnectError):
    """The same call may work later.

    Attributes:
        after_ms: How long a sink wants to wait before records are put again; None leaves it to the worker.
    """

    java_name: ClassVar[str] = "org.apache.kafka.connect.errors.RetriableException"

    def __init__(self, message: str, *, hint: str = "", after_ms: int | None = None) -> None:
        self.after_ms = after_ms
        super().__init__(message, hint=hint)


class NotFoundError(ConnectError):
    """No such connector, task or plugin."""

    status: ClassVar[int] = 404
    java_name: ClassVar[str] = "org.apache.kafka.connect.errors.NotFoundException"


class AlreadyExistsError(ConnectError):
    """A connector of that name is there already."""

    status: ClassVar[int] = 409
    java_name: ClassVar[str] = "org.apache.kafka.connect.errors.AlreadyExistsException"


class BadRequestError(ConnectError):
    """A REST request that asks for something impossible."""

    status: ClassVar[int] = 400
    java_name: ClassVar[str] = "org.apache.kafka.connect.runtime.rest.errors.BadRequestException"


class ForbiddenError(ConnectError):
    """A REST request for something the worker's settings switch off."""

    status: ClassVar[int] = 403
    java_name: ClassVar[str] = "jakarta.ws.rs.ForbiddenException"


class RequestTimeoutError(ConnectError):
    """A REST request that was not answered in time."""

    status: ClassVar[int] = 500
    java_name: ClassVar[str] = "org.apache.kafka.connect.runtime.rest.errors.ConnectRestException"


class MalformedRequestError(ConnectError):
    """A REST request that is not of the right shape. Kafka answers 500 to it, and tools look at that."""

    status: ClassVar[int] = 500
    java_name: ClassVar[str] = "com.fasterxml.jackson.databind.JsonMappingException"


def java_class_name(error: BaseException) -> str:
    """The Java class an error stands for, or its Python name where there is none.

    >>> java_class_name(DataError("x")), java_class_name(KeyError("x"))
    ('org.apache.kafka.connect.errors.DataException', 'KeyError')
    """
    name = getattr(error, "java_name", None)
    if isinstance(name, str):
        return name
    module = type(error).__module__
    return type(error).__qualname__ if module == "builtins" else f"{module}.{type(error).__qualname__}"


def shown(value: object) -> str:
    """A value as an error shows it: its text, cut where it is long."""
    text = str(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def invalid_value(key: str, value: object, reason: str = "", *, hint: str = "") -> ConfigError:
    text = f"Invalid value {config_text(value)} for configuration {key}"
    return ConfigError(f"{text}: {reason}" if reason else text, key=key, hint=hint)


def missing_value(key: str) -> ConfigError:
    return ConfigError(f'Missing required configuration "{key}" which has no default value.', key=key)


def config_text(value: object) -> str:
    """A setting's value as Java prints it in messages: null, true, [a, b]."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(config_text, value))}]"
    return str(value)
