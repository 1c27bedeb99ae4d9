"""`railfab twin image` and `device`: software images for the switches of a running twin, and new devices."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from railfab.cli.common import STATE_DEFAULT, StateOption
from railfab.cli.echo import echo
from railfab.cli.twin import TwinOption, only_twin
from railfab.cli.twin_faults import twin_app
from railfab.errors import LabError

MEGABYTE = 1_000_000


class BootEnd(StrEnum):
    """The words of `railfab.platforms.shared.virtual_images.ImageBoot`."""

    NEW = "new"
    OLD = "old"
    NEVER = "never"


@twin_app.command("image")
def offer_image(
    place: Annotated[str, typer.Argument(metavar="FILE|URL", help="Name of the file on the switch, or a URL.")],
    switches: Annotated[list[str], typer.Argument(metavar="SWITCH...", help="Switches of the twin.")],
    version: Annotated[str, typer.Option("--version", metavar="V", help="The version that it runs as.")],
    boots: Annotated[
        BootEnd,
        typer.Option("--boots", help="What a boot of it ends in: new release, old release, or never."),
    ] = BootEnd.NEW,
    damaged: Annotated[bool, typer.Option("--damaged", metavar="", help="Its content is not as published.")] = False,
    megabytes: Annotated[int, typer.Option("--megabytes", metavar="N", min=1, help="Its size in MB.")] = 1000,
    platform: Annotated[
        str | None, typer.Option("--of", metavar="PLATFORM", help="Whose software it is; else that of the switch.")
    ] = None,
    file: TwinOption = None,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Put a software image on the flash of switches, or at a URL from which they can fetch it, for `railfab upgrade`.

    It has a version and a size instead of software. A switch has 4 GiB for images.
    """
    from railfab.endpoints import load_endpoints
    from railfab.platforms.image import Image
    from railfab.platforms.shared.virtual_images import ImageBoot, ImageFile
    from railfab.twin import connect
    from railfab.twin.files import twin_files

    try:
        name = Image(place=place).file
    except ValueError as error:
        raise LabError(place, str(error), "Use letters, digits and ._-+~=% in the name of a file") from None
    fabric = only_twin(file, state).fabric
    platforms = {node.name: node.platform for node in load_endpoints(twin_files(state, fabric).endpoints).nodes}
    for switch in switches:
        image = ImageFile(
            name=name,
            platform=platform or platforms.get(switch, ""),
            version=version,
            size_bytes=megabytes * MEGABYTE,
            boot=ImageBoot(boots),
            damaged=damaged,
        )
        connect(state, fabric).offer_image(switch, place, image)
        echo(f"{fabric}: {switch} has {place}, version {version}, SHA-256 {image.checksum('sha256')}", err=True)


@twin_app.command("device")
def replace_device(
    switch: Annotated[str, typer.Argument(metavar="SWITCH", help="A switch of the twin.")],
    version: Annotated[
        str,
        typer.Option("--version", metavar="V", help="Of its software; else that of a new twin.", show_default=False),
    ] = "",
    file: TwinOption = None,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Put a new device in the place of a switch: factory configuration, other serial number and SSH host key.

    `railfab replace` configures it.
    """
    from railfab.twin import connect

    fabric = only_twin(file, state).fabric
    connect(state, fabric).replace_device(switch, version)
    echo(f"{fabric}: {switch} is another device, as it leaves the factory", err=True)
