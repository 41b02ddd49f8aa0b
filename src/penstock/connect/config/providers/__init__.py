"""Config providers: where references in settings find their values."""

from penstock.connect.config.providers.provider import ConfigData, ConfigProvider

__all__ = ["ConfigData", "ConfigProvider"]
