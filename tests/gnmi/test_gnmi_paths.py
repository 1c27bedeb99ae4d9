"""Laws of gNMI path texts."""

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from railfab.gnmi import messages, paths
from railfab.gnmi.paths import Element, PathError

text = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=12)
names = text.filter(lambda name: ":" not in name)
awkward = st.sampled_from(
    ["a]b", "a/b", "a=b", "a\\b", "\\]", "[x", "ethernet-1/1/1", "2001:db8::1", "10.0.0.0/8", " "]
)
steps = st.builds(
    lambda name, keys: Element(name, tuple(sorted(keys.items()))),
    names | awkward.filter(lambda name: ":" not in name),
    st.dictionaries(names, text | awkward | st.just(""), max_size=3),
)
step_tuples = st.lists(steps, max_size=5).map(tuple)


@given(step_tuples)
def test_text_of_a_path_parses_back_to_the_path(path: tuple[Element, ...]) -> None:
    assert paths.elements(paths.to_text_elements(path)) == path


@given(step_tuples)
def test_protobuf_and_text_are_two_forms_of_one_path(path: tuple[Element, ...]) -> None:
    written = paths.to_text_elements(path)
    assert paths.to_text(paths.to_proto(written)) == written == paths.canonical(written)


@given(step_tuples, text | st.just(""), st.integers(0, 400))
def test_a_path_is_read_from_its_bytes_as_from_its_message(path: tuple[Element, ...], origin: str, length: int) -> None:
    """With an origin, or a long step, it is no mere row of short elements."""
    message = paths.to_proto(paths.to_text_elements((*path, Element("n" * length)) if length else path))
    message.origin = origin
    assert paths.wire_elements(message.SerializeToString()) == paths.proto_elements(message)


@pytest.mark.parametrize("raw", [b"\x1a", b"\x1a\x05\x0a\x01a", b"\x1a\x80\x01", b"\x1a\x03\x0a\x01\xff"])
def test_bytes_that_are_no_path_are_refused(raw: bytes) -> None:
    with pytest.raises((DecodeError, UnicodeDecodeError)):
        paths.wire_elements(raw)


@given(step_tuples, st.integers(0, 5))
def test_a_prefix_may_be_cut_anywhere(path: tuple[Element, ...], cut: int) -> None:
    prefix, rest = (paths.to_proto(paths.to_text_elements(part)) for part in (path[:cut], path[cut:]))
    assert paths.to_text(rest, prefix) == paths.to_text_elements(path)


@given(step_tuples, step_tuples)
def test_a_path_matches_itself_and_each_of_its_parents(parent: tuple[Element, ...], child: tuple[Element, ...]) -> None:
    assert paths.matches_elements(parent, parent + child)


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("", "/"),
        ("/", "/"),
        ("interfaces/interface", "/interfaces/interface"),
        ("openconfig:/interfaces", "/interfaces"),
        ("/srl_nokia-interfaces:interface[name=ethernet-1/1]", "/interface[name=ethernet-1/1]"),
        ("/a[z=1][b=2]/c", "/a[b=2][z=1]/c"),
        (r"/a[k=x\]y\\z]", r"/a[k=x\]y\\z]"),
        ("/a[k=p=q]", "/a[k=p=q]"),
        ("/peer[address=fe80::1]/state", "/peer[address=fe80::1]/state"),
        ("/a/b/", "/a/b"),
    ],
)
def test_canonical_text(written: str, canonical: str) -> None:
    assert paths.canonical(written) == canonical


def test_an_origin_reaches_the_wire_and_not_the_text() -> None:
    path = paths.to_proto("eos_native:/Sysdb/hardware", target="leaf1")
    assert (path.origin, path.target, paths.to_text(path)) == ("eos_native", "leaf1", "/Sysdb/hardware")


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("/", "/a/b", True),
        ("/interface", "/interface[name=e1]/oper-state", True),
        ("/interface[name=*]/oper-state", "/interface[name=e1]/oper-state", True),
        ("/interface[name=e2]", "/interface[name=e1]/oper-state", False),
        ("/interface[name=e1]/oper-state", "/interface[name=e1]", False),
        ("/*/oper-state", "/interface[name=e1]/oper-state", True),
        ("/.../in-octets", "/interface[name=e1]/statistics/in-octets", True),
        ("/a/.../z", "/a/z", True),
        ("/a/.../z", "/a/b/c", False),
        ("/interface[other=e1]", "/interface[name=e1]", False),
        ("/inter", "/interface[name=e1]", False),
    ],
)
def test_patterns(pattern: str, path: str, expected: bool) -> None:
    assert paths.matches(pattern, path) is expected


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("/a[k=v", "/a[k=v: a [ without its ]. Close the key; write \\] for a bracket inside a value."),
        ("/a[k]", "/a[k]: a key without a name or a value. Write [key=value]."),
        ("/a[k=v]b", "/a[k=v]b: 'b' behind a key. Write /name[key=value]/name."),
        ("/[k=v]", "/[k=v]: a step without a name. Write /name[key=value]/name."),
        ("/a\\", "/a\\: ends with a backslash. Write \\\\ for a backslash."),
    ],
)
def test_a_broken_path_is_named(broken: str, message: str) -> None:
    with pytest.raises(PathError) as caught:
        paths.elements(broken)
    assert str(caught.value) == message


def test_keys_of_a_protobuf_path_come_in_one_order() -> None:
    path = messages.Path(elem=[messages.PathElem(name="m:a", key={"z": "1", "b": "2"})])
    assert paths.to_text(path) == "/a[b=2][z=1]"
