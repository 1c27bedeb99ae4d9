"""Pictures of fabrics, as text."""

from railfab.draw.topology import topology_svg

__all__ = ["topology_svg"]
