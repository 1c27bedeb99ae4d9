"""Nokia SR Linux: JSON over gNMI."""

from railfab.platforms.shared.folder import platform_of

__all__ = ["PLATFORM"]

PLATFORM = platform_of(
    __name__,
    suffix="json",
    text="railfab.platforms.shared.json_tree:text",
    session=".session:GnmiSession",
    aligned=".alignment:aligned",
    startup=".tree:startup",
    scoped=".set_request:scoped_text",
)
