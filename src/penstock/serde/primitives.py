"""Serdes of text, bytes, booleans and null, byte for byte as Kafka's Java serdes write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from penstock.serde import messages
from penstock.serde.serde import CodecSerde


@dataclass(frozen=True, slots=True)
class StringSerde(CodecSerde[str]):
    """Text as UTF-8. Bytes that are not UTF-8 are an error, where Java puts replacement characters silently."""

    key_identity = True
    mutable = False
    topic_free = True

    @property
    def name(self) -> str:
        return "string"

    def encoder(self, topic: str) -> Callable[[str | None], bytes | None]:
        encode = str.encode  # the unbound method refuses everything that is not text

        def write(value: str | None) -> bytes | None:
            if value is None:
                return None
            try:
                return encode(value)
            except UnicodeEncodeError as error:
                why = f"it holds a surrogate at position {error.start}, which UTF-8 has no bytes for"
                raise messages.unwritable("string", value, topic, why, "Map the value to valid text first.") from None
            except TypeError:
                raise messages.wrong_type("string", value, topic, "str") from None

        return write

    def decoder(self, topic: str) -> Callable[[bytes | None], str | None]:
        decode = bytes.decode

        def read(data: bytes | None) -> str | None:
            if data is None:
                return None
            try:
                return decode(data)
            except UnicodeDecodeError as error:
                why = f"no UTF-8 at byte {error.start}"
                raise messages.unreadable("string", data, topic, why) from None
            except TypeError:
                raise messages.not_bytes("string", data, topic) from None

        return read

    def column_decoder(self, topic: str) -> Callable[[list[bytes | None]], list[str | None]]:
        decode = self.decoder(topic)

        def read(column: list[bytes | None]) -> list[str | None]:
            if None in column:
                return list(map(decode, column))
            return list(map(bytes.decode, column))  # type: ignore[arg-type]  # runs in C, no frame for each value

        return read


@dataclass(frozen=True, slots=True)
class BytesSerde(CodecSerde[bytes]):
    """Bytes as they are."""

    key_identity = True
    mutable = False
    topic_free = True

    @property
    def name(self) -> str:
        return "bytes"

    def encoder(self, topic: str) -> Callable[[bytes | None], bytes | None]:
        def write(value: bytes | None) -> bytes | None:
            if value is None or isinstance(value, bytes):
                return value
            raise messages.wrong_type("bytes", value, topic, "bytes")

        return write

    def decoder(self, topic: str) -> Callable[[bytes | None], bytes | None]:
        def read(data: bytes | None) -> bytes | None:
            if data is None or isinstance(data, bytes):
                return data
            raise messages.not_bytes("bytes", data, topic)

        return read


@dataclass(frozen=True, slots=True)
class ByteBufferSerde(CodecSerde[memoryview]):
    """A memoryview, as Java's ByteBuffer: writes what the view spans; bytes and bytearray are taken too."""

    mutable = False
    topic_free = True

    @property
    def name(self) -> str:
        return "byte_buffer"

    def encoder(self, topic: str) -> Callable[[memoryview | None], bytes | None]:
        def write(value: memoryview | None) -> bytes | None:
            if value is None:
                return None
            if isinstance(value, memoryview | bytearray | bytes):
                return bytes(value)
            raise messages.wrong_type("byte_buffer", value, topic, "memoryview")

        return write

    def decoder(self, topic: str) -> Callable[[bytes | None], memoryview | None]:
        def read(data: bytes | None) -> memoryview | None:
            if data is None:
                return None
            if isinstance(data, bytes):
                return memoryview(data)
            raise messages.not_bytes("byte_buffer", data, topic)

        return read


@dataclass(frozen=True, slots=True)
class BooleanSerde(CodecSerde[bool]):
    """One byte: 1 for True, 0 for False."""

    mutable = False
    topic_free = True

    @property
    def name(self) -> str:
        return "bool"

    def encoder(self, topic: str) -> Callable[[bool | None], bytes | None]:
        def write(value: bool | None) -> bytes | None:  # noqa: FBT001 - the value is the subject
            if value is True:
                return b"\x01"
            if value is False:
                return b"\x00"
            if value is None:
                return None
            raise messages.wrong_type("bool", value, topic, "bool")

        return write

    def decoder(self, topic: str) -> Callable[[bytes | None], bool | None]:
        def read(data: bytes | None) -> bool | None:
            if data == b"\x01":
                return True
            if data == b"\x00":
                return False
            if data is None:
                return None
            if len(data) != 1:
                raise messages.wrong_size("bool", data, topic, 1)
            raise messages.unreadable("bool", data, topic, "the byte is neither 0 nor 1")

        return read


@dataclass(frozen=True, slots=True)
class UuidSerde(CodecSerde[UUID]):
    """A UUID as its 36 characters of text."""

    key_identity = True
    mutable = False
    topic_free = True
    fixed_size = 36

    @property
    def name(self) -> str:
        return "uuid"

    def encoder(self, topic: str) -> Callable[[UUID | None], bytes | None]:
        def write(value: UUID | None) -> bytes | None:
            if value is None:
                return None
            if isinstance(value, UUID):
                return str(value).encode()
            raise messages.wrong_type("uuid", value, topic, "uuid.UUID")

        return write

    def decoder(self, topic: str) -> Callable[[bytes | None], UUID | None]:
        def read(data: bytes | None) -> UUID | None:
            if data is None:
                return None
            if data.__class__ is bytes and len(data) != 36:
                raise messages.wrong_size("uuid", data, topic, 36)
            try:
                return UUID(data.decode())
            except ValueError:  # includes text that is not UTF-8
                raise messages.unreadable("uuid", data, topic, "no UUID text") from None
            except AttributeError:
                raise messages.not_bytes("uuid", data, topic) from None

        return read


@dataclass(frozen=True, slots=True)
class VoidSerde(CodecSerde[None]):
    """Null only: for topics whose keys or values are never used."""

    key_identity = True
    mutable = False
    topic_free = True

    @property
    def name(self) -> str:
        return "void"

    def encoder(self, topic: str) -> Callable[[None], bytes | None]:
        def write(value: None) -> bytes | None:
            if value is not None:
                raise messages.wrong_type("void", value, topic, "None")
            return None

        return write

    def decoder(self, topic: str) -> Callable[[bytes | None], None]:
        def read(data: bytes | None) -> None:
            if data is not None:
                raise messages.unreadable("void", data, topic, "it reads null only")

        return read
