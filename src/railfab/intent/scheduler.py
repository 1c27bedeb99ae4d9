"""The scheduler of jobs that a roll-out asks, by its kind."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from railfab.intent.model import KeyFault, Listed, Model, Text

OF_KIND = {"slurm": ("command", "folder"), "kubernetes": ("kubeconfig", "context")}
"""Keys that one kind of scheduler alone has."""


class SchedulerSettings(Model):
    """A scheduler, and how a roll-out waits for it."""

    kind: Literal["slurm", "kubernetes"] = Field(description="kind of the scheduler")
    action: Literal["hold", "wait"] = Field(
        default="hold",
        description="for hosts that a change cuts off: `hold` lets no new job start and waits for the running ones,"
        " `wait` waits alone",
    )
    within_s: Annotated[float, Field(ge=0, le=604_800)] = Field(
        default=3600, description="limit of the wait for running jobs, after which the roll-out stops [s]"
    )
    hosts: Text | None = Field(
        default=None,
        description="file with the names of the hosts in the cluster, as for `railfab export --hosts`, relative to the"
        " folder of the intent",
    )
    command: Listed[Text] = Field(
        default=(), description="words before each command of Slurm, such as `[ssh, controller]`"
    )
    folder: Text | None = Field(
        default=None, description="folder of `scontrol` and `squeue`; by default PATH finds them"
    )
    kubeconfig: Text | None = Field(
        default=None,
        description="kubeconfig with a token or certificate, relative to the folder of the intent; by default the"
        " service account of the pod",
    )
    context: Text | None = Field(default=None, description="context of the kubeconfig; by default its current one")

    def _faults(self) -> Iterator[KeyFault]:
        for kind, keys in OF_KIND.items():
            for key in keys if kind != self.kind else ():
                if key in self.model_fields_set:
                    yield KeyFault(key, f"is for the kind {kind}", f"Remove it, or use kind: {kind}")
        if self.context is not None and self.kubeconfig is None and self.kind == "kubernetes":
            yield KeyFault("context", "there is no kubeconfig with contexts", "Add kubeconfig")
