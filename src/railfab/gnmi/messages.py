"""gNMI's protobuf messages and enumerations by their names in gnmi.proto and gnmi_ext.proto, and the service's calls.

`proto/` holds both files as published (openconfig/gnmi v0.14.1, gNMI 0.10.0) and `gnmi.binpb`, the descriptors that
protoc makes of them (CONTRIBUTING.md says how). The descriptors are in a pool of their own, because a process may have
another version of gNMI's messages in protobuf's default pool, pygnmi's for example, and a pool holds one version only.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message_factory import GetMessageClass

VERSION = "0.10.0"
"""The gNMI version of these messages (option `gnmi_service` of gnmi.proto)."""

EXPORTED = ("google/protobuf/duration.proto", "gnmi_ext.proto", "gnmi.proto")
"""The files whose messages are names of this module, by the ends of their paths."""


def _names(file: FileDescriptor) -> Iterator[tuple[str, Any]]:
    """The messages and enumerations of a file, by name; those inside a message are attributes of its class."""
    for name, message in file.message_types_by_name.items():
        yield name, GetMessageClass(message)
    for name, enumeration in file.enum_types_by_name.items():
        yield name, EnumTypeWrapper(enumeration)


_POOL = DescriptorPool()
for _file in FileDescriptorSet.FromString((files("railfab.gnmi") / "proto" / "gnmi.binpb").read_bytes()).file:
    _POOL.Add(_file)
    if _file.name.endswith(EXPORTED):
        globals().update(_names(_POOL.FindFileByName(_file.name)))

_SERVICE = _POOL.FindServiceByName("gnmi.gNMI")
SERVICE: str = _SERVICE.full_name
METHODS = {name: f"/{SERVICE}/{name}" for name in _SERVICE.methods_by_name}
"""The calls of the service by name, as gRPC names them: `/gnmi.gNMI/Get`."""


def __getattr__(name: str) -> Any:
    """Refuse a name that the files do not have; type checkers take every other name from here, as Any."""
    raise AttributeError(f"gnmi.proto and gnmi_ext.proto have no {name}")
