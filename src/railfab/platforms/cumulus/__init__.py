"""NVIDIA Cumulus Linux 5.15 and later: the YAML tree of NVUE, which `nv config patch` and `nv config replace` take."""

from railfab.platforms.shared.folder import platform_of

__all__ = ["PLATFORM"]

PLATFORM = platform_of(__name__, suffix="yaml", text=".tree:text", session=".session:CumulusSession")
