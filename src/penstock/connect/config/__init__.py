"""Settings: declarations, parsing, validation, documentation, and values from config providers."""

from penstock.connect.config.config_def import ConfigDef, ConfigValue, UnknownKey, nearest
from penstock.connect.config.config_key import NO_DEFAULT, ConfigKey, ConfigType, Importance, Recommender, Width
from penstock.connect.config.docs import config_table
from penstock.connect.config.infos import config_infos, key_infos
from penstock.connect.config.password import HIDDEN, Password

__all__ = [
    "HIDDEN",
    "NO_DEFAULT",
    "ConfigDef",
    "ConfigKey",
    "ConfigType",
    "ConfigValue",
    "Importance",
    "Password",
    "Recommender",
    "UnknownKey",
    "Width",
    "config_infos",
    "config_table",
    "key_infos",
    "nearest",
]
