"""The interface of all serdes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from penstock.records import Headers

T = TypeVar("T")


class Serde(ABC, Generic[T]):
    """Turns keys or values into bytes and back. Immutable and picklable: it travels to the tasks.

    A serde of your own implements `serialize` and `deserialize`; None stands for null on both sides and needs no
    handling but to be passed through:

    >>> class Reversed(Serde[str]):
    ...     def serialize(self, topic, value, headers=None):
    ...         return None if value is None else value[::-1].encode()
    ...
    ...     def deserialize(self, topic, data, headers=None):
    ...         return None if data is None else data.decode()[::-1]
    >>> Reversed().serialize("t", "abc"), Reversed().decoder("t")(b"cba")
    (b'cba', 'abc')

    Attributes:
        uses_headers: The serde reads or writes record headers, so `encoder` and `decoder` are not enough for it.
        key_identity: For the values this serde accepts, `a == b` and `hash(a) == hash(b)` hold exactly when the
            serialised bytes are equal: the value itself may stand for its bytes as a dict key.
        mutable: Deserialised values may be objects that a user's function can change in place.
        topic_free: The bytes of a value are the same for every topic.
        fixed_size: Number of bytes of every non-null value, if it is always the same.
    """

    __slots__ = ()

    uses_headers: bool = False
    key_identity: bool = False
    mutable: bool = True
    topic_free: bool = False
    fixed_size: int | None = None

    @property
    def name(self) -> str:
        """How messages call this serde."""
        return type(self).__name__

    @abstractmethod
    def serialize(self, topic: str, value: T | None, headers: Headers | None = None) -> bytes | None:
        """The bytes of a value; None for None."""

    @abstractmethod
    def deserialize(self, topic: str, data: bytes | None, headers: Headers | None = None) -> T | None:
        """The value of some bytes; None for None."""

    def encoder(self, topic: str) -> Callable[[T | None], bytes | None]:
        """`serialize` for one topic as a function of one argument: what a task calls for each record."""
        serialize = self.serialize
        return lambda value: serialize(topic, value)

    def decoder(self, topic: str) -> Callable[[bytes | None], T | None]:
        """`deserialize` for one topic as a function of one argument: what a task calls for each record."""
        deserialize = self.deserialize
        return lambda data: deserialize(topic, data)

    def column_decoder(self, topic: str) -> Callable[[list[bytes | None]], list[T | None]]:
        """Like `decoder`, for many values at once.

        If any of them cannot be read it raises something; the caller then takes them one by one to find out which.
        """
        decode = self.decoder(topic)
        return lambda column: list(map(decode, column))

    def column_encoder(self, topic: str) -> Callable[[list[T | None]], list[bytes | None]]:
        """Like `encoder`, for many values at once."""
        encode = self.encoder(topic)
        return lambda column: list(map(encode, column))


class CodecSerde(Serde[T]):
    """A serde that is written as `encoder` and `decoder`; the slower methods derive from them."""

    __slots__ = ()

    @abstractmethod
    def encoder(self, topic: str) -> Callable[[T | None], bytes | None]: ...

    @abstractmethod
    def decoder(self, topic: str) -> Callable[[bytes | None], T | None]: ...

    def serialize(self, topic: str, value: T | None, headers: Headers | None = None) -> bytes | None:
        return self.encoder(topic)(value)

    def deserialize(self, topic: str, data: bytes | None, headers: Headers | None = None) -> T | None:
        return self.decoder(topic)(data)
