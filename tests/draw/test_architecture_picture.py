"""The picture of the house shows rooms that exist."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def test_every_room_in_the_picture_is_a_room_of_the_house(repository: Path) -> None:
    tree = ElementTree.parse(repository / "docs" / "architecture.svg")
    notes = [text.text or "" for text in tree.iter(f"{SVG}text") if text.get("class") == "room"]
    rooms = {word for note in notes for word in note.split() if word.endswith(("/", ".py"))}
    assert rooms >= {"intent/", "topology/", "device/", "platforms/", "deploy/", "telemetry/", "twin/", "sim/"}
    assert not {room for room in rooms if not (repository / "src" / "railfab" / room).exists()}
