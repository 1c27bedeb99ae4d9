"""Community SONiC: CONFIG_DB as JSON, with FRR configured from it."""

from railfab.platforms.shared.folder import platform_of

__all__ = ["PLATFORM"]

PLATFORM = platform_of(
    __name__,
    suffix="json",
    text=".tables:text",
    running_text=".running:running_text",
    refusals=".schema:refusals",
    startup=".virtual_switch:startup",
    scoped=".scope:scoped",
    session=".session:SonicSession",
)
