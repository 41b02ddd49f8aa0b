"""Validation of whole connector configurations: common settings, transforms, converters, and how they go together."""

from penstock.connect.validation.connector_keys import ConnectorKind
from penstock.connect.validation.validate import invalid_config_message, validate_connector

__all__ = ["ConnectorKind", "invalid_config_message", "validate_connector"]
