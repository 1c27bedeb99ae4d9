"""A virtual switch that runs Linux, and a login at it as the commands of Linux see it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from railfab.platforms.shared.root_shell import CommandResult
from railfab.platforms.shared.virtual_files import VirtualFiles
from railfab.platforms.shared.virtual_images import ImageFile
from railfab.platforms.shared.virtual_units import VirtualUnits
from railfab.platforms.twin_face import VirtualDevice
from railfab.ssh import CliUser

UPTIME = "/proc/uptime"


@dataclass(frozen=True, slots=True, eq=False)
class VirtualHost:
    """A switch as all its logins share it. units: transient timers of systemd."""

    device: VirtualDevice
    files: VirtualFiles
    units: VirtualUnits

    @classmethod
    def of(
        cls,
        device: VirtualDevice,
        folders: Sequence[str] = (),
        generated: Mapping[str, Callable[[], str]] | None = None,
    ) -> VirtualHost:
        """A switch with these folders and files that nobody writes, beside those that every Linux has."""

        def uptime() -> str:
            return f"{time.time() - device.chassis().started_s:.2f} 0.00\n"

        files = VirtualFiles(lambda: device.boots, folders, {UPTIME: uptime, **(generated or {})})
        return cls(device, files, VirtualUnits(device))

    def image(self, path: str) -> ImageFile | None:
        """The image file at a path; None where there is none, or a file that somebody has written."""
        return None if self.files.exists(path) else self.device.images.file(path)


class LinuxLogin(Protocol):
    """A login with its shell; see `railfab.platforms.shared.virtual_shell.VirtualShell`."""

    host: VirtualHost
    user: CliUser
    is_root: bool
    variables: dict[str, str]

    def path(self, name: str) -> str: ...
    def check_writable(self, path: str) -> None: ...
    def run(self, line: str, stdin: Callable[[], str] = str) -> CommandResult: ...
    def run_words(self, words: Sequence[str], stdin: Callable[[], str]) -> CommandResult: ...
    def as_root(self) -> AbstractContextManager[None]: ...
    def begin_root(self) -> None: ...
    def end_shell(self) -> None: ...
    def root_login(self) -> LinuxLogin: ...
