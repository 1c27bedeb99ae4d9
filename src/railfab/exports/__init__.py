"""The plan of a fabric in the formats of other tools: schedulers and simulators.

A format is one module of `railfab.exports.formats`.
"""

from railfab.exports.contract import ExportFormat
from railfab.exports.registry import export_formats, export_named
from railfab.fabric.host_names import HostNames, read_host_names

__all__ = ["ExportFormat", "HostNames", "export_formats", "export_named", "read_host_names"]
