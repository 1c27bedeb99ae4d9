"""What a gnmic configuration becomes: targets, mappings, and what differs. Nothing is connected to."""

from railfab.imports.gnmic.config import GnmicConfig, read_gnmic
from railfab.imports.gnmic.conversion import Conversion, convert

__all__ = ["Conversion", "GnmicConfig", "convert", "read_gnmic"]
