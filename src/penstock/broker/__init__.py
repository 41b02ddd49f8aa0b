"""A real Kafka on this machine, for development and tests: one node, started in seconds, no installation.

`LocalBroker` lives as long as the program that uses it; `penstock broker start` leaves one in the background.
"""

from penstock.broker.errors import BrokerError
from penstock.broker.local import LocalBroker
from penstock.broker.probe import require_broker

__all__ = ["BrokerError", "LocalBroker", "require_broker"]
