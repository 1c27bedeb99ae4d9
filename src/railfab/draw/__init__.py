"""Pictures of topologies as SVG: no fonts, scripts or addresses inside, so that they look the same everywhere."""

from railfab.draw.topology import topology_svg

__all__ = ["topology_svg"]
