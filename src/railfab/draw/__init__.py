"""Pictures of topologies as SVG, without fonts, scripts or links to other files."""

from railfab.draw.topology import topology_svg

__all__ = ["topology_svg"]
