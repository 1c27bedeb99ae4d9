"""Options of commands that speak to a NetBox. The token is in the environment or in a file, never an argument."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.errors import RailfabError

if TYPE_CHECKING:
    from railfab.netbox import NetBox

TOKEN_VARIABLE = "NETBOX_TOKEN"

SiteOption = Annotated[
    str | None, typer.Option("--site", metavar="SLUG", help="NetBox: only devices of this site.", show_default=False)
]
TagOption = Annotated[
    str | None, typer.Option("--tag", metavar="SLUG", help="NetBox: only devices with this tag.", show_default=False)
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option(
        "--token-file", metavar="FILE", help=f"NetBox's token, if not in {TOKEN_VARIABLE}.", show_default=False
    ),
]
CaOption = Annotated[
    str | None,
    typer.Option(
        "--ca", metavar="FILE", help="Authority of NetBox's certificate; else the system's.", show_default=False
    ),
]
SkipVerifyOption = Annotated[
    bool, typer.Option("--skip-verify", metavar="", help="Do not check NetBox's certificate.", show_default=False)
]


def netbox_at(
    url: str,
    token_file: Path | None,
    ca: str | None,
    skip_verify: bool,
    site: str | None = None,
    tag: str | None = None,
) -> NetBox:
    """The NetBox at an address. Raises RailfabError for a token that cannot be read."""
    from railfab.netbox import NetBox

    if skip_verify and ca is not None:
        raise typer.BadParameter("--skip-verify checks no certificate: leave out --ca.")
    return NetBox(url=url, token=_token(token_file), site=site, tag=tag, ca=ca, skip_verify=skip_verify)


def _token(file: Path | None) -> str | None:
    """NetBox token from the file, else from the environment; None without either."""
    if file is None:
        return os.environ.get(TOKEN_VARIABLE, "").strip() or None
    try:
        token = file.read_text().strip()
    except (OSError, UnicodeDecodeError):
        raise RailfabError(str(file), "holds no token", "Name a readable file with NetBox's token in it") from None
    if not token or not token.isprintable() or " " in token:
        raise RailfabError(str(file), "holds no token", "Name a readable file with NetBox's token in it")
    return token
