"""Pictures of fabrics and of what terminals show, as text."""

from railfab.draw.recording import Frame, recording_svg
from railfab.draw.terminal import Screen
from railfab.draw.topology import topology_svg

__all__ = ["Frame", "Screen", "recording_svg", "topology_svg"]
