"""Our messages are those of the published files, and share a process with pygnmi's."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

from railfab.gnmi import messages

PROTO = Path(str(files("railfab.gnmi") / "proto"))
FILES = ("gnmi.proto", "gnmi_ext.proto")
TYPES = FieldDescriptorProto.Type
SHARED = """
from railfab.gnmi.messages import SetRequest, METHODS
theirs.SetRequest(delete=[theirs.Path(elem=[theirs.PathElem(name="a")])])
wire = theirs.SetRequest(delete=[theirs.Path(elem=[theirs.PathElem(name="a")])]).SerializeToString()
assert SetRequest.FromString(wire).delete[0].elem[0].name == "a"
assert not hasattr(theirs.SetRequest(), "union_replace") and SetRequest().union_replace == []
"""


def described(name: str) -> FileDescriptorProto:
    every = FileDescriptorSet.FromString((PROTO / "gnmi.binpb").read_bytes()).file
    return next(file for file in every if file.name.endswith(f"/{name}"))


def declared(text: str) -> Iterator[tuple[str, ...]]:
    """The fields, values and calls that a .proto file declares: (container, label, type, name, number)."""
    text = re.sub(r"//[^\n]*", "", text)
    tokens = re.findall(r'"[^"]*"|[\w.]+|[{};=<>,()\[\]]', text)
    containers: list[str] = []
    statement: list[str] = []
    for token in tokens:
        if token == "{":
            containers.append(" ".join(statement[:2]))
            statement = []
        elif token == "}":
            containers.pop()
        elif token == ";":
            yield from said(containers, statement)
            statement = []
        else:
            statement.append(token)


def said(containers: list[str], words: list[str]) -> Iterator[tuple[str, ...]]:
    path = [name.split()[1] for name in containers if not name.startswith("oneof")]
    place = ".".join(path)
    oneof = containers[-1].split()[1] if containers and containers[-1].startswith("oneof") else ""
    if words[:1] == ["rpc"]:
        sides = [("stream" in words[1 : words.index("returns")]), ("stream" in words[words.index("returns") :])]
        types = [word for word in words[2:] if word not in ("(", ")", "returns", "stream")]
        yield (place, "rpc", words[1], *types, str(sides))
    elif "=" in words and words[0] not in ("option", "syntax") and not containers[-1].startswith("extend"):
        at = words.index("=")
        kind = "".join(words[: at - 1])
        yield (place, oneof, kind, words[at - 1], words[at + 1])


def of_file(file: FileDescriptorProto) -> Iterator[tuple[str, ...]]:
    """The same of descriptors."""
    for message in file.message_type:
        yield from of_message(message, message.name, file.package)
    for enumeration in file.enum_type:
        yield from of_enum(enumeration, enumeration.name)
    for service in file.service:
        for call in service.method:
            types = [kind.rpartition(".")[2] for kind in (call.input_type, call.output_type)]
            yield (service.name, "rpc", call.name, *types, str([call.client_streaming, call.server_streaming]))


def of_enum(enumeration: EnumDescriptorProto, place: str) -> Iterator[tuple[str, ...]]:
    for value in enumeration.value:
        yield (place, "", "", value.name, str(value.number))


def of_message(message: DescriptorProto, place: str, package: str) -> Iterator[tuple[str, ...]]:
    maps = {entry.name: entry for entry in message.nested_type if entry.options.map_entry}
    for field in message.field:
        oneof = message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else ""
        yield (place, oneof, kind_of(field, maps), field.name, str(field.number))
    for nested in message.nested_type:
        if nested.name not in maps:
            yield from of_message(nested, f"{place}.{nested.name}", package)
    for enumeration in message.enum_type:
        yield from of_enum(enumeration, f"{place}.{enumeration.name}")


def kind_of(field: FieldDescriptorProto, maps: dict[str, DescriptorProto]) -> str:
    name = field.type_name.rpartition(".")[2]
    if name in maps:
        key, value = maps[name].field
        return f"map<{kind_of(key, {})},{kind_of(value, {})}>"
    kind = name or TYPES.Name(field.type).removeprefix("TYPE_").lower()
    return ("repeated" if field.label == FieldDescriptorProto.LABEL_REPEATED else "") + kind


def plain(fact: tuple[str, ...]) -> tuple[str, ...]:
    """A fact without the packages and the outer messages of types, which a file may leave out."""
    place, oneof, kind, *rest = fact
    if kind.startswith("map<") or oneof == "rpc":
        return fact
    repeated = "repeated" if kind.startswith("repeated") else ""
    return (place, oneof, repeated + kind.removeprefix("repeated").rpartition(".")[2], *rest)


@pytest.mark.parametrize("name", FILES)
def test_the_descriptors_are_those_of_the_published_file(name: str) -> None:
    written = sorted(map(plain, declared((PROTO / name).read_text())))
    assert len(written) > 30
    assert sorted(map(plain, of_file(described(name)))) == written


def test_protoc_makes_the_same_descriptors(tmp_path: Path) -> None:
    protoc = pytest.importorskip("grpc_tools.protoc", reason="needs grpcio-tools")
    place, out = "github.com/openconfig/gnmi/proto", tmp_path / "gnmi.binpb"
    paths = [f"-I{place}/{name}={PROTO}" for name in ("gnmi", "gnmi_ext")]
    include = f"-I{files('grpc_tools') / '_proto'}"
    done = protoc.main(
        ["protoc", *paths, include, "--include_imports", f"--descriptor_set_out={out}", f"{place}/gnmi/gnmi.proto"]
    )
    assert done == 0
    made = {file.name: file for file in FileDescriptorSet.FromString(out.read_bytes()).file}
    for name in FILES:
        assert made[described(name).name] == described(name)


def test_the_version_is_that_of_the_file() -> None:
    assert f'option (gnmi_service) = "{messages.VERSION}";' in (PROTO / "gnmi.proto").read_text()


@pytest.mark.parametrize("name", FILES)
def test_the_files_keep_their_licence(name: str) -> None:
    assert "Licensed under the Apache License, Version 2.0" in (PROTO / name).read_text()


def test_the_calls_of_the_service() -> None:
    calls = ("Capabilities", "Get", "Set", "Subscribe")
    assert {name: f"/gnmi.gNMI/{name}" for name in calls} == messages.METHODS


def test_a_name_that_gnmi_does_not_have_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"have no SetReqest"):
        _ = messages.SetReqest


@pytest.mark.parametrize("ours_first", [True, False])
def test_pygnmis_messages_may_be_in_the_same_process(ours_first: bool) -> None:
    imports = ["import railfab.gnmi.messages", "from pygnmi.spec.v080 import gnmi_pb2 as theirs"]
    program = "\n".join(imports if ours_first else reversed(imports)) + SHARED
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
