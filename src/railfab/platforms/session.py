"""The face `session` of a platform: access to one device, and changes that any later process can finish."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Protocol, Self

from railfab.device import Observed
from railfab.platforms.image import Image


class Verb(StrEnum):
    """Verbs of `Session.operate`. DRAIN and UNDRAIN act on the running configuration, so that `parse` of it is a model
    that drains, or one that does not; SAVE makes it that of the next boot; RELOAD restarts the switch."""

    DRAIN = "drain"
    UNDRAIN = "undrain"
    SAVE = "save"
    RELOAD = "reload"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeName:
    """Name of a change on switches, chosen by the caller; the same for all switches of a deploy.

    deploy: the ID of the deploy, for example `20261122T093012.345Z-4f2a`. user, host: who runs it and where.
    The text form, `DEPLOY/USER@HOST`, is stored on the switch, so that any later process reads it there.
    """

    deploy: str
    user: str
    host: str

    def __str__(self) -> str:
        return f"{self.deploy}/{self.user}@{self.host}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The name of a text form; None for a text that is none."""
        deploy, slash, rest = text.partition("/")
        user, at, host = rest.rpartition("@")
        return cls(deploy=deploy, user=user, host=host) if slash and at else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A change on a switch that is neither confirmed nor reverted.

    change: its name; None for a change that railfab did not make. description: one line for the operator.
    reverts_in_s: when the switch reverts it by itself [s]; None when it does not, or reports no time.
    """

    change: ChangeName | None
    description: str
    reverts_in_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Names that a switch reports, empty where it reports none. version: release of its software."""

    hostname: str
    version: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A switch's running configuration, all of it, as `parse` reads it.

    revision: another one after every change of what a deploy replaces. drained: whether it is drained by
    `Session.operate`; not so by the configuration of a deploy alone. The switch keeps which one it is.
    """

    text: str
    revision: str
    identity: Identity
    pending: Pending | None
    drained: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A candidate that the device accepts. text: of the caller; on a switch that `operate` has drained, with the drain.

    diff: unified, empty when nothing would change. former: the running configuration that it was compared with, as a
    text that restores all that the candidate changes, without a drain by `operate`, which no rollback brings back.
    revision: of that configuration.
    """

    text: str
    diff: str
    former: str
    revision: str


class Session(Protocol):
    """Access to one device; a context manager. Every text is configuration in the platform's own format.

    A session keeps nothing that a later process needs: the pending change and the former configuration are on the
    switch, under the name that the caller gave the change. Every call ends within a time limit, and at once when
    another thread calls `__exit__`; all raise Unreachable when the device does not answer, and DeviceError with one
    line otherwise.
    """

    def __enter__(self) -> Self:
        """Connect. Raises Unreachable or LoginRefused."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def running(self) -> Running:
        """The running configuration, and what is pending. Raises DeviceError, naming a daemon that does not run."""
        ...

    def stage(self, text: str, change: ChangeName | None = None) -> Staged:
        """Hand a candidate to the device, which validates it, and compare. Raises CommitRefused; changes nothing.

        change: the name under which it will be committed. A candidate with a difference may stay on the device for
        `commit` in this session; no later than its end, and before any other call than `running` and `observe`, nothing
        is left.
        A drain by `operate` stays: on such a switch a candidate without it gets it.
        """
        ...

    def commit(self, staged: Staged, change: ChangeName, within_s: int) -> None:
        """Make the candidate the running configuration; the device reverts it unless `confirm` comes within the time.

        A candidate that is not staged any more, or was by another session, is staged again.
        The configuration of the next boot stays as it was until `confirm`.
        Raises CommitRefused when the running configuration is no longer `staged.revision`, when another change is
        pending, or when the device does not accept all of it; the device then runs its former configuration.
        """
        ...

    def confirm(self, change: ChangeName) -> None:
        """Keep a change, for the next boot too; from any process. Confirming twice does nothing.

        Raises CommitRefused when the device has reverted it.
        """
        ...

    def revert(self, change: ChangeName) -> None:
        """Restore what ran before a change that is pending, from any process; do nothing when it is not pending."""
        ...

    def observe(self, *, resolved: bool = True, routes: bool = False) -> Observed:
        """The live state. resolved, routes: whether with the addresses that ports have resolved, and with the width of
        next-hop groups, which cost much to read."""
        ...

    def operate(self, verb: Verb) -> None:
        """Do this now. Raises UnsupportedFeature when the platform cannot, and CommitRefused while a change is pending.

        DRAIN of a drained switch, and UNDRAIN of one that is not, do nothing more. A switch that was drained by its
        configuration too is not drained after UNDRAIN.
        """
        ...

    def install(self, image: Image) -> None:
        """Have the next boot run an image; the switch runs on as it is, and takes as long as it needs.

        What the switch can tell of the file is checked before anything changes: that it is there, that it is of this
        platform, its checksum, the space. Installing the same image again does nothing more. Raises ImageRefused where
        the next boot is that of before, UnsupportedFeature where railfab cannot install on the platform.
        """
        ...
